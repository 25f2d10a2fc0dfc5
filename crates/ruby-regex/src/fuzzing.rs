//! Both matchers side by side, for fuzzing. No part of the interface.

use crate::check::Groups;
use crate::{MatchError, RegexError, RubyRegex, backtrack, check, parse, program, unescape};

/// What each matcher says of a text.
#[derive(Debug, PartialEq, Eq)]
pub struct BothMatches {
    /// The regex crate; `None` where it cannot express the pattern, or not for this text.
    pub linear: Option<bool>,
    /// The backtracking matcher.
    pub backtracking: Result<bool, MatchError>,
}

/// Matches a text in both ways. Most patterns are compiled for one of them only, so this compiles again.
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
