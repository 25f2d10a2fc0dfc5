//! Both matchers for the same pattern, for fuzzing. Not part of the public interface.

use crate::check::Groups;
use crate::program::{self, Program};
use crate::{MatchError, RegexError, RubyRegex, backtrack, check, parse, unescape};

/// A pattern compiled for both matchers.
#[derive(Debug)]
pub struct BothMatchers<'a> {
    regex: &'a RubyRegex,
    program: Program,
}

/// The results of both matchers.
#[derive(Debug, PartialEq, Eq)]
pub struct BothMatches {
    /// The regex crate; `None` if there is no translation, or it is not valid for this input.
    pub linear: Option<bool>,
    /// The backtracking matcher.
    pub backtracking: Result<bool, MatchError>,
}

impl<'a> BothMatchers<'a> {
    /// Compiles a pattern for the backtracking matcher, which most patterns do without.
    pub fn new(regex: &'a RubyRegex) -> Result<Self, RegexError> {
        let compile = || {
            let parsed = parse::parse(&unescape::unescape(&regex.pattern)?)?;
            let groups = Groups::new(&parsed.node, parsed.groups);
            check::check(&parsed.node, &groups)?;
            program::compile(&parsed.node, &groups, parsed.groups)
        };
        match compile() {
            Ok(program) => Ok(BothMatchers { regex, program }),
            Err(problem) => Err(RegexError {
                pattern: regex.as_str().to_owned(),
                problem,
            }),
        }
    }

    /// Matches a text with both.
    pub fn match_text(&self, text: &str) -> BothMatches {
        let linear = self.regex.linear.as_ref();
        let linear = linear.filter(|linear| linear.validity.holds_for(text));
        BothMatches {
            linear: linear.map(|linear| linear.regex.is_match(text)),
            backtracking: backtrack::is_match(&self.program, text),
        }
    }
}
