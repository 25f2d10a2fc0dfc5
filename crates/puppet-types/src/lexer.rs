//! The tokens of types: the part of Puppet's lexer that types need.

use num_bigint::BigInt;

use super::TypeParseError;
use super::parse::Position;

mod literal;

/// A token.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    /// A capitalized name such as `Integer`.
    Reference(String),
    /// A bare word or a quoted string.
    Text(String),
    /// A quoted string with a variable.
    Interpolated,
    /// A whole number.
    Integer(BigInt),
    /// A number with a fraction or an exponent.
    Float(f64),
    /// The source of a regular expression.
    Regexp(String),
    /// `true` or `false`.
    Bool(bool),
    /// `default`.
    Default,
    /// `undef`.
    Undef,
    /// `type` or `function`, which are only strings as keys of a hash.
    SoftKeyword(&'static str),
    /// `attr` or `private`, which are reserved.
    Reserved,
    /// `[` without a space before it.
    Access,
    /// `[` after a space.
    List,
    /// `]`
    CloseBracket,
    /// `{`
    OpenBrace,
    /// `}`
    CloseBrace,
    /// `,`
    Comma,
    /// `=>`
    Arrow,
    /// `-`
    Minus,
    /// A token of the Puppet language that types do not use.
    Other,
    /// A character that is not part of the Puppet language. Messages leave it out.
    Unknown,
}

/// A token and its offsets in bytes.
#[derive(Clone, Debug)]
pub(super) struct SpannedToken {
    pub(super) token: Token,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Splits a type into tokens.
pub(super) fn lex(text: &str) -> Result<Vec<SpannedToken>, TypeParseError> {
    let mut lexer = Lexer { text, position: 0 };
    let mut tokens: Vec<SpannedToken> = Vec::new();
    loop {
        lexer.skip_blank()?;
        let start = lexer.position;
        let Some(token) = lexer.next_token(tokens.last().map(|last| &last.token))? else {
            return Ok(tokens);
        };
        tokens.push(SpannedToken {
            token,
            start,
            end: lexer.position,
        });
    }
}

struct Lexer<'a> {
    text: &'a str,
    position: usize,
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.position..).unwrap_or_default()
    }

    fn take(&mut self, length: usize) -> &'a str {
        let taken = self.rest().get(..length).unwrap_or_default();
        self.position += taken.len();
        taken
    }

    fn take_while(&mut self, accept: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        self.take(rest.find(|char| !accept(char)).unwrap_or(rest.len()))
    }

    fn fail(&self, start: usize, problem: impl Into<String>) -> TypeParseError {
        TypeParseError::Token {
            problem: problem.into(),
            position: Position::of(self.text, start),
        }
    }

    fn skip_blank(&mut self) -> Result<(), TypeParseError> {
        loop {
            self.take_while(char::is_whitespace);
            let rest = self.rest();
            if rest.starts_with('#') {
                self.take_while(|char| char != '\n');
            } else if rest.starts_with("/*") {
                let Some(end) = rest.find("*/") else {
                    return Err(self.fail(self.position, "Unclosed multiline comment"));
                };
                self.take(end + 2);
            } else {
                return Ok(());
            }
        }
    }

    fn next_token(&mut self, previous: Option<&Token>) -> Result<Option<Token>, TypeParseError> {
        let rest = self.rest();
        let Some(first) = rest.chars().next() else {
            return Ok(None);
        };
        if rest.starts_with("=>") {
            self.take(2);
            return Ok(Some(Token::Arrow));
        }
        let single = match first {
            '[' => {
                let before = self.text.get(..self.position).unwrap_or_default();
                if before.is_empty() || before.ends_with(char::is_whitespace) {
                    Token::List
                } else {
                    Token::Access
                }
            }
            ']' => Token::CloseBracket,
            '{' => Token::OpenBrace,
            '}' => Token::CloseBrace,
            ',' => Token::Comma,
            '-' if !rest.starts_with("->") && !rest.starts_with("-=") => Token::Minus,
            'A'..='Z' => return self.reference().map(Some),
            ':' if starts_upper(rest.strip_prefix("::")) => return self.reference().map(Some),
            ':' if rest.starts_with("::") => return self.word().map(Some),
            'a'..='z' | '_' => return self.word().map(Some),
            '0'..='9' => return self.number().map(Some),
            '\'' => return self.single_quoted().map(Some),
            '"' => return self.double_quoted().map(Some),
            '/' if regexp_may_follow(previous) => return Ok(Some(self.regexp())),
            '^' | '`' | '&' | '\\' | '\0'..' ' | '\x7f'.. => Token::Unknown,
            _ => Token::Other,
        };
        self.take(first.len_utf8());
        Ok(Some(single))
    }

    /// `Name` or `::Name::Other`.
    fn reference(&mut self) -> Result<Token, TypeParseError> {
        let start = self.position;
        loop {
            let rest = self.rest();
            let prefix = if rest.starts_with("::") { 2 } else { 0 };
            if !starts_upper(rest.get(prefix..)) {
                break;
            }
            self.take(prefix);
            self.take_while(is_word);
        }
        if self.rest().starts_with("::") {
            return Err(self.fail(self.position + 1, "Illegal class reference"));
        }
        let name = self.text.get(start..self.position).unwrap_or_default();
        Ok(Token::Reference(name.to_owned()))
    }

    /// A keyword, or a bare word, which is a string. It can contain hyphens.
    fn word(&mut self) -> Result<Token, TypeParseError> {
        let start = self.position;
        loop {
            let rest = self.rest();
            let prefix = if rest.starts_with("::") { 2 } else { 0 };
            let opens = rest.get(prefix..).unwrap_or_default();
            if !opens.starts_with(|char: char| char.is_ascii_lowercase() || char == '_') {
                break;
            }
            self.take(prefix);
            let part = opens
                .find(|char: char| !is_word(char) && char != '-')
                .map_or(opens, |end| opens.get(..end).unwrap_or_default());
            self.take(part.trim_end_matches('-').len());
        }
        let word = self.text.get(start..self.position).unwrap_or_default();
        if word.is_empty() {
            return Err(self.fail(start + 1, "Illegal fully qualified name"));
        }
        Ok(match word {
            "true" => Token::Bool(true),
            "false" => Token::Bool(false),
            "default" => Token::Default,
            "undef" => Token::Undef,
            "type" => Token::SoftKeyword("type"),
            "function" => Token::SoftKeyword("function"),
            "attr" | "private" => Token::Reserved,
            "case" | "class" | "define" | "if" | "elsif" | "else" | "inherits" | "node" | "and"
            | "or" | "in" | "unless" => Token::Other,
            word => Token::Text(word.to_owned()),
        })
    }
}

fn is_word(char: char) -> bool {
    char.is_ascii_alphanumeric() || char == '_'
}

fn starts_upper(text: Option<&str>) -> bool {
    text.is_some_and(|text| text.starts_with(|char: char| char.is_ascii_uppercase()))
}

/// After a value, a slash is a division.
fn regexp_may_follow(previous: Option<&Token>) -> bool {
    !matches!(
        previous,
        Some(
            Token::Reference(_)
                | Token::Text(_)
                | Token::Interpolated
                | Token::Integer(_)
                | Token::Float(_)
                | Token::Regexp(_)
                | Token::Bool(_)
                | Token::CloseBracket
        )
    )
}
