//! Both matchers for the same pattern, for fuzzing. Not part of the public interface.

use crate::check::Groups;
use crate::{MatchError, RegexError, RubyRegex, backtrack, check, parse, program, unescape};

/// The results of both matchers.
#[derive(Debug, PartialEq, Eq)]
pub struct BothMatches {
    /// The regex crate; `None` if there is no translation, or it is not valid for this input.
    pub linear: Option<bool>,
    /// The backtracking matcher.
    pub backtracking: Result<bool, MatchError>,
}

/// Matches a string with both matchers. Most patterns are only compiled for one of them, so this compiles again.
pub fn match_both_ways(regex: &RubyRegex, text: &str) -> Result<BothMatches, RegexError> {
    let program = || {
        let parsed = parse::parse(&unescape::unescape(&regex.pattern)?)?;
        let groups = Groups::new(&parsed.node, parsed.groups);
        check::check(&parsed.node, &groups)?;
        program::compile(&parsed.node, &groups, parsed.groups)
    };
    let program = program().map_err(|problem| RegexError {
        pattern: regex.as_str().to_owned(),
        problem,
    })?;
    let linear = regex.linear.as_ref();
    let linear = linear.filter(|linear| linear.validity.holds_for(text));
    Ok(BothMatches {
        linear: linear.map(|linear| linear.regex.is_match(text)),
        backtracking: backtrack::is_match(&program, text),
    })
}
