//! Character classes: `[a-z&&[^aeiou]]`.

use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

use super::{CharRange, Parser, Result};
use crate::RegexProblem;
use crate::ast::Node;
use crate::{char_sets, fold};

const PREMATURE_END: RegexProblem = RegexProblem::Refused("premature end of char-class");
const EMPTY: RegexProblem = RegexProblem::Refused("empty char-class");
const EMPTY_RANGE: RegexProblem = RegexProblem::Refused("empty range in char class");
const CLASS_AT_END: RegexProblem = RegexProblem::Refused("char-class value at end of range");
const UNMATCHED_RANGE: RegexProblem =
    RegexProblem::Refused("unmatched range specifier in char-class");

/// A class under construction.
struct ClassSet {
    set: ClassUnicode,
    /// The members that are written out or come from a property. They match in any case and length: `(?i)[k]` matches
    /// the Kelvin sign and `(?i)[ß]` matches `ss`, but `(?i)[\w]` and `(?i)[[:alpha:]]` do not.
    listed: ClassUnicode,
}

/// The last item of a class, which may be the start of a range.
#[derive(Clone, Copy)]
enum Last {
    /// No item yet, so that a `-` is literal: `[-a]`.
    Start,
    Value(char),
    /// A shorthand or POSIX bracket.
    Set,
    /// `a-`: the end of the range follows.
    RangeFrom(char),
    /// A complete range or a nested class.
    Complete,
}

/// The meaning of a bracket inside a class.
enum Inner {
    Class,
    Posix(ClassUnicode),
    Literal,
}

impl ClassSet {
    fn empty() -> Self {
        ClassSet {
            set: ClassUnicode::empty(),
            listed: ClassUnicode::empty(),
        }
    }

    fn add_range(&mut self, first: char, last: char) {
        let range = ClassUnicodeRange::new(first, last);
        self.set.push(range);
        self.listed.push(range);
    }

    fn add(&mut self, set: &ClassUnicode, is_listed: bool) {
        self.set.union(set);
        if is_listed {
            self.listed.union(set);
        }
    }

    fn intersect(&mut self, other: &ClassSet) {
        self.set.intersect(&other.set);
        self.listed.intersect(&other.set);
    }

    fn negate(&mut self) {
        // The members of a negated class count as written out.
        self.set.negate();
        self.listed = self.set.clone();
    }
}

impl Parser {
    /// Parses a class after its opening bracket.
    pub(super) fn class(&mut self) -> Result<Node> {
        let (class, is_negated) = self.class_set()?;
        Ok(self.set_node(class, is_negated))
    }

    /// Parses a `\p{...}` outside of a class, after the letter.
    pub(super) fn property_node(&mut self, is_negated: bool) -> Result<Node> {
        let (set, is_negated) = self.property(is_negated)?;
        let listed = set.clone();
        Ok(self.set_node(ClassSet { set, listed }, is_negated))
    }

    fn set_node(&self, class: ClassSet, is_negated: bool) -> Node {
        let mut set = class.set;
        if self.options.ignores_case {
            if let (Some(literal), false) = (fold::only_member(&set), is_negated) {
                return fold::caseless(literal);
            }
            set = fold::set(set, &class.listed);
            if !is_negated {
                return fold::with_expansions(set, fold::expansions(&class.listed));
            }
        }
        if is_negated {
            set.negate();
        }
        Node::Set(set)
    }

    /// The members of a class before negation, and whether it is negated.
    fn class_set(&mut self) -> Result<(ClassSet, bool)> {
        self.depth += 1;
        if self.depth > super::MAX_DEPTH {
            return Err(RegexProblem::TooDeep);
        }
        let is_negated = self.take('^');
        let mut class = ClassSet::empty();
        let mut before_and: Option<ClassSet> = None;
        let mut last = Last::Start;
        if self.peek() == Some(']') {
            self.position += 1;
            if !self.has_closing_bracket() {
                return Err(EMPTY);
            }
            last = self.value(&mut class, last, ']')?;
        }
        loop {
            let character = self.next().ok_or(PREMATURE_END)?;
            last = match character {
                ']' => break,
                '-' => self.hyphen(&mut class, last)?,
                '[' => match self.inner_bracket()? {
                    Inner::Literal => self.value(&mut class, last, '[')?,
                    Inner::Posix(mut set) => {
                        if self.options.ignores_case && self.options.char_range != CharRange::Ascii
                        {
                            set = fold::set(set.clone(), &set);
                        }
                        self.member_set(&mut class, last, &set, false)?
                    }
                    Inner::Class => {
                        self.flush(&mut class, last);
                        let (mut inner, is_negated) = self.class_set()?;
                        if is_negated {
                            inner.negate();
                        }
                        class.set.union(&inner.set);
                        class.listed.union(&inner.listed);
                        Last::Complete
                    }
                },
                '&' if self.take('&') => {
                    self.flush(&mut class, last);
                    let right = std::mem::replace(&mut class, ClassSet::empty());
                    match &mut before_and {
                        Some(left) => left.intersect(&right),
                        None => before_and = Some(right),
                    }
                    Last::Start
                }
                '\\' => self.class_escape(&mut class, last)?,
                literal => self.value(&mut class, last, literal)?,
            };
        }
        self.flush(&mut class, last);
        if let Some(mut left) = before_and {
            left.intersect(&class);
            class = left;
        }
        self.depth -= 1;
        Ok((class, is_negated))
    }

    fn class_escape(&mut self, class: &mut ClassSet, last: Last) -> Result<Last> {
        let character = self.next().ok_or(PREMATURE_END)?;
        match character {
            'w' | 'W' | 'd' | 'D' | 's' | 'S' | 'h' | 'H' => {
                let set = self.shorthand(character);
                self.member_set(class, last, &set, false)
            }
            'p' | 'P' if self.peek() == Some('{') => {
                let (mut set, is_negated) = self.property(character == 'P')?;
                if is_negated {
                    set.negate();
                }
                self.member_set(class, last, &set, true)
            }
            'b' => self.value(class, last, '\x08'),
            '8' | '9' => self.value(class, last, character),
            other => {
                let value = self.escaped_character(other);
                self.value(class, last, value)
            }
        }
    }

    /// Adds a character, or the range that ends with it.
    fn value(&mut self, class: &mut ClassSet, last: Last, value: char) -> Result<Last> {
        match last {
            Last::RangeFrom(first) if first > value => Err(EMPTY_RANGE),
            Last::RangeFrom(first) => {
                class.add_range(first, value);
                Ok(Last::Complete)
            }
            _ => {
                self.flush(class, last);
                Ok(Last::Value(value))
            }
        }
    }

    fn member_set(
        &mut self,
        class: &mut ClassSet,
        last: Last,
        set: &ClassUnicode,
        is_listed: bool,
    ) -> Result<Last> {
        if matches!(last, Last::RangeFrom(_)) {
            return Err(CLASS_AT_END);
        }
        self.flush(class, last);
        class.add(set, is_listed);
        Ok(Last::Set)
    }

    /// Adds a character that does not start a range. If a nested class follows the start of a range, the start is lost,
    /// as in Ruby.
    fn flush(&self, class: &mut ClassSet, last: Last) {
        if let Last::Value(value) = last {
            class.add_range(value, value);
        }
    }

    fn hyphen(&mut self, class: &mut ClassSet, last: Last) -> Result<Last> {
        let rest = self.rest();
        let ends_here = matches!(rest, [']', ..] | ['&', '&', ..]);
        match last {
            Last::Start | Last::RangeFrom(_) | Last::Complete => self.value(class, last, '-'),
            Last::Value(_) | Last::Set if ends_here => self.value(class, last, '-'),
            Last::Value(value) => Ok(Last::RangeFrom(value)),
            Last::Set if rest.is_empty() => Err(PREMATURE_END),
            Last::Set => Err(UNMATCHED_RANGE),
        }
    }

    /// Is there another bracket that can close the class?
    fn has_closing_bracket(&self) -> bool {
        let mut rest = self.rest().iter();
        while let Some(character) = rest.next() {
            match character {
                '\\' => {
                    rest.next();
                }
                ']' => return true,
                _ => {}
            }
        }
        false
    }

    /// The meaning of a bracket inside a class, after the bracket.
    fn inner_bracket(&mut self) -> Result<Inner> {
        if self.peek() != Some(':') || !self.has_posix_end() {
            return Ok(Inner::Class);
        }
        let rest = self.rest().get(1..).unwrap_or_default();
        let is_negated = rest.first() == Some(&'^');
        let rest = rest.get(usize::from(is_negated)..).unwrap_or_default();
        // No name is longer, and Ruby does not look further.
        let name = rest.iter().take(20);
        let name: String = name
            .take_while(|character| !matches!(character, ':' | ']'))
            .collect();
        let length = name.chars().count();
        if rest.get(length..length + 2) != Some(&[':', ']']) {
            return Ok(Inner::Literal);
        }
        let is_ascii = self.options.char_range == CharRange::Ascii;
        let Some(mut set) = char_sets::posix(&name, is_ascii) else {
            return Err(RegexProblem::Refused("invalid POSIX bracket type"));
        };
        if is_negated {
            set.negate();
        }
        self.position += 1 + usize::from(is_negated) + length + 2;
        Ok(Inner::Posix(set))
    }

    /// Does `:]` come before any other closing bracket?
    fn has_posix_end(&self) -> bool {
        let mut rest = self.rest().get(1..).unwrap_or_default();
        loop {
            match rest {
                [] | [']', ..] => return false,
                [':', ']', ..] => return true,
                ['\\', _, after @ ..] | [_, after @ ..] => rest = after,
            }
        }
    }

    /// The set of `\w`, `\W` and other shorthands.
    pub(super) fn shorthand(&self, letter: char) -> ClassUnicode {
        let is_unicode = self.options.char_range == CharRange::Unicode;
        let mut set = char_sets::shorthand(letter.to_ascii_lowercase(), is_unicode);
        if letter.is_ascii_uppercase() {
            set.negate();
        }
        set
    }

    /// The set of a `\p{...}` before negation, and whether it is negated, after the letter.
    fn property(&mut self, is_negated: bool) -> Result<(ClassUnicode, bool)> {
        self.position += 1;
        let is_negated = is_negated != self.take('^');
        let mut name = String::new();
        loop {
            match self.next() {
                Some('}') => break,
                None | Some('(' | ')' | '{' | '|') => {
                    return Err(RegexProblem::UnknownProperty(String::new()));
                }
                Some(character) => name.push(character),
            }
        }
        Ok((char_sets::property(&name)?, is_negated))
    }
}
