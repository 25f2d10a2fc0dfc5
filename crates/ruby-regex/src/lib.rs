#![doc = include_str!("../README.md")]
//!
//! ## Reading order
//! `unescape` resolves escapes, `parse` builds a tree (`ast`), and `check` refuses what Ruby refuses. `linear` translates
//! the tree for the regex crate; `program` compiles it for `backtrack`, the matcher for all other patterns.
//! `pattern_set` combines patterns.
#![warn(missing_docs)]

mod ast;
mod backtrack;
mod char_sets;
mod check;
mod fold;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod linear;
mod parse;
mod pattern_set;
mod prefilter;
mod program;
mod unescape;

use std::sync::Arc;

use regex::{Regex, RegexBuilder};

use check::Groups;
use linear::Validity;
use program::Program;

pub use pattern_set::PatternSet;

/// The maximum size of a pattern's automaton in bytes.
const SIZE_LIMIT: usize = 4 << 20;
/// What compiling a pattern costs: some 20 µs, and for each range of characters in it 1.3 µs and 160 bytes.
const COMPILE_STEPS: u64 = 2_000;
const STEPS_PER_RANGE: u64 = 130;
const BYTES_PER_RANGE: usize = 160;
/// Ranges that fill an automaton of the maximum size. Compiling more ends there.
const MAX_RANGES: u64 = (SIZE_LIMIT / BYTES_PER_RANGE) as u64;
/// The maximum nesting of a translated pattern, which has more groups than the original.
const NEST_LIMIT: u32 = 2000;

/// A pattern that Ruby refuses, with Ruby's message, or that exceeds a limit of this crate.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem}: /{pattern}/")]
pub struct RegexError {
    /// The pattern as written.
    pub pattern: String,
    /// What is wrong with it.
    pub problem: RegexProblem,
}

/// What can be wrong with a pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegexProblem {
    /// Ruby refuses it, with this message.
    #[error("{0}")]
    Refused(&'static str),
    /// `\k<name>` or `\g<name>` without a group of that name, or before it.
    #[error("undefined name <{0}> reference")]
    UndefinedName(String),
    /// `\p{name}` with an unknown name.
    #[error("invalid character property name {{{0}}}")]
    UnknownProperty(String),
    /// Ruby accepts it, this crate does not.
    #[error("{0} is not supported")]
    Unsupported(&'static str),
    /// Groups are nested too deeply.
    #[error("groups nested too deeply")]
    TooDeep,
    /// The pattern needs too much memory or time.
    #[error("too large")]
    TooLarge,
}

/// Why there is no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MatchError {
    /// Backtracking took too many steps.
    #[error("gave up matching after too many steps")]
    TooManySteps {
        /// The limit of one match.
        limit: u64,
    },
}

impl MatchError {
    const TOO_MANY_STEPS: MatchError = MatchError::TooManySteps {
        limit: backtrack::MAX_STEPS as u64,
    };
}

/// A regular expression with Ruby's syntax and semantics.
///
/// ```
/// let regex = ruby_regex::RubyRegex::new(r"\A(?!legacy)\w+\Z")?;
/// assert!(regex.is_match("users\n")?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct RubyRegex {
    pattern: Arc<str>,
    /// The translation for the regex crate, if there is one.
    linear: Option<Arc<Linear>>,
    /// For patterns without a translation, and for input that the translation is not valid for.
    backtracking: Option<Arc<Program>>,
}

#[derive(Debug)]
struct Linear {
    regex: Regex,
    validity: Validity,
}

impl RubyRegex {
    /// Compiles a pattern.
    ///
    /// # Errors
    ///
    /// If Ruby refuses the pattern, or it exceeds a limit.
    pub fn new(pattern: &str) -> Result<Self, RegexError> {
        Self::compile(pattern).map_err(|problem| RegexError {
            pattern: pattern.to_owned(),
            problem,
        })
    }

    fn compile(pattern: &str) -> Result<Self, RegexProblem> {
        let parsed = parse::parse(&unescape::unescape(pattern)?)?;
        let groups = Groups::new(&parsed.node, parsed.groups);
        check::check(&parsed.node, &groups)?;
        let linear = match linear::translate(&parsed.node) {
            Some(translation) => {
                let ranges = linear::ranges(&parsed.node).min(MAX_RANGES);
                if work_budget::charge(COMPILE_STEPS + ranges * STEPS_PER_RANGE).is_err()
                    || work_budget::charge_bytes(ranges as usize * BYTES_PER_RANGE).is_err()
                {
                    return Err(RegexProblem::TooLarge);
                }
                let regex = RegexBuilder::new(&translation)
                    .size_limit(SIZE_LIMIT)
                    .nest_limit(NEST_LIMIT)
                    .build()
                    .map_err(|_| RegexProblem::TooLarge)?;
                Some(Arc::new(Linear {
                    regex,
                    validity: Validity::of(&parsed.node),
                }))
            }
            None => None,
        };
        let is_always_linear = |linear: &Arc<Linear>| linear.validity == Validity::default();
        let needs_program = !linear.as_ref().is_some_and(is_always_linear);
        let backtracking = match needs_program {
            true => Some(program::compile(&parsed.node, &groups, parsed.groups)?),
            false => None,
        };
        Ok(RubyRegex {
            pattern: pattern.into(),
            linear,
            backtracking: backtracking.map(Arc::new),
        })
    }

    /// Does the pattern match anywhere in the string?
    ///
    /// # Errors
    ///
    /// If backtracking takes too many steps.
    pub fn is_match(&self, text: &str) -> Result<bool, MatchError> {
        match (&self.linear, &self.backtracking) {
            (Some(linear), Some(program)) if !linear.validity.holds_for(text) => {
                backtrack::is_match(program, text)
            }
            (Some(linear), _) => {
                // A linear match takes about a nanosecond for each byte.
                match work_budget::charge(1 + text.len() as u64 / 8) {
                    Ok(()) => Ok(linear.regex.is_match(text)),
                    Err(_) => Err(MatchError::TOO_MANY_STEPS),
                }
            }
            (None, Some(program)) => backtrack::is_match(program, text),
            (None, None) => Ok(false),
        }
    }

    /// The pattern as written.
    pub fn as_str(&self) -> &str {
        &self.pattern
    }

    /// The pattern in the syntax of the regex crate, and the input for which it is valid.
    fn translation(&self) -> Option<(&str, Validity)> {
        let linear = self.linear.as_ref()?;
        Some((linear.regex.as_str(), linear.validity))
    }
}

/// Does Ruby's `String#inspect` print a character without an escape?
pub fn is_printable(char: char) -> bool {
    char.is_ascii_graphic() || char == ' ' || fold::contains(&char_sets::PRINTABLE, char)
}

#[cfg(test)]
mod tests;
