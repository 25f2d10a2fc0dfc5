//! [`Alias`]: names for other types.

use std::sync::{Arc, LazyLock};

use super::Type;

/// Another name for a type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Alias {
    /// `Data`: values that JSON has.
    Data,
    /// `RichData`: values that Puppet can serialize.
    RichData,
    /// `RichDataKey`: the keys of hashes in rich data.
    RichDataKey,
    /// `Puppet::LookupKey`, which is `RichDataKey`.
    LookupKey,
    /// `Puppet::LookupValue`, which is `RichData`.
    LookupValue,
    /// A name that a conversion function has for the type of a parameter.
    Local(Arc<LocalAlias>),
}

/// A name that a conversion function has for a type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LocalAlias {
    /// The name.
    pub name: String,
    /// The type.
    pub resolved: Type,
}

impl Alias {
    /// The alias with a name in lower case.
    pub(crate) fn find(name: &str) -> Option<Alias> {
        Some(match name {
            "data" => Alias::Data,
            "richdata" => Alias::RichData,
            "richdatakey" => Alias::RichDataKey,
            "puppet::lookupkey" => Alias::LookupKey,
            "puppet::lookupvalue" => Alias::LookupValue,
            _ => return None,
        })
    }

    /// The name as Puppet prints it.
    pub fn name(&self) -> &str {
        match self {
            Alias::Data => "Data",
            Alias::RichData => "RichData",
            Alias::RichDataKey => "RichDataKey",
            Alias::LookupKey => "Puppet::LookupKey",
            Alias::LookupValue => "Puppet::LookupValue",
            Alias::Local(local) => &local.name,
        }
    }

    /// The type.
    pub fn resolved(&self) -> &Type {
        match self {
            Alias::Data => &DATA,
            Alias::RichData => &RICH_DATA,
            Alias::RichDataKey => &RICH_DATA_KEY,
            Alias::LookupKey => &Type::Alias(Alias::RichDataKey),
            Alias::LookupValue => &Type::Alias(Alias::RichData),
            Alias::Local(local) => &local.resolved,
        }
    }

    /// Does its type contain the alias?
    pub(crate) fn is_recursive(&self) -> bool {
        matches!(self, Alias::Data | Alias::RichData)
    }
}

static DATA: LazyLock<Type> = LazyLock::new(|| {
    let data = Type::Alias(Alias::Data);
    Type::variant([
        Type::ScalarData,
        Type::Undef,
        Type::hash(Type::string(), data.clone(), None),
        Type::array(data, None),
    ])
});

static RICH_DATA_KEY: LazyLock<Type> =
    LazyLock::new(|| Type::variant([Type::string(), Type::Numeric]));

static RICH_DATA: LazyLock<Type> = LazyLock::new(|| {
    let rich_data = Type::Alias(Alias::RichData);
    Type::variant([
        Type::Scalar,
        Type::SemVerRange,
        Type::Binary,
        Type::Sensitive(Arc::new(Type::Any)),
        Type::Type(None),
        Type::TypeSet,
        Type::Uri(None),
        Type::Object(None),
        Type::Undef,
        Type::Default,
        Type::hash(Type::Alias(Alias::RichDataKey), rich_data.clone(), None),
        Type::array(rich_data, None),
    ])
});
