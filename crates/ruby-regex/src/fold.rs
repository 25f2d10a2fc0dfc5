//! Case-insensitive matching. A character can equal several: `(?i)ss` matches `ß`.

use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

use super::ast::Node;

/// Characters that equal several others, each followed by those (Unicode's CaseFolding.txt, status F).
const FOLDINGS: &str = "\
    ßss İi\u{307} ŉʼn ǰj\u{30C} ΐι\u{308}\u{301} ΰυ\u{308}\u{301} ևեւ ẖh\u{331} ẗt\u{308} ẘw\u{30A} \
    ẙy\u{30A} ẚaʾ ẞss ὐυ\u{313} ὒυ\u{313}\u{300} ὔυ\u{313}\u{301} ὖυ\u{313}\u{342} ᾀἀι ᾁἁι ᾂἂι ᾃἃι \
    ᾄἄι ᾅἅι ᾆἆι ᾇἇι ᾈἀι ᾉἁι ᾊἂι ᾋἃι ᾌἄι ᾍἅι ᾎἆι ᾏἇι ᾐἠι ᾑἡι ᾒἢι ᾓἣι ᾔἤι ᾕἥι ᾖἦι ᾗἧι ᾘἠι ᾙἡι ᾚἢι ᾛἣι \
    ᾜἤι ᾝἥι ᾞἦι ᾟἧι ᾠὠι ᾡὡι ᾢὢι ᾣὣι ᾤὤι ᾥὥι ᾦὦι ᾧὧι ᾨὠι ᾩὡι ᾪὢι ᾫὣι ᾬὤι ᾭὥι ᾮὦι ᾯὧι ᾲὰι ᾳαι ᾴάι \
    ᾶα\u{342} ᾷα\u{342}ι ᾼαι ῂὴι ῃηι ῄήι ῆη\u{342} ῇη\u{342}ι ῌηι ῒι\u{308}\u{300} ΐι\u{308}\u{301} \
    ῖι\u{342} ῗι\u{308}\u{342} ῢυ\u{308}\u{300} ΰυ\u{308}\u{301} ῤρ\u{313} ῦυ\u{342} \
    ῧυ\u{308}\u{342} ῲὼι ῳωι ῴώι ῶω\u{342} ῷω\u{342}ι ῼωι ﬀff ﬁfi ﬂfl ﬃffi ﬄffl ﬅst ﬆst ﬓմն ﬔմե ﬕմի \
    ﬖվն ﬗմխ";

/// The maximum number of consecutive literals for which all spellings are tried. Ruby also has a limit.
const MAX_CLUSTER: usize = 8;

fn foldings() -> impl Iterator<Item = (char, &'static str)> {
    FOLDINGS.split(' ').filter_map(|word| {
        let mut characters = word.chars();
        Some((characters.next()?, characters.as_str()))
    })
}

/// A character in all cases.
pub(super) fn cases(character: char) -> ClassUnicode {
    let mut set = ClassUnicode::new([ClassUnicodeRange::new(character, character)]);
    set.case_fold_simple();
    set
}

fn all_cases(text: &str) -> Node {
    Node::Concat(
        text.chars()
            .map(|character| Node::Set(cases(character)))
            .collect(),
    )
}

/// A literal in all cases, including its longer forms.
pub(super) fn caseless(literal: char) -> Node {
    let set = cases(literal);
    let longer = expansions(&set);
    with_expansions(set, longer)
}

/// A set or the longer forms of its members.
pub(super) fn with_expansions(set: ClassUnicode, longer: Vec<&'static str>) -> Node {
    if longer.is_empty() {
        return Node::Set(set);
    }
    let mut alternatives = vec![Node::Set(set)];
    alternatives.extend(longer.into_iter().map(all_cases));
    Node::Alternate(alternatives)
}

/// The longer forms of the members of a set.
pub(super) fn expansions(set: &ClassUnicode) -> Vec<&'static str> {
    let mut longer: Vec<&str> = Vec::new();
    for (source, target) in foldings() {
        if contains(set, source) && !longer.contains(&target) {
            longer.push(target);
        }
    }
    longer
}

/// A set with the other cases of its members. Cases that cross the border of ASCII are only added for `listed` members.
///
/// In a class, Ruby leaves out other cases in Latin-1, except `ß`: `(?i)[éa]` does not match `É`. But a class of one
/// character is a literal.
pub(super) fn set(mut set: ClassUnicode, listed: &ClassUnicode) -> ClassUnicode {
    let range = |(first, last)| ClassUnicodeRange::new(first, last);
    let borders = [('\0', '\x7F'), ('\u{80}', char::MAX)].map(range);
    let mut cases = listed.clone();
    cases.case_fold_simple();
    for border in borders.map(|border| ClassUnicode::new([border])) {
        let mut part = set.clone();
        part.intersect(&border);
        part.case_fold_simple();
        part.intersect(&border);
        cases.union(&part);
    }
    let latin_1 = [('\u{80}', '\u{DE}'), ('\u{E0}', '\u{FF}')].map(range);
    cases.difference(&ClassUnicode::new(latin_1));
    set.union(&cases);
    set
}

/// The member of a set that has only one.
pub(super) fn only_member(set: &ClassUnicode) -> Option<char> {
    match set.ranges() {
        [range] if range.start() == range.end() => Some(range.start()),
        _ => None,
    }
}

/// Is the character in the set?
pub(super) fn contains(set: &ClassUnicode, character: char) -> bool {
    let ranges = set.ranges();
    let index = ranges.partition_point(|range| range.end() < character);
    ranges
        .get(index)
        .is_some_and(|range| range.start() <= character)
}

/// Adds literals in all cases, including the shorter forms of several literals.
pub(super) fn push_caseless(nodes: &mut Vec<Node>, text: &str) {
    let literals: Vec<Literal> = literals(text);
    let mut at = 0;
    while let Some(literal) = literals.get(at) {
        let mut end = at + 1;
        let mut index = at;
        while index < end {
            let shorter = literals
                .get(index)
                .map(|literal| literal.shorter.as_slice());
            for (length, _) in shorter.unwrap_or_default() {
                end = end.max(index + length);
            }
            index += 1;
        }
        if end - at == 1 || end - at > MAX_CLUSTER {
            nodes.push(caseless(literal.character));
            at += 1;
        } else {
            let cluster = literals.get(at..end).unwrap_or_default();
            nodes.push(cluster_node(cluster));
            at = end;
        }
    }
}

struct Literal {
    character: char,
    /// The lengths of sequences that start here and equal one character, with that character.
    shorter: Vec<(usize, char)>,
}

fn literals(text: &str) -> Vec<Literal> {
    let characters: Vec<char> = text.chars().collect();
    let sets: Vec<ClassUnicode> = text.chars().map(cases).collect();
    let starts_with = |at: usize, target: &str| {
        let rest = sets.get(at..).unwrap_or_default();
        rest.len() >= target.chars().count()
            && target
                .chars()
                .zip(rest)
                .all(|(wanted, set)| contains(set, wanted))
    };
    let shorter = |at: usize| {
        foldings()
            .filter(|(_, target)| starts_with(at, target))
            .map(|(source, target)| (target.chars().count(), source))
            .collect()
    };
    let literal = |(at, character): (usize, &char)| Literal {
        character: *character,
        shorter: shorter(at),
    };
    characters.iter().enumerate().map(literal).collect()
}

/// All spellings of some literals.
fn cluster_node(literals: &[Literal]) -> Node {
    let Some(first) = literals.first() else {
        return Node::Empty;
    };
    let after = |length: usize| cluster_node(literals.get(length..).unwrap_or_default());
    let mut spellings = vec![Node::Concat(vec![caseless(first.character), after(1)])];
    for (length, source) in &first.shorter {
        spellings.push(Node::Concat(vec![
            Node::Set(cases(*source)),
            after(*length),
        ]));
    }
    match spellings.len() {
        1 => spellings.pop().unwrap_or(Node::Empty),
        _ => Node::Alternate(spellings),
    }
}
