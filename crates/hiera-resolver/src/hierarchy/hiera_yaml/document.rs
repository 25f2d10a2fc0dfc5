//! A `hiera.yaml` as written: YAML with the position of every node.

use psych_yaml::{Build, Limits, Mark, Scalar, Source};
use puppet_values::Value;

/// A node and where it begins.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) content: Content,
    pub(super) mark: Mark,
}

#[derive(Clone, Debug)]
pub(super) enum Content {
    Scalar(Value),
    List(Vec<Node>),
    Map(Vec<(Node, Node)>),
}

impl Node {
    /// Parses a document; `None` if it is empty.
    pub(super) fn read(bytes: &[u8]) -> Result<Option<Node>, psych_yaml::ReadError> {
        psych_yaml::read(bytes, &Limits::default(), &mut Builder)
    }

    /// The string, if it is one. A Symbol counts as a string only if it is a key.
    pub(super) fn text(&self) -> Option<&str> {
        match &self.content {
            Content::Scalar(Value::Str(text)) => Some(text),
            _ => None,
        }
    }

    /// The name of a setting.
    pub(super) fn key_text(&self) -> Option<&str> {
        match &self.content {
            Content::Scalar(Value::Str(text)) => Some(text),
            Content::Scalar(Value::Symbol(name)) => Some(name),
            _ => None,
        }
    }

    pub(super) fn is_null(&self) -> bool {
        matches!(self.content, Content::Scalar(Value::Null))
    }

    /// The node as a plain value.
    pub(super) fn to_value(&self) -> Value {
        match &self.content {
            Content::Scalar(value) => value.clone(),
            Content::List(items) => Value::array(items.iter().map(Node::to_value).collect()),
            Content::Map(entries) => Value::hash(
                entries
                    .iter()
                    .map(|(key, value)| {
                        let key = key.key_text().map_or_else(|| key.to_value(), Value::str);
                        (key, value.to_value())
                    })
                    .collect(),
            ),
        }
    }

    /// What it is, for messages.
    pub(super) fn kind(&self) -> &'static str {
        match &self.content {
            Content::Scalar(Value::Null) => "nothing",
            Content::Scalar(Value::Str(text)) if text.is_empty() => "an empty string",
            Content::Scalar(Value::Str(_)) => "a string",
            Content::Scalar(Value::Bool(_)) => "a boolean",
            Content::Scalar(Value::Int(_) | Value::BigInt(_) | Value::Float(_)) => "a number",
            Content::Scalar(Value::Symbol(_)) => "a Symbol",
            Content::Scalar(_) => "a scalar",
            Content::List(_) => "a list",
            Content::Map(_) => "a hash",
        }
    }
}

struct Builder;

impl Build for Builder {
    type Value = Node;
    type Sequence = Vec<Node>;
    type Mapping = Vec<(Node, Node)>;

    fn scalar(&mut self, scalar: Scalar<'_>, source: Source<'_>) -> Node {
        Node {
            content: Content::Scalar(Value::from(scalar)),
            mark: source.mark,
        }
    }

    fn sequence(&mut self) -> Vec<Node> {
        Vec::new()
    }

    fn push(&mut self, sequence: &mut Vec<Node>, value: Node) {
        sequence.push(value);
    }

    fn finish_sequence(&mut self, sequence: Vec<Node>, mark: Mark) -> Node {
        Node {
            content: Content::List(sequence),
            mark,
        }
    }

    fn mapping(&mut self) -> Vec<(Node, Node)> {
        Vec::new()
    }

    fn insert(&mut self, mapping: &mut Vec<(Node, Node)>, key: Node, value: Node) {
        let same = |other: &Node| match (other.key_text(), key.key_text()) {
            (Some(left), Some(right)) => left == right,
            _ => other.to_value() == key.to_value(),
        };
        match mapping.iter_mut().find(|(other, _)| same(other)) {
            Some((_, old)) => *old = value,
            None => mapping.push((key, value)),
        }
    }

    fn finish_mapping(&mut self, mapping: Vec<(Node, Node)>, mark: Mark) -> Node {
        Node {
            content: Content::Map(mapping),
            mark,
        }
    }

    fn entries(&self, value: &Node) -> Option<Vec<(Node, Node)>> {
        match &value.content {
            Content::Map(entries) => Some(entries.clone()),
            _ => None,
        }
    }

    fn open_entries(&self, mapping: &Vec<(Node, Node)>) -> Vec<(Node, Node)> {
        mapping.clone()
    }
}
