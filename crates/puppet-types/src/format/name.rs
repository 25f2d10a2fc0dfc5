//! The names of types.

use super::Type;

impl Type {
    /// The name of the type without parameters.
    pub(crate) fn name(&self) -> String {
        match self {
            Type::Any => "Any",
            Type::Unit => "Unit",
            Type::Undef => "Undef",
            Type::Default => "Default",
            Type::Scalar => "Scalar",
            Type::ScalarData => "ScalarData",
            Type::Numeric => "Numeric",
            Type::Binary => "Binary",
            Type::SemVerRange => "SemVerRange",
            Type::CatalogEntry => "CatalogEntry",
            Type::Integer(_) => "Integer",
            Type::Float(_) => "Float",
            Type::String(_) => "String",
            Type::Boolean(_) => "Boolean",
            Type::Enum(_) => "Enum",
            Type::Pattern(_) => "Pattern",
            Type::Regexp(_) => "Regexp",
            Type::Collection(_) => "Collection",
            Type::Array(_) => "Array",
            Type::Hash(_) => "Hash",
            Type::Tuple(_) => "Tuple",
            Type::Struct(_) => "Struct",
            Type::Iterable(_) => "Iterable",
            Type::Iterator(_) => "Iterator",
            Type::Optional(_) => "Optional",
            Type::NotUndef(_) => "NotUndef",
            Type::Type(_) => "Type",
            Type::Sensitive(_) => "Sensitive",
            Type::Variant(_) => "Variant",
            Type::Callable(_) => "Callable",
            Type::Init(_) => "Init",
            Type::SemVer(_) => "SemVer",
            Type::Timestamp(_) => "Timestamp",
            Type::Timespan(_) => "Timespan",
            Type::Uri(_) => "URI",
            Type::Class(_) => "Class",
            Type::Resource(_) => "Resource",
            Type::Runtime(..) => "Runtime",
            Type::Alias(alias) => alias.name(),
            Type::Reference(_) => "TypeReference",
            Type::Object(None) => "Object",
            Type::Object(Some(name)) => name,
            Type::TypeSet => "DefaultTypeSet",
        }
        .to_owned()
    }
}
