//! A value type for callers without their own.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher, Hash, Hasher};

use num_bigint::BigInt;

use crate::{Build, Limits, Mark, ReadError, Scalar, Source, WriteError, Writer};

/// A value as Ruby loads it.
///
/// Values are equal if they are the same hash key in Ruby: `1` and `1.0` differ, `.nan` equals `.nan`, and mappings with
/// the same entries in another order are equal.
#[derive(Debug, Clone)]
pub enum Yaml {
    /// `nil`
    Null,
    /// `true`, `false`
    Bool(bool),
    /// An integer that fits 64 bits.
    Integer(i64),
    /// A larger integer.
    BigInteger(BigInt),
    /// A float.
    Float(f64),
    /// A string.
    String(String),
    /// Bytes that are not UTF-8.
    Bytes(Vec<u8>),
    /// A symbol.
    Symbol(String),
    /// A sequence.
    Sequence(Vec<Yaml>),
    /// A mapping, in the order in which its keys appear first. Keys are unique.
    Mapping(Vec<(Yaml, Yaml)>),
}

/// Reads the first document of a stream within the default limits; `None` if the stream is empty.
///
/// ```
/// use psych_yaml::Yaml;
///
/// let yaml = psych_yaml::parse(b"ports: [80, 1:30]\n")?;
/// let ports = Yaml::Sequence(vec![Yaml::Integer(80), Yaml::Integer(5400)]);
/// assert_eq!(yaml, Some(Yaml::Mapping(vec![(Yaml::String("ports".into()), ports)])));
/// # Ok::<(), psych_yaml::ReadError>(())
/// ```
///
/// # Errors
///
/// As [`read`](crate::read()).
pub fn parse(bytes: &[u8]) -> Result<Option<Yaml>, ReadError> {
    crate::read(bytes, &Limits::default(), &mut Builder)
}

/// Builds [`Yaml`]. Aliases are copies.
#[derive(Debug, Default, Clone, Copy)]
pub struct Builder;

/// A mapping of [`Yaml`] under construction.
#[derive(Debug, Default)]
pub struct Mapping {
    entries: Vec<(Yaml, Yaml)>,
    // Invariant: holds the index of each key in `entries`.
    indices: HashMap<Yaml, usize>,
}

impl Build for Builder {
    type Value = Yaml;
    type Sequence = Vec<Yaml>;
    type Mapping = Mapping;

    fn scalar(&mut self, scalar: Scalar<'_>, _: Source<'_>) -> Yaml {
        match scalar {
            Scalar::Null => Yaml::Null,
            Scalar::Bool(value) => Yaml::Bool(value),
            Scalar::Integer(number) => Yaml::Integer(number),
            Scalar::BigInteger(number) => Yaml::BigInteger(number),
            Scalar::Float(number) => Yaml::Float(number),
            Scalar::String(text) => Yaml::String(text.to_owned()),
            Scalar::Bytes(bytes) => Yaml::Bytes(bytes.to_owned()),
            Scalar::Symbol(name) => Yaml::Symbol(name.to_owned()),
        }
    }

    fn sequence(&mut self) -> Vec<Yaml> {
        Vec::new()
    }

    fn push(&mut self, sequence: &mut Vec<Yaml>, value: Yaml) {
        sequence.push(value);
    }

    fn finish_sequence(&mut self, sequence: Vec<Yaml>, _: Mark) -> Yaml {
        Yaml::Sequence(sequence)
    }

    fn mapping(&mut self) -> Mapping {
        Mapping::default()
    }

    fn insert(&mut self, mapping: &mut Mapping, key: Yaml, value: Yaml) {
        let end = mapping.entries.len();
        let index = *mapping.indices.entry(key.clone()).or_insert(end);
        match mapping.entries.get_mut(index) {
            Some(entry) => entry.1 = value,
            None => mapping.entries.push((key, value)),
        }
    }

    fn finish_mapping(&mut self, mapping: Mapping, _: Mark) -> Yaml {
        Yaml::Mapping(mapping.entries)
    }

    fn entries(&self, value: &Yaml) -> Option<Vec<(Yaml, Yaml)>> {
        match value {
            Yaml::Mapping(entries) => Some(entries.clone()),
            _ => None,
        }
    }

    fn open_entries(&self, mapping: &Mapping) -> Vec<(Yaml, Yaml)> {
        mapping.entries.clone()
    }
}

impl PartialEq for Yaml {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Yaml::Null, Yaml::Null) => true,
            (Yaml::Bool(a), Yaml::Bool(b)) => a == b,
            (Yaml::Integer(a), Yaml::Integer(b)) => a == b,
            (Yaml::BigInteger(a), Yaml::BigInteger(b)) => a == b,
            (Yaml::Float(a), Yaml::Float(b)) => a == b || a.is_nan() && b.is_nan(),
            (Yaml::String(a), Yaml::String(b)) | (Yaml::Symbol(a), Yaml::Symbol(b)) => a == b,
            (Yaml::Bytes(a), Yaml::Bytes(b)) => a == b,
            (Yaml::Sequence(a), Yaml::Sequence(b)) => a == b,
            (Yaml::Mapping(a), Yaml::Mapping(b)) => {
                let others: HashMap<&Yaml, &Yaml> = b.iter().map(|(k, v)| (k, v)).collect();
                a.len() == b.len() && a.iter().all(|(key, value)| others.get(key) == Some(&value))
            }
            _ => false,
        }
    }
}

impl Eq for Yaml {}

impl Hash for Yaml {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::mem::discriminant(self).hash(state);
        match self {
            Yaml::Null => {}
            Yaml::Bool(value) => value.hash(state),
            Yaml::Integer(number) => number.hash(state),
            Yaml::BigInteger(number) => number.hash(state),
            // Zero has two signs, and NaN has many representations.
            Yaml::Float(number) if *number == 0.0 => 0.hash(state),
            Yaml::Float(number) if number.is_nan() => 1.hash(state),
            Yaml::Float(number) => number.to_bits().hash(state),
            Yaml::String(text) | Yaml::Symbol(text) => text.hash(state),
            Yaml::Bytes(bytes) => bytes.hash(state),
            Yaml::Sequence(elements) => elements.hash(state),
            // A sum, since the order of entries does not count.
            Yaml::Mapping(entries) => entries
                .iter()
                .map(|entry| BuildHasherDefault::<DefaultHasher>::new().hash_one(entry))
                .fold(0, u64::wrapping_add)
                .hash(state),
        }
    }
}

impl Yaml {
    /// The value as Ruby's `to_yaml` writes it.
    ///
    /// # Errors
    ///
    /// If libyaml fails, such as for a string of more than two gigabytes.
    pub fn to_yaml(&self) -> Result<String, WriteError> {
        let mut writer = Writer::new();
        self.write(&mut writer);
        writer.finish()
    }

    fn write(&self, writer: &mut Writer) {
        match self {
            Yaml::Null => writer.null(),
            Yaml::Bool(value) => writer.bool(*value),
            Yaml::Integer(number) => writer.integer(*number),
            Yaml::BigInteger(number) => writer.big_integer(number),
            Yaml::Float(number) => writer.float(*number),
            Yaml::String(text) => writer.string(text),
            Yaml::Bytes(bytes) => writer.bytes(bytes),
            Yaml::Symbol(name) => writer.symbol(name),
            Yaml::Sequence(elements) => {
                writer.begin_sequence();
                for element in elements {
                    element.write(writer);
                }
                writer.end_sequence();
            }
            Yaml::Mapping(entries) => {
                writer.begin_mapping();
                for (key, value) in entries {
                    key.write(writer);
                    value.write(writer);
                }
                writer.end_mapping();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares the value with Ruby's `to_yaml` of it.
    fn check(text: &str, shown: &str) {
        let value = parse(text.as_bytes()).unwrap().unwrap();
        assert_eq!(value.to_yaml().unwrap(), format!("---\n{shown}"), "{text}");
    }

    #[test]
    fn keys_are_compared_as_in_ruby() {
        check("{a: 1, b: 2, a: 3}", "a: 3\nb: 2\n");
        check("{1: a, 1.0: b, '1': c}", "1: a\n1.0: b\n'1': c\n");
        check("{.nan: a, .NaN: b}", ".nan: b\n");
        check("{0.0: a, -0.0: b}", "0.0: b\n");
        check(
            "{? {a: 1, b: 2} : x, ? {b: 2, a: 1} : z}",
            "? a: 1\n  b: 2\n: z\n",
        );
    }

    #[test]
    fn merges_override_earlier_keys() {
        check(
            "[&a {x: 1, z: 2}, {x: 0, <<: *a, z: 3}]",
            "- x: 1\n  z: 2\n- x: 1\n  z: 3\n",
        );
        check("{<<: [{a: 1, b: 1}, {b: 2, c: 2}]}", "b: 1\nc: 2\na: 1\n");
        check("{<<: [{a: 1}, 2]}", "!!str '<<':\n- a: 1\n- 2\n");
        check("{<<: 1}", "!!str '<<': 1\n");
        check("{'<<': {a: 1}}", "a: 1\n");
        check("{!!str <<: {a: 1}}", "!!str '<<':\n  a: 1\n");
        check(
            "{k: &a <<, l: {*a : {b: 1}}}",
            "k: !!str '<<'\nl:\n  b: 1\n",
        );
    }

    #[test]
    fn a_merge_of_an_open_mapping_takes_its_entries_so_far() {
        check("&a {b: 1, <<: *a}", "b: 1\n");
        check("&a {b: 1, c: {<<: *a, d: 2}}", "b: 1\nc:\n  b: 1\n  d: 2\n");
        check("&a {b: 1, c: {<<: [*a]}}", "b: 1\nc:\n  b: 1\n");
    }

    #[test]
    fn an_anchor_is_defined_where_its_value_starts() {
        check("[&a x, &a [&a z, *a], *a]", "- x\n- - z\n  - z\n- z\n");
        check("{k: &a !!str {str: x}, l: *a}", "k: x\nl: x\n");
    }

    #[test]
    fn only_the_first_document_is_read() {
        check("- 1\n--- *unknown\n", "- 1\n");
        assert_eq!(parse(b"# nothing\n"), Ok(None));
        assert_eq!(parse(b"---\n"), Ok(Some(Yaml::Null)));
    }

    #[test]
    fn a_byte_order_mark_is_part_of_the_line_but_not_of_a_key() {
        check("\u{feff}k: 1", "k: 1\n");
        assert!(parse("\u{feff}---\nk: 1".as_bytes()).is_err());
    }
}
