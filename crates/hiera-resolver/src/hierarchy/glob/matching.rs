//! Compares a component of a pattern with a name, as Ruby's `File.fnmatch` without flags.

use std::str::Chars;

/// Does the whole name match?
///
/// Only the last star is retried, so the time is at most the product of the two lengths.
pub(super) fn matches(pattern: &str, name: &str) -> bool {
    // Only a literal dot matches the dot of a hidden name.
    if name.starts_with('.') && next_literal(&mut pattern.chars()) != Some('.') {
        return false;
    }
    let (mut pattern, mut name) = (pattern.chars(), name.chars());
    let mut last_star: Option<(Chars<'_>, Chars<'_>)> = None;
    loop {
        if pattern.as_str().starts_with('*') {
            pattern = pattern.as_str().trim_start_matches('*').chars();
            if is_used_up(&pattern) {
                return true;
            }
            if name.as_str().is_empty() {
                return false;
            }
            last_star = Some((pattern.clone(), name.clone()));
            continue;
        }
        if name.as_str().is_empty() {
            return is_used_up(&pattern);
        }
        if match_one(&mut pattern, &mut name) {
            continue;
        }
        let Some((after_star, retry_at)) = &mut last_star else {
            return false;
        };
        retry_at.next();
        (pattern, name) = (after_star.clone(), retry_at.clone());
    }
}

/// Matches one character of a name that is not at its end.
fn match_one(pattern: &mut Chars<'_>, name: &mut Chars<'_>) -> bool {
    let Some(character) = name.next() else {
        return false;
    };
    match pattern.as_str().chars().next() {
        Some('?') => pattern.next().is_some(),
        Some('[') => {
            pattern.next();
            match_set(pattern, character) == Some(true)
        }
        _ => next_literal(pattern) == Some(character),
    }
}

/// The next character of the pattern, without a backslash before it.
fn next_literal(pattern: &mut Chars<'_>) -> Option<char> {
    match pattern.next()? {
        '\\' => pattern.next(),
        other => Some(other),
    }
}

/// A backslash at the very end is ignored.
fn is_used_up(pattern: &Chars<'_>) -> bool {
    matches!(pattern.as_str(), "" | "\\")
}

/// Matches `[a-z]` after its opening bracket; `None` if it is never closed.
fn match_set(pattern: &mut Chars<'_>, character: char) -> Option<bool> {
    let is_negated = pattern.as_str().starts_with(['!', '^']);
    if is_negated {
        pattern.next();
    }
    let mut is_member = false;
    while !pattern.as_str().starts_with(']') {
        let first = next_literal(pattern)?;
        let rest = pattern.as_str();
        // An empty rest means that the set is not closed.
        let is_range = rest.starts_with('-') && !rest.starts_with("-]");
        let last = if is_range {
            pattern.next();
            next_literal(pattern)?
        } else {
            first
        };
        is_member |= (first..=last).contains(&character) || character == first || character == last;
    }
    pattern.next();
    Some(is_member != is_negated)
}
