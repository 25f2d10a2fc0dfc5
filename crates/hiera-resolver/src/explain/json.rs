//! An explanation as the structure that `puppet lookup --explain --render-as json` prints.

use super::{Event, Explanation, Node, NodeKind, REDACTED};
use puppet_values::{Hash, Value};

impl Explanation {
    /// The structure, as a value.
    pub fn to_value(&self) -> Value {
        if let [only] = self.top.as_slice()
            && let Some(node) = self.node(*only)
        {
            return Value::hash(self.node_hash(node));
        }
        let mut hash = Hash::new();
        let branches = self.top.iter().filter_map(|index| self.node(*index));
        self.set_branches(&mut hash, branches);
        Value::hash(hash)
    }

    fn set_branches<'a>(&'a self, hash: &mut Hash, branches: impl Iterator<Item = &'a Node>) {
        let branches: Vec<Value> = branches
            .map(|node| Value::hash(self.node_hash(node)))
            .collect();
        if !branches.is_empty() {
            hash.insert("branches".into(), Value::array(branches));
        }
    }

    fn node_hash(&self, node: &Node) -> Hash {
        if let (NodeKind::Merge { .. }, [only]) = (&node.kind, node.branches.as_slice())
            && let Some(branch) = self.node(*only)
        {
            return self.node_hash(branch);
        }
        let mut hash = Hash::new();
        if matches!(node.kind, NodeKind::MergeSource) {
            set(&mut hash, "type", "merge_source");
            set(
                &mut hash,
                "merge_source",
                node.key.as_deref().unwrap_or_default(),
            );
            return hash;
        }
        self.set_branches(&mut hash, self.branches(node));
        if let Some(key) = &node.key {
            hash.insert("key".into(), Value::str(key));
        }
        if let Some(event) = &node.event {
            if let Some(value) = event.value() {
                hash.insert("value".into(), redacted(value));
            }
            set(&mut hash, "event", event_name(event));
        }
        if !node.texts.is_empty() {
            let texts = node.texts.iter().map(Value::str).collect();
            hash.insert("texts".into(), Value::array(texts));
        }
        set(&mut hash, "type", type_name(&node.kind));
        self.set_details(&mut hash, &node.kind);
        hash
    }

    fn set_details(&self, hash: &mut Hash, kind: &NodeKind) {
        match kind {
            NodeKind::Provider {
                name,
                config_path,
                module,
            } => {
                set(hash, "name", name);
                if let Some(path) = config_path {
                    set(hash, "configuration_path", path);
                }
                if let Some(module) = module {
                    set(hash, "module", module);
                }
            }
            NodeKind::Path { original, path } => {
                set(hash, "original_path", original);
                set(hash, "path", path);
            }
            NodeKind::Uri { original, uri } => {
                set(hash, "original_uri", original);
                set(hash, "uri", uri);
            }
            NodeKind::Merge { strategy, options } => {
                set(hash, "merge", strategy);
                if let Some(options) = options {
                    hash.insert("options".into(), Value::hash(options.clone()));
                }
            }
            NodeKind::Interpolation { expression } => set(hash, "expression", expression),
            NodeKind::Scope { name } => set(hash, "name", name),
            NodeKind::Search
            | NodeKind::SubKey { .. }
            | NodeKind::Segment
            | NodeKind::Module { .. }
            | NodeKind::InvalidKey
            | NodeKind::MergeSource => {}
        }
    }
}

fn set(hash: &mut Hash, key: &str, text: &str) {
    hash.insert(key.into(), Value::str(text));
}

fn event_name(event: &Event) -> &'static str {
    match event {
        Event::Found(_) => "found",
        Event::FoundInOverrides(_) => "found_in_overrides",
        Event::FoundInDefaults(_) => "found_in_defaults",
        Event::Result(_) => "result",
        Event::NotFound => "not_found",
        Event::LocationNotFound => "location_not_found",
        Event::ModuleNotFound => "module_not_found",
        Event::ModuleProviderNotFound => "module_provider_not_found",
    }
}

fn type_name(kind: &NodeKind) -> &'static str {
    match kind {
        NodeKind::Search => "root",
        NodeKind::Provider { .. } => "data_provider",
        NodeKind::Path { .. } => "path",
        NodeKind::Uri { .. } => "uri",
        NodeKind::Merge { .. } => "merge",
        NodeKind::Interpolation { .. } => "interpolate",
        NodeKind::Scope { .. } => "scope",
        NodeKind::SubKey { .. } => "sub_key",
        NodeKind::Segment => "segment",
        NodeKind::Module { .. } => "module",
        NodeKind::InvalidKey => "invalid_key",
        NodeKind::MergeSource => "merge_source",
    }
}

/// The value without its secrets.
fn redacted(value: &Value) -> Value {
    if !value.traits().has_sensitive {
        return value.clone();
    }
    match value {
        Value::Array(array) => Value::array(array.items().iter().map(redacted).collect()),
        Value::Hash(hash) => Value::hash(
            hash.iter()
                .map(|(key, value)| (redacted(key), redacted(value)))
                .collect(),
        ),
        _ => Value::str(REDACTED),
    }
}
