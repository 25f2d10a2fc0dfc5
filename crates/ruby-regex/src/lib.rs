#![doc = include_str!("../README.md")]
//!
//! ## Reading order
//! `unescape` resolves escapes, `parse` makes a tree (`ast`) and `check` refuses what Ruby refuses. `linear` translates
//! the tree for the regex crate; `program` compiles it for `backtrack`, the matcher for everything else. `set` combines
//! patterns.
#![warn(missing_docs)]

mod ast;
mod backtrack;
mod blocks;
mod check;
mod fence;
mod fold;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod linear;
mod parse;
mod program;
mod set;
mod sets;
mod unescape;

use std::sync::Arc;

use regex::{Regex, RegexBuilder};

use check::Groups;
use linear::Validity;
use program::Program;

pub use set::PatternSet;

/// Bytes that the automaton of a pattern may take.
const SIZE_LIMIT: usize = 4 << 20;
/// Groups in groups of a translated pattern, which has more of them than the original.
const NEST_LIMIT: u32 = 2000;

/// A pattern that Ruby refuses, or that is beyond our bounds. The text is Ruby's.
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
pub enum RegexProblem {
    /// Ruby refuses it too, in these words.
    #[error("{0}")]
    Refused(&'static str),
    /// `\k<name>` or `\g<name>` without a group of that name, before it or at all.
    #[error("undefined name <{0}> reference")]
    UndefinedName(String),
    /// `\p{name}` with a name that Unicode does not have.
    #[error("invalid character property name {{{0}}}")]
    UnknownProperty(String),
    /// Ruby takes it, we do not.
    #[error("{0} is not supported")]
    Unsupported(&'static str),
    /// More groups in groups than we follow.
    #[error("groups nested too deeply")]
    TooDeep,
    /// It would take too much memory or time.
    #[error("too large")]
    TooLarge,
}

/// A match that was given up.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MatchError {
    /// The pattern has too many ways to match.
    #[error("gave up matching after too many steps")]
    TooManySteps,
}

/// A regular expression with Ruby's syntax and meaning.
#[derive(Clone, Debug)]
pub struct RubyRegex {
    pattern: Arc<str>,
    /// The pattern for the regex crate, where it has one.
    linear: Option<Arc<Linear>>,
    /// For patterns that have no other way, and for texts that the other is not right for.
    backtracking: Option<Arc<Program>>,
}

#[derive(Debug)]
struct Linear {
    regex: Regex,
    validity: Validity,
}

impl RubyRegex {
    /// Compiles a pattern.
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

    /// Does the pattern match somewhere in the text?
    pub fn is_match(&self, text: &str) -> Result<bool, MatchError> {
        match (&self.linear, &self.backtracking) {
            (Some(linear), Some(program)) if !linear.validity.holds_for(text) => {
                backtrack::is_match(program, text)
            }
            (Some(linear), _) => Ok(linear.regex.is_match(text)),
            (None, Some(program)) => backtrack::is_match(program, text),
            (None, None) => Ok(false),
        }
    }

    /// The pattern as written.
    pub fn as_str(&self) -> &str {
        &self.pattern
    }

    /// The pattern in the syntax of the regex crate, and for which texts it is right.
    fn translation(&self) -> Option<(&str, Validity)> {
        let linear = self.linear.as_ref()?;
        Some((linear.regex.as_str(), linear.validity))
    }
}

/// Does Ruby show a character as it is, where it shows a text as a literal?
pub fn is_printable(letter: char) -> bool {
    letter.is_ascii_graphic() || letter == ' ' || fold::contains(&sets::PRINTABLE, letter)
}

#[cfg(test)]
mod tests;
