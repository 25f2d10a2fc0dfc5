//! Descriptions of values that do not fit a type, in Puppet's words.

use std::fmt;

use lean_string::LeanStr;
use puppet_values::Value;

use super::{IntegerRange, StringType, Type, infer_set};

mod describe;
mod unresolved;
mod words;

pub(super) use describe::describe;
use words::{range_text, short_name, write_types};

/// A value that does not fit a type, with Puppet's message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeMismatch {
    mismatches: Vec<Mismatch>,
}

impl std::error::Error for TypeMismatch {}

impl fmt::Display for TypeMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [only] = &self.mismatches[..] {
            let (first, rest) = match &only.path[..] {
                [first, rest @ ..] => (first.to_string(), rest),
                [] => (String::new(), &[][..]),
            };
            f.write_str(first.trim_start())?;
            return only.write_below(rest, f);
        }
        for (index, mismatch) in self.mismatches.iter().enumerate() {
            let separator = if index > 0 { "\n " } else { "" };
            write!(f, "{separator}{mismatch}")?;
        }
        Ok(())
    }
}

/// Checks that a value fits a type. The message starts with the subject.
///
/// ```
/// use puppet_types::{Type, assert_instance};
/// use puppet_values::Value;
///
/// let ports = Type::parse("Array[Integer[1]]")?;
/// let value = Value::array(vec![Value::Int(80), Value::str("http")]);
/// assert_eq!(
///     assert_instance("ports", &ports, &value).unwrap_err().to_string(),
///     "ports has wrong type, index 1 expects an Integer value, got String"
/// );
/// # Ok::<(), puppet_types::TypeParseError>(())
/// ```
///
/// # Errors
///
/// If the value does not fit.
pub fn assert_instance(subject: &str, ty: &Type, value: &Value) -> Result<(), TypeMismatch> {
    let subject = || PathStep::Subject(format!("{subject} has wrong type,"));
    assert_instance_at(subject, ty, value)
}

/// Checks that a value fits a type. The message starts with a step of a path.
pub(crate) fn assert_instance_at(
    step: impl FnOnce() -> PathStep,
    ty: &Type,
    value: &Value,
) -> Result<(), TypeMismatch> {
    if ty.is_instance(value) {
        return Ok(());
    }
    let mismatches = describe(ty, &infer_set(value), &[step()]);
    Err(TypeMismatch { mismatches })
}

/// A step of the path from the whole value to the part that does not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PathStep {
    /// What is checked.
    Subject(String),
    /// The value of an entry.
    Entry(LeanStr),
    /// The key of an entry.
    Key(LeanStr),
    /// An argument.
    Parameter(&'static str),
    /// An element.
    Index(usize),
    /// One of several types.
    Variant(usize),
    /// One of several signatures.
    Signature(usize),
}

impl fmt::Display for PathStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PathStep::Subject(subject) => f.write_str(subject),
            PathStep::Entry(key) => write!(f, "entry '{key}'"),
            PathStep::Key(key) => write!(f, "key of entry '{key}'"),
            PathStep::Parameter(name) => write!(f, "parameter '{name}'"),
            PathStep::Index(index) => write!(f, "index {index}"),
            PathStep::Variant(index) => write!(f, "variant {index}"),
            PathStep::Signature(index) => write!(f, "{}.", index + 1),
        }
    }
}

/// A part that does not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mismatch {
    pub(super) path: Vec<PathStep>,
    pub(super) kind: MismatchKind,
}

/// Why a part does not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum MismatchKind {
    /// A required key is missing.
    MissingKey(LeanStr),
    /// A key is not allowed.
    ExtraKey(LeanStr),
    /// The expected type is unknown.
    Unresolved(LeanStr),
    /// The expected and the actual type.
    Type(Type, Type),
    /// The pattern or list that a string does not match, and the actual type.
    Pattern(Type, Type),
    /// The expected and the actual number of elements.
    Size(IntegerRange, IntegerRange),
    /// The expected and the actual number of arguments.
    Count(IntegerRange, IntegerRange),
}

impl Mismatch {
    pub(super) fn new(path: &[PathStep], kind: MismatchKind) -> Self {
        Mismatch {
            path: path.to_vec(),
            kind,
        }
    }

    /// A mismatch of types. Both are normalized.
    pub(super) fn of_type(path: &[PathStep], expected: &Type, actual: &Type) -> Self {
        Mismatch::new(
            path,
            MismatchKind::Type(expected.normalize(), actual.normalize()),
        )
    }

    /// The path without the choices of variants and signatures.
    fn canonical_path(&self) -> Vec<&PathStep> {
        let is_choice =
            |step: &&PathStep| matches!(step, PathStep::Variant(_) | PathStep::Signature(_));
        self.path.iter().filter(|step| !is_choice(step)).collect()
    }

    /// The mismatch without one step of its path.
    pub(super) fn without_step(mut self, index: usize) -> Self {
        if index < self.path.len() {
            self.path.remove(index);
        }
        self
    }
}

/// With a space at the start.
impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_below(&self.path, f)
    }
}

impl Mismatch {
    /// Writes it after a part of its path.
    fn write_below(&self, path: &[PathStep], f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for step in path {
            write!(f, " {step}")?;
        }
        match &self.kind {
            MismatchKind::MissingKey(key) => write!(f, " expects a value for key '{key}'"),
            MismatchKind::ExtraKey(key) => write!(f, " unrecognized key '{key}'"),
            MismatchKind::Unresolved(name) => write!(f, " references an unresolved type '{name}'"),
            MismatchKind::Type(expected, actual) => write_types(f, expected, actual),
            MismatchKind::Pattern(expected, actual) => {
                let (prefix, expected) = match expected {
                    Type::Optional(Some(inner)) => ("an undef value or ", &**inner),
                    expected => ("", expected),
                };
                let actual = match actual {
                    Type::String(StringType::Value(text)) => format!("'{text}'"),
                    actual => short_name(actual),
                };
                let expected = expected.expanded();
                write!(f, " expects {prefix}a match for {expected}, got {actual}")
            }
            MismatchKind::Size(expected, actual) => {
                let (expected, actual) = (range_text(expected, "0"), range_text(actual, "0"));
                write!(f, " expects size to be {expected}, got {actual}")
            }
            MismatchKind::Count(expected, actual) => {
                let (min, max) = expected.sizes();
                let (zero, one) = (0.into(), 1.into());
                let is_one = min == one && max.as_ref().is_none_or(|max| *max == one)
                    || min == zero && max.as_ref() == Some(&one);
                let plural = if is_one { "" } else { "s" };
                let (expected, actual) = (range_text(expected, "no"), range_text(actual, "none"));
                write!(f, " expects {expected} argument{plural}, got {actual}")
            }
        }
    }
}

/// Merges the mismatches of all variants into one, if they are of the same kind and about the same part.
pub(super) fn merge(
    varying: usize,
    of_arguments: bool,
    variants: Vec<Vec<Mismatch>>,
) -> Vec<Mismatch> {
    let count = variants.len();
    let mut all: Vec<Mismatch> = variants.into_iter().flatten().collect();
    // A number of arguments is also a size; a pattern is also a type.
    let is_size = |mismatch: &Mismatch| match mismatch.kind {
        MismatchKind::Size(..) => !of_arguments,
        MismatchKind::Count(..) => true,
        _ => false,
    };
    let is_type = |mismatch: &Mismatch| {
        matches!(
            mismatch.kind,
            MismatchKind::Type(..) | MismatchKind::Pattern(..)
        )
    };
    let kinds: [&dyn Fn(&Mismatch) -> bool; 2] = [&is_size, &is_type];
    for is_kind in kinds {
        let mut found = all.iter().filter(|mismatch| is_kind(mismatch));
        if found.clone().count() != count {
            continue;
        }
        let Some(first) = found.next() else { continue };
        let merged = found.try_fold(first.clone(), |merged, next| {
            (merged.canonical_path() == next.canonical_path()).then(|| merged.merged_with(next))
        });
        if let Some(merged) = merged {
            all = vec![merged];
            break;
        }
    }
    match <[Mismatch; 1]>::try_from(all) {
        Ok([only]) => vec![only.without_step(varying)],
        Err(several) => several,
    }
}

impl Mismatch {
    fn merged_with(mut self, other: &Mismatch) -> Mismatch {
        self.kind = match (self.kind, &other.kind) {
            (
                MismatchKind::Size(left, actual),
                MismatchKind::Size(right, _) | MismatchKind::Count(right, _),
            ) => MismatchKind::Size(sized(&left, right), actual),
            (
                MismatchKind::Count(left, actual),
                MismatchKind::Size(right, _) | MismatchKind::Count(right, _),
            ) => MismatchKind::Count(sized(&left, right), actual),
            (
                MismatchKind::Type(left, actual),
                MismatchKind::Type(right, _) | MismatchKind::Pattern(right, _),
            ) => MismatchKind::Type(Type::variant([left, right.clone()]).normalize(), actual),
            (
                MismatchKind::Pattern(left, actual),
                MismatchKind::Type(right, _) | MismatchKind::Pattern(right, _),
            ) => MismatchKind::Pattern(Type::variant([left, right.clone()]).normalize(), actual),
            (kind, _) => kind,
        };
        self
    }
}

fn sized(left: &IntegerRange, right: &IntegerRange) -> IntegerRange {
    let with_zero = |range: &IntegerRange| IntegerRange {
        from: Some(range.from.clone().unwrap_or_default()),
        to: range.to.clone(),
    };
    with_zero(left).span(&with_zero(right))
}
