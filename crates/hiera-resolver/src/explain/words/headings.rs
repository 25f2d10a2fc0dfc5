//! The headings and remarks of an explanation.

use arcstr::ArcStr;

use crate::explain::NodeKind;
use crate::hierarchy::{LayerKind, Level};
use crate::lookup::options::LOOKUP_OPTIONS;

/// A layer with a configuration.
pub(crate) fn layer(kind: &LayerKind, version: u8, config_path: Option<ArcStr>) -> NodeKind {
    let (name, module) = match kind {
        LayerKind::Global => ("Global".to_owned(), None),
        LayerKind::Environment => ("Environment".to_owned(), None),
        LayerKind::Module(module) => (format!("Module \"{module}\""), Some(module.clone())),
    };
    NodeKind::Provider {
        name: format!("{name} Data Provider (hiera configuration version {version})"),
        config_path,
        module,
    }
}

/// A level of a hierarchy.
pub(crate) fn level(level: &Level) -> NodeKind {
    NodeKind::Provider {
        name: match level.function().kind_and_name() {
            ("v4_data_hash", name) => format!("Deprecated API function \"{name}\""),
            _ => format!("Hierarchy entry \"{}\"", level.name()),
        },
        config_path: None,
        module: None,
    }
}

/// The variables of the node.
pub(crate) fn variables() -> NodeKind {
    scope("Global Scope".to_owned())
}

/// The `default_hierarchy` of a module.
pub(crate) fn default_hierarchy(module: &str) -> NodeKind {
    scope(format!(
        "Searching default_hierarchy of module \"{module}\""
    ))
}

/// The search of a key in a `default_hierarchy`.
pub(crate) fn search_in_default_hierarchy(key: &str) -> NodeKind {
    scope(format!("Searching for \"{key}\""))
}

/// The search of `lookup_options` in a `default_hierarchy`.
pub(crate) fn options_in_default_hierarchy() -> NodeKind {
    search_in_default_hierarchy(LOOKUP_OPTIONS)
}

/// The `lookup_options` of the layers above a module, when they are merged with its own.
pub(crate) fn options_above_modules() -> NodeKind {
    scope("Global and Environment".to_owned())
}

/// The `lookup_options` of a module, when they are merged with those above it.
pub(crate) fn options_of_module(module: &str) -> NodeKind {
    scope(format!("Module {module}"))
}

/// The remark that a value is converted. `arguments` are the type and what follows it.
pub(crate) fn conversion(arguments: &str) -> String {
    format!("Applying convert_to lookup_option with arguments {arguments}")
}

fn scope(name: String) -> NodeKind {
    NodeKind::Scope { name }
}
