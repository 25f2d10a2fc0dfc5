//! Groups and everything else in parentheses; the numbers and names of groups.

use super::{Atom, CallTarget, CharRange, Parsed, Parser, Result};
use crate::RegexProblem;
use crate::ast::{Look, Node};

const UNMATCHED: RegexProblem = RegexProblem::Refused("end pattern with unmatched parenthesis");
const END_IN_GROUP: RegexProblem = RegexProblem::Refused("end pattern in group");
const UNDEFINED_OPTION: RegexProblem = RegexProblem::Refused("undefined group option");
const INVALID_NAME: RegexProblem = RegexProblem::Refused("invalid group name");
const INVALID_CONDITION: RegexProblem = RegexProblem::Refused("invalid conditional pattern");
const INVALID_REFERENCE: RegexProblem = RegexProblem::Refused("invalid backref number/name");
const NUMBERED: RegexProblem =
    RegexProblem::Refused("numbered backref/call is not allowed. (use name)");

impl Parser {
    /// Parses a group after its opening parenthesis.
    pub(super) fn group(&mut self) -> Result<Atom> {
        let options = self.options;
        let atom = self.open_group();
        self.options = options;
        atom
    }

    fn open_group(&mut self) -> Result<Atom> {
        if !self.take('?') {
            return self.capture(None).map(Atom::Node);
        }
        let look = |is_behind, is_negated| Look {
            is_behind,
            is_negated,
        };
        let node = match self.next().ok_or(END_IN_GROUP)? {
            ':' => self.body()?,
            '=' => Node::Look(look(false, false), Box::new(self.body()?)),
            '!' => Node::Look(look(false, true), Box::new(self.body()?)),
            '>' => Node::Atomic(Box::new(self.body()?)),
            '~' => Node::Absent(Box::new(self.body()?)),
            '<' => match self.peek().ok_or(UNMATCHED)? {
                '=' | '!' => {
                    let is_negated = self.next() == Some('!');
                    let was_inside = std::mem::replace(&mut self.is_in_look_behind, true);
                    let body = self.body()?;
                    self.is_in_look_behind = was_inside;
                    Node::Look(look(true, is_negated), Box::new(body))
                }
                _ => self.named_capture('>')?,
            },
            '\'' => self.named_capture('\'')?,
            '(' => self.condition()?,
            _ => {
                self.position -= 1;
                return self.with_options();
            }
        };
        Ok(Atom::Node(node))
    }

    /// Parses the content of a group and its closing parenthesis.
    fn body(&mut self) -> Result<Node> {
        let node = self.alternation()?;
        if self.take(')') {
            Ok(node)
        } else {
            Err(UNMATCHED)
        }
    }

    fn capture(&mut self, name: Option<String>) -> Result<Node> {
        self.groups.push(name);
        let number = self.groups.len();
        Ok(Node::Group(number, Box::new(self.body()?)))
    }

    fn named_capture(&mut self, end: char) -> Result<Node> {
        let name = self.name(end)?;
        if name.starts_with(|first: char| first.is_ascii_digit() || first == '-') {
            return Err(INVALID_NAME);
        }
        self.capture(Some(name))
    }

    /// Parses a name up to its closing character.
    pub(super) fn name(&mut self, end: char) -> Result<String> {
        let mut name = String::new();
        loop {
            match self.next() {
                Some(character) if character == end => break,
                None | Some(')') if !name.is_empty() => return Err(INVALID_NAME),
                None => return Err(RegexProblem::Refused("group name is empty")),
                Some(character) => name.push(character),
            }
        }
        if name.is_empty() {
            return Err(RegexProblem::Refused("group name is empty"));
        }
        Ok(name)
    }

    /// Parses `(?imx-imx)` or `(?imx-imx:...)` after `(?`.
    fn with_options(&mut self) -> Result<Atom> {
        let mut is_on = true;
        let mut count = 0;
        loop {
            match self.next().ok_or(END_IN_GROUP)? {
                ')' if count > 0 => {
                    let node = self.alternation()?;
                    return Ok(Atom::OptionsToEnd(Node::Options(Box::new(node))));
                }
                ':' if count > 0 => {
                    return Ok(Atom::Node(Node::Options(Box::new(self.body()?))));
                }
                '-' => is_on = false,
                'i' => self.options.ignores_case = is_on,
                'm' => self.options.dot_matches_newline = is_on,
                'x' => self.options.is_extended = is_on,
                'a' if is_on => self.options.char_range = CharRange::Ascii,
                'u' if is_on => self.options.char_range = CharRange::Unicode,
                'd' if is_on => self.options.char_range = CharRange::Mixed,
                _ => return Err(UNDEFINED_OPTION),
            }
            count += 1;
        }
    }

    /// Parses `(?(1)...|...)` after `(?(`.
    fn condition(&mut self) -> Result<Node> {
        let group = match self.next() {
            Some('0'..='9') => {
                self.position -= 1;
                let number = self.number()?.unwrap_or(0);
                self.has_numbered_reference = true;
                if number == 0 {
                    return Err(INVALID_NAME);
                }
                number
            }
            Some(mark @ ('<' | '\'')) => {
                let end = if mark == '<' { '>' } else { mark };
                let (groups, _) = self.reference(end)?;
                groups.first().copied().unwrap_or(0)
            }
            _ => return Err(INVALID_CONDITION),
        };
        if !self.take(')') {
            return Err(if self.peek().is_none() {
                INVALID_NAME
            } else {
                UNDEFINED_OPTION
            });
        }
        let (yes, no) = match self.body()? {
            Node::Alternate(mut branches) if branches.len() == 2 => {
                let no = branches.pop().unwrap_or(Node::Empty);
                (branches.pop().unwrap_or(Node::Empty), no)
            }
            Node::Alternate(_) => return Err(INVALID_CONDITION),
            yes => (yes, Node::Empty),
        };
        Ok(Node::Condition(group, Box::new(yes), Box::new(no)))
    }

    /// The groups with the name or number in `\k<...>`, last first, and the level.
    pub(super) fn reference(&mut self, end: char) -> Result<(Vec<usize>, i64)> {
        let written = self.name(end)?;
        let (name, level) = split_level(&written)?;
        let is_number = name.starts_with(|first: char| first.is_ascii_digit() || first == '-');
        if is_number {
            self.has_numbered_reference = true;
            return Ok((vec![self.relative_number(name, false)?], level));
        }
        let named = self.groups.iter().enumerate().rev();
        let groups: Vec<usize> = named
            .filter(|(_, group)| group.as_deref() == Some(name))
            .map(|(index, _)| index + 1)
            .collect();
        if groups.is_empty() {
            return Err(RegexProblem::UndefinedName(name.to_owned()));
        }
        Ok((groups, level))
    }

    /// A group number, which can be relative: `-1` is the previous group.
    fn relative_number(&self, text: &str, is_call: bool) -> Result<usize> {
        let digits = text.trim_start_matches(['-', '+']);
        if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
            return Err(INVALID_NAME);
        }
        let number: usize = match digits.parse() {
            Ok(number) if number <= i32::MAX as usize => number,
            _ => return Err(RegexProblem::Refused("too big number")),
        };
        if number == 0 {
            let is_whole_pattern = is_call && !text.starts_with(['-', '+']);
            return if is_whole_pattern {
                Ok(0)
            } else {
                Err(INVALID_NAME)
            };
        }
        if text.starts_with('-') {
            let before = (self.groups.len() + 1).checked_sub(number);
            return before.filter(|number| *number > 0).ok_or(INVALID_REFERENCE);
        }
        if text.starts_with('+') {
            return Ok(self.groups.len() + number);
        }
        Ok(number)
    }

    /// Parses `\g<...>` after the opening character.
    pub(super) fn call(&mut self, end: char) -> Result<Node> {
        let name = self.name(end)?;
        let is_number =
            name.starts_with(|first: char| first.is_ascii_digit() || matches!(first, '-' | '+'));
        self.calls.push(if is_number {
            CallTarget::Number(self.relative_number(&name, true)?)
        } else {
            CallTarget::Name(name)
        });
        Ok(Node::Call(self.calls.len() - 1))
    }

    /// Resolves the numbers of groups. In a pattern with named groups, only those capture.
    pub(super) fn finish(self, mut node: Node) -> Result<Parsed> {
        let has_names = self.groups.iter().any(Option::is_some);
        let is_numbered_call = |call: &CallTarget| matches!(call, CallTarget::Number(1..));
        if has_names && (self.has_numbered_reference || self.calls.iter().any(is_numbered_call)) {
            return Err(NUMBERED);
        }
        // The new number of each group; `None` for groups that do not capture.
        let mut numbers = vec![Some(0)];
        for name in &self.groups {
            let captures = name.is_some() || !has_names;
            let next = numbers.iter().flatten().count();
            numbers.push(captures.then_some(next));
        }
        let groups = numbers.iter().flatten().count() - 1;
        let mut calls = Vec::new();
        for call in &self.calls {
            calls.push(self.call_target(call, &numbers)?);
        }
        renumber(&mut node, &numbers, &calls)?;
        Ok(Parsed { node, groups })
    }

    fn call_target(&self, call: &CallTarget, numbers: &[Option<usize>]) -> Result<usize> {
        let name = match call {
            CallTarget::Number(number) => {
                let target = numbers.get(*number).copied().flatten();
                return target.ok_or(RegexProblem::Refused("undefined group reference"));
            }
            CallTarget::Name(name) => name,
        };
        let named = self.groups.iter().enumerate();
        let mut named = named.filter(|(_, group)| group.as_deref() == Some(name));
        match (named.next(), named.next()) {
            (Some((index, _)), None) => {
                let target = numbers.get(index + 1).copied().flatten();
                target.ok_or(INVALID_REFERENCE)
            }
            (Some(_), Some(_)) => Err(RegexProblem::Refused("multiplex definition name call")),
            (None, _) => Err(RegexProblem::UndefinedName(name.clone())),
        }
    }
}

/// Splits `name+1` into the name and the level.
fn split_level(written: &str) -> Result<(&str, i64)> {
    let Some(index) = written.rfind(['+', '-']).filter(|index| *index > 0) else {
        return Ok((written, 0));
    };
    let (name, level) = written.split_at(index);
    if level.len() == 1 {
        return Err(INVALID_NAME);
    }
    match level.parse() {
        Ok(level) => Ok((name, level)),
        Err(_) => Ok((written, 0)),
    }
}

fn renumber(node: &mut Node, numbers: &[Option<usize>], calls: &[usize]) -> Result<()> {
    let number_of = |group: usize| match numbers.get(group) {
        Some(number) => Ok(number.unwrap_or(0)),
        None => Err(INVALID_REFERENCE),
    };
    match node {
        Node::Group(group, inner) => match numbers.get(*group).copied().flatten() {
            Some(number) => *group = number,
            None => {
                *node = std::mem::replace(inner.as_mut(), Node::Empty);
                return renumber(node, numbers, calls);
            }
        },
        Node::Backreference(reference) => {
            for group in &mut reference.groups {
                *group = number_of(*group)?;
            }
        }
        Node::Condition(group, ..) => *group = number_of(*group)?,
        Node::Call(call) => *call = calls.get(*call).copied().unwrap_or(0),
        _ => {}
    }
    for child in node.children_mut() {
        renumber(child, numbers, calls)?;
    }
    Ok(())
}
