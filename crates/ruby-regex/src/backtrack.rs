//! The backtracking matcher, for what linear time cannot do: it tries one way after the other, as Ruby does,
//! but only so many steps.

use super::MatchError;
use super::ast::{Assertion, Backreference};
use super::fold::{self, contains};
use super::program::{Address, Instruction, Program};
use super::sets;

/// Steps that one match may take: some 10 ms, and some 20 MB.
const MAX_STEPS: usize = 500_000;

/// Does the program match anywhere in the text?
pub(super) fn is_match(program: &Program, text: &str) -> Result<bool, MatchError> {
    let characters: Vec<char> = text.chars().collect();
    let mut matcher = Matcher {
        program,
        text: &characters,
        steps: 0,
        nesting: Vec::new(),
        trail: Vec::new(),
        groups: vec![None; program.groups],
    };
    for start in 0..=characters.len() {
        if matcher.run(0, start, characters.len())?.is_some() {
            return Ok(true);
        }
        matcher.nesting.clear();
    }
    Ok(false)
}

/// The start and end of what a group matched last; nothing while it is being matched.
type Group = Option<(usize, usize)>;

/// What to go back to.
#[derive(Clone, Copy, Debug)]
enum Trail {
    /// Another way to go on.
    Way { state: State },
    /// A group as it was.
    Group { number: usize, was: Group },
}

/// Where the matcher is.
#[derive(Clone, Copy, Debug)]
struct State {
    address: Address,
    position: usize,
    /// The top of the stack of what is remembered: an index into `nesting`, plus one.
    nesting: usize,
}

/// Something remembered, and what was remembered before. It is never changed, so that a way back finds the
/// stack as it was.
#[derive(Clone, Copy, Debug)]
struct Remembered {
    below: usize,
    value: usize,
}

struct Matcher<'a> {
    program: &'a Program,
    text: &'a [char],
    steps: usize,
    nesting: Vec<Remembered>,
    trail: Vec<Trail>,
    groups: Vec<Group>,
}

impl Matcher<'_> {
    /// Runs from an address to a `Match`, and returns the position there. `end` is the end of the text.
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
            nesting: 0,
        };
        loop {
            self.steps += 1;
            if self.steps > MAX_STEPS {
                return Err(MatchError::TooManySteps);
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
                Some(way) => state = way,
                None => return Ok(None),
            }
        }
    }

    /// Takes one step; false when it fails.
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
                self.push_way(State {
                    address: *second,
                    ..*state
                });
                state.address = *first;
            }
            Instruction::Jump(target) => state.address = *target,
            Instruction::GroupStart(number) => {
                self.remember(state, state.position);
                self.set_group(*number, None);
            }
            Instruction::GroupEnd(number) => {
                let start = self.recall(state);
                self.set_group(*number, Some((start, state.position)));
            }
            Instruction::RoundStart => self.remember(state, state.position),
            Instruction::RoundEnd(after) => {
                if self.recall(state) == state.position {
                    state.address = *after;
                }
            }
            Instruction::Commit => {
                self.remember(state, state.position);
                self.remember(state, self.trail.len());
            }
            Instruction::Committed => {
                let height = self.recall(state);
                self.recall(state);
                self.forget_ways(height);
            }
            Instruction::LookedAhead => {
                let height = self.recall(state);
                state.position = self.recall(state);
                self.forget_ways(height);
            }
            Instruction::MustFail(after) => {
                let way = State {
                    address: *after,
                    ..*state
                };
                self.remember(state, self.trail.len());
                self.push_way(way);
            }
            Instruction::HasMatched => {
                let height = self.recall(state);
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
                match self.refer(reference, state.position, end) {
                    Some(position) => state.position = position,
                    None => return Ok(false),
                }
            }
            Instruction::Call(target) => {
                self.remember(state, state.address);
                state.address = *target;
            }
            Instruction::Return => state.address = self.recall(state),
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
                    self.push_way(State { position, ..*state });
                }
                state.position = longest;
            }
        }
        Ok(true)
    }

    /// The end of the longest text from here that has no match of the part at the address in it. Nothing when
    /// even the empty text has one.
    fn longest_without(
        &mut self,
        address: Address,
        start: usize,
        end: usize,
    ) -> Result<Option<usize>, MatchError> {
        let mut longest = end;
        let mut from = start;
        while from <= longest {
            // Each match found makes the text shorter, until there is none.
            while let Some(found) = self.run_apart(address, from, longest)? {
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

    /// Runs a part for itself and leaves nothing behind.
    fn run_apart(
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

    fn remember(&mut self, state: &mut State, value: usize) {
        self.nesting.push(Remembered {
            below: state.nesting,
            value,
        });
        state.nesting = self.nesting.len();
    }

    fn recall(&self, state: &mut State) -> usize {
        let top = state.nesting.checked_sub(1);
        match top.and_then(|top| self.nesting.get(top)) {
            Some(remembered) => {
                state.nesting = remembered.below;
                remembered.value
            }
            None => 0,
        }
    }

    fn push_way(&mut self, state: State) {
        self.trail.push(Trail::Way { state });
    }

    fn set_group(&mut self, number: usize, group: Group) {
        if let Some(slot) = self.groups.get_mut(number) {
            let was = std::mem::replace(slot, group);
            self.trail.push(Trail::Group { number, was });
        }
    }

    /// Undoes the last entry of the trail; a way is returned.
    fn pop_trail(&mut self) -> Option<State> {
        match self.trail.pop()? {
            Trail::Way { state } => Some(state),
            Trail::Group { number, was } => {
                if let Some(group) = self.groups.get_mut(number) {
                    *group = was;
                }
                None
            }
        }
    }

    fn go_back(&mut self, base: usize) -> Option<State> {
        while self.trail.len() > base {
            if let Some(state) = self.pop_trail() {
                return Some(state);
            }
        }
        None
    }

    /// Forgets the ways above a height of the trail, but not how to undo the groups.
    fn forget_ways(&mut self, height: usize) {
        let above = self.trail.split_off(height.min(self.trail.len()));
        let groups = above.into_iter();
        self.trail
            .extend(groups.filter(|entry| matches!(entry, Trail::Group { .. })));
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

    /// The position after what a group matched, if that comes next.
    fn refer(&mut self, reference: &Backreference, position: usize, end: usize) -> Option<usize> {
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
    contains(&sets::WORD, character)
}
