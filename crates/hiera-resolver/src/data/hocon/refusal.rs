//! The messages of ruby-hocon 1.3.1 for a text that it cannot parse.
//!
//! They depend on the token at which the library gives up and on the line that its parser has reached by then, which is not
//! always the line of the token. So the text is parsed once more as the library does it.

mod pieces;

use self::pieces::{Kind, Piece, lossy, pieces, shown_at};
use super::{Failure, HoconProblem, MAX_DEPTH};
use crate::data::characters::line_and_column;

/// The message; `None` if Ruby fails in a way that the library does not expect.
pub(super) fn message(text: &[u8], failure: &Failure) -> Option<String> {
    let mut parser = Parser {
        pieces: pieces(text),
        position: 0,
        line: 1,
        depth: 0,
        text,
    };
    match parser.document() {
        Err(Refusal::Message(message)) => Some(message),
        Err(Refusal::Unexpected) => None,
        Ok(()) => beyond_syntax(text, failure),
    }
}

/// The message for a text that can be parsed but has no meaning.
fn beyond_syntax(text: &[u8], failure: &Failure) -> Option<String> {
    let (line, _) = line_and_column(text, failure.at);
    let what = match &failure.problem {
        HoconProblem::ListAtRoot => " has type LIST rather than object at file root".to_owned(),
        HoconProblem::Undefined(path) => {
            format!("Could not resolve substitution to a value: ${{{path}}}")
        }
        HoconProblem::EmptyPathPart if is_empty_substitution(text, failure.at) => {
            "Expecting a field name or path here, but got nothing".to_owned()
        }
        HoconProblem::EmptyPathPart => EMPTY_PART.to_owned(),
        HoconProblem::Unexpected { .. } => {
            let shown = shown_at(text, failure.at);
            format!(
                "Token not allowed in path expression: {shown} (you can double-quote this token \
                 if you really want it here)"
            )
        }
        problem => return Some(problem.to_string()),
    };
    Some(format!("String: {line}: {what}"))
}

fn is_empty_substitution(text: &[u8], at: usize) -> bool {
    let rest = text.get(at..).unwrap_or_default();
    let inner = rest.strip_prefix(b"${").unwrap_or(rest);
    let inner = inner.strip_prefix(b"?").unwrap_or(inner);
    inner.trim_ascii_start().starts_with(b"}")
}

const EMPTY_PART: &str = "path has a leading, trailing, or two adjacent period '.' \
     (use quoted \"\" empty string if you want an empty element)";

enum Refusal {
    Message(String),
    Unexpected,
}

type Step = Result<(), Refusal>;

struct Parser<'a> {
    pieces: Vec<Piece>,
    position: usize,
    /// The line that the library's parser has reached.
    line: usize,
    /// How many lists and objects enclose the current position.
    depth: usize,
    text: &'a [u8],
}

impl Parser<'_> {
    fn document(&mut self) -> Step {
        self.skip_blanks()?;
        match self.kind() {
            Kind::OpenCurly | Kind::OpenSquare => self.value()?,
            _ => self.object(false)?,
        }
        self.skip_blanks()?;
        match self.kind() {
            Kind::End => Ok(()),
            _ => self.fail(
                "Document has trailing tokens after first object or array: ",
                "",
            ),
        }
    }

    fn object(&mut self, has_braces: bool) -> Step {
        loop {
            if self.ends_object(has_braces)? {
                return Ok(());
            }
            match self.kind() {
                Kind::Unquoted if self.shown() == "'include'" => self.include()?,
                _ => self.field()?,
            }
            if self.separator() {
                continue;
            }
            if self.ends_object(has_braces)? {
                return Ok(());
            }
            let shown = self.shown().to_owned();
            return self.suggest("Expecting close brace } or a comma, got ", &shown);
        }
    }

    /// Consumes the end of an object, if it comes next.
    fn ends_object(&mut self, has_braces: bool) -> Result<bool, Refusal> {
        self.skip_blanks()?;
        match self.kind() {
            Kind::CloseCurly if has_braces => {
                self.position += 1;
                Ok(true)
            }
            Kind::CloseCurly => {
                self.suggest("unbalanced close brace '}' with no open brace", "")?;
                Ok(true)
            }
            Kind::End => Ok(!has_braces),
            _ => Ok(false),
        }
    }

    fn field(&mut self) -> Step {
        let start = self.position;
        while self.piece().is_some_and(Piece::is_key) {
            self.position += 1;
        }
        if self.position == start {
            return self.fail("expecting a close brace or a field name here, got ", "");
        }
        let key = self.key(start)?;
        self.skip_blanks()?;
        match self.kind() {
            Kind::OpenCurly => return self.value(),
            Kind::Separator => self.position += 1,
            _ => {
                let shown = self.shown().to_owned();
                let what = format!("Key '{key}' may not be followed by token: ");
                return self.suggest(&what, &shown);
            }
        }
        self.values(|parser| {
            let shown = parser.shown().to_owned();
            parser.suggest("Expecting a value but got wrong token: ", &shown)
        })
    }

    /// The text of a key, whose parts must not be empty.
    fn key(&self, start: usize) -> Result<String, Refusal> {
        let pieces = self.pieces.get(start..self.position).unwrap_or_default();
        let (mut is_empty, mut may_be_empty) = (true, false);
        let refused = || Err(Refusal::Message(EMPTY_PART.to_owned()));
        for piece in pieces {
            let written = self.text.get(piece.start..piece.end).unwrap_or_default();
            if piece.kind == Kind::Quoted {
                may_be_empty = true;
                continue;
            }
            let mut parts = written.split(|byte| *byte == b'.');
            is_empty &= parts.next().is_none_or(<[u8]>::is_empty);
            for part in parts {
                if is_empty && !may_be_empty {
                    return refused();
                }
                (is_empty, may_be_empty) = (part.is_empty(), false);
            }
        }
        if is_empty && !may_be_empty {
            return refused();
        }
        let (first, last) = (pieces.first(), pieces.last());
        let range = first.map_or(0, |piece| piece.start)..last.map_or(0, |piece| piece.end);
        Ok(lossy(self.text.get(range).unwrap_or_default()))
    }

    /// A value, or several adjacent ones.
    fn values(&mut self, otherwise: impl FnOnce(&mut Self) -> Step) -> Step {
        self.skip_blanks()?;
        if !self.piece().is_some_and(Piece::is_value) {
            return otherwise(self);
        }
        loop {
            self.value()?;
            let after = self.position;
            while self.kind() == Kind::Blank {
                self.position += 1;
            }
            if !self.piece().is_some_and(Piece::is_value) {
                self.position = after;
                return Ok(());
            }
        }
    }

    fn value(&mut self) -> Step {
        let kind = self.kind();
        self.position += 1;
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Refusal::Unexpected);
        }
        match kind {
            Kind::OpenCurly => self.object(true)?,
            Kind::OpenSquare => self.list()?,
            _ => {}
        }
        self.depth -= 1;
        Ok(())
    }

    fn list(&mut self) -> Step {
        self.skip_blanks()?;
        if self.kind() == Kind::CloseSquare {
            self.position += 1;
            return Ok(());
        }
        let quote = |parser: &Self, wanted: &str| {
            let shown = parser.shown();
            format!(
                " (if you want {wanted}{shown} to be part of a string value, then double-quote it)"
            )
        };
        self.values(|parser| {
            let what =
                "List should have ] or a first element after the open [, instead had token: ";
            parser.fail(what, &quote(parser, ""))
        })?;
        loop {
            if !self.separator() {
                self.skip_blanks()?;
                if self.kind() == Kind::CloseSquare {
                    self.position += 1;
                    return Ok(());
                }
                let what = "List should have ended with ] or had a comma, instead had token: ";
                return self.fail(what, &quote(self, ""));
            }
            self.skip_blanks()?;
            if self.kind() == Kind::CloseSquare {
                continue;
            }
            self.values(|parser| {
                let what = "List should have had new element after a comma, instead had token: ";
                parser.fail(what, &quote(parser, "the comma or "))
            })?;
        }
    }

    fn include(&mut self) -> Step {
        self.position += 1;
        self.skip_blanks()?;
        match self.kind() {
            Kind::Quoted => self.position += 1,
            Kind::Unquoted => {
                if !matches!(self.shown(), "'url('" | "'file('" | "'classpath('") {
                    let what = "expecting include parameter to be quoted filename, file(), classpath(), \
                                or url(). No spaces are allowed before the open paren. Not expecting: ";
                    return self.fail(what, "");
                }
                self.position += 1;
                self.skip_blanks()?;
                if self.kind() != Kind::Quoted {
                    let what = "expecting a quoted string inside file(), classpath(), or url(), \
                                rather than: ";
                    return self.fail(what, "");
                }
                self.position += 1;
                self.skip_blanks()?;
                if self.kind() != Kind::Unquoted || self.shown() != "')'" {
                    return self.fail("expecting a close parentheses ')' here, not: ", "");
                }
                self.position += 1;
            }
            _ => {
                let what = "include keyword is not followed by a quoted string, but by: ";
                return self.fail(what, "");
            }
        }
        Ok(())
    }

    /// Skips line breaks and at most one comma. The library counts only the line breaks here.
    fn separator(&mut self) -> bool {
        let mut found = false;
        loop {
            match self.kind() {
                Kind::Blank | Kind::InnerBlank | Kind::Comment => {}
                Kind::Newline => {
                    found = true;
                    self.line += 1;
                }
                Kind::Comma => {
                    self.position += 1;
                    return true;
                }
                _ => return found,
            }
            self.position += 1;
        }
    }

    /// Skips white space, line breaks and comments, and notes the line of what follows.
    fn skip_blanks(&mut self) -> Step {
        while let Some(piece) = self.piece() {
            match piece.kind {
                Kind::Newline => self.line = piece.line.unwrap_or(self.line) + 1,
                Kind::Blank | Kind::InnerBlank | Kind::Comment => {}
                Kind::Broken => return Err(Refusal::Unexpected),
                _ => {
                    self.line = piece.line.unwrap_or(self.line);
                    break;
                }
            }
            self.position += 1;
        }
        Ok(())
    }

    fn piece(&self) -> Option<&Piece> {
        self.pieces.get(self.position).or(self.pieces.last())
    }

    fn kind(&self) -> Kind {
        self.piece().map_or(Kind::End, |piece| piece.kind)
    }

    fn shown(&self) -> &str {
        self.piece().map_or("end of file", |piece| &piece.shown)
    }

    /// Fails at the token that comes next.
    fn fail(&self, what: &str, after: &str) -> Step {
        if self.kind() == Kind::Broken {
            return Err(Refusal::Unexpected);
        }
        let (line, shown) = (self.line, self.shown());
        Err(Refusal::Message(format!(
            "String: {line}: {what}{shown}{after}"
        )))
    }

    /// Fails with the advice to put the token in quotes.
    fn suggest(&self, what: &str, shown: &str) -> Step {
        let (line, bad) = (self.line, self.shown());
        let advice = match bad {
            "end of file" => String::new(),
            bad => format!(
                " (if you intended {bad} to be part of a key or string value, \
                 try enclosing the key or value in double quotes"
            ),
        };
        Err(Refusal::Message(format!(
            "String: {line}: {what}{shown}{advice}"
        )))
    }
}
