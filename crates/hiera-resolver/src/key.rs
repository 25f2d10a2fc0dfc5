//! Lookup keys: `apache::vhosts.0.'server.name'` → [`LookupKey`], and digging into a value with one.

use arcstr::ArcStr;
use puppet_values::Value;
use puppet_values::table_key::TableKey;

/// A key in dotted notation, taken apart once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LookupKey {
    text: ArcStr,
    // Invariant: what a data file is searched for; the segments are dug out of its value afterwards.
    root: TableKey,
    /// How much of the root names the module.
    module: Option<usize>,
    segments: Box<[Segment]>,
}

/// One step into a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Segment {
    /// The key of a hash.
    Key(TableKey),
    /// An index of a list, or the integer key of a hash.
    Index(i64),
}

/// A key that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// Empty segments, unpaired quotes.
    #[error("syntax error in key `{key}`")]
    Syntax {
        /// The key as given.
        key: String,
    },
    /// A dotted key whose first segment is a number.
    #[error("the key `{key}` starts with a number; quote its first segment")]
    NumberFirst {
        /// The key as given.
        key: String,
        /// The number.
        number: i64,
    },
}

/// A value that cannot be dug into.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "Data Provider type mismatch: Got {class} when a hash-like object was expected to access value using '{segment}' from key '{key}'"
)]
pub struct DigError {
    /// The Ruby class of the value.
    pub class: &'static str,
    /// The segment that could not be used.
    pub segment: String,
    /// The whole key.
    pub key: String,
}

impl KeyError {
    pub(crate) fn number_first(key: &str, first: Option<&Segment>) -> Self {
        let number = match first {
            Some(Segment::Index(number)) => *number,
            _ => 0,
        };
        KeyError::NumberFirst {
            key: key.to_owned(),
            number,
        }
    }
}

impl LookupKey {
    /// Reads a key.
    pub fn parse(text: &str) -> Result<Self, KeyError> {
        let whole = ArcStr::from(text);
        if is_single_segment(text) {
            return Ok(LookupKey {
                module: module_of(&whole),
                root: TableKey::new(whole.clone()),
                text: whole,
                segments: Box::default(),
            });
        }
        let mut segments = split_segments(text)?.into_iter();
        let root = match segments.next() {
            Some(Segment::Key(root)) => root,
            other => return Err(KeyError::number_first(text, other.as_ref())),
        };
        Ok(LookupKey {
            module: module_of(&root),
            text: whole,
            root,
            segments: segments.collect(),
        })
    }

    /// The key as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The same, shared.
    pub fn text(&self) -> &ArcStr {
        &self.text
    }

    /// The part before the first dot: the key in data files.
    pub fn root(&self) -> &TableKey {
        &self.root
    }

    /// The part before the first `::`.
    pub fn module(&self) -> Option<&str> {
        self.root.get(..self.module?)
    }

    /// The parts after the first dot.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }
}

impl std::fmt::Display for Segment {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Segment::Key(key) => out.write_str(key),
            Segment::Index(index) => index.fmt(out),
        }
    }
}

impl Segment {
    fn key(text: &str) -> Self {
        Segment::Key(TableKey::new(text.into()))
    }

    /// Takes one step into a value. `Ok(None)`: there is nothing.
    pub fn dig<'a>(&self, value: &'a Value, key: &str) -> Result<Option<&'a Value>, DigError> {
        match (self, value) {
            (_, Value::Null) => Ok(None),
            (Segment::Index(index), Value::Array(array)) => Ok(usize::try_from(*index)
                .ok()
                .and_then(|index| array.items().get(index))),
            (Segment::Index(index), Value::Hash(hash)) => Ok(hash.get_value(&Value::Int(*index))),
            (Segment::Key(name), Value::Hash(hash)) => Ok(hash.get_hashed(name)),
            _ => Err(self.mismatch(value.ruby_class(), key)),
        }
    }

    /// The complaint that a value of this class has nothing to dig in.
    pub fn mismatch(&self, class: &'static str, key: &str) -> DigError {
        DigError {
            class,
            segment: self.to_string(),
            key: key.to_owned(),
        }
    }
}

/// Digs along all segments. `Ok(None)`: there is nothing.
pub fn dig<'a>(
    value: &'a Value,
    segments: &[Segment],
    key: &str,
) -> Result<Option<&'a Value>, DigError> {
    let mut current = value;
    for segment in segments {
        match segment.dig(current, key)? {
            Some(next) => current = next,
            None => return Ok(None),
        }
    }
    Ok(Some(current))
}

/// The length of the module's name. Puppet: all of a root that starts with `::` counts as the name of a module.
fn module_of(root: &str) -> Option<usize> {
    let bytes = root.as_bytes();
    let mut colons = memchr::memchr_iter(b':', bytes);
    match colons.find(|index| bytes.get(index + 1) == Some(&b':'))? {
        0 => Some(root.len()),
        index => Some(index),
    }
}

/// Is a key one segment as it is?
fn is_single_segment(text: &str) -> bool {
    memchr::memchr3(b'.', b'\'', b'"', text.as_bytes()).is_none()
}

/// Splits a key at its dots. Quoted segments keep dots and spaces; bare ones that consist of digits are indices.
///
/// A key without dots and quotes is one segment exactly as it is, spaces and digits included.
pub fn split_segments(text: &str) -> Result<Vec<Segment>, KeyError> {
    if is_single_segment(text) {
        return Ok(vec![Segment::key(text)]);
    }
    let syntax = || KeyError::Syntax {
        key: text.to_owned(),
    };
    let mut segments = Vec::new();
    let mut rest = text;
    loop {
        let (segment, behind) = take_segment(rest).ok_or_else(syntax)?;
        segments.push(segment);
        if behind.is_empty() {
            return Ok(segments);
        }
        rest = behind.strip_prefix('.').ok_or_else(syntax)?;
    }
}

/// The segment at the start of the text, and what is behind it.
fn take_segment(text: &str) -> Option<(Segment, &str)> {
    let bare = text.trim_start_matches(is_space);
    for quote in ['"', '\''] {
        if let Some((inner, behind)) = bare
            .strip_prefix(quote)
            .and_then(|inside| inside.split_once(quote))
            && !inner.is_empty()
        {
            return Some((Segment::key(inner), behind.trim_start_matches(is_space)));
        }
    }
    let end = text.find(['.', '\'', '"']).unwrap_or(text.len());
    let (segment, behind) = text.split_at_checked(end)?;
    if segment.is_empty() {
        return None;
    }
    let segment = segment.trim_matches(is_strippable);
    Some((
        as_index(segment).map_or_else(|| Segment::key(segment), Segment::Index),
        behind,
    ))
}

/// What `\s` matches in Ruby.
fn is_space(letter: char) -> bool {
    matches!(letter, ' ' | '\t' | '\n' | '\r' | '\x0b' | '\x0c')
}

/// What Ruby's `strip` takes off.
pub(crate) fn is_strippable(letter: char) -> bool {
    is_space(letter) || letter == '\0'
}

/// Puppet: the pattern for an index allows a colon before it (`:1`), which then counts as 0.
fn as_index(segment: &str) -> Option<i64> {
    let colonless = segment.strip_prefix(':').unwrap_or(segment);
    let digits = colonless.strip_prefix(['+', '-']).unwrap_or(colonless);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    if segment.starts_with(':') {
        return Some(0);
    }
    Some(segment.parse().unwrap_or(if segment.starts_with('-') {
        i64::MIN
    } else {
        i64::MAX
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let shown = match split_segments(text) {
            Ok(segments) => format!("{segments:?}"),
            Err(error) => error.to_string(),
        };
        let shown = shown
            .replace("Key(", "")
            .replace("Index(", "")
            .replace(')', "");
        assert_eq!(shown, expected, "{text}");
    }

    #[test]
    fn segments_are_split_at_dots_outside_quotes() {
        check("a::b", r#"["a::b"]"#);
        check(
            "a::b.c.0.'quoted.segment'",
            r#"["a::b", "c", 0, "quoted.segment"]"#,
        );
        check(r#"a."x.y""#, r#"["a", "x.y"]"#);
        check(" k . a ", r#"["k", "a"]"#);
        check(" k ", r#"[" k "]"#);
        check("a. 'b c' .d", r#"["a", "b c", "d"]"#);
        check("5", r#"["5"]"#);
        check("a.-1.+1.:7", r#"["a", -1, 1, 0]"#);
        check("'5'.a", r#"["5", "a"]"#);
    }

    #[test]
    fn broken_keys_are_refused() {
        for key in ["a..b", ".a", "a.", "'a'b", "a'b", "''", "a.''", "'", "."] {
            check(key, &format!("syntax error in key `{key}`"));
        }
    }

    #[test]
    fn the_module_is_what_stands_before_the_first_colons() {
        let module = |key| {
            LookupKey::parse(key)
                .unwrap()
                .module()
                .map(ToString::to_string)
        };
        assert_eq!(module("ntp::servers.0"), Some("ntp".into()));
        assert_eq!(module("a::b::c"), Some("a".into()));
        assert_eq!(module("plain"), None);
        assert_eq!(module("::x"), Some("::x".into()));
    }

    #[test]
    fn a_dotted_key_may_not_start_with_a_number() {
        assert!(matches!(
            LookupKey::parse("1.a"),
            Err(KeyError::NumberFirst { .. })
        ));
        assert!(LookupKey::parse("1").is_ok());
    }
}
