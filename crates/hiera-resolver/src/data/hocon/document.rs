//! Tokens → tree.

use std::rc::Rc;

use super::merge::{concatenate, with_fallback};
use super::node::{Fields, Kind, Node};
use super::path;
use super::token::{Placed, Text, Token};
use super::{Failure, HoconProblem, MAX_DEPTH, fail};

/// Reads a document, whose braces may be left out.
pub(super) fn root(tokens: Vec<Placed>) -> Result<Rc<Node>, Failure> {
    let mut parser = Parser {
        tokens,
        position: 0,
        path: Vec::new(),
        lists: 0,
        depth: 0,
    };
    parser.skip_lines();
    let root = match parser.peek() {
        Token::OpenSquare => {
            let at = parser.at();
            parser.list()?;
            return fail(at, HoconProblem::ListAtRoot);
        }
        Token::OpenCurly => parser.object()?,
        _ => parser.fields(0, false)?,
    };
    parser.skip_lines();
    match parser.peek() {
        Token::End => Ok(root),
        _ => parser.unexpected("the end of the text"),
    }
}

struct Parser {
    tokens: Vec<Placed>,
    position: usize,
    /// The keys of the enclosing fields, outermost first.
    path: Vec<Text>,
    /// How many lists enclose the current position, and values of `+=`, which become part of one.
    lists: usize,
    depth: usize,
}

impl Parser {
    /// An object, whose brace comes next.
    fn object(&mut self) -> Result<Rc<Node>, Failure> {
        let at = self.at();
        self.position += 1;
        self.deeper(1)?;
        let object = self.fields(at, true)?;
        self.depth -= 1;
        Ok(object)
    }

    fn fields(&mut self, at: usize, has_braces: bool) -> Result<Rc<Node>, Failure> {
        let mut fields = Fields::default();
        loop {
            self.skip_lines();
            if self.ends_object(has_braces) {
                break;
            }
            match self.peek() {
                Token::Unquoted(text) if **text == *b"include" => self.include()?,
                _ => self.field(&mut fields)?,
            }
            if self.separator() {
                continue;
            }
            if self.ends_object(has_braces) {
                break;
            }
            return self.unexpected("a comma or a line break");
        }
        Ok(Node::object(at, fields, false))
    }

    /// Consumes the end of an object, if it is next.
    fn ends_object(&mut self, has_braces: bool) -> bool {
        match self.peek() {
            Token::CloseCurly if has_braces => {
                self.position += 1;
                true
            }
            Token::End => !has_braces,
            _ => false,
        }
    }

    fn field(&mut self, fields: &mut Fields) -> Result<(), Failure> {
        let at = self.at();
        let start = self.position;
        while self.peek().is_simple() {
            self.position += 1;
        }
        if self.position == start {
            return self.unexpected("a key");
        }
        let key_tokens = self.tokens.get(start..self.position).unwrap_or_default();
        let key_tokens: Vec<_> = key_tokens.iter().map(|key| key.token.clone()).collect();
        let keys = path::of_tokens(&key_tokens, at)?;
        self.skip_lines();

        let outer_length = self.path.len();
        self.path.extend_from_slice(&keys);
        // The first key is at the level of the object that has the field.
        self.deeper(keys.len() - 1)?;
        let mut value = match self.peek() {
            Token::OpenCurly => self.object()?,
            Token::Colon | Token::Equals => {
                self.position += 1;
                self.value()?
            }
            Token::PlusEquals => self.appended(at)?,
            _ => return self.unexpected("`:`, `=` or `{` after a key"),
        };
        self.depth -= keys.len() - 1;
        self.path.truncate(outer_length);

        let mut keys = keys.into_iter();
        let Some(first) = keys.next() else {
            return Ok(());
        };
        for key in keys.rev() {
            value = Node::object(at, Fields::from_iter([(key, value)]), false);
        }
        if let Some(existing) = fields.get(&first) {
            value = with_fallback(&value, existing)?;
        }
        fields.insert(first, value);
        Ok(())
    }

    /// `+= value` is `= ${?path} [value]`.
    fn appended(&mut self, at: usize) -> Result<Rc<Node>, Failure> {
        if self.lists > 0 {
            return fail(at, HoconProblem::AppendInList);
        }
        self.position += 1;
        self.lists += 1;
        let value = self.value()?;
        self.lists -= 1;
        let reference = Kind::Reference {
            path: self.path.as_slice().into(),
            optional: true,
        };
        let list = Node::list(value.at, vec![value]);
        concatenate(at, vec![Node::new(at, reference), list])
    }

    /// A value, or several adjacent ones.
    fn value(&mut self) -> Result<Rc<Node>, Failure> {
        self.skip_lines();
        let at = self.at();
        let mut pieces = Vec::new();
        while let Some(piece) = self.piece()? {
            pieces.push(piece);
        }
        if pieces.is_empty() {
            return self.unexpected("a value");
        }
        concatenate(at, pieces)
    }

    fn piece(&mut self) -> Result<Option<Rc<Node>>, Failure> {
        let at = self.at();
        let kind = match self.peek() {
            Token::OpenCurly => return self.object().map(Some),
            Token::OpenSquare => return self.list().map(Some),
            Token::Null => Kind::Null,
            Token::Bool(flag) => Kind::Bool(*flag),
            Token::Number { value, written } => Kind::Number {
                value: value.clone(),
                written: written.clone(),
            },
            Token::Quoted(text) => Kind::Text {
                text: text.clone(),
                quoted: true,
            },
            Token::Unquoted(text) => Kind::Text {
                text: text.clone(),
                quoted: false,
            },
            Token::Substitution { path, optional } => Kind::Reference {
                path: path.clone(),
                optional: *optional,
            },
            _ => return Ok(None),
        };
        self.position += 1;
        Ok(Some(Node::new(at, kind)))
    }

    /// A list, whose bracket comes next.
    fn list(&mut self) -> Result<Rc<Node>, Failure> {
        let at = self.at();
        self.position += 1;
        self.deeper(1)?;
        self.lists += 1;
        let mut items = Vec::new();
        loop {
            self.skip_lines();
            // A comma may follow the last item, but there must be an item.
            if matches!(self.peek(), Token::CloseSquare) {
                break;
            }
            items.push(self.value()?);
            if !self.separator() {
                break;
            }
        }
        if !matches!(self.peek(), Token::CloseSquare) {
            return self.unexpected("a comma, a line break or `]`");
        }
        self.position += 1;
        self.lists -= 1;
        self.depth -= 1;
        Ok(Node::list(at, items))
    }

    /// `include`, which adds nothing: Ruby does not find a file by a bare name either.
    fn include(&mut self) -> Result<(), Failure> {
        let at = self.at();
        self.position += 1;
        self.skip_lines();
        match self.peek() {
            Token::Quoted(name) => {
                // Ruby recognizes a URL, and then fails.
                if name.starts_with(b"http:") || name.starts_with(b"https:") {
                    return fail(at, HoconProblem::Include("a URL"));
                }
                self.position += 1;
                Ok(())
            }
            // Puppet: Ruby would read the file, from anywhere on the server. Leaving it out silently would
            // give answers without its data.
            Token::Unquoted(text) if **text == *b"file(" => {
                fail(at, HoconProblem::Include("`file(...)`"))
            }
            Token::Unquoted(text) if **text == *b"url(" || **text == *b"classpath(" => {
                fail(at, HoconProblem::Include("`url(...)` or `classpath(...)`"))
            }
            _ => self.unexpected("a quoted name after `include`"),
        }
    }

    /// Skips what separates fields or items: line breaks, and at most one comma.
    fn separator(&mut self) -> bool {
        let mut found = false;
        loop {
            match self.peek() {
                Token::Newline => found = true,
                Token::Comma => {
                    self.position += 1;
                    return true;
                }
                token if token.is_blank() => {}
                _ => return found,
            }
            self.position += 1;
        }
    }

    fn skip_lines(&mut self) {
        while matches!(self.peek(), Token::Newline) || self.peek().is_blank() {
            self.position += 1;
        }
    }

    fn peek(&self) -> &Token {
        let placed = self.tokens.get(self.position);
        placed.map_or(&Token::End, |placed| &placed.token)
    }

    fn at(&self) -> usize {
        let placed = self.tokens.get(self.position).or(self.tokens.last());
        placed.map_or(0, |placed| placed.at)
    }

    fn deeper(&mut self, levels: usize) -> Result<(), Failure> {
        self.depth += levels;
        if self.depth > MAX_DEPTH {
            return fail(self.at(), HoconProblem::TooDeep);
        }
        Ok(())
    }

    fn unexpected<T>(&self, expected: &'static str) -> Result<T, Failure> {
        let found = self.peek().name();
        fail(self.at(), HoconProblem::Unexpected { found, expected })
    }
}
