//! Escapes outside of character classes.

use super::{Atom, CharRange, Parser, Result, set_of};
use crate::RegexProblem;
use crate::ast::{Assertion, Backreference, Node};
use crate::char_sets;

impl Parser {
    /// Parses an escape after its backslash.
    pub(super) fn escape(&mut self) -> Result<Atom> {
        let Some(character) = self.next() else {
            return Err(RegexProblem::Refused("end pattern at escape"));
        };
        let boundary = |is_negated| Assertion::WordBoundary {
            is_negated,
            is_ascii: self.options.char_range == CharRange::Ascii,
        };
        Ok(Atom::Node(match character {
            'A' | 'G' => Node::Assertion(Assertion::TextStart),
            'z' => Node::Assertion(Assertion::TextEnd),
            'Z' => Node::Assertion(Assertion::LastLineEnd),
            'b' => Node::Assertion(boundary(false)),
            'B' => Node::Assertion(boundary(true)),
            // The start of a match is not reported.
            'K' => Node::Empty,
            'R' => Node::Atomic(Box::new(Node::Alternate(vec![
                Node::Concat(vec![set_of('\r', '\r'), set_of('\n', '\n')]),
                Node::Set(char_sets::line_breaks()),
            ]))),
            'X' => char_sets::grapheme_cluster(),
            'w' | 'W' | 'd' | 'D' | 's' | 'S' | 'h' | 'H' => Node::Set(self.shorthand(character)),
            'p' | 'P' if self.peek() == Some('{') => self.property_node(character == 'P')?,
            'k' => match self.opening_mark() {
                Some(end) => {
                    let (groups, level) = self.reference(end)?;
                    if level != 0 {
                        return Err(RegexProblem::Unsupported("a backreference with a level"));
                    }
                    self.backreference(groups)
                }
                None => return Ok(Atom::Literal('k')),
            },
            'g' => match self.opening_mark() {
                Some(end) => self.call(end)?,
                None => return Ok(Atom::Literal('g')),
            },
            '1'..='9' => {
                self.position -= 1;
                return self.number_escape();
            }
            other => return Ok(Atom::Literal(self.escaped_character(other))),
        }))
    }

    /// The character that closes a name, if one starts here.
    fn opening_mark(&mut self) -> Option<char> {
        let end = match self.peek()? {
            '<' => '>',
            '\'' => '\'',
            _ => return None,
        };
        self.position += 1;
        Some(end)
    }

    fn backreference(&self, groups: Vec<usize>) -> Node {
        Node::Backreference(Backreference {
            groups,
            ignores_case: self.options.ignores_case,
        })
    }

    /// A backreference if there are that many groups or the number has one digit, else an octal number.
    fn number_escape(&mut self) -> Result<Atom> {
        let start = self.position;
        if let Ok(Some(number)) = self.number()
            && (number <= 9 || number <= self.groups.len())
        {
            self.has_numbered_reference = true;
            return Ok(Atom::Node(self.backreference(vec![number])));
        }
        self.position = start;
        Ok(Atom::Literal(match self.next() {
            Some(first @ ('8' | '9')) => first,
            Some(first) => self.escaped_character(first),
            None => '\\',
        }))
    }

    /// The character of an escape, inside and outside of classes, after its first character.
    pub(super) fn escaped_character(&mut self, first: char) -> char {
        match first {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'f' => '\x0C',
            'v' => '\x0B',
            'a' => '\x07',
            'e' => '\x1B',
            'x' => self.digits(16, 2, 0),
            '0' => self.digits(8, 2, 0),
            '1'..='7' => self.digits(8, 2, first.to_digit(8).unwrap_or(0)),
            literal => literal,
        }
    }

    fn digits(&mut self, base: u32, max: usize, start: u32) -> char {
        let mut code = start;
        for _ in 0..max {
            let Some(digit) = self.peek().and_then(|character| character.to_digit(base)) else {
                break;
            };
            self.position += 1;
            code = code * base + digit;
        }
        char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
    }
}
