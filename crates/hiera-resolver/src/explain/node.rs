//! The nodes of an explanation and their results.

use std::sync::Arc;

use arcstr::ArcStr;
use puppet_values::{Hash, Value};

/// What a node is about.
#[derive(Clone, Debug)]
pub(crate) enum NodeKind {
    /// The search for a key: `Searching for "key"`.
    Search,
    /// A layer, or a level of its hierarchy.
    Provider {
        /// Its name.
        name: String,
        /// The `hiera.yaml` of a layer.
        config_path: Option<ArcStr>,
        /// The module, if it is a module's layer.
        module: Option<ArcStr>,
    },
    /// A file.
    Path {
        /// As written in `hiera.yaml`.
        original: ArcStr,
        /// With its tokens filled in.
        path: String,
    },
    /// A URI.
    Uri {
        /// As written in `hiera.yaml`.
        original: ArcStr,
        /// With its tokens filled in.
        uri: String,
    },
    /// A merge.
    Merge {
        /// The strategy.
        strategy: String,
        /// Its options.
        options: Option<Hash>,
    },
    /// A text with tokens.
    Interpolation {
        /// The text.
        expression: ArcStr,
    },
    /// A scope of variables, or a heading.
    Scope {
        /// Its name.
        name: String,
    },
    /// The way along the segments of a key.
    SubKey {
        /// The segments, joined by dots.
        segments: String,
    },
    /// One segment.
    Segment,
    /// A module that does not exist or has no data.
    Module {
        /// Its name.
        name: ArcStr,
    },
    /// A key that cannot be looked up.
    InvalidKey,
    /// Where the merge strategy came from.
    MergeSource,
}

/// The result of a node.
#[derive(Clone, Debug)]
pub(crate) enum Event {
    /// A value.
    Found(Value),
    /// A value from `override`.
    FoundInOverrides(Value),
    /// A value from `default_values`.
    FoundInDefaults(Value),
    /// The result of a merge.
    Result(Value),
    /// No such key.
    NotFound,
    /// No such file.
    LocationNotFound,
    /// No such module.
    ModuleNotFound,
    /// A module without data.
    ModuleProviderNotFound,
}

impl Event {
    /// The same without its value.
    pub(crate) fn redacted(self) -> Self {
        let mut event = self;
        if let Some(value) = event.value_mut() {
            *value = Event::secret();
        }
        event
    }

    /// Shown instead of a value that must not be.
    pub(crate) fn secret() -> Value {
        Value::Sensitive(Arc::new(Value::Null))
    }

    /// About how many bytes it takes to show it.
    pub(crate) fn weight(&self) -> usize {
        32 + 16
            * self
                .value()
                .map_or(0, |value| value.traits().weight as usize)
    }

    pub(super) fn value_mut(&mut self) -> Option<&mut Value> {
        match self {
            Event::Found(value)
            | Event::FoundInOverrides(value)
            | Event::FoundInDefaults(value)
            | Event::Result(value) => Some(value),
            _ => None,
        }
    }

    pub(super) fn value(&self) -> Option<&Value> {
        match self {
            Event::Found(value)
            | Event::FoundInOverrides(value)
            | Event::FoundInDefaults(value)
            | Event::Result(value) => Some(value),
            _ => None,
        }
    }
}
