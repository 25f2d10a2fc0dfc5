//! Types without the bounds of one value: `Integer[1, 1]` → `Integer`.

use std::sync::Arc;

use super::{CallableType, IntegerRange, StructElement, TimeRange, TupleType, Type};

impl Type {
    /// The type without what is particular to one value.
    pub(crate) fn generalize(&self) -> Type {
        let inner = |ty: &Option<Arc<Type>>| ty.as_ref().map(|ty| Arc::new(ty.generalize()));
        match self {
            Type::Integer(_) => Type::integer(),
            Type::Float(_) => Type::float(),
            Type::String(_) => Type::string(),
            Type::Boolean(_) => Type::Boolean(None),
            Type::Enum(list) => {
                let sizes = list.values.iter().map(|value| value.chars().count());
                match (sizes.clone().min(), sizes.max()) {
                    (Some(min), Some(max)) => Type::sized_string(IntegerRange::of(min, max)),
                    _ => Type::string(),
                }
            }
            Type::Collection(_) => Type::Collection(None),
            Type::Timestamp(_) => Type::Timestamp(TimeRange::default()),
            Type::Timespan(_) => Type::Timespan(TimeRange::default()),
            Type::Uri(_) => Type::Uri(None),
            Type::Array(array) if array.element == Type::Any => Type::array(Type::Any, None),
            Type::Array(array) => Type::array(array.element.generalize(), None),
            Type::Hash(hash) if hash.key == Type::Unit && hash.size.is_some() => self.clone(),
            Type::Hash(hash) => Type::hash(hash.key.generalize(), hash.value.generalize(), None),
            Type::Tuple(tuple) => Type::Tuple(Arc::new(tuple.generalize())),
            Type::Struct(elements) => Type::Struct(
                elements
                    .iter()
                    .map(|element| StructElement {
                        value: element.value.generalize(),
                        ..element.clone()
                    })
                    .collect(),
            ),
            Type::Iterable(ty) => Type::Iterable(inner(ty)),
            Type::Iterator(ty) => Type::Iterator(inner(ty)),
            Type::Optional(ty) => Type::Optional(inner(ty)),
            Type::NotUndef(Some(ty)) => Type::not_undef(ty.generalize()),
            Type::Type(ty) => Type::Type(inner(ty)),
            Type::Sensitive(ty) => match ty.generalize() {
                same if same == **ty => self.clone(),
                changed => Type::sensitive(&changed),
            },
            Type::Variant(types) if types.is_empty() => self.clone(),
            Type::Variant(types) => Type::variant(types.iter().map(Type::generalize)),
            Type::Callable(callable) => Type::Callable(Arc::new(CallableType {
                parameters: callable.parameters.as_ref().map(TupleType::generalize),
                block: callable.block.as_ref().map(Type::generalize),
                returns: callable.returns.as_ref().map(Type::generalize),
            })),
            _ => self.clone(),
        }
    }
}

impl TupleType {
    fn generalize(&self) -> TupleType {
        TupleType {
            types: self.types.iter().map(Type::generalize).collect(),
            size: self.size.clone(),
        }
    }
}
