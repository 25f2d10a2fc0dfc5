//! Braces: `{a,b{c,d}}` → `a`, `bc`, `bd`.

use super::GlobError;

/// All alternatives in written order; the text itself if it has no braces. A brace that is never closed matches
/// nothing.
pub(super) fn expand(text: &str, left: &mut usize) -> Result<Vec<String>, GlobError> {
    let mut expanded = Vec::new();
    let mut pending = vec![text.to_owned()];
    while let Some(text) = pending.pop() {
        *left = left.checked_sub(1).ok_or(GlobError::TooManyAlternatives)?;
        match Outer::find(&text) {
            FoundBraces::None => expanded.push(text),
            FoundBraces::Unclosed => {}
            FoundBraces::Braces(outer) => {
                if pending.len() + outer.alternatives.len() > *left {
                    return Err(GlobError::TooManyAlternatives);
                }
                // A fact may be as long as a request, and every alternative is a copy of it.
                let made = text.len() * outer.alternatives.len();
                if work_budget::charge_bytes(made).is_err()
                    || work_budget::charge(made as u64 / 16).is_err()
                {
                    return Err(GlobError::TooManyAlternatives);
                }
                let texts = outer.alternatives.iter().rev();
                pending.extend(texts.map(|inner| [outer.before, inner, outer.after].concat()));
            }
        }
    }
    Ok(expanded)
}

/// The first outermost braces of a text.
struct Outer<'a> {
    before: &'a str,
    alternatives: Vec<&'a str>,
    after: &'a str,
}

enum FoundBraces<'a> {
    None,
    Unclosed,
    Braces(Outer<'a>),
}

impl<'a> Outer<'a> {
    fn find(text: &'a str) -> FoundBraces<'a> {
        let mut open = None;
        let mut depth = 0usize;
        let mut bytes = text.bytes().enumerate();
        while let Some((index, byte)) = bytes.next() {
            match byte {
                b'{' => {
                    open = open.or(Some(index));
                    depth += 1;
                }
                b'}' if open.is_some() => {
                    depth -= 1;
                    if depth == 0 {
                        break;
                    }
                }
                b'\\' => {
                    bytes.next();
                }
                _ => {}
            }
        }
        let Some(open) = open else {
            return FoundBraces::None;
        };
        if depth > 0 {
            return FoundBraces::Unclosed;
        }
        // What the loop has not read yet follows the closing brace.
        let after_start = bytes.next().map_or(text.len(), |(index, _)| index);
        let inside = text.get(open + 1..after_start.saturating_sub(1));
        FoundBraces::Braces(Outer {
            before: text.get(..open).unwrap_or_default(),
            alternatives: split_alternatives(inside.unwrap_or_default()),
            after: text.get(after_start..).unwrap_or_default(),
        })
    }
}

/// Splits at the commas that are not in inner braces.
fn split_alternatives(inside: &str) -> Vec<&str> {
    let mut alternatives = Vec::new();
    let mut start = 0;
    let mut depth = 0i64;
    let mut bytes = inside.bytes().enumerate();
    while let Some((index, byte)) = bytes.next() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            b'\\' => {
                bytes.next();
            }
            b',' if depth == 0 => {
                alternatives.push(inside.get(start..index).unwrap_or_default());
                start = index + 1;
            }
            _ => {}
        }
    }
    alternatives.push(inside.get(start..).unwrap_or_default());
    alternatives
}
