//! The backtracking matcher, for patterns that cannot be matched in linear time. It tries alternatives in order, as Ruby
//! does, up to a number of steps.

mod history;

use super::MatchError;
use super::ast::{Assertion, Backreference};
use super::char_sets;
use super::fold::{self, contains};
use super::program::{Address, Instruction, Program};

use history::{StackEntry, State, Trail};

/// The maximum number of steps: about 10 ms and 20 MB. All matches of a request together are limited by its budget.
pub(super) const MAX_STEPS: usize = 500_000;
/// Steps between two charges.
const CHARGE_INTERVAL: usize = 64;

/// Does the program match anywhere in the string?
pub(super) fn is_match(program: &Program, text: &str) -> Result<bool, MatchError> {
    if work_budget::charge(1 + text.len() as u64).is_err() {
        return Err(MatchError::TOO_MANY_STEPS);
    }
    let characters: Vec<char> = text.chars().collect();
    let mut matcher = Matcher {
        program,
        text: &characters,
        steps: 0,
        stack: Vec::new(),
        trail: Vec::new(),
        groups: vec![None; program.groups],
    };
    for start in 0..=characters.len() {
        if matcher.run(0, start, characters.len())?.is_some() {
            return Ok(true);
        }
        matcher.stack.clear();
    }
    Ok(false)
}

/// The start and end of a group's last match; `None` while it is being matched.
type Group = Option<(usize, usize)>;

struct Matcher<'a> {
    program: &'a Program,
    text: &'a [char],
    steps: usize,
    stack: Vec<StackEntry>,
    trail: Vec<Trail>,
    groups: Vec<Group>,
}

impl Matcher<'_> {
    /// Runs from an address to a `Match` and returns the position. `end` is the end of the input.
    fn run(
        &mut self,
        address: Address,
        start: usize,
        end: usize,
    ) -> Result<Option<usize>, MatchError> {
        let base = self.trail.len();
        let mut state = State {
            address,
            position: start,
            top: 0,
        };
        loop {
            self.steps += 1;
            if self.steps > MAX_STEPS
                || self.steps.is_multiple_of(CHARGE_INTERVAL)
                    && work_budget::charge(CHARGE_INTERVAL as u64).is_err()
            {
                return Err(MatchError::TOO_MANY_STEPS);
            }
            let program = self.program;
            let Some(instruction) = program.instructions.get(state.address) else {
                return Ok(None);
            };
            if matches!(instruction, Instruction::Match) {
                return Ok(Some(state.position));
            }
            if self.step(instruction, &mut state, end)? {
                continue;
            }
            match self.go_back(base) {
                Some(alternative) => state = alternative,
                None => return Ok(None),
            }
        }
    }

    /// Executes an instruction; false if it fails.
    fn step(
        &mut self,
        instruction: &Instruction,
        state: &mut State,
        end: usize,
    ) -> Result<bool, MatchError> {
        state.address += 1;
        match instruction {
            Instruction::Match => {}
            Instruction::Set(set) => {
                if state.position >= end {
                    return Ok(false);
                }
                let character = self.text.get(state.position);
                state.position += 1;
                return Ok(character.is_some_and(|character| contains(set, *character)));
            }
            Instruction::Assert(assertion) => return Ok(self.holds(*assertion, state.position)),
            Instruction::Split(first, second) => {
                self.push_alternative(State {
                    address: *second,
                    ..*state
                });
                state.address = *first;
            }
            Instruction::Jump(target) => state.address = *target,
            Instruction::GroupStart(number) => {
                self.push(state, state.position);
                self.set_group(*number, None);
            }
            Instruction::GroupEnd(number) => {
                let start = self.pop(state);
                self.set_group(*number, Some((start, state.position)));
            }
            Instruction::IterationStart => self.push(state, state.position),
            Instruction::IterationEnd(after) => {
                if self.pop(state) == state.position {
                    state.address = *after;
                }
            }
            Instruction::AtomicStart => {
                self.push(state, state.position);
                self.push(state, self.trail.len());
            }
            Instruction::AtomicEnd => {
                let height = self.pop(state);
                self.pop(state);
                self.drop_alternatives(height);
            }
            Instruction::LookEnd => {
                let height = self.pop(state);
                state.position = self.pop(state);
                self.drop_alternatives(height);
            }
            Instruction::NegativeStart(after) => {
                let alternative = State {
                    address: *after,
                    ..*state
                };
                self.push(state, self.trail.len());
                self.push_alternative(alternative);
            }
            Instruction::NegativeEnd => {
                let height = self.pop(state);
                while self.trail.len() > height {
                    self.pop_trail();
                }
                return Ok(false);
            }
            Instruction::Back(length) => match state.position.checked_sub(*length) {
                Some(position) => state.position = position,
                None => return Ok(false),
            },
            Instruction::Backreference(reference) => {
                match self.after_reference(reference, state.position, end) {
                    Some(position) => state.position = position,
                    None => return Ok(false),
                }
            }
            Instruction::Call(target) => {
                self.push(state, state.address);
                state.address = *target;
            }
            Instruction::Return => state.address = self.pop(state),
            Instruction::Condition(number, otherwise) => {
                if self.groups.get(*number).copied().flatten().is_none() {
                    state.address = *otherwise;
                }
            }
            Instruction::Absent(after) => {
                let Some(longest) = self.longest_without(state.address, state.position, end)?
                else {
                    return Ok(false);
                };
                state.address = *after;
                self.steps += longest.saturating_sub(state.position);
                for position in state.position..longest {
                    self.push_alternative(State { position, ..*state });
                }
                state.position = longest;
            }
        }
        Ok(true)
    }

    /// The end of the longest string from `start` that does not contain a match of the part at the address; `None` if
    /// even the empty string does.
    fn longest_without(
        &mut self,
        address: Address,
        start: usize,
        end: usize,
    ) -> Result<Option<usize>, MatchError> {
        let mut longest = end;
        let mut from = start;
        while from <= longest {
            // Each match makes the string shorter, until there is none.
            while let Some(found) = self.run_separately(address, from, longest)? {
                match found.checked_sub(1) {
                    Some(shorter) if shorter >= start => longest = shorter,
                    _ => return Ok(None),
                }
                if longest < from {
                    break;
                }
            }
            from += 1;
        }
        Ok(Some(longest))
    }

    /// Runs a part on its own and restores the groups.
    fn run_separately(
        &mut self,
        address: Address,
        start: usize,
        end: usize,
    ) -> Result<Option<usize>, MatchError> {
        let height = self.trail.len();
        let found = self.run(address, start, end);
        while self.trail.len() > height {
            self.pop_trail();
        }
        found
    }

    fn holds(&self, assertion: Assertion, position: usize) -> bool {
        let before = position
            .checked_sub(1)
            .and_then(|before| self.text.get(before));
        let after = self.text.get(position);
        match assertion {
            Assertion::LineStart => before.is_none() || (before == Some(&'\n') && after.is_some()),
            Assertion::LineEnd => after.is_none() || after == Some(&'\n'),
            Assertion::TextStart => before.is_none(),
            Assertion::TextEnd => after.is_none(),
            Assertion::LastLineEnd => {
                after.is_none() || (after == Some(&'\n') && position + 1 == self.text.len())
            }
            Assertion::WordBoundary {
                is_negated,
                is_ascii,
            } => {
                let is_word = |character: Option<&char>| {
                    character.is_some_and(|character| is_word(*character, is_ascii))
                };
                (is_word(before) != is_word(after)) != is_negated
            }
        }
    }

    /// The position after the string that a group matched, if that string is next.
    fn after_reference(
        &mut self,
        reference: &Backreference,
        position: usize,
        end: usize,
    ) -> Option<usize> {
        reference.groups.iter().find_map(|number| {
            let (start, stop) = (*self.groups.get(*number)?)?;
            let wanted = self.text.get(start..stop).unwrap_or_default();
            let after = position + wanted.len();
            self.steps += wanted.len();
            let found = self.text.get(position..after).filter(|_| after <= end)?;
            let is_same = |(left, right): (&char, &char)| {
                left == right || (reference.ignores_case && is_same_letter(*left, *right))
            };
            wanted.iter().zip(found).all(is_same).then_some(after)
        })
    }
}

fn is_same_letter(left: char, right: char) -> bool {
    if left.is_ascii() && right.is_ascii() {
        return left.eq_ignore_ascii_case(&right);
    }
    contains(&fold::cases(left), right)
}

fn is_word(character: char, is_ascii: bool) -> bool {
    if is_ascii || character.is_ascii() {
        return character.is_ascii_alphanumeric() || character == '_';
    }
    contains(&char_sets::WORD, character)
}
