//! What is wrong with a value of the wrong type, in Puppet's words.

use std::fmt;

use arcstr::ArcStr;

use super::{
    ArrayType, CallableType, HashType, IntegerRange, StringType, StructElement, TupleType, Type,
    infer_set,
};
use crate::value::Value;

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
    Entry(ArcStr),
    /// The key of an entry.
    Key(ArcStr),
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
    MissingKey(ArcStr),
    /// A key that is not known.
    ExtraKey(ArcStr),
    /// A type of which only the name is known.
    Unresolved(ArcStr),
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

fn range_text(range: &IntegerRange, zero: &str) -> String {
    let (min, max) = range.sizes();
    let is_zero = min == num_bigint::BigInt::ZERO;
    match max {
        Some(max) if max == min && is_zero => zero.to_owned(),
        Some(max) if max == min => min.to_string(),
        Some(max) if is_zero => format!("at most {max}"),
        Some(max) => format!("between {min} and {max}"),
        None if is_zero => "unlimited".to_owned(),
        None => format!("at least {min}"),
    }
}

fn write_types(f: &mut fmt::Formatter<'_>, expected: &Type, actual: &Type) -> fmt::Result {
    let (optional, expected) = match expected {
        Type::Optional(Some(inner)) => (true, &**inner),
        expected => (false, expected),
    };
    let single = std::slice::from_ref(expected);
    let several = match expected {
        Type::Variant(types) => types,
        _ => single,
    };
    let detailed = several
        .iter()
        .any(|ty| is_always_detailed(ty, actual) || accepts_without_bounds(ty, actual));
    let mut names: Vec<String> = Vec::new();
    let actual_text = if detailed {
        names.extend(several.iter().map(Type::expanded));
        detailed_actual(several, actual)
    } else {
        for ty in several {
            let name = short_name(ty);
            if !names.contains(&name) {
                names.push(name);
            }
        }
        short_name(actual)
    };
    if optional {
        names.insert(0, "Undef".to_owned());
    }
    match &names[..] {
        [] => write!(f, " expects a value of type , or , got {actual_text}"),
        [name] => write!(f, " expects {} value, got {actual_text}", a_an(name)),
        [left, right] => {
            write!(
                f,
                " expects a value of type {left} or {right}, got {actual_text}"
            )
        }
        [front @ .., last] => {
            let front = front.join(", ");
            write!(
                f,
                " expects a value of type {front}, or {last}, got {actual_text}"
            )
        }
    }
}

fn a_an(name: &str) -> String {
    let word = name.strip_prefix(['"', '\'']).unwrap_or(name);
    let article = if word.starts_with(|char: char| "aeiouyAEIOUY".contains(char)) {
        "an"
    } else {
        "a"
    };
    format!("{article} {name}")
}

fn short_name(ty: &Type) -> String {
    let inner = match ty {
        Type::Iterable(Some(inner))
        | Type::Iterator(Some(inner))
        | Type::Optional(Some(inner))
        | Type::NotUndef(Some(inner))
        | Type::Type(Some(inner))
        | Type::Sensitive(inner) => Some(&**inner),
        Type::Init(Some(init)) => Some(&init.target),
        _ => None,
    };
    match inner {
        Some(inner) if *inner != Type::Any => format!("{}[{}]", ty.name(), inner.name()),
        _ => ty.name(),
    }
}

fn is_same_kind(left: &Type, right: &Type) -> bool {
    std::mem::discriminant(left) == std::mem::discriminant(right)
}

fn is_always_detailed(expected: &Type, actual: &Type) -> bool {
    is_same_kind(expected, actual)
        || matches!(
            (expected, actual),
            (Type::Alias(_), _)
                | (_, Type::Alias(_))
                | (Type::Struct(_), Type::Hash(_))
                | (Type::Tuple(_), Type::Array(_))
        )
}

fn resolve(mut ty: &Type) -> &Type {
    while let Type::Alias(alias) = ty {
        ty = alias.resolved();
    }
    ty
}

/// Would the type without its parameters accept it?
fn accepts_without_bounds(ty: &Type, actual: &Type) -> bool {
    let ty = match ty {
        Type::Alias(alias) => alias.resolved(),
        ty => ty,
    };
    let default = match ty {
        Type::Integer(_) => Type::integer(),
        Type::Float(_) => Type::float(),
        Type::String(_) => Type::string(),
        Type::Boolean(_) => Type::Boolean(None),
        Type::Enum(_) => Type::enumeration(Vec::new(), false),
        Type::Pattern(_) => Type::Pattern([].into()),
        Type::Regexp(_) => Type::Regexp(None),
        Type::Collection(_) => Type::Collection(None),
        Type::Array(_) => Type::array(Type::Any, None),
        Type::Hash(_) => Type::hash(Type::Any, Type::Any, None),
        Type::Tuple(_) => Type::tuple(Vec::new(), None),
        Type::Struct(_) => Type::Struct([].into()),
        Type::Iterable(_) => Type::Iterable(None),
        Type::Iterator(_) => Type::Iterator(None),
        Type::Optional(_) => Type::Optional(None),
        Type::NotUndef(_) => Type::NotUndef(None),
        Type::Type(_) => Type::Type(None),
        Type::Sensitive(_) => Type::sensitive(&Type::Any),
        Type::Variant(_) => Type::Variant([].into()),
        Type::Callable(_) => Type::Callable(CallableType::default().into()),
        Type::Init(_) => Type::Init(None),
        Type::SemVer(_) => Type::SemVer([].into()),
        Type::Timestamp(_) => Type::Timestamp(super::TimeRange::default()),
        Type::Timespan(_) => Type::Timespan(super::TimeRange::default()),
        Type::Uri(_) => Type::Uri(None),
        Type::Class(_) => Type::Class(None),
        Type::Resource(_) => Type::Resource(None),
        Type::Runtime(..) => Type::Runtime(None, None),
        Type::Object(_) => Type::Object(None),
        Type::Reference(_) => Type::Reference(arcstr::literal!("UnresolvedReference")),
        ty => ty.clone(),
    };
    default.accepts(actual)
}

fn detailed_actual(expected: &[Type], actual: &Type) -> String {
    let resolved = expected.iter().map(resolve);
    let general = actual.generalize();
    let in_full = resolved.clone().any(|ty| is_always_detailed(ty, actual))
        || resolved.clone().any(|ty| ty.accepts(&general));
    if in_full {
        actual.expanded()
    } else {
        actual.name()
    }
}

/// All that is wrong with an actual type where another one is expected.
pub(super) fn describe(expected: &Type, actual: &Type, path: &[Step]) -> Vec<Mismatch> {
    if let Some(name) = expected.unresolved() {
        return vec![Mismatch::new(path, Problem::Unresolved(name))];
    }
    describe_normalized(&expected.normalize(), expected, actual, path)
}

fn extended(path: &[Step], step: Step) -> Vec<Step> {
    let mut path = path.to_vec();
    path.push(step);
    path
}

fn describe_normalized(
    expected: &Type,
    original: &Type,
    actual: &Type,
    path: &[Step],
) -> Vec<Mismatch> {
    match expected {
        Type::Variant(types) => describe_variant(types, original, actual, path),
        Type::Struct(elements) => describe_struct(elements, original, actual, path),
        Type::Hash(hash) => describe_hash(hash, original, actual, path),
        Type::Tuple(tuple) => describe_tuple(tuple, original, actual, path),
        Type::Array(array) => describe_array(array, original, actual, path),
        Type::Callable(_) if !matches!(actual, Type::Callable(_)) => {
            vec![Mismatch::of_type(path, original, actual)]
        }
        Type::Optional(None) => Vec::new(),
        Type::Optional(Some(inner)) => {
            if *actual == Type::Undef {
                return Vec::new();
            }
            let original = match original {
                Type::Alias(_) => original,
                _ => expected,
            };
            describe_normalized(inner, original, actual, path)
        }
        Type::Pattern(_) | Type::Enum(_) => vec![Mismatch::new(
            path,
            Problem::Pattern(original.normalize(), actual.normalize()),
        )],
        Type::Alias(alias) => {
            describe_normalized(&alias.resolved().normalize(), expected, actual, path)
        }
        expected if expected.accepts(actual) => Vec::new(),
        _ => vec![Mismatch::of_type(path, original, actual)],
    }
}

fn describe_variant(
    types: &[Type],
    original: &Type,
    actual: &Type,
    path: &[Step],
) -> Vec<Mismatch> {
    let undef = matches!(original, Type::Optional(_)).then_some(&Type::Undef);
    let mut variants = Vec::new();
    for (index, ty) in undef.into_iter().chain(types).enumerate() {
        let found = describe(ty, actual, &extended(path, Step::Variant(index)));
        if found.is_empty() {
            return Vec::new();
        }
        variants.push(found);
    }
    let merged = merge(path.len(), false, variants);
    if matches!(original, Type::Alias(_)) && merged.len() == 1 {
        return vec![Mismatch::of_type(path, original, actual)];
    }
    merged
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

fn describe_array(
    array: &ArrayType,
    original: &Type,
    actual: &Type,
    path: &[Step],
) -> Vec<Mismatch> {
    let any_size = IntegerRange::at_least(0);
    match actual {
        Type::Tuple(tuple) => {
            let expected_size = array.size.clone().unwrap_or(any_size);
            let actual_size = tuple
                .size
                .clone()
                .unwrap_or_else(|| IntegerRange::exactly(tuple.types.len()));
            if !expected_size.covers(&actual_size) {
                return vec![Mismatch::new(
                    path,
                    Problem::Size(expected_size, actual_size),
                )];
            }
            let wrong = tuple
                .types
                .iter()
                .enumerate()
                .filter(|(_, ty)| !array.element.accepts(ty));
            wrong
                .flat_map(|(index, ty)| {
                    describe(&array.element, ty, &extended(path, Step::Index(index)))
                })
                .collect()
        }
        Type::Array(actual) => {
            let actual_size = actual.size.clone().unwrap_or(any_size);
            match &array.size {
                Some(size) if !size.covers(&actual_size) => vec![Mismatch::new(
                    path,
                    Problem::Size(size.clone(), actual_size),
                )],
                _ => vec![Mismatch::of_type(
                    path,
                    original,
                    &Type::array(actual.element.clone(), None),
                )],
            }
        }
        actual => vec![Mismatch::of_type(path, original, actual)],
    }
}

fn describe_hash(hash: &HashType, original: &Type, actual: &Type, path: &[Step]) -> Vec<Mismatch> {
    let any_size = IntegerRange::at_least(0);
    match actual {
        Type::Struct(elements) => {
            let expected_size = hash.size.clone().unwrap_or(any_size);
            let required = elements.iter().filter(|element| !element.optional).count();
            let actual_size = IntegerRange::of(required, elements.len());
            if !expected_size.covers(&actual_size) {
                return vec![Mismatch::new(
                    path,
                    Problem::Size(expected_size, actual_size),
                )];
            }
            let mut found = Vec::new();
            for element in elements.iter() {
                let key = element.key();
                if !hash.key.accepts(&key) {
                    let path = extended(path, Step::Key(element.name.clone()));
                    found.extend(describe(&hash.key, &key, &path));
                }
                if !hash.value.accepts(&element.value) {
                    let path = extended(path, Step::Entry(element.name.clone()));
                    found.extend(describe(&hash.value, &element.value, &path));
                }
            }
            found
        }
        Type::Hash(actual) => {
            let actual_size = actual.size.clone().unwrap_or(any_size);
            match &hash.size {
                Some(size) if !size.covers(&actual_size) => vec![Mismatch::new(
                    path,
                    Problem::Size(size.clone(), actual_size),
                )],
                _ => vec![without_size(path, original, actual)],
            }
        }
        actual => vec![Mismatch::of_type(path, original, actual)],
    }
}

fn without_size(path: &[Step], original: &Type, actual: &HashType) -> Mismatch {
    let actual = Type::hash(actual.key.clone(), actual.value.clone(), None);
    Mismatch::of_type(path, original, &actual)
}

fn describe_struct(
    elements: &[StructElement],
    original: &Type,
    actual: &Type,
    path: &[Step],
) -> Vec<Mismatch> {
    match actual {
        Type::Struct(others) => {
            let mut rest: Vec<&StructElement> = others.iter().collect();
            let mut found = Vec::new();
            for element in elements {
                let place = rest.iter().position(|other| other.name == element.name);
                let Some(place) = place else {
                    if !element.optional {
                        let problem = Problem::MissingKey(element.name.clone());
                        found.push(Mismatch::new(path, problem));
                    }
                    continue;
                };
                let other = rest.remove(place);
                if !element.value.accepts(&other.value) {
                    let path = extended(path, Step::Entry(element.name.clone()));
                    found.extend(describe(&element.value, &other.value, &path));
                }
            }
            let extra = rest
                .iter()
                .map(|other| Problem::ExtraKey(other.name.clone()));
            found.extend(extra.map(|problem| Mismatch::new(path, problem)));
            found
        }
        Type::Hash(hash) => {
            let actual_size = hash
                .size
                .clone()
                .unwrap_or_else(|| IntegerRange::at_least(0));
            let required = elements.iter().filter(|element| !element.optional).count();
            let expected_size = IntegerRange::of(required, elements.len());
            if expected_size.covers(&actual_size) {
                vec![without_size(path, original, hash)]
            } else {
                vec![Mismatch::new(
                    path,
                    Problem::Size(expected_size, actual_size),
                )]
            }
        }
        actual => vec![Mismatch::of_type(path, original, actual)],
    }
}

fn describe_tuple(
    tuple: &TupleType,
    original: &Type,
    actual: &Type,
    path: &[Step],
) -> Vec<Mismatch> {
    let expected_size = tuple.size_range();
    let (actual_size, pairs): (IntegerRange, Vec<(usize, &Type, &Type)>) = match actual {
        Type::Tuple(other) if **other == *tuple => return Vec::new(),
        Type::Array(_) if tuple.types.is_empty() => return Vec::new(),
        Type::Tuple(other) => {
            // Puppet names the last place of the types for all that follow it.
            let last = tuple.types.len().saturating_sub(1);
            let pairs = other.types.iter().enumerate().filter_map(|(index, ty)| {
                tuple
                    .at(index)
                    .map(|expected| (index.min(last), expected, ty))
            });
            (other.size_range(), pairs.collect())
        }
        Type::Array(array) => {
            let pairs = tuple.types.iter().enumerate();
            (
                array
                    .size
                    .clone()
                    .unwrap_or_else(|| IntegerRange::at_least(0)),
                pairs
                    .map(|(index, ty)| (index, ty, &array.element))
                    .collect(),
            )
        }
        actual => return vec![Mismatch::of_type(path, original, actual)],
    };
    if !expected_size.covers(&actual_size) {
        return vec![Mismatch::new(
            path,
            Problem::Size(expected_size, actual_size),
        )];
    }
    pairs
        .into_iter()
        .flat_map(|(index, expected, actual)| {
            describe(expected, actual, &extended(path, Step::Index(index)))
        })
        .collect()
}

impl Type {
    /// The first type inside that is only a name.
    fn unresolved(&self) -> Option<ArcStr> {
        let inner = |ty: &Option<std::sync::Arc<Type>>| ty.as_ref().and_then(|ty| ty.unresolved());
        match self {
            Type::Reference(name) => Some(name.clone()),
            Type::Array(array) => array.element.unresolved(),
            Type::Hash(hash) => hash.key.unresolved().or_else(|| hash.value.unresolved()),
            Type::Tuple(tuple) => tuple.types.iter().find_map(Type::unresolved),
            Type::Struct(elements) => elements
                .iter()
                .find_map(|element| element.value.unresolved()),
            Type::Variant(types) => types.iter().find_map(Type::unresolved),
            Type::Iterable(ty)
            | Type::Iterator(ty)
            | Type::Optional(ty)
            | Type::NotUndef(ty)
            | Type::Type(ty) => inner(ty),
            Type::Sensitive(ty) => ty.unresolved(),
            Type::Init(Some(init)) => init.target.unresolved(),
            Type::Callable(callable) => {
                let parameters = callable.parameters.iter().flat_map(|tuple| &tuple.types);
                parameters
                    .chain(&callable.block)
                    .chain(&callable.returns)
                    .find_map(Type::unresolved)
            }
            _ => None,
        }
    }
}
