//! A string with `%{...}` → [`Template`]: parsed once, when a file is read, not on every lookup.

mod error;

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use arcstr::ArcStr;
use puppet_values::{TemplateText, Value};
use regex::Regex;

pub use self::error::InterpolationError;
use crate::key::{KeyError, LookupKey, Segment, is_strippable, split_segments};

/// A string with interpolation tokens.
#[derive(Clone, Debug)]
pub struct Template {
    source: ArcStr,
    parts: Box<[Part]>,
    origin: Origin,
}

/// Where the text of a template comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// It is written in the file.
    Plain,
    /// It was decrypted, and must not be shown in explanations and errors.
    Decrypted,
    /// It could not be decrypted, for this reason.
    Undecryptable(DecryptFault),
}

/// Why a text cannot be decrypted. Nothing in it is secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecryptFault {
    /// For error messages.
    pub reason: ArcStr,
    /// Ruby's message, for explanations; `None` if it is not known or differs between versions.
    pub puppet_text: Option<ArcStr>,
}

impl DecryptFault {
    /// A fault that Puppet has no message for.
    pub fn new(reason: &str) -> Self {
        DecryptFault {
            reason: reason.into(),
            puppet_text: None,
        }
    }
}

/// A part of a template.
#[derive(Clone, Debug)]
pub enum Part {
    /// Literal text.
    Text(ArcStr),
    /// A `%{...}`.
    Token(Token),
}

/// What is between `%{` and `}`.
#[derive(Clone, Debug)]
pub enum Token {
    /// `%{}`, `%{::}`, `%{''}`: an empty string.
    Empty,
    /// `%{name.sub.0}`: a variable.
    Variable(Variable),
    /// `%{function('argument')}`.
    Call {
        /// The function that was named.
        function: Function,
        /// Its argument, without quotes.
        argument: ArcStr,
        /// The argument as a key, for the functions that look one up.
        key: Result<LookupKey, KeyError>,
        /// The argument as a variable, for `scope`.
        variable: Option<Variable>,
    },
}

/// A variable and what is dug out of it.
#[derive(Clone, Debug)]
pub struct Variable {
    /// As written, without surrounding spaces.
    pub text: ArcStr,
    /// Its name and the segments after it.
    pub path: Result<(ArcStr, Box<[Segment]>), KeyError>,
}

/// The functions of interpolation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Function {
    /// `lookup` and its synonym `hiera`.
    Lookup,
    /// `alias`: the looked-up value itself, not its text.
    Alias,
    /// `literal`: its argument.
    Literal,
    /// `scope`: a variable.
    Scope,
    /// Any other name: an error for lookups that reach it.
    Unknown(ArcStr),
}

/// Ruby's `^` and `$` hold at every line, and `\w` is ASCII.
static CALL: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"(?m)^([0-9A-Za-z_]+)\((?:"([^"]+)"|'([^']+)')\)$"#).ok());

impl Template {
    /// Parses a string; `None` if it has no `%{`.
    pub fn parse(text: &str) -> Option<Self> {
        // Nearly every string has no `%`, and most are too short for a faster search to pay off.
        let mut signs = memchr::memchr_iter(b'%', text.as_bytes());
        signs.find(|index| text.as_bytes().get(index + 1) == Some(&b'{'))?;
        Some(Template {
            source: text.into(),
            parts: split(text),
            origin: Origin::Plain,
        })
    }

    /// A string that was decrypted; `source` is what is written in the file.
    pub fn decrypted(source: &str, text: &str) -> Self {
        Template {
            source: source.into(),
            parts: split(text),
            origin: Origin::Decrypted,
        }
    }

    /// A string that could not be decrypted.
    pub fn undecryptable(source: &str, fault: DecryptFault) -> Self {
        Template {
            source: source.into(),
            parts: Box::default(),
            origin: Origin::Undecryptable(fault),
        }
    }

    /// The template that a value carries, parsed again if another crate put it there.
    pub fn of(text: &TemplateText) -> Cow<'_, Template> {
        match text.parsed() {
            Some(template) => Cow::Borrowed(template),
            None => Cow::Owned(Template {
                source: text.source().clone(),
                parts: split(text.source()),
                origin: Origin::Plain,
            }),
        }
    }

    /// The template as a value.
    pub fn into_value(self) -> Value {
        Value::Template(Arc::new(TemplateText::new(self.source.clone(), self)))
    }

    /// The string with each token replaced by the same name.
    pub fn with_tokens_as(&self, name: &str) -> String {
        let parts = self.parts.iter().map(|part| match part {
            Part::Text(text) => text,
            Part::Token(_) => name,
        });
        parts.collect()
    }

    /// Where its text comes from.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// As written.
    pub fn source(&self) -> &ArcStr {
        &self.source
    }

    /// Its parts in order.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }
}

/// Splits a string at its tokens.
fn split(text: &str) -> Box<[Part]> {
    let mut parts = Vec::new();
    let mut literal = String::new();
    let mut rest = text;
    while let Some((before, inside)) = rest.split_once("%{") {
        literal.push_str(before);
        // An unclosed token is text.
        let Some((expression, behind)) = inside.split_once('}') else {
            literal.push_str("%{");
            rest = inside;
            break;
        };
        if !literal.is_empty() {
            parts.push(Part::Text(std::mem::take(&mut literal).into()));
        }
        parts.push(Part::Token(Token::parse(
            expression.trim_matches(is_strippable),
        )));
        rest = behind;
    }
    literal.push_str(rest);
    if !literal.is_empty() {
        parts.push(Part::Text(literal.into()));
    }
    parts.into_boxed_slice()
}

impl Token {
    fn parse(expression: &str) -> Self {
        if matches!(expression, "" | "::" | "\"\"" | "''" | "\"::\"" | "'::'") {
            return Token::Empty;
        }
        if expression.contains('(')
            && let Some(found) = CALL.as_ref().and_then(|call| call.captures(expression))
        {
            let text = |group| found.get(group).map(|found| ArcStr::from(found.as_str()));
            let argument = text(2).or_else(|| text(3)).unwrap_or_default();
            let function = match text(1).unwrap_or_default().as_str() {
                "lookup" | "hiera" => Function::Lookup,
                "alias" => Function::Alias,
                "literal" => Function::Literal,
                "scope" => Function::Scope,
                other => Function::Unknown(other.into()),
            };
            let variable = (function == Function::Scope).then(|| Variable::parse(&argument));
            return Token::Call {
                function,
                key: LookupKey::parse(&argument),
                argument,
                variable,
            };
        }
        Token::Variable(Variable::parse(expression))
    }
}

impl Variable {
    /// Parses `name.sub.0`.
    pub fn parse(text: &str) -> Self {
        let path = split_segments(text).and_then(|segments| {
            let mut segments = segments.into_iter();
            match segments.next() {
                Some(Segment::Key(name)) => Ok((name.text().clone(), segments.collect())),
                other => Err(KeyError::number_first(text, other.as_ref())),
            }
        });
        Variable {
            text: text.into(),
            path,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let template = Template::parse(text).unwrap();
        let shown: Vec<String> = template
            .parts()
            .iter()
            .map(|part| match part {
                Part::Text(text) => format!("={text}"),
                Part::Token(Token::Empty) => "nothing".to_owned(),
                Part::Token(Token::Variable(variable)) => format!("${}", variable.text),
                Part::Token(Token::Call {
                    function, argument, ..
                }) => format!("{function:?} {argument}"),
            })
            .collect();
        assert_eq!(shown, expected, "{text}");
    }

    #[test]
    fn a_string_is_split_at_its_tokens() {
        check("a%{b}c", &["=a", "$b", "=c"]);
        check("%{ facts.os.family }", &["$facts.os.family"]);
        check("%{lookup('k')}%{hiera(\"l\")}", &["Lookup k", "Lookup l"]);
        check("%{literal('%')}{SERVER}", &["Literal %", "={SERVER}"]);
        check("%{nope('x')}", &["Unknown(\"nope\") x"]);
        check(
            "%{}-%{::}-%{''}",
            &["nothing", "=-", "nothing", "=-", "nothing"],
        );
        check("%{lookup(x)}", &["$lookup(x)"]);
        check("a%{open", &["=a%{open"]);
        check("%{a%{b}", &["$a%{b"]);
    }

    #[test]
    fn a_string_without_tokens_is_not_a_template() {
        assert!(Template::parse("100% {x}").is_none());
    }
}
