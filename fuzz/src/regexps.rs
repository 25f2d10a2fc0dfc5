//! Ruby's regular expressions: where a pattern can be matched in linear time and by backtracking, both agree; and so does
//! a set of it alone.
//!
//! The first line of an input is the pattern, the rest is the text.

use crate::api::{BothMatchers, BothMatches, MatchError, PatternSet, RubyRegex};

/// Texts with a meaning in patterns.
pub const DICTIONARY: &[&str] = &[
    "\n",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "|",
    "*",
    "+",
    "?",
    "*?",
    "++",
    "{2}",
    "{,2}",
    "{1,3}",
    "{2,}",
    "^",
    "$",
    "\\A",
    "\\z",
    "\\Z",
    "\\b",
    "\\B",
    "\\d",
    "\\w",
    "\\s",
    "\\h",
    "\\R",
    "\\X",
    "\\G",
    "\\K",
    ".",
    "[^",
    "&&",
    "[:alpha:]",
    "[[:^space:]]",
    "\\p{L}",
    "\\p{^Lu}",
    "\\P{Greek}",
    "\\p{InBasic_Latin}",
    "(?:",
    "(?i)",
    "(?m:",
    "(?x)",
    "(?a)",
    "(?u)",
    "(?=",
    "(?!",
    "(?<=",
    "(?<!",
    "(?>",
    "(?<n>",
    "\\k<n>",
    "\\g<n>",
    "\\1",
    "(?(1)",
    "(?~",
    "(?#c)",
    "\\x41",
    "\\u00e9",
    "\\u{1F600}",
    "\\101",
    "\\cA",
    "\\M-a",
    "\\\\",
    "\\/",
    "a",
    "b",
    "ss",
    "ß",
    "ſ",
    "K",
    "é",
    "É",
    "::",
    "a-z",
    "x",
];

/// Checks one pattern and text.
pub fn check(input: &[u8]) {
    let Ok(input) = std::str::from_utf8(input) else {
        return;
    };
    let (pattern, text) = input.split_once('\n').unwrap_or((input, "a::b"));
    let regex = match RubyRegex::new(pattern) {
        Ok(regex) => regex,
        Err(error) => {
            assert_eq!(error.pattern, pattern);
            assert!(!error.problem.to_string().is_empty());
            return;
        }
    };
    assert_eq!(regex.as_str(), pattern);
    let set = PatternSet::new(vec![regex.clone()]);
    // A pattern can be too large for the backtracking matcher alone.
    let both = BothMatchers::new(&regex).ok();
    // Prefixes are further texts, and the bounds of words and lines move with them.
    let ends = text.char_indices().map(|(start, _)| start).take(8);
    for end in ends.chain([text.len()]) {
        let text = text.get(..end).unwrap_or_default();
        let found = regex.is_match(text);
        let first = set.first_match(text);
        let expected = found.clone().map(|found| found.then_some(0));
        assert_eq!(first, expected, "a set of the pattern on {text:?}");
        if let Some(both) = &both {
            check_both(&both.match_text(text), &found, text);
        }
    }
}

fn check_both(both: &BothMatches, found: &Result<bool, MatchError>, text: &str) {
    match (both.linear, &both.backtracking) {
        (Some(linear), Ok(backtracking)) => assert_eq!(linear, *backtracking, "on {text:?}"),
        (Some(_), Err(MatchError::TooManySteps { .. })) => {}
        (None, backtracking) => assert_eq!(found, backtracking, "on {text:?}"),
    }
}
