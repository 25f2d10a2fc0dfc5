//! Named sets of characters: shorthands, POSIX brackets, Unicode properties.

mod blocks;

use std::sync::LazyLock;

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, HirKind};

use super::RegexProblem;
use super::ast::{Node, Repeat};

/// The set of a class in the syntax of the regex crate. An invalid class is empty.
fn set(class: &str) -> ClassUnicode {
    parse_set(class).unwrap_or_else(ClassUnicode::empty)
}

fn parse_set(class: &str) -> Option<ClassUnicode> {
    match regex_syntax::parse(class).ok()?.into_kind() {
        HirKind::Class(Class::Unicode(set)) => Some(set),
        HirKind::Literal(literal) => {
            let only = std::str::from_utf8(&literal.0).ok()?.chars().next()?;
            Some(ClassUnicode::new([ClassUnicodeRange::new(only, only)]))
        }
        _ => None,
    }
}

/// All of ASCII.
pub(super) fn ascii() -> ClassUnicode {
    ClassUnicode::new([ClassUnicodeRange::new('\0', '\x7F')])
}

/// `\w`, `\d`, `\s` or `\h`.
pub(super) fn shorthand(letter: char, is_unicode: bool) -> ClassUnicode {
    match letter {
        'h' => set("[0-9A-Fa-f]"),
        'd' if is_unicode => set(r"\p{Nd}"),
        's' if is_unicode => set(r"\p{White_Space}"),
        _ if is_unicode => WORD.clone(),
        'd' => set("[0-9]"),
        's' => set(r"[\t-\r ]"),
        _ => set("[0-9A-Za-z_]"),
    }
}

/// The word characters of `\w` and `\b` in Unicode. In Ruby, they include the superscripts and fractions of Latin-1,
/// which `[[:word:]]` does not.
pub(super) static WORD: LazyLock<ClassUnicode> =
    LazyLock::new(|| set(r"[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}²³¹¼½¾]"));

/// The characters that Ruby prints without an escape: printable characters of Unicode 13, and NEL.
pub(super) static PRINTABLE: LazyLock<ClassUnicode> =
    LazyLock::new(|| set(r"[[[^\p{White_Space}\p{Cc}\p{Cn}]\p{Zs}&&\p{age:13.0}]\x{85}]"));

/// The characters that `\R` matches.
pub(super) fn line_breaks() -> ClassUnicode {
    set(r"[\n-\r\x{85}\x{2028}\x{2029}]")
}

/// `[[:name:]]`.
pub(super) fn posix(name: &str, is_ascii: bool) -> Option<ClassUnicode> {
    let mut found = match name {
        "alnum" => set(r"[\p{Alphabetic}\p{Nd}]"),
        "alpha" => set(r"\p{Alphabetic}"),
        "ascii" => ascii(),
        "blank" => set(r"[\p{Zs}\t]"),
        "cntrl" => set(r"\p{Cc}"),
        "digit" => set(r"\p{Nd}"),
        "graph" => set(r"[^\p{White_Space}\p{Cc}\p{Cn}]"),
        "lower" => set(r"\p{Lowercase}"),
        "print" => set(r"[[^\p{White_Space}\p{Cc}\p{Cn}]\p{Zs}]"),
        "punct" => set(r"[\p{P}$+<=>^`|~]"),
        "space" => set(r"\p{White_Space}"),
        "upper" => set(r"\p{Uppercase}"),
        "xdigit" => set("[0-9A-Fa-f]"),
        "word" => set(r"[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}]"),
        _ => return None,
    };
    if is_ascii {
        found.intersect(&ascii());
    }
    Some(found)
}

/// `\p{name}`. Case, spaces, `-` and `_` are ignored.
pub(super) fn property(name: &str) -> Result<ClassUnicode, RegexProblem> {
    let plain = |character: &char| !matches!(character, ' ' | '-' | '_');
    let plain: String = name
        .chars()
        .filter(plain)
        .map(|c| c.to_ascii_lowercase())
        .collect();
    let unknown = || RegexProblem::UnknownProperty(name.to_owned());
    match plain.as_str() {
        // Not the set of `[[:punct:]]`.
        "punct" => return Ok(set(r"\p{P}")),
        "xposixpunct" => return posix("punct", false).ok_or_else(unknown),
        _ => {}
    }
    if let Some(found) = posix(&plain, false) {
        return Ok(found);
    }
    if plain.is_empty()
        || !plain
            .chars()
            .all(|character| character.is_ascii_alphanumeric() || "=.".contains(character))
    {
        return Err(unknown());
    }
    match plain.split_once('=') {
        Some(("age" | "graphemeclusterbreak", _)) | None => {}
        Some(_) => return Err(unknown()),
    }
    if let Some(found) = plain.strip_prefix("in").and_then(blocks::block) {
        return Ok(found);
    }
    parse_set(&format!("\\p{{{plain}}}")).ok_or_else(unknown)
}

/// `\X`: an extended grapheme cluster, as defined in Unicode's Annex 29.
pub(super) fn grapheme_cluster() -> Node {
    let class = |text: &str| Node::Set(set(text));
    let repeat = |node, min, max| {
        Node::Repeat(Box::new(Repeat {
            node,
            min,
            max,
            is_greedy: true,
        }))
    };
    let extend = || class(r"\p{gcb=Extend}");
    let hangul = Node::Alternate(vec![
        Node::Concat(vec![
            repeat(class(r"\p{gcb=L}"), 0, None),
            Node::Alternate(vec![
                Node::Concat(vec![
                    repeat(class(r"\p{gcb=V}"), 1, None),
                    repeat(class(r"\p{gcb=T}"), 0, None),
                ]),
                Node::Concat(vec![
                    class(r"\p{gcb=LV}"),
                    repeat(class(r"\p{gcb=V}"), 0, None),
                    repeat(class(r"\p{gcb=T}"), 0, None),
                ]),
                Node::Concat(vec![
                    class(r"\p{gcb=LVT}"),
                    repeat(class(r"\p{gcb=T}"), 0, None),
                ]),
            ]),
        ]),
        repeat(class(r"\p{gcb=L}"), 1, None),
        repeat(class(r"\p{gcb=T}"), 1, None),
    ]);
    let pictographs = Node::Concat(vec![
        class(r"\p{Extended_Pictographic}"),
        repeat(
            Node::Concat(vec![
                repeat(extend(), 0, None),
                class(r"\x{200D}"),
                class(r"\p{Extended_Pictographic}"),
            ]),
            0,
            None,
        ),
    ]);
    let core = Node::Alternate(vec![
        hangul,
        repeat(class(r"\p{gcb=Regional_Indicator}"), 2, Some(2)),
        pictographs,
        class(r"[^\p{gcb=Control}\p{gcb=CR}\p{gcb=LF}]"),
    ]);
    Node::Atomic(Box::new(Node::Alternate(vec![
        Node::Concat(vec![class(r"\r"), class(r"\n")]),
        class(r"[\p{gcb=Control}\r\n]"),
        Node::Concat(vec![
            repeat(class(r"\p{gcb=Prepend}"), 0, None),
            core,
            repeat(
                class(r"[\p{gcb=Extend}\p{gcb=SpacingMark}\x{200D}]"),
                0,
                None,
            ),
        ]),
        class(r"(?s:.)"),
    ])))
}
