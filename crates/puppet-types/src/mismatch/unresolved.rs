//! Unknown types inside of a type.

use std::sync::Arc;

use lean_string::LeanStr;

use super::super::Type;

impl Type {
    /// The first unknown type in it.
    pub(super) fn unresolved(&self) -> Option<LeanStr> {
        let inner = |ty: &Option<Arc<Type>>| ty.as_ref().and_then(|ty| ty.unresolved());
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
