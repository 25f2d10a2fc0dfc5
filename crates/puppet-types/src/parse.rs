//! Type texts: words → expression → [`Type`].
//!
//! Puppet reads a type with the parser of its whole language and then refuses what is not a type. Here
//! only the expressions that can be part of a type are read; all others are refused at the word that
//! begins them.

use std::fmt;

use puppet_values::{Rich, Value};

use super::lexer::{Lexed, Token, lex};
use super::{Type, build};

/// The deepest nesting of a type text.
const MAX_DEPTH: usize = 64;

/// A type text that cannot be read. The texts are Puppet's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TypeParseError {
    /// A word where another one is needed.
    #[error("Syntax error at '{found}' {place}")]
    Unexpected {
        /// The word.
        found: String,
        /// Where it stands.
        place: Place,
    },
    /// A text that ends too early.
    #[error("Syntax error at end of input")]
    EndOfInput,
    /// A word that cannot be read.
    #[error("{problem} {place}")]
    Word {
        /// What is wrong with it.
        problem: String,
        /// Where it stands.
        place: Place,
    },
    /// An expression that is no type, or a parameter that does not fit.
    #[error("The expression <{expression}> is not a valid type specification.")]
    NotAType {
        /// The expression as written.
        expression: String,
    },
    /// Too few parameters, or too many.
    #[error(
        "Invalid number of type parameters specified: {ty} requires {required}, {given} provided"
    )]
    ParameterCount {
        /// The type.
        ty: String,
        /// How many it takes.
        required: &'static str,
        /// How many there are.
        given: usize,
    },
    /// Parameters of a type that takes none.
    #[error("Not a parameterized type <{ty}>")]
    NotParameterized {
        /// The type as written.
        ty: String,
    },
    /// A parameter that does not fit.
    #[error("{problem}")]
    Parameter {
        /// What is wrong with it.
        problem: String,
    },
    /// A text that nests too deeply.
    #[error("the type is nested more than {MAX_DEPTH} levels deep {place}")]
    TooDeep {
        /// Where it does.
        place: Place,
    },
}

/// A place in a text, both from 1 on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    line: usize,
    column: usize,
}

impl Place {
    /// The place of a byte.
    pub(super) fn of(text: &str, position: usize) -> Self {
        let before = text.get(..position).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Place {
            line: before.matches('\n').count() + 1,
            column: before.get(line_start..).unwrap_or_default().chars().count() + 1,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "(line: {}, column: {})", self.line, self.column)
    }
}

/// Names for types beyond Puppet's own.
#[derive(Debug, Default)]
pub(crate) struct Names {
    pub(crate) types: Vec<(String, Type)>,
}

/// Reads a type; `names` are known besides Puppet's own.
pub(super) fn parse(text: &str, names: &Names) -> Result<Type, TypeParseError> {
    let not_a_type = || TypeParseError::NotAType {
        expression: text.trim().to_owned(),
    };
    let mut parser = Parser {
        text,
        tokens: lex(text)?,
        position: 0,
        depth: 0,
    };
    if parser.tokens.is_empty() {
        return Err(not_a_type());
    }
    let expression = parser.expression()?;
    if let Some(next) = parser.tokens.get(parser.position) {
        return Err(match next.token {
            // A second expression makes a list of statements.
            Token::List | Token::Reference(_) | Token::Text(_) | Token::Integer(_) => not_a_type(),
            _ => parser.unexpected(),
        });
    }
    let context = build::Context { text, names };
    let value = build::interpret(&expression, &context)?;
    Type::from_value(&value).cloned().ok_or_else(not_a_type)
}

/// Part of a type text.
#[derive(Debug)]
pub(super) struct Expression {
    pub(super) kind: Kind,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// What an expression is.
#[derive(Debug)]
pub(super) enum Kind {
    /// A name with a capital.
    Reference(String),
    /// Parameters in brackets.
    Access(Box<Expression>, Vec<Expression>),
    /// What stands for itself.
    Literal(Value),
    /// The source of a regular expression.
    Regexp(String),
    /// `[a, b]`
    List(Vec<Expression>),
    /// `{a => b}`, or pairs among parameters.
    Hash(Vec<(Expression, Expression)>),
    /// `-1`
    Minus(Box<Expression>),
    /// What is well written and no type.
    NotAType,
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Lexed>,
    position: usize,
    depth: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.position).map(|lexed| &lexed.token)
    }

    fn start(&self) -> usize {
        self.tokens
            .get(self.position)
            .map_or(self.text.len(), |lexed| lexed.start)
    }

    /// The end of the word before.
    fn end(&self) -> usize {
        self.position
            .checked_sub(1)
            .and_then(|position| self.tokens.get(position))
            .map_or(0, |lexed| lexed.end)
    }

    fn accept(&mut self, token: &Token) -> bool {
        let found = self.peek() == Some(token);
        if found {
            self.position += 1;
        }
        found
    }

    fn expect(&mut self, token: &Token) -> Result<(), TypeParseError> {
        if self.accept(token) {
            return Ok(());
        }
        Err(self.unexpected())
    }

    fn unexpected(&self) -> TypeParseError {
        match self.tokens.get(self.position) {
            None => TypeParseError::EndOfInput,
            Some(lexed) => TypeParseError::Unexpected {
                found: match &lexed.token {
                    Token::Text(text) => text.clone(),
                    Token::Unknown => String::new(),
                    _ => self
                        .text
                        .get(lexed.start..lexed.end)
                        .unwrap_or_default()
                        .to_owned(),
                },
                place: Place::of(self.text, lexed.start),
            },
        }
    }

    fn expression(&mut self) -> Result<Expression, TypeParseError> {
        if self.depth == MAX_DEPTH {
            return Err(TypeParseError::TooDeep {
                place: Place::of(self.text, self.start()),
            });
        }
        self.depth += 1;
        let expression = self.operand();
        self.depth -= 1;
        expression
    }

    /// A literal or a name, with the parameters that follow it.
    fn operand(&mut self) -> Result<Expression, TypeParseError> {
        let start = self.start();
        let Some(token) = self.peek().cloned() else {
            return Err(TypeParseError::EndOfInput);
        };
        if matches!(token, Token::SoftKeyword(_) | Token::Other | Token::Unknown)
            && !self.is_soft_key()
        {
            if matches!(token, Token::SoftKeyword(_)) {
                self.position += 1;
            }
            return Err(self.unexpected());
        }
        self.position += 1;
        let kind = match token {
            Token::Reference(name) => Kind::Reference(name),
            Token::Text(text) => Kind::Literal(Value::str(text)),
            Token::SoftKeyword(word) => Kind::Literal(Value::str(word)),
            Token::Integer(number) => Kind::Literal(Value::integer(number)),
            Token::Float(number) => Kind::Literal(Value::Float(number)),
            Token::Bool(flag) => Kind::Literal(Value::Bool(flag)),
            Token::Default => Kind::Literal(Value::Rich(Rich::Default.into())),
            Token::Undef => Kind::Literal(Value::Null),
            Token::Regexp(source) => Kind::Regexp(source),
            Token::Interpolated | Token::Reserved => Kind::NotAType,
            Token::List | Token::Access => Kind::List(self.items(&Token::CloseBracket, true)?),
            Token::OpenBrace => Kind::Hash(self.pairs()?),
            Token::Minus => Kind::Minus(Box::new(self.expression()?)),
            Token::CloseBracket
            | Token::CloseBrace
            | Token::Comma
            | Token::Arrow
            | Token::Other
            | Token::Unknown => {
                self.position -= 1;
                return Err(self.unexpected());
            }
        };
        let is_minus = matches!(kind, Kind::Minus(_));
        let mut expression = Expression {
            kind,
            start,
            end: self.end(),
        };
        let mut links = 0;
        while !is_minus && self.accept(&Token::Access) {
            links += 1;
            if links > MAX_DEPTH {
                return Err(TypeParseError::TooDeep {
                    place: Place::of(self.text, self.start()),
                });
            }
            let parameters = self.items(&Token::CloseBracket, false)?;
            expression = Expression {
                kind: Kind::Access(Box::new(expression), parameters),
                start,
                end: self.end(),
            };
        }
        Ok(expression)
    }

    /// Is the next word `type` or `function` in the place of a key?
    fn is_soft_key(&self) -> bool {
        matches!(self.peek(), Some(Token::SoftKeyword(_)))
            && self
                .tokens
                .get(self.position + 1)
                .is_some_and(|next| next.token == Token::Arrow)
    }

    /// Items up to a bracket. Pairs that follow each other are one hash.
    fn items(
        &mut self,
        close: &Token,
        may_be_empty: bool,
    ) -> Result<Vec<Expression>, TypeParseError> {
        let mut items: Vec<Expression> = Vec::new();
        let mut last_is_pair = false;
        if may_be_empty && self.accept(close) {
            return Ok(items);
        }
        loop {
            let item = self.expression()?;
            let is_pair = self.accept(&Token::Arrow);
            if is_pair {
                let start = item.start;
                let value = self.expression()?;
                let end = value.end;
                match items.last_mut() {
                    Some(Expression {
                        kind: Kind::Hash(pairs),
                        end: hash_end,
                        ..
                    }) if last_is_pair => {
                        pairs.push((item, value));
                        *hash_end = end;
                    }
                    _ => items.push(Expression {
                        kind: Kind::Hash(vec![(item, value)]),
                        start,
                        end,
                    }),
                }
            } else {
                items.push(item);
            }
            last_is_pair = is_pair;
            if !self.accept(&Token::Comma) {
                break;
            }
            if self.peek() == Some(close) {
                break;
            }
        }
        self.expect(close)?;
        Ok(items)
    }

    fn pairs(&mut self) -> Result<Vec<(Expression, Expression)>, TypeParseError> {
        let mut pairs = Vec::new();
        while !self.accept(&Token::CloseBrace) {
            let key = self.expression()?;
            self.expect(&Token::Arrow)?;
            pairs.push((key, self.expression()?));
            if !self.accept(&Token::Comma) {
                self.expect(&Token::CloseBrace)?;
                break;
            }
        }
        Ok(pairs)
    }
}
