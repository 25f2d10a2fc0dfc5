//! Why a text could not be read, in our words and in Puppet's.

use crate::Mark;

/// Why a text could not be read, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {}, column {}: {problem}", mark.line, mark.column)]
pub struct ReadError {
    problem: Box<Problem>,
    mark: Mark,
}

/// What is wrong with a text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// It is not YAML.
    #[error("{problem}{}", context.as_ref().map(|context| format!(" {context}")).unwrap_or_default())]
    Syntax {
        /// What the parser ran into.
        problem: String,
        /// What it was doing at that time, such as `while parsing a block mapping`.
        context: Option<String>,
        /// Where it had begun to do so, which is the place Puppet reports.
        context_mark: Mark,
    },
    /// A value of a Ruby class that data may not contain: an unquoted date, or a tag that names one.
    #[error("a value of class `{}` is not allowed", shown(class))]
    Class {
        /// Ruby's name of the class.
        class: String,
    },
    /// An alias without an anchor before it.
    #[error("unknown alias `{}`", shown(name))]
    UnknownAlias {
        /// The name of the anchor.
        name: String,
    },
    /// An alias to a collection that it is itself a part of.
    #[error("alias `{}` refers to a collection that contains it", shown(name))]
    RecursiveAlias {
        /// The name of the anchor.
        name: String,
    },
    /// A scalar that looks like a number, or must be one by its tag, and is none.
    #[error("`{}` is not a valid {kind}", shown(text))]
    Number {
        /// The text without digit separators.
        text: String,
        /// Which kind of number it should be.
        kind: NumberKind,
    },
    /// `!!float` on a scalar that is neither a number nor a text.
    #[error("{what} cannot be converted to a float")]
    NotAFloat {
        /// The scalar in Ruby's words: `nil`, `true`, `false` or `Symbol`.
        what: &'static str,
    },
    /// A tag that does not fit the node it stands on.
    #[error("tag `{}` cannot be used here", shown(tag))]
    Tag {
        /// The tag.
        tag: String,
    },
    /// A tag that its escapes make invalid.
    #[error("tag is not valid UTF-8")]
    TagEncoding,
    /// A limit of ours: Puppet has none there, or runs out of memory or stack.
    #[error("{0}")]
    Limit(Limit),
}

/// The kinds of number that a text can fail to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NumberKind {
    /// A whole number.
    Integer,
    /// A number with a fraction.
    Float,
}

/// A limit that a document exceeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Limit {
    /// [`Limits::depth`](crate::Limits::depth).
    #[error("nested deeper than {0} collections")]
    Depth(usize),
    /// Nesting in flow style.
    #[error("nested deeper than {0} collections in flow style")]
    FlowDepth(usize),
    /// [`Limits::nodes`](crate::Limits::nodes).
    #[error("more than {0} values")]
    Nodes(usize),
    /// [`Limits::expanded_nodes`](crate::Limits::expanded_nodes).
    #[error("more than {0} values after expanding aliases")]
    ExpandedNodes(usize),
    /// Digits of one integer.
    #[error("an integer of more than {0} characters")]
    IntegerLength(usize),
    /// `%TAG` lines.
    #[error("more than {0} directives")]
    Directives(usize),
}

impl ReadError {
    pub(crate) fn new(problem: Problem, mark: Mark) -> Self {
        ReadError {
            problem: Box::new(problem),
            mark,
        }
    }

    /// What is wrong, without the place.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// The place of the problem itself, which is not always the one in Puppet's message.
    pub fn mark(&self) -> Mark {
        self.mark
    }

    /// What Puppet's `YamlLoadError` says about the file at `path`.
    ///
    /// Where Puppet has no such error, because the limit is ours or because Ruby prints parts of its own source, the
    /// text is ours in the same form.
    pub fn puppet_message(&self, path: &str) -> String {
        match self.problem() {
            Problem::Syntax {
                context_mark: Mark { line, column },
                ..
            } => {
                // The library that Ruby uses has a slip of the pen in one of its messages.
                let problem = self
                    .problem
                    .to_string()
                    .replace("hexadecimal", "hexdecimal");
                format!("({path}): {problem} at line {line} column {column}")
            }
            Problem::Class { class } => {
                format!("({path}): Tried to load unspecified class: {class}")
            }
            Problem::UnknownAlias { name } => format!("Unknown alias: {name}"),
            Problem::Number { text, kind } => {
                format!("invalid value for {kind:?}(): {}", inspect(text))
            }
            Problem::NotAFloat { what } => format!("can't convert {what} into Float"),
            Problem::TagEncoding => "invalid byte sequence in UTF-8".to_owned(),
            Problem::RecursiveAlias { .. } => "stack level too deep".to_owned(),
            Problem::Tag { .. } | Problem::Limit(_) => {
                let Mark { line, column } = self.mark;
                format!("({path}): {} at line {line} column {column}", self.problem)
            }
        }
    }
}

impl std::fmt::Display for NumberKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            NumberKind::Integer => "integer",
            NumberKind::Float => "float",
        })
    }
}

/// A text of the user's on one line, and not much of it.
fn shown(text: &str) -> String {
    const LONGEST: usize = 80;
    let mut characters = text.escape_debug();
    let mut shown: String = characters.by_ref().take(LONGEST).collect();
    if characters.next().is_some() {
        shown.push('…');
    }
    shown
}

/// A text as Ruby's `inspect` shows it in the messages of `Integer()` and `Float()`, which take it for bytes.
fn inspect(text: &str) -> String {
    let mut shown = String::from("\"");
    let mut bytes = text.bytes().peekable();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' | b'\\' => shown.extend(['\\', char::from(byte)]),
            b'#' if matches!(bytes.peek(), Some(b'{' | b'$' | b'@')) => shown.push_str("\\#"),
            b'\n' => shown.push_str("\\n"),
            b'\r' => shown.push_str("\\r"),
            b'\t' => shown.push_str("\\t"),
            0x0c => shown.push_str("\\f"),
            0x0b => shown.push_str("\\v"),
            0x08 => shown.push_str("\\b"),
            0x07 => shown.push_str("\\a"),
            0x1b => shown.push_str("\\e"),
            b' '..=b'~' => shown.push(char::from(byte)),
            _ => shown.push_str(&format!("\\x{byte:02X}")),
        }
    }
    shown.push('"');
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> ReadError {
        crate::parse(text.as_bytes()).expect_err(text)
    }

    #[test]
    fn the_place_is_that_of_the_problem() {
        for (text, message, puppet) in [
            (
                "a: 1\nb: [c, d\n",
                "line 3, column 1: did not find expected ',' or ']' while parsing a flow sequence",
                "(p): did not find expected ',' or ']' while parsing a flow sequence at line 2 column 4",
            ),
            (
                "a: é\nb: é\u{1}\n",
                "line 2, column 5: control characters are not allowed",
                "(p): control characters are not allowed at line 1 column 1",
            ),
            (
                "a: 2020-01-01\n",
                "line 1, column 4: a value of class `Date` is not allowed",
                "(p): Tried to load unspecified class: Date",
            ),
            (
                "a: *b\n",
                "line 1, column 4: unknown alias `b`",
                "Unknown alias: b",
            ),
            (
                "- \"\\x4z\"",
                "line 1, column 6: did not find expected hexadecimal number while parsing a quoted scalar",
                "(p): did not find expected hexdecimal number while parsing a quoted scalar at line 1 column 3",
            ),
            (
                "- !!float \"a\\n\\eé#{\"",
                "line 1, column 3: `a\\n\\u{1b}é#{` is not a valid float",
                "invalid value for Float(): \"a\\n\\e\\xC3\\xA9\\#{\"",
            ),
        ] {
            let error = error(text);
            assert_eq!(error.to_string(), message);
            assert_eq!(error.puppet_message("p"), puppet);
        }
    }

    #[test]
    fn an_error_of_the_syntax_comes_before_one_of_a_value() {
        let mark = Mark { line: 2, column: 5 };
        assert_eq!(error("a: 2020-01-01\nb: c: d\n").mark(), mark);
    }

    #[test]
    fn a_message_shows_little_of_the_text() {
        let text = format!("!!float {}", "x\u{2003}".repeat(1000));
        assert!(error(&text).to_string().len() < 1000);
    }
}
