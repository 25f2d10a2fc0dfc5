//! The types that Puppet checks a `hiera.yaml` against.

use std::sync::LazyLock;

use puppet_types::{StructElement, Type};
use puppet_values::Value;

use super::Refusal;

pub(super) static VERSION_5: LazyLock<Option<Type>> = LazyLock::new(|| {
    let text = "String[1]";
    let list = "Array[String[1], 1, default]";
    let options = r"Hash[Pattern[/\A[A-Za-z](:?[0-9A-Za-z_-]*[0-9A-Za-z])?\z/], Data]";
    let levels = format!(
        "Array[Struct[{{name => {text}, Optional[options] => {options}, Optional[data_hash] => {text}, \
         Optional[lookup_key] => {text}, Optional[hiera3_backend] => {text}, Optional[v4_data_hash] => {text}, \
         Optional[data_dig] => {text}, Optional[path] => {text}, Optional[paths] => {list}, \
         Optional[glob] => {text}, Optional[globs] => {list}, Optional[uri] => {text}, \
         Optional[uris] => {list}, Optional[mapped_paths] => Array[String[1], 3, 3], \
         Optional[datadir] => {text}}}]]"
    );
    let defaults = format!(
        "Struct[{{Optional[data_hash] => {text}, Optional[lookup_key] => {text}, \
         Optional[data_dig] => {text}, Optional[datadir] => {text}, Optional[options] => {options}}}]"
    );
    let whole = format!(
        "Struct[{{version => Integer[5, 5], Optional[defaults] => {defaults}, \
         Optional[hierarchy] => {levels}, Optional[plan_hierarchy] => {levels}, \
         Optional[default_hierarchy] => {levels}}}]"
    );
    Type::parse(&whole).ok()
});

pub(super) static VERSION_4: LazyLock<Option<Type>> = LazyLock::new(|| {
    let whole = "Struct[{version => Integer[4, 4], Optional[datadir] => String[1], \
         Optional[hierarchy] => Array[Struct[{backend => String[1], name => String[1], \
         Optional[datadir] => String[1], Optional[path] => String[1], \
         Optional[paths] => Array[String[1]]}]]}]";
    Type::parse(whole).ok()
});

static VERSION_3: LazyLock<Option<Type>> = LazyLock::new(|| {
    let whole = "Struct[{Optional[version] => Integer[3, 3], \
         Optional[backends] => Variant[String[1], Array[String[1]]], Optional[logger] => String[1], \
         Optional[merge_behavior] => Enum['deep', 'deeper', 'native'], \
         Optional[deep_merge_options] => Hash[String[1], Variant[String, Boolean]], \
         Optional[hierarchy] => Variant[String[1], Array[String[1]]]}]";
    Type::parse(whole).ok()
});

/// The type of version 3, with the settings of each backend.
pub(super) fn version_3_with(backends: &[Value]) -> Result<Option<Type>, Refusal> {
    let (Some(Type::Struct(settings)), Ok(value)) =
        (VERSION_3.as_ref(), Type::parse("Hash[String[1], Any]"))
    else {
        return Ok(None);
    };
    let mut elements = settings.to_vec();
    for backend in backends {
        let Value::Str(name) = backend else {
            return Err(Refusal::unexpected());
        };
        elements.retain(|element| element.name != *name);
        elements.push(StructElement {
            name: name.clone(),
            optional: true,
            value: value.clone(),
        });
    }
    Ok(Some(Type::Struct(elements.into())))
}
