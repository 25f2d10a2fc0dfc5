//! Lookup keys: parsed, written down again from their segments, and parsed to the same segments; and followed into a
//! value that has them.

use crate::api::{LookupKey, Segment, Value, dig, split_segments};

/// Texts with a meaning in keys.
pub const DICTIONARY: &[&str] = &[
    ".",
    "..",
    "'",
    "\"",
    "''",
    "\"\"",
    "'a.b'",
    "\"a.b\"",
    "::",
    ":",
    "a",
    "b::c",
    "0",
    "-1",
    "+1",
    ":7",
    "00",
    " ",
    "\t",
    "\n",
    "\0",
    "\u{b}",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775809",
    "ü",
    "\u{a0}",
    "a.0.'b c'",
    "lookup_options",
];

/// Checks one key.
pub fn check(text: &[u8]) {
    let Ok(text) = std::str::from_utf8(text) else {
        return;
    };
    let split = split_segments(text);
    let key = match LookupKey::parse(text) {
        Ok(key) => key,
        Err(error) => {
            let starts_with_number = matches!(split.as_deref(), Ok([Segment::Index(_), ..]));
            assert!(split.is_err() || starts_with_number, "{error}: {split:?}");
            return;
        }
    };
    assert_eq!(key.as_str(), text);
    let root = Segment::Key(key.root().clone());
    let segments: Vec<Segment> = [root]
        .into_iter()
        .chain(key.segments().iter().cloned())
        .collect();
    assert_eq!(split.as_ref(), Ok(&segments));
    if let Some(module) = key.module() {
        assert!(key.root().starts_with(module));
    }
    if let Some(written) = write(&segments) {
        assert_eq!(
            split_segments(&written).as_ref(),
            Ok(&segments),
            "{written}"
        );
    }
    check_dig(&segments);
}

/// A key of these segments, each one in quotes where it needs them.
fn write(segments: &[Segment]) -> Option<String> {
    if let [Segment::Key(only)] = segments
        && !only.contains(['.', '\'', '"'])
    {
        return Some(only.to_string());
    }
    let mut written = Vec::new();
    for segment in segments {
        written.push(match segment {
            Segment::Index(index) => index.to_string(),
            // Spaces alone make an empty segment, which quotes cannot.
            Segment::Key(name) if name.is_empty() => " ".to_owned(),
            Segment::Key(name) if !name.contains('"') => format!("\"{}\"", name.text()),
            Segment::Key(name) if !name.contains('\'') => format!("'{}'", name.text()),
            Segment::Key(_) => return None,
        });
    }
    Some(written.join("."))
}

/// A value with something at the end of these segments has it there.
fn check_dig(segments: &[Segment]) {
    let end = Value::str("the end");
    let value = segments.iter().rev().fold(end.clone(), |inner, segment| {
        let key = match segment {
            Segment::Key(name) => Value::str(&**name),
            Segment::Index(index) => Value::Int(*index),
        };
        Value::hash([(key, inner)].into_iter().collect())
    });
    assert_eq!(dig(&value, segments, "key"), Ok(Some(&end)));
    assert!(dig(&Value::Int(1), segments, "key").is_err());
}
