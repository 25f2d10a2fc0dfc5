//! Signatures of conversion functions: the arguments that they accept, and messages about others.

use puppet_values::Value;

use super::mismatch::{self, Mismatch, MismatchKind, PathStep};
use super::{InitType, IntegerRange, TupleType, Type, TypeNames, infer_set, parse};
use crate::convert::ConversionError;

/// One way to call a function.
#[derive(Clone, Debug)]
pub(crate) struct Signature {
    parameters: Vec<(Type, &'static str)>,
    required: usize,
    /// Does it only report an error?
    pub(crate) is_error: bool,
}

/// A function with several signatures.
#[derive(Debug)]
pub(crate) struct Function {
    /// The name in messages.
    pub(crate) name: &'static str,
    /// The signatures. The first that accepts the arguments is called.
    pub(crate) signatures: Vec<Signature>,
}

/// The type and name of a parameter, and whether it is optional.
pub(crate) type Parameter = (&'static str, &'static str, bool);

impl Function {
    /// Builds a function. Signatures that report an error are marked with `true`.
    ///
    /// The types are literals of this crate. An invalid one would accept any value.
    pub(crate) fn new(
        name: &'static str,
        aliases: &[(&'static str, String)],
        signatures: &[(bool, &[Parameter])],
    ) -> Self {
        let mut names = TypeNames::default();
        let read = |text: &str, names: &TypeNames| parse::parse(text, names).unwrap_or(Type::Any);
        for (alias, text) in aliases {
            let resolved = read(text, &names).normalize();
            let local = super::LocalAlias {
                name: (*alias).to_owned(),
                resolved,
            };
            let ty = Type::Alias(super::Alias::Local(local.into()));
            names.types.push((alias.to_ascii_lowercase(), ty));
        }
        let signatures = signatures.iter().map(|(is_error, parameters)| Signature {
            required: parameters.iter().filter(|(.., optional)| !optional).count(),
            parameters: parameters
                .iter()
                .map(|(text, name, _)| (read(text, &names), *name))
                .collect(),
            is_error: *is_error,
        });
        Function {
            name,
            signatures: signatures.collect(),
        }
    }

    /// The first signature that accepts the arguments.
    pub(crate) fn dispatch(&self, arguments: &[Value]) -> Option<usize> {
        self.signatures
            .iter()
            .position(|signature| signature.accepts(arguments))
    }

    /// The type of the first parameter of a signature.
    pub(crate) fn parameter_type(&self, signature: usize) -> &Type {
        self.signatures
            .get(signature)
            .and_then(|signature| signature.parameters.first())
            .map_or(&Type::Any, |(ty, _)| ty)
    }

    /// The message about arguments that no signature accepts.
    pub(crate) fn describe(&self, arguments: &[Value]) -> String {
        let types: Vec<Type> = arguments.iter().map(infer_set).collect();
        let signatures: Vec<&Signature> = self
            .signatures
            .iter()
            .filter(|signature| !signature.is_error)
            .collect();
        let errors: Vec<Vec<Mismatch>> = signatures
            .iter()
            .enumerate()
            .map(|(index, signature)| signature.describe(&types, &[PathStep::Signature(index)]))
            .collect();
        let merged = mismatch::merge(0, true, errors.clone());
        if let [only] = &merged[..] {
            return format!("'{}'{only}", self.name);
        }
        let rejected = |errors: Vec<Mismatch>, indent: &str| -> Vec<String> {
            let chopped = errors.into_iter().map(|error| error.without_step(0));
            chopped
                .map(|error| format!("{indent}rejected:{error}"))
                .collect()
        };
        let mut lines = Vec::new();
        if let [signature] = &signatures[..] {
            lines.push(format!("'{}' expects ({})", self.name, signature.text()));
            for errors in errors {
                lines.extend(rejected(errors, "  "));
            }
        } else {
            lines.push(format!(
                "The function '{}' was called with arguments it does not accept. It expects one of:",
                self.name
            ));
            for (signature, errors) in signatures.iter().zip(errors) {
                lines.push(format!("  ({})", signature.text()));
                lines.extend(rejected(errors, "    "));
            }
        }
        lines.join("\n")
    }
}

impl Signature {
    fn accepts(&self, arguments: &[Value]) -> bool {
        (self.required..=self.parameters.len()).contains(&arguments.len())
            && self
                .parameters
                .iter()
                .zip(arguments)
                .all(|((ty, _), argument)| ty.is_instance(argument))
    }

    fn size(&self) -> IntegerRange {
        IntegerRange::of(self.required, self.parameters.len())
    }

    fn describe(&self, arguments: &[Type], path: &[PathStep]) -> Vec<Mismatch> {
        let given = IntegerRange::exactly(arguments.len());
        if !self.size().covers(&given) {
            return vec![Mismatch::new(path, MismatchKind::Count(self.size(), given))];
        }
        for ((ty, name), argument) in self.parameters.iter().zip(arguments) {
            if !ty.accepts(argument) {
                let mut path = path.to_vec();
                path.push(PathStep::Parameter(name));
                let found = mismatch::describe(ty, argument, &path);
                if !found.is_empty() {
                    return found;
                }
            }
        }
        Vec::new()
    }

    /// The signature in messages.
    fn text(&self) -> String {
        let parameters = self.parameters.iter().enumerate();
        let texts = parameters.map(|(index, (ty, name))| {
            if index < self.required {
                return format!("{ty} {name}");
            }
            match ty {
                Type::Optional(Some(inner)) => format!("{inner} {name}?"),
                ty => format!("{ty} {name}?"),
            }
        });
        texts.collect::<Vec<_>>().join(", ")
    }

    fn tuple(&self) -> TupleType {
        TupleType {
            types: self.parameters.iter().map(|(ty, _)| ty.clone()).collect(),
            size: Some(self.size()),
        }
    }
}

/// The arguments that an `Init[T]` accepts, in addition to a `T`.
#[derive(Debug)]
pub(crate) struct InitTypes {
    /// A single argument of `new`.
    pub(crate) single: Type,
    /// Several arguments of `new`, as an array.
    pub(crate) several: Option<Type>,
    /// Can one argument be passed instead of several?
    pub(crate) has_optional_single: bool,
}

/// The arguments that an `Init[T]` accepts, from the signatures of the function that creates a `T`.
pub(crate) fn init_types(init: &InitType) -> Result<InitTypes, ConversionError> {
    let unsupported = || ConversionError::NotSupported {
        ty: init.target.to_string(),
    };
    if matches!(
        init.target,
        Type::Init(_) | Type::Optional(_) | Type::NotUndef(_)
    ) {
        return Err(unsupported());
    }
    let function = crate::convert::function_of(&init.target).ok_or_else(unsupported)?;
    let tuples = function
        .signatures
        .iter()
        .filter(|signature| !signature.is_error)
        .map(Signature::tuple);
    let mut single = vec![init.target.clone()];
    let mut several = Vec::new();
    if init.arguments.is_empty() {
        for tuple in tuples {
            match &tuple.types[..] {
                [only] if tuple.size == Some(IntegerRange::of(1, 1)) => single.push(only.clone()),
                _ => several.push(tuple),
            }
        }
    } else {
        let given: Vec<Type> = init.arguments.iter().map(infer_set).collect();
        for tuple in tuples {
            let Some(first) = tuple.types.first().cloned() else {
                continue;
            };
            let mut types = vec![first.clone()];
            types.extend(given.iter().cloned());
            let fits = tuple.size_range().contains_size(types.len());
            if fits && Type::Tuple(tuple.into()).accepts(&Type::tuple(types, None)) {
                single.push(first);
            }
        }
        if single.len() == 1 {
            let ty = Type::Init(Some(init.clone().into()));
            return Err(ConversionError::InitArguments {
                ty: ty.to_string(),
                target: init.target.generalize().name(),
            });
        }
    }
    let one: Option<num_bigint::BigInt> = Some(1.into());
    let has_optional_single = several.iter().any(|tuple| tuple.size_range().from == one);
    let several = several.into_iter().map(|tuple| Type::Tuple(tuple.into()));
    let several: Vec<Type> = several.collect();
    Ok(InitTypes {
        single: Type::variant(single),
        several: (!several.is_empty()).then(|| Type::variant(several)),
        has_optional_single,
    })
}

impl InitTypes {
    pub(crate) fn is_instance(&self, init: &InitType, value: &Value) -> bool {
        init.target.is_instance(value)
            || self.single.is_instance(value)
            || self.several.as_ref().is_some_and(|several| {
                several.is_instance(value)
                    || self.has_optional_single
                        && several.is_instance(&Value::array(vec![value.clone()]))
            })
    }

    pub(crate) fn accepts(&self, init: &InitType, other: &Type) -> bool {
        init.target.accepts(other)
            || self.single.accepts(other)
            || self.several.as_ref().is_some_and(|several| {
                several.accepts(other)
                    || self.has_optional_single
                        && several.accepts(&Type::tuple(vec![other.clone()], None))
            })
    }
}
