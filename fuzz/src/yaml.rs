//! YAML: the reader for simple texts, held against libyaml alone; and values that are written and read again.

use crate::api::{Build, Limits, Mark, ReadError, Scalar, Source, read, read_with_libyaml};
use crate::expect::yaml_position_in;

/// Texts with a meaning in YAML.
pub const DICTIONARY: &[&str] = &[
    "\n",
    "\n  ",
    "\n    ",
    "\n- ",
    "  ",
    "- ",
    "-",
    ": ",
    ":\n",
    "? ",
    "key: ",
    "a: b\n",
    "'",
    "''",
    "\"",
    "\\",
    "\\n",
    "\\x41",
    "\\u00e9",
    " #",
    "# c\n",
    "[",
    "]",
    "{",
    "}",
    ", ",
    "|\n  ",
    ">\n  ",
    "|-\n",
    "|+\n",
    "|2\n",
    ">-",
    "---\n",
    "...\n",
    "%YAML 1.1\n",
    "%TAG ! x:\n",
    "&a ",
    "*a",
    "*a : ",
    "<<: ",
    "<<: *a\n",
    "!!str ",
    "!!int ",
    "!!float ",
    "!!binary ",
    "!!set ",
    "!!omap ",
    "!ruby/object:X ",
    "! ",
    "!<x> ",
    "\t",
    "\r\n",
    "\u{85}",
    "\u{2028}",
    "\u{feff}",
    "~",
    "null",
    "yes",
    "off",
    "0x1F",
    "0o7",
    "010",
    "1_000",
    "1:30",
    "1.5e3",
    ".inf",
    "-.INF",
    ".nan",
    "2020-01-01",
    "2020-01-01 10:00:00",
    ":sym",
    ":\"sym\"",
    "ENC[PKCS7,x]",
    "%{x}",
    "ü",
    "\u{1f600}",
    "@",
    "`",
];

/// So small that inputs of some hundred bytes come to them.
const LIMITS: Limits = Limits {
    depth: 12,
    nodes: 150,
    expanded_nodes: 400,
};

/// Checks one text.
pub fn check(text: &[u8]) {
    let generous = Limits {
        nodes: 20_000,
        expanded_nodes: 50_000,
        ..Limits::default()
    };
    for limits in [generous, LIMITS] {
        let read_quickly = read(text, &limits, &mut Recorder);
        let judged = read_with_libyaml(text, &limits, &mut Recorder);
        assert_eq!(read_quickly, judged);
        if let Err(error) = &judged {
            check_error(text, error);
        }
    }
    check_round_trip(text, &generous);
}

fn check_error(text: &[u8], error: &ReadError) {
    yaml_position_in(text, error.mark().line, error.mark().column);
    assert!(!error.puppet_message("file").is_empty());
}

/// A value is written as text that is read as the same value.
fn check_round_trip(text: &[u8], limits: &Limits) {
    let Ok(Some(value)) = read(text, limits, &mut psych_yaml::Builder) else {
        return;
    };
    let Ok(written) = value.to_yaml() else {
        return;
    };
    let again = read(written.as_bytes(), limits, &mut psych_yaml::Builder);
    assert_eq!(again, Ok(Some(value)), "{written}");
}

/// Keeps all that a reader hands over.
struct Recorder;

#[derive(Clone, Debug, PartialEq)]
struct Node {
    content: Content,
    mark: Mark,
}

#[derive(Clone, Debug, PartialEq)]
enum Content {
    /// The scalar, and its text, style and tag.
    Scalar(String, String),
    Sequence(Vec<Node>),
    Mapping(Vec<(Node, Node)>),
}

impl Build for Recorder {
    type Value = Node;
    type Sequence = Vec<Node>;
    type Mapping = Vec<(Node, Node)>;

    fn scalar(&mut self, scalar: Scalar<'_>, source: Source<'_>) -> Node {
        let Source {
            text, style, tag, ..
        } = source;
        Node {
            content: Content::Scalar(format!("{scalar:?}"), format!("{text:?} {style:?} {tag:?}")),
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
            content: Content::Sequence(sequence),
            mark,
        }
    }

    fn mapping(&mut self) -> Vec<(Node, Node)> {
        Vec::new()
    }

    fn insert(&mut self, mapping: &mut Vec<(Node, Node)>, key: Node, value: Node) {
        mapping.push((key, value));
    }

    fn finish_mapping(&mut self, mapping: Vec<(Node, Node)>, mark: Mark) -> Node {
        Node {
            content: Content::Mapping(mapping),
            mark,
        }
    }

    fn entries(&self, value: &Node) -> Option<Vec<(Node, Node)>> {
        match &value.content {
            Content::Mapping(entries) => Some(entries.clone()),
            _ => None,
        }
    }

    fn open_entries(&self, mapping: &Vec<(Node, Node)>) -> Vec<(Node, Node)> {
        mapping.clone()
    }
}
