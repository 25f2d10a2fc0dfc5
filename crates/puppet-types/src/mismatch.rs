//! What is wrong with a value of the wrong type, in Puppet's words.

use std::fmt;

use lean_string::LeanStr;
use puppet_values::Value;

use super::{IntegerRange, StringType, Type, infer_set};

mod describe;
mod words;

pub(super) use describe::describe;
use words::{range_text, short_name, write_types};

/// A value that is not of the type it should be; shown in Puppet's words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct TypeMismatch {
    message: String,
}

/// Checks that a value is of a type. The subject opens the message, as in `Found value`.
pub fn assert_instance(subject: &str, ty: &Type, value: &Value) -> Result<(), TypeMismatch> {
    if ty.is_instance(value) {
        return Ok(());
    }
    let path = vec![Step::Subject(format!("{subject} has wrong type,"))];
    let mismatches = describe(ty, &infer_set(value), &path);
    let message = match &mismatches[..] {
        [] => String::new(),
        [only] => only.to_string().trim().to_owned(),
        several => {
            let lines: Vec<String> = several.iter().map(Mismatch::to_string).collect();
            lines.join("\n ")
        }
    };
    Err(TypeMismatch { message })
}

/// A step from the whole value to the part that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
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

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Subject(subject) => f.write_str(subject),
            Step::Entry(key) => write!(f, "entry '{key}'"),
            Step::Key(key) => write!(f, "key of entry '{key}'"),
            Step::Parameter(name) => write!(f, "parameter '{name}'"),
            Step::Index(index) => write!(f, "index {index}"),
            Step::Variant(index) => write!(f, "variant {index}"),
            Step::Signature(index) => write!(f, "{}.", index + 1),
        }
    }
}

/// One thing that is wrong, and where.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Mismatch {
    pub(super) path: Vec<Step>,
    pub(super) problem: Problem,
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Problem {
    /// A key that must be there.
    MissingKey(LeanStr),
    /// A key that is not known.
    ExtraKey(LeanStr),
    /// A type of which only the name is known.
    Unresolved(LeanStr),
    /// Another type.
    Type(Type, Type),
    /// A text that does not match.
    Pattern(Type, Type),
    /// Too many elements, or too few.
    Size(IntegerRange, IntegerRange),
    /// Too many arguments, or too few.
    Count(IntegerRange, IntegerRange),
}

impl Mismatch {
    pub(super) fn new(path: &[Step], problem: Problem) -> Self {
        Mismatch {
            path: path.to_vec(),
            problem,
        }
    }

    /// Of another type; both are shown in their plainest form.
    pub(super) fn of_type(path: &[Step], expected: &Type, actual: &Type) -> Self {
        Mismatch::new(
            path,
            Problem::Type(expected.normalize(), actual.normalize()),
        )
    }

    /// The path without the choices made on the way.
    fn canonical_path(&self) -> Vec<&Step> {
        let is_choice = |step: &&Step| matches!(step, Step::Variant(_) | Step::Signature(_));
        self.path.iter().filter(|step| !is_choice(step)).collect()
    }

    /// Without one step of its path.
    pub(super) fn without_step(mut self, index: usize) -> Self {
        if index < self.path.len() {
            self.path.remove(index);
        }
        self
    }
}

/// With a space in front, unless nothing leads to the problem.
impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for step in &self.path {
            write!(f, " {step}")?;
        }
        match &self.problem {
            Problem::MissingKey(key) => write!(f, " expects a value for key '{key}'"),
            Problem::ExtraKey(key) => write!(f, " unrecognized key '{key}'"),
            Problem::Unresolved(name) => write!(f, " references an unresolved type '{name}'"),
            Problem::Type(expected, actual) => write_types(f, expected, actual),
            Problem::Pattern(expected, actual) => {
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
            Problem::Size(expected, actual) => {
                let (expected, actual) = (range_text(expected, "0"), range_text(actual, "0"));
                write!(f, " expects size to be {expected}, got {actual}")
            }
            Problem::Count(expected, actual) => {
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

/// Puts what all the variants say into one, where they say the same of the same part.
pub(super) fn merge(
    varying: usize,
    of_arguments: bool,
    variants: Vec<Vec<Mismatch>>,
) -> Vec<Mismatch> {
    let count = variants.len();
    let mut all: Vec<Mismatch> = variants.into_iter().flatten().collect();
    // A count of arguments is a size too; a pattern is a type too.
    let is_size = |mismatch: &Mismatch| match mismatch.problem {
        Problem::Size(..) => !of_arguments,
        Problem::Count(..) => true,
        _ => false,
    };
    let is_type =
        |mismatch: &Mismatch| matches!(mismatch.problem, Problem::Type(..) | Problem::Pattern(..));
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
        self.problem = match (self.problem, &other.problem) {
            (Problem::Size(left, actual), Problem::Size(right, _) | Problem::Count(right, _)) => {
                Problem::Size(sized(&left, right), actual)
            }
            (Problem::Count(left, actual), Problem::Size(right, _) | Problem::Count(right, _)) => {
                Problem::Count(sized(&left, right), actual)
            }
            (Problem::Type(left, actual), Problem::Type(right, _) | Problem::Pattern(right, _)) => {
                Problem::Type(Type::variant([left, right.clone()]).normalize(), actual)
            }
            (
                Problem::Pattern(left, actual),
                Problem::Type(right, _) | Problem::Pattern(right, _),
            ) => Problem::Pattern(Type::variant([left, right.clone()]).normalize(), actual),
            (problem, _) => problem,
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
