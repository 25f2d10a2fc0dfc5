//! Text → tokens, with white space and comments resolved.
//!
//! White space between two simple values belongs to a value (`a b`) or a key and becomes a token of text; any
//! other disappears here, as comments do: they end at a line break, which separates as much as they would.

use std::rc::Rc;

use puppet_values::Value;

use super::number::{self, Number};
use super::path;
use super::{Failure, HoconProblem, fail};

/// Text of a key or a value; not always UTF-8.
pub(super) type Text = Rc<[u8]>;

/// Characters that end unquoted text.
const RESERVED: &[u8] = b"$\"{}[]:=,+#`^?!@*&\\";

#[derive(Clone, Debug)]
pub(super) enum Token {
    End,
    Newline,
    Comma,
    Equals,
    Colon,
    PlusEquals,
    OpenCurly,
    CloseCurly,
    OpenSquare,
    CloseSquare,
    Null,
    Bool(bool),
    Number { value: Value, written: Text },
    Quoted(Text),
    Unquoted(Text),
    Substitution { path: Rc<[Text]>, optional: bool },
}

impl Token {
    /// A value that is neither list nor object nor substitution: keys consist of these too.
    pub(super) fn is_simple(&self) -> bool {
        matches!(
            self,
            Token::Null
                | Token::Bool(_)
                | Token::Number { .. }
                | Token::Quoted(_)
                | Token::Unquoted(_)
        )
    }

    /// Unquoted white space.
    pub(super) fn is_blank(&self) -> bool {
        match self {
            Token::Unquoted(text) => {
                std::str::from_utf8(text).is_ok_and(|text| text.chars().all(char::is_whitespace))
            }
            _ => false,
        }
    }

    /// For messages.
    pub(super) fn name(&self) -> String {
        let fixed = match self {
            Token::End => "end of the text",
            Token::Newline => "line break",
            Token::Comma => "`,`",
            Token::Equals => "`=`",
            Token::Colon => "`:`",
            Token::PlusEquals => "`+=`",
            Token::OpenCurly => "`{`",
            Token::CloseCurly => "`}`",
            Token::OpenSquare => "`[`",
            Token::CloseSquare => "`]`",
            Token::Null => "`null`",
            Token::Bool(true) => "`true`",
            Token::Bool(false) => "`false`",
            Token::Quoted(_) => "string",
            Token::Substitution { .. } => "substitution",
            Token::Number { written: text, .. } | Token::Unquoted(text) => {
                return format!("`{}`", String::from_utf8_lossy(text).escape_debug());
            }
        };
        fixed.to_owned()
    }
}

/// A token and the byte it starts at.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    pub(super) at: usize,
    pub(super) token: Token,
}

/// Cuts a document into tokens; the last one is [`Token::End`].
pub(super) fn tokens(text: &[u8]) -> Result<Vec<Placed>, Failure> {
    let mut scanner = Scanner { text, position: 0 };
    let mut tokens = Vec::new();
    let mut after_simple = false;
    loop {
        let blank = scanner.blank()?;
        let at = scanner.position;
        let Some(token) = scanner.token()? else {
            continue;
        };
        let is_simple = token.is_simple() || matches!(token, Token::Substitution { .. });
        if is_simple && after_simple && !blank.is_empty() {
            tokens.push(Placed {
                at: at - blank.len(),
                token: Token::Unquoted(blank.into()),
            });
        }
        after_simple = is_simple;
        let is_end = matches!(token, Token::End);
        tokens.push(Placed { at, token });
        if is_end {
            return Ok(tokens);
        }
    }
}

/// A position in the text.
pub(super) struct Scanner<'a> {
    pub(super) text: &'a [u8],
    pub(super) position: usize,
}

impl<'a> Scanner<'a> {
    /// Skips white space up to the next line break.
    pub(super) fn blank(&mut self) -> Result<&'a [u8], Failure> {
        let start = self.position;
        while let Some(character) = self.character()? {
            if character == '\n' || !character.is_whitespace() {
                break;
            }
            self.position += character.len_utf8();
        }
        Ok(self.text.get(start..self.position).unwrap_or_default())
    }

    /// The next token; `None` for a comment.
    pub(super) fn token(&mut self) -> Result<Option<Token>, Failure> {
        let at = self.position;
        if self.is_comment() {
            let length = memchr::memchr(b'\n', self.rest()).unwrap_or(self.rest().len());
            self.position += length;
            return Ok(None);
        }
        let Some(byte) = self.peek() else {
            return Ok(Some(Token::End));
        };
        self.position += 1;
        Ok(Some(match byte {
            b'\n' => Token::Newline,
            b'"' => Token::Quoted(self.string()?.into()),
            b'$' => self.substitution(at)?,
            b':' => Token::Colon,
            b',' => Token::Comma,
            b'=' => Token::Equals,
            b'{' => Token::OpenCurly,
            b'}' => Token::CloseCurly,
            b'[' => Token::OpenSquare,
            b']' => Token::CloseSquare,
            b'+' if self.peek() == Some(b'=') => {
                self.position += 1;
                Token::PlusEquals
            }
            b'0'..=b'9' | b'-' => self.number(at)?,
            byte if RESERVED.contains(&byte) => {
                return fail(at, HoconProblem::Reserved(byte.into()));
            }
            _ => {
                self.position = at;
                self.unquoted()?
            }
        }))
    }

    /// Unquoted text. `true`, `false` and `null` are such at its start, whatever follows.
    fn unquoted(&mut self) -> Result<Token, Failure> {
        let start = self.position;
        while let Some(character) = self.character()? {
            let is_reserved = u8::try_from(character).is_ok_and(|byte| RESERVED.contains(&byte));
            if is_reserved || character.is_whitespace() || self.is_comment() {
                break;
            }
            self.position += character.len_utf8();
            match self.text.get(start..self.position) {
                Some(b"true") => return Ok(Token::Bool(true)),
                Some(b"false") => return Ok(Token::Bool(false)),
                Some(b"null") => return Ok(Token::Null),
                _ => {}
            }
        }
        let text = self.text.get(start..self.position).unwrap_or_default();
        Ok(Token::Unquoted(text.into()))
    }

    fn number(&mut self, start: usize) -> Result<Token, Failure> {
        let is_part = |byte: &&u8| matches!(byte, b'0'..=b'9' | b'e' | b'E' | b'+' | b'-' | b'.');
        self.position += self.rest().iter().take_while(is_part).count();
        let written = self.text.get(start..self.position).unwrap_or_default();
        match number::parse(written) {
            Number::Is(value) => Ok(Token::Number {
                value,
                written: written.into(),
            }),
            Number::OutOfRange => fail(start, HoconProblem::NumberRange),
            Number::IsNot if written.contains(&b'+') => fail(start, HoconProblem::Reserved('+')),
            Number::IsNot => Ok(Token::Unquoted(written.into())),
        }
    }

    /// A substitution, whose `$` is read already.
    fn substitution(&mut self, at: usize) -> Result<Token, Failure> {
        if self.peek() != Some(b'{') {
            return fail(at, HoconProblem::Reserved('$'));
        }
        self.position += 1;
        let optional = self.peek() == Some(b'?');
        self.position += usize::from(optional);
        let mut expression = Vec::new();
        loop {
            let blank = self.blank()?;
            let token_at = self.position;
            // An inner substitution is an error anyway; refusing it here avoids nesting.
            if self.peek() == Some(b'$') {
                return fail(token_at, HoconProblem::Reserved('$'));
            }
            match self.token()? {
                Some(Token::CloseCurly) => break,
                Some(Token::End) => return fail(at, HoconProblem::OpenSubstitution),
                Some(token) if token.is_simple() => {
                    if !blank.is_empty() && !expression.is_empty() {
                        expression.push(Token::Unquoted(blank.into()));
                    }
                    expression.push(token);
                }
                other => {
                    let found = other.map_or_else(|| "comment".to_owned(), |token| token.name());
                    return fail(
                        token_at,
                        HoconProblem::Unexpected {
                            found,
                            expected: "a path and `}`",
                        },
                    );
                }
            }
        }
        Ok(Token::Substitution {
            path: path::of_tokens(&expression, at)?.into(),
            optional,
        })
    }

    fn is_comment(&self) -> bool {
        let rest = self.rest();
        rest.starts_with(b"#") || rest.starts_with(b"//")
    }

    pub(super) fn rest(&self) -> &'a [u8] {
        self.text.get(self.position..).unwrap_or_default()
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.text.get(self.position).copied()
    }

    /// The next character. Invalid UTF-8 is an error, since Ruby matches it with a regular expression.
    pub(super) fn character(&self) -> Result<Option<char>, Failure> {
        match next_character(self.rest()) {
            None => Ok(None),
            Some(Ok(character)) => Ok(Some(character)),
            Some(Err(_)) => fail(self.position, HoconProblem::NotUtf8),
        }
    }
}

/// The first character of the text, or its first byte if that starts none.
pub(super) fn next_character(text: &[u8]) -> Option<Result<char, u8>> {
    let first = *text.first()?;
    if first.is_ascii() {
        return Some(Ok(first.into()));
    }
    let head = text.get(..4).unwrap_or(text);
    let chunk = head.utf8_chunks().next()?;
    Some(chunk.valid().chars().next().ok_or(first))
}
