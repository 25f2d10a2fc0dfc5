//! Errors of reading, with our messages and with Puppet's.

use crate::Mark;
use crate::ruby::inspect_bytes;

/// A problem in a document, and its position.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {}, column {}: {problem}", mark.line, mark.column)]
pub struct ReadError {
    problem: Box<Problem>,
    mark: Mark,
}

/// What is wrong with a document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// It is not YAML.
    #[error("{problem}{}", context.as_ref().map(|context| format!(" {context}")).unwrap_or_default())]
    Syntax {
        /// What the parser found.
        problem: String,
        /// What the parser was doing, such as `while parsing a block mapping`.
        context: Option<String>,
        /// Where the parser had started doing that. Puppet reports this position.
        context_mark: Mark,
    },
    /// A value of a Ruby class that data may not contain: an unquoted date, or a tag that names one.
    #[error("a value of class `{}` is not allowed", shown(class))]
    Class {
        /// Ruby's name for the class.
        class: String,
    },
    /// An alias before its anchor, or without one.
    #[error("unknown alias `{}`", shown(name))]
    UnknownAlias {
        /// The name of the anchor.
        name: String,
    },
    /// An alias to a collection that contains it.
    #[error("alias `{}` refers to a collection that contains it", shown(name))]
    RecursiveAlias {
        /// The name of the anchor.
        name: String,
    },
    /// A scalar that looks like a number, or is tagged as one, but is not valid.
    #[error("`{}` is not a valid {kind}", shown(text))]
    Number {
        /// The scalar without digit separators.
        text: String,
        /// The kind of number that it should be.
        kind: NumberKind,
    },
    /// `!!float` on a scalar that is neither a number nor a string.
    #[error("{what} cannot be converted to a float")]
    NotAFloat {
        /// What Ruby calls the scalar: `nil`, `true`, `false` or `Symbol`.
        what: &'static str,
    },
    /// A tag that does not fit its node.
    #[error("tag `{}` cannot be used here", shown(tag))]
    Tag {
        /// The tag.
        tag: String,
    },
    /// A tag with escapes that are not UTF-8.
    #[error("tag is not valid UTF-8")]
    TagEncoding,
    /// A limit of this crate. Puppet has none here, or runs out of memory or stack.
    #[error("{0}")]
    Limit(Limit),
}

/// Kinds of numbers.
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
    /// Nesting of flow collections.
    #[error("nested deeper than {0} collections in flow style")]
    FlowDepth(usize),
    /// [`Limits::nodes`](crate::Limits::nodes).
    #[error("more than {0} values")]
    Nodes(usize),
    /// [`Limits::expanded_nodes`](crate::Limits::expanded_nodes).
    #[error("more than {0} values after expanding aliases")]
    ExpandedNodes(usize),
    /// The length of an integer.
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

    /// What is wrong, without the position.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// The position of the problem, which may differ from the one in Puppet's message.
    pub fn mark(&self) -> Mark {
        self.mark
    }

    /// The message of Puppet's `YamlLoadError` for the file at `path`.
    ///
    /// Puppet has no message for the limits of this crate, and for misplaced tags Ruby prints parts of its own source.
    /// These get our message in the same form.
    pub fn puppet_message(&self, path: &str) -> String {
        match self.problem() {
            Problem::Syntax {
                context_mark: Mark { line, column },
                ..
            } => {
                // The C library has a typo in one of its messages.
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
                // These messages show the string as bytes.
                let text = inspect_bytes(text.as_bytes());
                format!("invalid value for {kind:?}(): {text}")
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

/// User input on one line, cut after some 80 characters.
fn shown(text: &str) -> String {
    const MAX_LENGTH: usize = 80;
    let mut characters = text.escape_debug();
    let mut shown: String = characters.by_ref().take(MAX_LENGTH).collect();
    if characters.next().is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> ReadError {
        crate::parse(text.as_bytes()).expect_err(text)
    }

    #[test]
    fn an_error_has_the_position_of_the_problem() {
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
    fn a_syntax_error_is_reported_before_an_invalid_value() {
        let mark = Mark { line: 2, column: 5 };
        assert_eq!(error("a: 2020-01-01\nb: c: d\n").mark(), mark);
    }

    #[test]
    fn long_input_is_cut_in_messages() {
        let text = format!("!!float {}", "x\u{2003}".repeat(1000));
        assert!(error(&text).to_string().len() < 1000);
    }
}
