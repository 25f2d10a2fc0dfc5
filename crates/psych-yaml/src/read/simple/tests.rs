//! Compares this reader with libyaml.

use super::*;
use crate::read::events::Events;

/// An event with its position. The position of a collection's end is not used.
fn shown(event: &Event<'_>) -> String {
    match event.kind {
        EventKind::SequenceEnd | EventKind::MappingEnd => format!("{:?}", event.kind),
        _ => format!("{}:{} {:?}", event.mark.line, event.mark.column, event.kind),
    }
}

/// The events of this reader, and whether it reached the end.
fn own_events(text: &[u8]) -> (Vec<String>, bool) {
    let mut events = Vec::new();
    let read = read(text, |event| {
        events.push(shown(&event));
        Ok(())
    });
    (events, read.is_ok())
}

/// The events of libyaml, and whether they are one complete document.
fn libyaml_events(text: &[u8]) -> (Vec<String>, bool) {
    let mut shown_events = Vec::new();
    let Ok(mut events) = Events::new(text) else {
        return (shown_events, false);
    };
    while let Ok(event) = events.next() {
        match event.kind {
            EventKind::StreamStart | EventKind::DocumentStart => {}
            EventKind::StreamEnd => return (shown_events, false),
            EventKind::DocumentEnd => {
                let next = events.next();
                let is_last = next.is_ok_and(|event| matches!(event.kind, EventKind::StreamEnd));
                return (shown_events, is_last);
            }
            _ => shown_events.push(shown(&event)),
        }
    }
    (shown_events, false)
}

/// Compares both; returns whether this reader reached the end.
#[track_caller]
fn check(text: &[u8]) -> bool {
    let (own, is_whole) = own_events(text);
    let (expected, is_document) = libyaml_events(text);
    let show = || String::from_utf8_lossy(text);
    if is_whole {
        assert!(is_document, "libyaml refuses\n{}\n{own:#?}", show());
        assert_eq!(own, expected, "\n{}", show());
    } else {
        // libyaml may find a mistake earlier.
        let common = own.len().min(expected.len());
        assert_eq!(own.get(..common), expected.get(..common), "\n{}", show());
        assert!(
            own.len() <= expected.len() || !is_document,
            "too many events\n{}",
            show()
        );
    }
    is_whole
}

#[test]
fn simple_documents_are_read_to_the_end() {
    let texts = [
        "a: 1",
        "a: 1\n",
        "---\na: 1\n",
        "# comment\n--- # comment\n\n# comment\na: 1 # comment\n# comment\n",
        "a:\nb:\n",
        "a:\n  b:\n    c: d\n  e: f\ng: h\n",
        "a:\n- b\n- c\nd:\n  - e\n  -\n  - f\n-x: -y\n",
        "- a\n- - b\n  - c\n- d: e\n  f:\n  - g\n-\n  h: i\n-\n",
        "a:\n-\n- b:\n    c\n-\nd:\n-\n",
        "'a b': 'it''s'\n\"c\" : \"x\\ty\\n\\\"z\\\" \\\\\"\n'':   ' '   \n",
        "a: b c  d # e\nf#g: h#i\nj:k: l:m\n",
        "a::b: http://example.com:80/x?y=z\n",
        "a: []\nb: {}\nc: [ ]\nd: [a, 'b', \"c\", -1, 1.5, [d], {}] # e\n",
        "a: {b: 1, 'c': [d e, f], \"g\":h, \"i\":\"j\"}\n",
        "a: |\n  b\n   c\n\n  d\n\n\ne: |-\n  f\n\ng: |+\n  h\n\ni: >\n  j\n  k\n\n  l\n   m\n  n\no: >-  # p\n\n  q\n",
        "- |\n b\n- >+\n c\n\n",
        "a: |\n  b",
        "a:\n  |\n  b\n",
        "ä: ö # ü\n'ß': [\"é\"]\n– x: \u{1f600}\n",
        "a: x - y ? z ! & * | > @ ` { } [ ] , ' \"\n",
        "  a: 1\n  b:\n  - 2\n",
        "a:   \n  b: 1\n",
        "a: 1\n   # comment\n    # comment\nb: 2\n",
        "a: \"x\ty\" # \t\n",
        "a: ?b\nc: :d\n?e: f\n:g: h\n",
        "a: [\n  'b',  # c\n\n  d e # f\n, {\ng: h,\n}\n]\ni: [a::b, http://example.com:80/c, d,]\n",
    ];
    for text in texts {
        assert!(check(text.as_bytes()), "{text}");
    }
}

#[test]
fn everything_else_is_left_to_libyaml() {
    let long_key = format!("{}: 1\n", "k".repeat(1100));
    let texts = [
        "",
        "# comment\n",
        "---\n",
        "a\n",
        "'a'\n",
        "[]\n",
        "|\n a\n",
        "--- a: 1\n",
        "%YAML 1.1\n---\na: 1\n",
        "a: 1\n---\nb: 2\n",
        "a: 1\n...\n",
        "a: b\n  c\n",
        "a: b\n\n  c\n",
        "a:\n  b\n  c\n",
        "a: 'b\n  c'\n",
        "a: \"b\n  c\"\n",
        "a: &b c\nd: *b\n",
        "a: !!str 1\n",
        "? a\n: b\n",
        "a: b: c\n",
        "a: - b\n",
        "a: 'b': c\n",
        "a: 'b'#c\n",
        "a: 'b' c\n",
        "a: [b]: c\n",
        "a: [b] c\n",
        "[a]: b\n",
        "a: [b,\n---\n c]\n",
        "a: [b\n c]\n",
        "a: {b\n: c}\n",
        "a: [b,\n c",
        "a: [,]\n",
        "a: [b,,c]\n",
        "a: [b #c\n, d#e]\n",
        "a: [b: c]\n",
        "a: {b}\n",
        "a: {b:c}\n",
        "a: {b: }\n",
        "a: [%{b}]\n",
        "a:\tb\n",
        "a: b\tc\n",
        "\ta: b\n",
        "a:\n\tb: c\n",
        "-\ta\n",
        "a: 1\r\nb: 2\r\n",
        "a: \"\\x41\"\n",
        "a: |2\n   b\n",
        "a: |\n\nb: c\n",
        "a: |\n     \n  b\n",
        "a: |\n  b\n ",
        "a: |\n  b\n c\n",
        "a:\n    b: 1\n  c: 2\n",
        "a: 1\n  b: 2\n",
        "a: 1\n- b\n",
        "- a\nb: 1\n",
        "-\na\n",
        "a:\n'b'\n",
        " a: 1\nb: 2\n",
        "a: \u{85}b\n",
        "a: \u{2028}b\n",
        "a: \u{feff}b\n",
        "\u{feff}a: b\n",
        "a: \u{1}\n",
        "a: \u{7f}\n",
        &long_key,
    ];
    for text in texts {
        assert!(!check(text.as_bytes()), "{text}");
    }
    assert!(!check(b"a: \xff\n"));
}

#[test]
fn depth_does_not_use_the_stack() {
    let depth = 300_000;
    let in_a_line = "- ".repeat(depth);
    let in_lines: String = (0..2_000)
        .map(|column| format!("{}k:\n", " ".repeat(column)))
        .collect();
    for (text, collections) in [(in_a_line, depth), (in_lines, 2_000)] {
        let mut starts = 0;
        let read = read(text.as_bytes(), |event| {
            let is_start = matches!(
                event.kind,
                EventKind::SequenceStart { .. } | EventKind::MappingStart { .. }
            );
            starts += usize::from(is_start);
            Ok(())
        });
        assert!(read.is_ok());
        assert_eq!(starts, collections);
    }
}

/// Random combinations of YAML tokens.
#[test]
fn generated_documents_are_read_as_by_libyaml() {
    const PIECES: [&str; 57] = [
        "\n", "\n", "\n", "\n", "\n  ", "\n  ", "\n    ", "\n ", "\n   ", "\n\n", "\n  \n", " ",
        " ", "  ", "- ", "- ", "-", "-\n", ": ", ": ", ": ", ":", ":\n", ":\n  ", "a", "b",
        "key: ", "key:", "k: v\n", "k:\n- ", "'", "''", "'a b'", "\"", "\"c\"", "\"\\n\"", "\\",
        "#", " # c", " # c\n", "[", "]", "[a, b]", "{", "}", "{a: 1}", ", ", ",\n", "|", ": |\n  ",
        ": >\n  ", "> ", "---", "\n---\n", "ä", "1", "~",
    ];
    const RARE: [&str; 12] = [
        "\t", "&a ", "*a", "!!str ", "? ", "...", "%", "|2", "|+", "@", "\u{2028}", "\r\n",
    ];
    let texts = number_of_texts();
    let mut random = Random(texts as u64);
    let (mut text, mut read_to_the_end) = (String::new(), 0);
    for _ in 0..texts {
        text.clear();
        for _ in 0..random.below(14) + 1 {
            let pieces: &[&str] = if random.below(40) == 0 {
                &RARE
            } else {
                &PIECES
            };
            text.push_str(pieces[random.below(pieces.len())]);
        }
        read_to_the_end += usize::from(check(text.as_bytes()));
    }
    assert!(read_to_the_end > texts / 50, "{read_to_the_end} of {texts}");
}

/// A large document and the recorded cases, with random parts inserted, removed or repeated.
#[test]
fn changed_documents_are_read_as_by_libyaml() {
    const DOCUMENT: &str = "---\n# comment\na: 1\n'b': \"two\"\nc:\n  - x\n  - y: 1\n    z: [a, 'b']\n  -\n    - v\nd:\n- 1\n\
        -\n- k: |\n    text\n      more\n\n    end\n  l: >-\n    folded\n    text\ne: {f: g, \"h\": []} # end\ni:\nj: 'it''s'\n\
        k: [\n  a, # comment\n  {b: c,\n  }\n]\n";
    const PIECES: [&str; 24] = [
        " ", "  ", "\n", "\n\n", "\n  ", "-", "- ", ":", ": ", "'", "\"", "#", " #", "[", "]", "{",
        "}", ",", "|", ">", "x", "\t", "\\", "ü",
    ];
    let recorded: Vec<serde_json::Value> =
        serde_json::from_str(include_str!("../../../tests/cases/yaml_cases.json")).unwrap();
    let recorded: Vec<&str> = recorded
        .iter()
        .filter_map(|case| case["yaml"].as_str())
        .collect();
    for text in &recorded {
        check(text.as_bytes());
    }
    let texts = number_of_texts();
    let mut random = Random(texts as u64);
    for _ in 0..texts / 2 {
        let mut text = match random.below(2) {
            0 => DOCUMENT,
            _ => recorded[random.below(recorded.len())],
        }
        .to_owned();
        for _ in 0..random.below(3) + 1 {
            if text.is_empty() {
                text.push('a');
            }
            let offsets: Vec<usize> = text.char_indices().map(|(offset, _)| offset).collect();
            let (one, other) = (
                offsets[random.below(offsets.len())],
                offsets[random.below(offsets.len())],
            );
            match random.below(4) {
                0 => text.replace_range(one.min(other)..one.max(other), ""),
                1 => {
                    let end = (one + random.below(30)).min(text.len());
                    if let Some(part) = text.get(one..end).map(str::to_owned) {
                        text.insert_str(other, &part);
                    }
                }
                _ => text.insert_str(one, PIECES[random.below(PIECES.len())]),
            }
        }
        check(text.as_bytes());
    }
}

/// The number of generated documents; a variable raises it.
fn number_of_texts() -> usize {
    match std::env::var("PSYCH_YAML_GENERATED_TEXTS") {
        Ok(number) => number.parse().unwrap(),
        Err(_) => 50_000,
    }
}

/// A deterministic random number generator (xorshift64*).
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let number = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33;
        usize::try_from(number).unwrap() % end
    }
}
