//! An explanation as the text that `puppet lookup --explain` prints.

use std::fmt;

use super::{Event, Explanation, Node, NodeKind};
use puppet_values::{Value, ruby_text};

/// Shown instead of a secret.
pub(crate) const REDACTED: &str = "Sensitive [value redacted]";

impl fmt::Display for Explanation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        for node in self.top.iter().filter_map(|index| self.node(*index)) {
            self.write_node(node, &mut text, "", "");
        }
        for remark in &self.texts {
            line(&mut text, "", &[remark]);
        }
        out.write_str(&text)
    }
}

impl Explanation {
    fn write_node(&self, node: &Node, out: &mut String, indent: &str, first_indent: &str) {
        let inner = format!("{indent}  ");
        let key = node.key.as_deref().unwrap_or_default();
        match &node.kind {
            NodeKind::Search => {
                line(out, first_indent, &["Searching for \"", key, "\""]);
                self.write_branches(node, out, &inner);
            }
            NodeKind::InvalidKey => line(out, first_indent, &["Invalid key \"", key, "\""]),
            NodeKind::MergeSource => line(
                out,
                first_indent,
                &["Using merge options from \"", key, "\" hash"],
            ),
            NodeKind::Module { name } => match node.event {
                Some(Event::ModuleNotFound) => {
                    line(out, indent, &["Module \"", name, "\" not found"])
                }
                Some(Event::ModuleProviderNotFound) => {
                    line(
                        out,
                        indent,
                        &["Module data provider for module \"", name, "\" not found"],
                    );
                }
                _ => {}
            },
            NodeKind::Interpolation { expression } => {
                line(
                    out,
                    first_indent,
                    &["Interpolation on \"", expression, "\""],
                );
                self.write_branches(node, out, &inner);
            }
            NodeKind::Merge { strategy, options } => {
                if let [branch] = node.branches.as_slice() {
                    // A merge with one branch is not shown.
                    if let Some(branch) = self.node(*branch) {
                        self.write_node(branch, out, indent, first_indent);
                    }
                    return;
                }
                if node.branches.is_empty() {
                    return;
                }
                line(out, first_indent, &["Merge strategy ", strategy]);
                if let Some(options) = options {
                    out.push_str(&inner);
                    out.push_str("Options: ");
                    write_value(&Value::hash(options.clone()), out, &inner);
                    out.push('\n');
                }
                self.write_branches(node, out, &inner);
                if let Some(Event::Result(value)) = &node.event {
                    out.push_str(&inner);
                    out.push_str("Merged result: ");
                    write_value(value, out, &inner);
                    out.push('\n');
                }
            }
            NodeKind::Provider {
                name, config_path, ..
            } => {
                line(out, first_indent, &[name]);
                if let Some(path) = config_path {
                    line(out, &inner, &["Using configuration \"", path, "\""]);
                }
                self.write_branches(node, out, &inner);
                write_outcome(node, out, &inner);
            }
            NodeKind::Path { original, path } => {
                self.write_location(node, out, indent, ["Path", "path", path, original])
            }
            NodeKind::Uri { original, uri } => {
                self.write_location(node, out, indent, ["URI", "uri", uri, original])
            }
            NodeKind::SubKey { segments } => {
                line(out, indent, &["Sub key: \"", segments, "\""]);
                self.write_branches(node, out, &inner);
                write_outcome(node, out, &inner);
            }
            NodeKind::Segment => write_outcome(node, out, indent),
            NodeKind::Scope { name } => {
                line(out, indent, &[name]);
                self.write_branches(node, out, &inner);
                write_outcome(node, out, &inner);
            }
        }
    }

    fn write_location(
        &self,
        node: &Node,
        out: &mut String,
        indent: &str,
        [kind, lower, filled, original]: [&str; 4],
    ) {
        let inner = format!("{indent}  ");
        line(out, indent, &[kind, " \"", filled, "\""]);
        line(out, &inner, &["Original ", lower, ": \"", original, "\""]);
        self.write_branches(node, out, &inner);
        if matches!(node.event, Some(Event::LocationNotFound)) {
            line(out, &inner, &[kind, " not found"]);
        }
        write_outcome(node, out, &inner);
    }

    fn write_branches(&self, node: &Node, out: &mut String, indent: &str) {
        for branch in self.branches(node) {
            self.write_node(branch, out, indent, indent);
        }
    }
}

fn line(out: &mut String, indent: &str, parts: &[&str]) {
    out.push_str(indent);
    for part in parts {
        out.push_str(part);
    }
    out.push('\n');
}

fn write_outcome(node: &Node, out: &mut String, indent: &str) {
    let key = node.key.as_deref().unwrap_or_default();
    let found = match &node.event {
        Some(Event::NotFound) => {
            line(out, indent, &["No such key: \"", key, "\""]);
            None
        }
        Some(Event::Found(value)) => Some((value, "")),
        Some(Event::FoundInOverrides(value)) => Some((value, " in overrides")),
        Some(Event::FoundInDefaults(value)) => Some((value, " in defaults")),
        _ => None,
    };
    if let Some((value, origin)) = found {
        out.push_str(indent);
        out.push_str("Found key: \"");
        out.push_str(key);
        out.push_str("\" value: ");
        write_value(value, out, indent);
        out.push_str(origin);
        out.push('\n');
    }
    for remark in &node.texts {
        line(out, indent, &[remark]);
    }
}

/// Collections over several lines, scalars as Ruby inspects them.
fn write_value(value: &Value, out: &mut String, indent: &str) {
    let inner = format!("{indent}  ");
    match value {
        Value::Hash(hash) => {
            out.push('{');
            for (index, (key, value)) in hash.iter().enumerate() {
                out.push_str(if index == 0 { "\n" } else { ",\n" });
                out.push_str(&inner);
                write_value(key, out, &inner);
                out.push_str(" => ");
                write_value(value, out, &inner);
            }
            close(out, hash.is_empty(), indent, '}');
        }
        Value::Array(array) => {
            out.push('[');
            for (index, item) in array.items().iter().enumerate() {
                out.push_str(if index == 0 { "\n" } else { ",\n" });
                out.push_str(&inner);
                write_value(item, out, &inner);
            }
            close(out, array.items().is_empty(), indent, ']');
        }
        Value::Sensitive(_) => out.push_str(REDACTED),
        scalar => ruby_text::inspect(scalar, out),
    }
}

fn close(out: &mut String, is_empty: bool, indent: &str, bracket: char) {
    if !is_empty {
        out.push('\n');
        out.push_str(indent);
    }
    out.push(bracket);
}
