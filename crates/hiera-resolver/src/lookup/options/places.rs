//! Where the `lookup_options` of a file are written. Other data has no need of places, and keeps none.

use std::ops::Range;
use std::rc::Rc;

use indexmap::IndexMap;
use lean_string::LeanStr;
use psych_yaml::{Build, Limits, Mark, Scalar, Source};

use super::LOOKUP_OPTIONS;
use super::check::KNOWN;

/// The places of `lookup_options`, of their entries, and of what stands in these.
#[derive(Debug)]
pub(super) struct Places {
    pub(super) whole: Mark,
    /// By key or pattern, as it is written.
    entries: IndexMap<LeanStr, EntryPlaces, foldhash::fast::RandomState>,
}

#[derive(Debug)]
struct EntryPlaces {
    key: Mark,
    value: Mark,
    members: Vec<(LeanStr, Mark)>,
}

impl Places {
    fn nowhere() -> Self {
        Places {
            whole: Mark { line: 1, column: 1 },
            entries: IndexMap::default(),
        }
    }

    /// Finds them in YAML that has been read once: what is read again is thrown away but for this.
    pub(super) fn in_yaml(bytes: &[u8]) -> Self {
        let root = psych_yaml::read(bytes, &Limits::default(), &mut Builder);
        let Some(options) = root
            .ok()
            .flatten()
            .and_then(|root| root.get(LOOKUP_OPTIONS))
        else {
            return Places::nowhere();
        };
        // What is written twice counts as it is written last.
        let entry = |(key, value): &(Node, Node)| {
            let members = value.entries().iter();
            let members = members.map(|(name, value)| (name.text.clone(), value.mark));
            let places = EntryPlaces {
                key: key.mark,
                value: value.mark,
                members: members.collect(),
            };
            (key.text.clone(), places)
        };
        Places {
            whole: options.mark,
            entries: options.entries().iter().map(entry).collect(),
        }
    }

    /// Finds them in JSON or HOCON by the names of the entries: their readers do not say where values stand.
    pub(super) fn in_text(bytes: &[u8], names: &[LeanStr]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let Some(start) = find_word(&text, 0..text.len(), LOOKUP_OPTIONS) else {
            return Places::nowhere();
        };
        let mut cursor = Cursor::new(&text);
        let whole = cursor.mark(start);
        let mut from = start + LOOKUP_OPTIONS.len();
        let mut found = Vec::with_capacity(names.len());
        for name in names {
            let escaped = name.replace('\\', "\\\\").replace('"', "\\\"");
            if let Some(place) = find_word(&text, from..text.len(), &escaped) {
                from = place + escaped.len();
                found.push((name, place, from));
            }
        }
        let ends = found.iter().skip(1).map(|(_, place, _)| *place);
        let ends: Vec<usize> = ends.chain([text.len()]).collect();
        let mut entries = IndexMap::default();
        for ((name, place, start), end) in found.into_iter().zip(ends) {
            let key = cursor.mark(place);
            let members = KNOWN.into_iter();
            let members = members.filter_map(|member| {
                let place = find_word(&text, start..end, member)?;
                Some((place, LeanStr::from(member)))
            });
            let mut members: Vec<(usize, LeanStr)> = members.collect();
            members.sort_unstable();
            let members = members.into_iter();
            let members = members.map(|(place, name)| (name, cursor.mark(place)));
            let places = EntryPlaces {
                key,
                value: key,
                members: members.collect(),
            };
            entries.insert(name.clone(), places);
        }
        Places { whole, entries }
    }

    /// Where a key or pattern stands.
    pub(super) fn key(&self, name: &str) -> Mark {
        self.entries.get(name).map_or(self.whole, |entry| entry.key)
    }

    /// Where what stands behind it begins, or one part of that.
    pub(super) fn value(&self, name: &str, member: Option<&str>) -> Mark {
        let Some(entry) = self.entries.get(name) else {
            return self.whole;
        };
        let mut members = entry.members.iter().rev();
        let part = members.find(|(name, _)| Some(name.as_str()) == member);
        part.map_or(entry.value, |(_, mark)| *mark)
    }
}

/// Where a word stands in a part of a text: not as a part of a longer one.
fn find_word(text: &str, part: Range<usize>, word: &str) -> Option<usize> {
    let is_part = |letter: Option<char>| {
        letter.is_some_and(|letter| letter.is_alphanumeric() || "_:-^\\".contains(letter))
    };
    let mut found = text.get(part.clone())?.match_indices(word);
    let found = found.find(|(place, _)| {
        let (start, end) = (part.start + place, part.start + place + word.len());
        let before = text.get(..start).unwrap_or_default().chars().next_back();
        let behind = text.get(end..).unwrap_or_default();
        // HOCON may have a colon behind a name.
        let ends = behind.starts_with(':') && !behind.starts_with("::");
        !is_part(before) && (ends || !is_part(behind.chars().next()))
    });
    found.map(|(place, _)| part.start + place)
}

/// Goes through a text once, for places that are asked for in order.
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

    /// The place of what begins here; of a name in quotes, of its quote.
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
    /// What a scalar is written as.
    text: LeanStr,
    entries: Option<Rc<Vec<(Node, Node)>>>,
}

impl Node {
    fn entries(&self) -> &[(Node, Node)] {
        self.entries.as_deref().map_or(&[], Vec::as_slice)
    }

    fn get(&self, name: &str) -> Option<Node> {
        // What is written twice counts as it is written last.
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
