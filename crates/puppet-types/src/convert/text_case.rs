//! Changes of case as in Ruby.

/// The first letter in upper case, all others in lower case.
pub(crate) fn capitalize(text: &str) -> String {
    let mut chars = text.chars();
    match chars.next() {
        Some(first) => title(first) + &chars.as_str().to_lowercase(),
        None => String::new(),
    }
}

/// The string with each segment between `::` capitalized. Ruby drops empty segments at the end.
pub(super) fn capitalize_segments(text: &str) -> String {
    let mut segments: Vec<&str> = text.split("::").collect();
    while segments.last().is_some_and(|segment| segment.is_empty()) {
        segments.pop();
    }
    let segments: Vec<String> = segments.into_iter().map(capitalize).collect();
    segments.join("::")
}

/// A letter in title case: if its upper case is several letters, only the first of them is in upper case.
fn title(char: char) -> String {
    let mut upper = char.to_uppercase();
    match upper.next() {
        Some(first) => std::iter::once(first)
            .chain(upper.flat_map(char::to_lowercase))
            .collect(),
        None => String::new(),
    }
}
