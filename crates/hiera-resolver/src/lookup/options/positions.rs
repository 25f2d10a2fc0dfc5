//! Where in a file its `lookup_options` are written. Positions of other data are not needed, and not kept.

use std::ops::Range;
use std::rc::Rc;

use indexmap::IndexMap;
use lean_string::LeanStr;
use psych_yaml::{Build, Limits, Mark, Scalar, Source};

use super::LOOKUP_OPTIONS;
use super::check::KNOWN;

/// The positions of `lookup_options`, of their entries, and of the members of these.
#[derive(Debug)]
pub(super) struct Positions {
    pub(super) whole: Mark,
    /// By key or pattern, as it is written.
    entries: IndexMap<LeanStr, EntryPositions, foldhash::fast::RandomState>,
}

#[derive(Debug)]
struct EntryPositions {
    key: Mark,
    value: Mark,
    members: Vec<(LeanStr, Mark)>,
}

impl Positions {
    fn unknown() -> Self {
        Positions {
            whole: Mark { line: 1, column: 1 },
            entries: IndexMap::default(),
        }
    }

    /// Finds them in YAML. It has been read before; the reader that keeps data does not keep positions.
    pub(super) fn in_yaml(bytes: &[u8]) -> Self {
        let root = psych_yaml::read(bytes, &Limits::default(), &mut Builder);
        let Some(options) = root
            .ok()
            .flatten()
            .and_then(|root| root.get(LOOKUP_OPTIONS))
        else {
            return Positions::unknown();
        };
        // Of an entry that is written twice the last one counts.
        let entry = |(key, value): &(Node, Node)| {
            let members = value.entries().iter();
            let members = members.map(|(name, value)| (name.text.clone(), value.mark));
            let positions = EntryPositions {
                key: key.mark,
                value: value.mark,
                members: members.collect(),
            };
            (key.text.clone(), positions)
        };
        Positions {
            whole: options.mark,
            entries: options.entries().iter().map(entry).collect(),
        }
    }

    /// Finds them in JSON or HOCON by the names of the entries, since their readers do not report positions.
    pub(super) fn in_text(bytes: &[u8], names: &[LeanStr]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let Some(start) = find_word(&text, 0..text.len(), LOOKUP_OPTIONS) else {
            return Positions::unknown();
        };
        let mut cursor = Cursor::new(&text);
        let whole = cursor.mark(start);
        let mut from = start + LOOKUP_OPTIONS.len();
        let mut found = Vec::with_capacity(names.len());
        for name in names {
            let escaped = name.replace('\\', "\\\\").replace('"', "\\\"");
            if let Some(offset) = find_word(&text, from..text.len(), &escaped) {
                from = offset + escaped.len();
                found.push((name, offset, from));
            }
        }
        let ends = found.iter().skip(1).map(|(_, offset, _)| *offset);
        let ends: Vec<usize> = ends.chain([text.len()]).collect();
        let mut entries = IndexMap::default();
        for ((name, offset, start), end) in found.into_iter().zip(ends) {
            let key = cursor.mark(offset);
            let members = KNOWN.into_iter();
            let members = members.filter_map(|member| {
                let offset = find_word(&text, start..end, member)?;
                Some((offset, LeanStr::from(member)))
            });
            let mut members: Vec<(usize, LeanStr)> = members.collect();
            members.sort_unstable();
            let members = members.into_iter();
            let members = members.map(|(offset, name)| (name, cursor.mark(offset)));
            let positions = EntryPositions {
                key,
                value: key,
                members: members.collect(),
            };
            entries.insert(name.clone(), positions);
        }
        Positions { whole, entries }
    }

    /// Where a key or pattern is.
    pub(super) fn key(&self, name: &str) -> Mark {
        self.entries.get(name).map_or(self.whole, |entry| entry.key)
    }

    /// Where its value begins, or a member of the value.
    pub(super) fn value(&self, name: &str, member: Option<&str>) -> Mark {
        let Some(entry) = self.entries.get(name) else {
            return self.whole;
        };
        let mut members = entry.members.iter().rev();
        let part = members.find(|(name, _)| Some(name.as_str()) == member);
        part.map_or(entry.value, |(_, mark)| *mark)
    }
}

/// The offset of a word in a part of a text, if it is not part of a longer word.
fn find_word(text: &str, part: Range<usize>, word: &str) -> Option<usize> {
    let is_part = |letter: Option<char>| {
        letter.is_some_and(|letter| letter.is_alphanumeric() || "_:-^\\".contains(letter))
    };
    let mut found = text.get(part.clone())?.match_indices(word);
    let found = found.find(|(offset, _)| {
        let (start, end) = (part.start + offset, part.start + offset + word.len());
        let before = text.get(..start).unwrap_or_default().chars().next_back();
        let after = text.get(end..).unwrap_or_default();
        // HOCON may have a colon after a name.
        let ends = after.starts_with(':') && !after.starts_with("::");
        !is_part(before) && (ends || !is_part(after.chars().next()))
    });
    found.map(|(offset, _)| part.start + offset)
}

/// Turns offsets that come in order into lines and columns, in one pass over the text.
struct Cursor<'t> {
    text: &'t str,
    offset: usize,
    mark: Mark,
}

impl<'t> Cursor<'t> {
    fn new(text: &'t str) -> Self {
        let (offset, mark) = (0, Mark { line: 1, column: 1 });
        Cursor { text, offset, mark }
    }

    /// The position of an offset; of a name in quotes, that of its quote.
    fn mark(&mut self, offset: usize) -> Mark {
        for letter in self
            .text
            .get(self.offset..offset)
            .unwrap_or_default()
            .chars()
        {
            self.mark.column += 1;
            if letter == '\n' {
                self.mark = Mark {
                    line: self.mark.line + 1,
                    column: 1,
                };
            }
        }
        self.offset = offset;
        let is_quoted = self.text.get(..offset).unwrap_or_default().ends_with('"');
        Mark {
            column: self.mark.column - u32::from(is_quoted),
            ..self.mark
        }
    }
}

/// A node of a document and where it begins.
#[derive(Clone, Debug)]
struct Node {
    mark: Mark,
    /// A scalar as it is written.
    text: LeanStr,
    entries: Option<Rc<Vec<(Node, Node)>>>,
}

impl Node {
    fn entries(&self) -> &[(Node, Node)] {
        self.entries.as_deref().map_or(&[], Vec::as_slice)
    }

    fn get(&self, name: &str) -> Option<Node> {
        // Of an entry that is written twice the last one counts.
        let mut entries = self.entries().iter().rev();
        let found = entries.find(|(key, _)| key.text == name);
        found.map(|(_, value)| value.clone())
    }
}

struct Builder;

impl Build for Builder {
    type Value = Node;
    type Sequence = ();
    type Mapping = Vec<(Node, Node)>;

    fn scalar(&mut self, scalar: Scalar<'_>, source: Source<'_>) -> Node {
        let text = match scalar {
            Scalar::Symbol(name) => name,
            _ => source.text,
        };
        Node {
            mark: source.mark,
            text: text.into(),
            entries: None,
        }
    }

    fn sequence(&mut self) {}

    fn push(&mut self, (): &mut (), _value: Node) {}

    fn finish_sequence(&mut self, (): (), mark: Mark) -> Node {
        Node {
            mark,
            text: LeanStr::default(),
            entries: None,
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
            mark,
            text: LeanStr::default(),
            entries: Some(Rc::new(mapping)),
        }
    }

    fn entries(&self, value: &Node) -> Option<Vec<(Node, Node)>> {
        value.entries.as_deref().cloned()
    }

    fn open_entries(&self, mapping: &Vec<(Node, Node)>) -> Vec<(Node, Node)> {
        mapping.clone()
    }
}
