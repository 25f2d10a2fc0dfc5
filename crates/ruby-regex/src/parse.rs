//! Ruby's syntax to [`Node`]. Errors are those of Ruby's engine, Onigmo.

mod class;
mod escape;
mod group;
mod repeat;

use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

use super::RegexProblem;
use super::ast::{Assertion, Node};
use super::fold;

type Result<T> = std::result::Result<T, RegexProblem>;

/// The maximum nesting. Ruby accepts 4096 levels, but the later steps here are recursive.
const MAX_DEPTH: usize = 200;

/// A parsed pattern.
#[derive(Debug)]
pub(super) struct Parsed {
    pub(super) node: Node,
    /// The number of capture groups, without group 0.
    pub(super) groups: usize,
}

/// Parses a pattern. Escapes of bytes and code points must already be resolved.
pub(super) fn parse(pattern: &str) -> Result<Parsed> {
    let mut parser = Parser {
        characters: pattern.chars().collect(),
        position: 0,
        options: Options::default(),
        depth: 0,
        groups: Vec::new(),
        has_numbered_reference: false,
        calls: Vec::new(),
        is_in_look_behind: false,
    };
    let node = parser.alternation()?;
    if parser.peek().is_some() {
        return Err(RegexProblem::Refused("unmatched close parenthesis"));
    }
    parser.finish(node)
}

/// Options that can be changed inside a pattern.
#[derive(Clone, Copy, Debug, Default)]
struct Options {
    /// `i`
    ignores_case: bool,
    /// `m`: the dot matches line breaks.
    dot_matches_newline: bool,
    /// `x`
    is_extended: bool,
    char_range: CharRange,
}

/// The characters of `\w`, `\d`, `\s`, of POSIX brackets, and of `\b`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum CharRange {
    /// `d`: ASCII for shorthands, Unicode for the others.
    #[default]
    Mixed,
    /// `a`
    Ascii,
    /// `u`
    Unicode,
}

/// The target of `\g<...>`, before all groups are known.
#[derive(Clone, Debug)]
enum CallTarget {
    Number(usize),
    Name(String),
}

struct Parser {
    characters: Vec<char>,
    position: usize,
    options: Options,
    depth: usize,
    /// The names of the capture groups so far; `None` if they only have a number.
    groups: Vec<Option<String>>,
    has_numbered_reference: bool,
    /// The targets of the calls so far. Until the end, a call holds an index into these.
    calls: Vec<CallTarget>,
    /// In a look-behind, all cases of a literal must have the same length.
    is_in_look_behind: bool,
}

impl Parser {
    /// Alternatives up to a closing parenthesis or the end.
    fn alternation(&mut self) -> Result<Node> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(RegexProblem::TooDeep);
        }
        let mut branches = vec![self.branch()?];
        while self.take('|') {
            branches.push(self.branch()?);
        }
        self.depth -= 1;
        Ok(match branches.len() {
            1 => branches.pop().unwrap_or(Node::Empty),
            _ => Node::Alternate(branches),
        })
    }

    fn branch(&mut self) -> Result<Node> {
        let mut nodes = Vec::new();
        // Consecutive literals without regard to case, since several can match together: `ss` and `ß`.
        let mut caseless = String::new();
        loop {
            self.skip_blanks()?;
            let start = self.position;
            let Some(character) = self.peek() else {
                break;
            };
            if matches!(character, '|' | ')') {
                break;
            }
            let atom = self.atom()?;
            self.skip_blanks()?;
            if let (Atom::Literal(literal), true) = (&atom, self.options.ignores_case)
                && !self.is_in_look_behind
                && !self.is_at_repeat()
            {
                caseless.push(*literal);
                continue;
            }
            fold::push_caseless(&mut nodes, &std::mem::take(&mut caseless));
            let node = match atom {
                Atom::Literal(literal) if self.options.ignores_case => match self.is_in_look_behind
                {
                    true => Node::Set(fold::cases(literal)),
                    false => fold::caseless(literal),
                },
                Atom::Literal(literal) => set_of(literal, literal),
                Atom::Node(node) => node,
                // The options apply to the end of the group, across `|`.
                Atom::OptionsToEnd(node) => {
                    nodes.push(node);
                    break;
                }
            };
            let node = self.repeated(node)?;
            debug_assert!(self.position > start);
            nodes.push(node);
        }
        fold::push_caseless(&mut nodes, &caseless);
        Ok(match nodes.len() {
            0 => Node::Empty,
            1 => nodes.pop().unwrap_or(Node::Empty),
            _ => Node::Concat(nodes),
        })
    }

    fn atom(&mut self) -> Result<Atom> {
        if self.is_at_repeat() {
            let problem = "target of repeat operator is not specified";
            return Err(RegexProblem::Refused(problem));
        }
        Ok(Atom::Node(match self.next() {
            Some('(') => return self.group(),
            Some('[') => self.class()?,
            Some('\\') => return self.escape(),
            Some('.') if self.options.dot_matches_newline => set_of('\0', char::MAX),
            Some('.') => not_newline(),
            Some('^') => Node::Assertion(Assertion::LineStart),
            Some('$') => Node::Assertion(Assertion::LineEnd),
            Some(literal) => return Ok(Atom::Literal(literal)),
            None => Node::Empty,
        }))
    }

    /// Skips comments, and white space with the option `x`.
    fn skip_blanks(&mut self) -> Result<()> {
        loop {
            if self.take_text("(?#") {
                loop {
                    match self.next() {
                        None => return Err(RegexProblem::Refused("end pattern in group")),
                        Some('\\') => {
                            self.next();
                        }
                        Some(')') => break,
                        Some(_) => {}
                    }
                }
                continue;
            }
            match self.peek() {
                Some(' ' | '\t' | '\n' | '\r' | '\x0C') if self.options.is_extended => {
                    self.next();
                }
                Some('#') if self.options.is_extended => {
                    while !matches!(self.next(), None | Some('\n')) {}
                }
                _ => return Ok(()),
            }
        }
    }

    fn peek(&self) -> Option<char> {
        self.characters.get(self.position).copied()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek();
        self.position += usize::from(next.is_some());
        next
    }

    fn take(&mut self, character: char) -> bool {
        let is_there = self.peek() == Some(character);
        self.position += usize::from(is_there);
        is_there
    }

    fn take_text(&mut self, text: &str) -> bool {
        let rest = self.rest();
        let is_there = text
            .chars()
            .enumerate()
            .all(|(index, character)| rest.get(index) == Some(&character));
        self.position += if is_there { text.chars().count() } else { 0 };
        is_there
    }

    fn rest(&self) -> &[char] {
        self.characters.get(self.position..).unwrap_or_default()
    }

    /// A decimal number; `None` without a digit.
    fn number(&mut self) -> Result<Option<usize>> {
        let mut number: Option<usize> = None;
        while let Some(digit) = self.peek().and_then(|character| character.to_digit(10)) {
            self.position += 1;
            let grown = number.unwrap_or(0).checked_mul(10);
            let grown = grown.and_then(|number| number.checked_add(digit as usize));
            match grown.filter(|number| *number <= i32::MAX as usize) {
                Some(grown) => number = Some(grown),
                None => return Err(RegexProblem::Refused("too big number")),
            }
        }
        Ok(number)
    }
}

/// A parsed atom.
enum Atom {
    /// A literal character.
    Literal(char),
    Node(Node),
    /// `(?i)` and the rest of its group.
    OptionsToEnd(Node),
}

fn set_of(first: char, last: char) -> Node {
    Node::Set(ClassUnicode::new([ClassUnicodeRange::new(first, last)]))
}

fn not_newline() -> Node {
    let mut set = ClassUnicode::new([ClassUnicodeRange::new('\n', '\n')]);
    set.negate();
    Node::Set(set)
}
