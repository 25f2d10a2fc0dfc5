//! What the matcher remembers: a stack for the nesting of the pattern, and a trail of what backtracking restores.

use super::{Group, Matcher};
use crate::program::Address;

/// What backtracking restores.
#[derive(Clone, Copy, Debug)]
pub(super) enum Trail {
    /// An alternative to continue with.
    Alternative { state: State },
    /// The previous match of a group.
    Group { number: usize, previous: Group },
}

/// The state of the matcher.
#[derive(Clone, Copy, Debug)]
pub(super) struct State {
    pub(super) address: Address,
    pub(super) position: usize,
    /// The top of the stack: an index into `stack`, plus one.
    pub(super) top: usize,
}

/// An entry of the stack with a link to the one below. Entries are never changed, so that the stack of an earlier state
/// is still there after backtracking.
#[derive(Clone, Copy, Debug)]
pub(super) struct StackEntry {
    below: usize,
    value: usize,
}

impl Matcher<'_> {
    pub(super) fn push(&mut self, state: &mut State, value: usize) {
        self.stack.push(StackEntry {
            below: state.top,
            value,
        });
        state.top = self.stack.len();
    }

    pub(super) fn pop(&self, state: &mut State) -> usize {
        let top = state.top.checked_sub(1);
        match top.and_then(|top| self.stack.get(top)) {
            Some(entry) => {
                state.top = entry.below;
                entry.value
            }
            None => 0,
        }
    }

    pub(super) fn push_alternative(&mut self, state: State) {
        self.trail.push(Trail::Alternative { state });
    }

    pub(super) fn set_group(&mut self, number: usize, group: Group) {
        if let Some(slot) = self.groups.get_mut(number) {
            let previous = std::mem::replace(slot, group);
            self.trail.push(Trail::Group { number, previous });
        }
    }

    /// Undoes the last entry of the trail. An alternative is returned.
    pub(super) fn pop_trail(&mut self) -> Option<State> {
        match self.trail.pop()? {
            Trail::Alternative { state } => Some(state),
            Trail::Group { number, previous } => {
                if let Some(group) = self.groups.get_mut(number) {
                    *group = previous;
                }
                None
            }
        }
    }

    pub(super) fn go_back(&mut self, base: usize) -> Option<State> {
        while self.trail.len() > base {
            if let Some(state) = self.pop_trail() {
                return Some(state);
            }
        }
        None
    }

    /// Drops the alternatives above a height of the trail, but keeps the previous matches of groups.
    pub(super) fn drop_alternatives(&mut self, height: usize) {
        let above = self.trail.split_off(height.min(self.trail.len()));
        let groups = above.into_iter();
        self.trail
            .extend(groups.filter(|entry| matches!(entry, Trail::Group { .. })));
    }
}
