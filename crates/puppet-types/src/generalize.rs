//! Types without the bounds of a particular value: `Integer[1, 1]` becomes `Integer`.

use super::{IntegerRange, TimeRange, Type};

impl Type {
    /// The type without the bounds of a particular value.
    pub(crate) fn generalize(&self) -> Type {
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
            Type::Optional(Some(ty)) => Type::optional(ty.generalize()),
            Type::NotUndef(Some(ty)) => Type::not_undef(ty.generalize()),
            Type::Variant(types) if types.is_empty() => self.clone(),
            Type::Variant(types) => Type::variant(types.iter().map(Type::generalize)),
            _ => self.map_parts(Type::generalize),
        }
    }
}
