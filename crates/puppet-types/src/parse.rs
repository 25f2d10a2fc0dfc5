//! The notation of types: tokens to expressions to [`Type`].
//!
//! Puppet parses a type as an expression of its whole language and then refuses what is not a type. This parser only
//! supports expressions that can be part of a type, and refuses others at their first token.

use puppet_values::{Rich, Value};

use super::lexer::{SpannedToken, Token, lex};
use super::{Type, build};

mod error;

pub use error::{Position, TypeParseError};

/// The maximum nesting of types.
const MAX_DEPTH: usize = 64;

/// Names of types in addition to Puppet's own.
#[derive(Debug, Default)]
pub(crate) struct TypeNames {
    pub(crate) types: Vec<(String, Type)>,
}

/// Parses a type. `names` are defined in addition to Puppet's own.
pub(super) fn parse(text: &str, names: &TypeNames) -> Result<Type, TypeParseError> {
    let not_a_type = || TypeParseError::NotAType {
        expression: text.trim().to_owned(),
    };
    // Parsing takes about as long as compiling a small part of a pattern, for each byte.
    _ = work_budget::charge(text.len() as u64);
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
            // Two expressions are a list of statements.
            Token::List | Token::Reference(_) | Token::Text(_) | Token::Integer(_) => not_a_type(),
            _ => parser.unexpected(),
        });
    }
    let context = build::Context { text, names };
    let value = build::interpret(&expression, &context)?;
    Type::from_value(&value).cloned().ok_or_else(not_a_type)
}

/// An expression, with its offsets in bytes.
#[derive(Debug)]
pub(super) struct Expression {
    pub(super) kind: ExpressionKind,
    pub(super) start: usize,
    pub(super) end: usize,
}

#[derive(Debug)]
pub(super) enum ExpressionKind {
    /// A capitalized name.
    Reference(String),
    /// A name with parameters in brackets.
    Access(Box<Expression>, Vec<Expression>),
    /// A literal value.
    Literal(Value),
    /// The source of a regular expression.
    Regexp(String),
    /// `[a, b]`
    List(Vec<Expression>),
    /// `{a => b}`, or pairs among parameters.
    Hash(Vec<(Expression, Expression)>),
    /// `-1`
    Minus(Box<Expression>),
    /// A valid expression that is not a type.
    NotAType,
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<SpannedToken>,
    position: usize,
    depth: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.position).map(|token| &token.token)
    }

    fn start(&self) -> usize {
        self.tokens
            .get(self.position)
            .map_or(self.text.len(), |token| token.start)
    }

    /// The end of the previous token.
    fn end(&self) -> usize {
        self.position
            .checked_sub(1)
            .and_then(|position| self.tokens.get(position))
            .map_or(0, |token| token.end)
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
            Some(token) => TypeParseError::Unexpected {
                found: match &token.token {
                    Token::Text(text) => text.clone(),
                    Token::Unknown => String::new(),
                    _ => self
                        .text
                        .get(token.start..token.end)
                        .unwrap_or_default()
                        .to_owned(),
                },
                position: Position::of(self.text, token.start),
            },
        }
    }

    fn expression(&mut self) -> Result<Expression, TypeParseError> {
        if self.depth == MAX_DEPTH {
            return Err(TypeParseError::TooDeep {
                position: Position::of(self.text, self.start()),
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
            Token::Reference(name) => ExpressionKind::Reference(name),
            Token::Text(text) => ExpressionKind::Literal(Value::str(text)),
            Token::SoftKeyword(word) => ExpressionKind::Literal(Value::str(word)),
            Token::Integer(number) => ExpressionKind::Literal(Value::integer(number)),
            Token::Float(number) => ExpressionKind::Literal(Value::Float(number)),
            Token::Bool(flag) => ExpressionKind::Literal(Value::Bool(flag)),
            Token::Default => ExpressionKind::Literal(Value::Rich(Rich::Default.into())),
            Token::Undef => ExpressionKind::Literal(Value::Null),
            Token::Regexp(source) => ExpressionKind::Regexp(source),
            Token::Interpolated | Token::Reserved => ExpressionKind::NotAType,
            Token::List | Token::Access => {
                ExpressionKind::List(self.items(&Token::CloseBracket, true)?)
            }
            Token::OpenBrace => ExpressionKind::Hash(self.pairs()?),
            Token::Minus => ExpressionKind::Minus(Box::new(self.expression()?)),
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
        let is_minus = matches!(kind, ExpressionKind::Minus(_));
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
                    position: Position::of(self.text, self.start()),
                });
            }
            let parameters = self.items(&Token::CloseBracket, false)?;
            expression = Expression {
                kind: ExpressionKind::Access(Box::new(expression), parameters),
                start,
                end: self.end(),
            };
        }
        Ok(expression)
    }

    /// Is the next token `type` or `function`, used as a key?
    fn is_soft_key(&self) -> bool {
        matches!(self.peek(), Some(Token::SoftKeyword(_)))
            && self
                .tokens
                .get(self.position + 1)
                .is_some_and(|next| next.token == Token::Arrow)
    }

    /// Items up to a bracket. Consecutive pairs are one hash.
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
                        kind: ExpressionKind::Hash(pairs),
                        end: hash_end,
                        ..
                    }) if last_is_pair => {
                        pairs.push((item, value));
                        *hash_end = end;
                    }
                    _ => items.push(Expression {
                        kind: ExpressionKind::Hash(vec![(item, value)]),
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
