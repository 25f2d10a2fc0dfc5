//! Text → tokens as ruby-hocon has them: with white space, comments and lines, and with problems among them.

use super::super::token::{Scanner, Token};
use super::super::{Failure, HoconProblem, MAX_DEPTH};

/// A token as the library has it.
pub(super) struct Piece {
    pub(super) kind: Kind,
    /// As messages show it.
    pub(super) shown: String,
    /// Tokens of a fixed text have none.
    pub(super) line: Option<usize>,
    pub(super) start: usize,
    pub(super) end: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// White space, or a comment, that separates nothing.
    Blank,
    /// White space between simple values.
    InnerBlank,
    Comment,
    Newline,
    Comma,
    Separator,
    OpenCurly,
    CloseCurly,
    OpenSquare,
    CloseSquare,
    Quoted,
    /// Any other simple value.
    Value,
    Unquoted,
    Substitution,
    Problem,
    /// One that Ruby fails on.
    Broken,
    End,
}

/// Cuts a text into tokens, up to the first that is a problem.
pub(super) fn pieces(text: &[u8]) -> Vec<Piece> {
    let mut tokenizer = Tokenizer {
        scanner: Scanner { text, position: 0 },
        line: 1,
        depth: 0,
    };
    let mut pieces = Vec::new();
    let mut after_simple = false;
    loop {
        let blank_start = tokenizer.scanner.position;
        let Ok(blank) = tokenizer.scanner.blank() else {
            pieces.push(tokenizer.piece(Kind::Broken, String::new(), blank_start));
            return pieces;
        };
        let has_blank = !blank.is_empty();
        let (blank_end, line) = (tokenizer.scanner.position, tokenizer.line);
        let piece = tokenizer.next();
        let is_simple = piece.is_simple() || piece.kind == Kind::Substitution;
        if has_blank {
            let is_inner = is_simple && after_simple;
            pieces.push(Piece {
                kind: if is_inner {
                    Kind::InnerBlank
                } else {
                    Kind::Blank
                },
                shown: String::new(),
                line: Some(line),
                start: blank_start,
                end: blank_end,
            });
        }
        after_simple = is_simple;
        let is_last = matches!(piece.kind, Kind::End | Kind::Problem | Kind::Broken);
        pieces.push(piece);
        if is_last {
            return pieces;
        }
    }
}

impl Piece {
    pub(super) fn is_simple(&self) -> bool {
        matches!(self.kind, Kind::Quoted | Kind::Value | Kind::Unquoted)
    }

    /// Can it be part of a key?
    pub(super) fn is_key(&self) -> bool {
        self.is_simple() || self.kind == Kind::InnerBlank
    }

    pub(super) fn is_value(&self) -> bool {
        let opens = matches!(
            self.kind,
            Kind::Substitution | Kind::OpenCurly | Kind::OpenSquare
        );
        opens || self.is_key()
    }
}

struct Tokenizer<'a> {
    scanner: Scanner<'a>,
    line: usize,
    /// How many substitutions enclose the current position.
    depth: usize,
}

impl Tokenizer<'_> {
    fn piece(&self, kind: Kind, shown: String, start: usize) -> Piece {
        let is_fixed = matches!(
            kind,
            Kind::Comma
                | Kind::Separator
                | Kind::OpenCurly
                | Kind::CloseCurly
                | Kind::OpenSquare
                | Kind::CloseSquare
                | Kind::End
        );
        Piece {
            kind,
            shown,
            line: (!is_fixed).then_some(self.line),
            start,
            end: self.scanner.position,
        }
    }

    fn problem(&self, what: &str, message: &str, start: usize) -> Piece {
        self.piece(Kind::Problem, format!("'{what}' ({message})"), start)
    }

    fn next(&mut self) -> Piece {
        let start = self.scanner.position;
        match self.scanner.peek() {
            Some(b'$') => return self.substitution(start),
            Some(b'+') if self.scanner.rest().get(1) != Some(&b'=') => {
                self.scanner.position += 1;
                let what = self.following();
                let message = format!("'+' not followed by =, '{what}' not allowed after '+'");
                return self.problem(&what, &message, start);
            }
            _ => {}
        }
        let token = match self.scanner.token() {
            Err(failure) => return self.failed(&failure, start),
            Ok(None) => return self.piece(Kind::Comment, String::new(), start),
            Ok(Some(token)) => token,
        };
        let fixed = |kind, shown: &str| (kind, shown.to_owned());
        let (kind, shown) = match &token {
            Token::End => fixed(Kind::End, "end of file"),
            Token::Newline => fixed(Kind::Newline, "NEWLINE"),
            Token::Comma => fixed(Kind::Comma, "','"),
            Token::Equals => fixed(Kind::Separator, "'='"),
            Token::Colon => fixed(Kind::Separator, "':'"),
            Token::PlusEquals => fixed(Kind::Separator, "'+='"),
            Token::OpenCurly => fixed(Kind::OpenCurly, "'{'"),
            Token::CloseCurly => fixed(Kind::CloseCurly, "'}'"),
            Token::OpenSquare => fixed(Kind::OpenSquare, "'['"),
            Token::CloseSquare => fixed(Kind::CloseSquare, "']'"),
            Token::Null => fixed(Kind::Value, "'' (NULL)"),
            Token::Bool(flag) => (Kind::Value, format!("'{flag}' (BOOLEAN)")),
            Token::Number { value, .. } => {
                let mut number = String::new();
                puppet_values::ruby_text::to_s(value, &mut number);
                (Kind::Value, format!("'{number}' (NUMBER)"))
            }
            Token::Quoted(text) => (Kind::Quoted, format!("'{}' (STRING)", lossy(text))),
            Token::Unquoted(text) => (Kind::Unquoted, format!("'{}'", lossy(text))),
            // Handled above.
            Token::Substitution { .. } => (Kind::Substitution, String::new()),
        };
        let piece = self.piece(kind, shown, start);
        self.line += match kind {
            Kind::Newline => 1,
            // The library counts the lines of strings in triple quotes once they are read.
            Kind::Quoted => {
                let written = self.scanner.text.get(start..self.scanner.position);
                let written = written.filter(|written| written.starts_with(b"\"\"\""));
                memchr::memchr_iter(b'\n', written.unwrap_or_default()).count()
            }
            _ => 0,
        };
        Piece {
            line: piece.line.map(|line| {
                if kind == Kind::Quoted {
                    self.line
                } else {
                    line
                }
            }),
            ..piece
        }
    }

    /// The next character, or what Ruby shows at the end of the text.
    fn following(&self) -> String {
        match self.scanner.character() {
            Ok(Some(character)) => character.to_string(),
            _ => "-1".to_owned(),
        }
    }

    fn substitution(&mut self, start: usize) -> Piece {
        self.scanner.position += 1;
        if self.scanner.peek() != Some(b'{') {
            let what = self.following();
            let message = format!("'$' not followed by {{, '{what}' not allowed after '$'");
            return self.problem(&what, &message, start);
        }
        self.scanner.position += 1;
        if self.scanner.peek() == Some(b'?') {
            self.scanner.position += 1;
        }
        self.depth += 1;
        loop {
            if self.scanner.blank().is_err() || self.depth > MAX_DEPTH {
                return self.piece(Kind::Broken, String::new(), start);
            }
            let inner = self.next();
            match inner.kind {
                Kind::CloseCurly => {
                    self.depth -= 1;
                    // Ruby shows the address of an object here.
                    let shown = "'${...}'".to_owned();
                    return self.piece(Kind::Substitution, shown, start);
                }
                Kind::End => {
                    let message = "Substitution ${ was not closed with a }";
                    return self.problem("end of file", message, start);
                }
                Kind::Problem | Kind::Broken => return inner,
                _ => {}
            }
        }
    }

    fn failed(&self, failure: &Failure, start: usize) -> Piece {
        let written = self.scanner.text.get(start..).unwrap_or_default();
        match &failure.problem {
            HoconProblem::Reserved('+') if !written.starts_with(b"+") => {
                // A typo in the library.
                self.problem(
                    "+",
                    "Reserved character '+'is not allowed outside quotes",
                    start,
                )
            }
            HoconProblem::Reserved(character) => {
                let what = character.to_string();
                let message = format!("Reserved character '{what}' is not allowed outside quotes");
                self.problem(&what, &message, start)
            }
            HoconProblem::OpenString => self.open_string(written, start),
            HoconProblem::ControlCharacter(character) => {
                let what = character.to_string();
                let message = format!(
                    "JSON does not allow unescaped {what} in quoted strings, use a backslash escape"
                );
                self.problem(&what, &message, start)
            }
            HoconProblem::UnicodeEscape => {
                let digits = self.scanner.text.get(failure.at + 2..self.scanner.position);
                let what = lossy(digits.unwrap_or_default());
                let message = format!("Malformed hex digits after \\u escape in string: '{what}'");
                self.problem(&what, &message, start)
            }
            _ => self.piece(Kind::Broken, String::new(), start),
        }
    }

    fn open_string(&self, written: &[u8], start: usize) -> Piece {
        if written.starts_with(b"\"\"\"") {
            let lines = memchr::memchr_iter(b'\n', written).count();
            let message = "End of input but triple-quoted string was still open";
            let piece = self.problem("-1", message, start);
            return Piece {
                line: Some(self.line + lines),
                ..piece
            };
        }
        let escape = memchr::memrchr(b'\\', written).and_then(|at| written.get(at + 1..));
        match escape {
            Some([]) if self.scanner.position < self.scanner.text.len() => {
                let message = "End of input but backslash in string had nothing after it";
                self.problem("", message, start)
            }
            Some([b'u', digits @ ..]) if digits.len() < 4 => {
                let message = "End of input but expecting 4 hex digits for \\uXXXX escape";
                self.problem("-1", message, start)
            }
            _ => self.problem("-1", "End of input but string quote was still open", start),
        }
    }
}

/// The token at a position, as messages show it.
pub(super) fn shown_at(text: &[u8], position: usize) -> String {
    let mut tokenizer = Tokenizer {
        scanner: Scanner { text, position },
        line: 1,
        depth: 0,
    };
    tokenizer.next().shown
}

pub(super) fn lossy(text: &[u8]) -> String {
    String::from_utf8_lossy(text).into_owned()
}
