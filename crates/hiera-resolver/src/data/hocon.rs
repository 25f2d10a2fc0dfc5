//! HOCON data files → [`Value`], read as ruby-hocon 1.3.1 (Puppet's function `hocon_data`) reads them.
//!
//! The text becomes tokens, the tokens a tree with unresolved substitutions in which later fields are merged over earlier
//! ones, and the tree, once its substitutions are resolved, a value. The library has habits that no specification asks for
//! (a merge puts the newest keys first, a merge stack inside a list is refused, a whole float becomes an integer). Data
//! that works with Puppet works with these habits, so they are kept.
//!
//! Puppet: access to the outside is left out. A substitution never sees an environment variable, because that would show
//! the server's secrets to everyone who may write data, and `include` never reads anything.

mod document;
mod merge;
mod node;
mod number;
mod path;
mod refusal;
mod resolve;
mod source;
mod string;
mod token;
mod unwrap;

use puppet_values::Value;

use super::characters::line_and_column;

/// Levels of lists and objects. Ruby's stack ends somewhere beyond 1,000.
const MAX_DEPTH: usize = 256;

/// A text that ruby-hocon refuses, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {problem}")]
pub struct HoconError {
    /// The line, counted from 1.
    pub line: usize,
    /// The character in the line, counted from 1.
    pub column: usize,
    /// What is wrong there.
    pub problem: HoconProblem,
    /// The library's message; `None` if it fails in a way that it does not expect.
    pub ruby_message: Option<String>,
}

/// What can be wrong with a HOCON text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HoconProblem {
    /// Something that is not allowed here.
    #[error("unexpected {found}, expected {expected}")]
    Unexpected {
        /// What is there.
        found: String,
        /// What should be there.
        expected: &'static str,
    },
    /// A character that has to be quoted.
    #[error("`{0}` must stand in double quotes here")]
    Reserved(char),
    /// Bytes that are not UTF-8, where Ruby looks at characters.
    #[error("text that is not UTF-8")]
    NotUtf8,
    /// A string without its closing quotes.
    #[error("string without an end")]
    OpenString,
    /// `${` without its brace.
    #[error("substitution without an end")]
    OpenSubstitution,
    /// A line break, tab or other control character inside a string.
    #[error("control character `{}` in a string, write it as an escape", .0.escape_debug())]
    ControlCharacter(char),
    /// A backslash before something that it does not escape.
    #[error("unknown escape in a string")]
    Escape,
    /// `\u` without four hexadecimal digits, or the one escape that the library takes for a mistake: `\u005f`.
    #[error("`\\u` without four hexadecimal digits, or with the ones of an underscore")]
    UnicodeEscape,
    /// A number that no float can hold.
    #[error("number out of range")]
    NumberRange,
    /// A path such as `a..b`, with a part that is empty.
    #[error("path with an empty part, write it as `\"\"` if it is meant")]
    EmptyPathPart,
    /// A list where the document's object should be.
    #[error("the document is a list, expected an object")]
    ListAtRoot,
    /// `+=` inside a list or inside the value of another `+=`.
    #[error("`+=` does not work inside a list")]
    AppendInList,
    /// `include` of something that would have to be read.
    #[error("`include` of {0} is not supported")]
    Include(&'static str),
    /// Adjacent values that cannot be joined.
    #[error("a list or an object cannot be joined with {0}")]
    Join(&'static str),
    /// A substitution whose path has no value.
    #[error("`${{{0}}}` has no value")]
    Undefined(String),
    /// A substitution that needs its own value.
    #[error("`${{{0}}}` needs its own value")]
    Cycle(String),
    /// Merges and substitutions that the library cannot resolve.
    #[error("these substitutions and merges are beyond what the HOCON library can resolve")]
    Unresolvable,
    /// Nested deeper than is read.
    #[error("nesting of {MAX_DEPTH} levels exceeded")]
    TooDeep,
    /// Substitutions that lead to substitutions, and so on.
    #[error("substitutions refer to each other too many times")]
    TooManyLinks,
    /// Substitutions that multiply.
    #[error("substitutions take too many steps")]
    TooMuchWork,
}

/// A problem and the offset of its first byte.
#[derive(Debug)]
struct Failure {
    at: usize,
    problem: HoconProblem,
}

/// Reads a HOCON document. `text_of` makes the value of each string and of each key.
///
/// A string that is not UTF-8 (triple quotes take any byte, and `\u` half a surrogate pair) becomes
/// [`Value::Bytes`] and does not reach `text_of`.
pub fn parse(text: &[u8], text_of: &mut dyn FnMut(&str) -> Value) -> Result<Value, HoconError> {
    read(text, text_of).map_err(|failure| {
        let (line, column) = line_and_column(text, failure.at);
        HoconError {
            line,
            column,
            ruby_message: refusal::message(text, &failure),
            problem: failure.problem,
        }
    })
}

fn read(text: &[u8], text_of: &mut dyn FnMut(&str) -> Value) -> Result<Value, Failure> {
    let tokens = token::tokens(text)?;
    let size = tokens.len();
    let root = document::root(tokens)?;
    let resolved = resolve::resolve(&root)?;
    unwrap::unwrap(&resolved, size, text_of)
}

fn fail<T>(at: usize, problem: HoconProblem) -> Result<T, Failure> {
    Err(Failure { at, problem })
}

#[cfg(test)]
mod tests;
