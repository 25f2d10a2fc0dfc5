//! [`PatternSet`]: many patterns, of which the first that matches counts.

use regex::{RegexSet, RegexSetBuilder};

use super::fence::Fence;
use super::linear::Validity;
use super::{MatchError, RubyRegex, SIZE_LIMIT};

/// Patterns in order, held against a text together.
#[derive(Clone, Debug, Default)]
pub struct PatternSet {
    patterns: Vec<RubyRegex>,
    /// Those that match in linear time, as one automaton; none where that would be too large.
    linear: Option<RegexSet>,
    /// The index of the pattern for each one of `linear`.
    // Invariant: ascending.
    indices: Vec<usize>,
    /// For which texts all of `linear` are right.
    validity: Validity,
    /// What a text must start and end with, for each one of `linear`.
    fences: Vec<Fence>,
    /// The letters that a text must end in to match any of `linear`; `None` where that may be all.
    last_letters: Option<Box<[bool; 256]>>,
}

impl PatternSet {
    /// A set of these patterns.
    pub fn new(patterns: Vec<RubyRegex>) -> Self {
        let mut indices = Vec::new();
        let mut texts = Vec::new();
        let mut validity = Validity::default();
        let mut fences = Vec::new();
        for (index, pattern) in patterns.iter().enumerate() {
            if let Some((text, for_texts)) = pattern.translation() {
                indices.push(index);
                texts.push(text);
                fences.push(Fence::of(text));
                validity = validity.and(for_texts);
            }
        }
        // A handful of patterns may be large, many together only a bit larger.
        let size_limit = SIZE_LIMIT.saturating_mul(8);
        let linear = RegexSetBuilder::new(&texts)
            .size_limit(size_limit)
            .nest_limit(super::NEST_LIMIT)
            .build();
        PatternSet {
            linear: linear.ok(),
            patterns,
            indices,
            validity,
            last_letters: last_letters(&fences),
            fences,
        }
    }

    /// The patterns in order.
    pub fn patterns(&self) -> &[RubyRegex] {
        &self.patterns
    }

    /// The lowest index of a pattern that matches the text.
    ///
    /// A match that is given up is an error only if no pattern before it matches.
    pub fn first_match(&self, text: &str) -> Result<Option<usize>, MatchError> {
        let linear = self.linear.as_ref();
        let Some(linear) = linear.filter(|_| self.validity.holds_for(text)) else {
            return self.first_of(text, |_| true);
        };
        // Nearly all keys match no pattern, and nearly all patterns say how a key must start or end.
        // They hold line by line.
        let is_possible = self.has_last_letter(text)
            && self.fences.iter().any(|fence| fence.lets_in(text))
            || memchr::memchr(b'\n', text.as_bytes()).is_some();
        let found = is_possible.then(|| linear.matches(text).iter().next());
        let found = found.flatten();
        let found = found.and_then(|index| self.indices.get(index).copied());
        // What is left to ask are the other patterns before the one that was found.
        let before = self.first_of(text, |index| {
            found.is_none_or(|found| index < found) && self.indices.binary_search(&index).is_err()
        })?;
        Ok(before.or(found))
    }

    fn has_last_letter(&self, text: &str) -> bool {
        let Some(letters) = &self.last_letters else {
            return true;
        };
        let last = text.as_bytes().last();
        last.is_some_and(|last| letters.get(usize::from(*last)) == Some(&true))
    }

    /// The first of the wanted patterns that matches, held against the text one by one.
    fn first_of(
        &self,
        text: &str,
        is_wanted: impl Fn(usize) -> bool,
    ) -> Result<Option<usize>, MatchError> {
        for (index, pattern) in self.patterns.iter().enumerate() {
            if is_wanted(index) && pattern.is_match(text)? {
                return Ok(Some(index));
            }
        }
        Ok(None)
    }
}

fn last_letters(fences: &[Fence]) -> Option<Box<[bool; 256]>> {
    let mut letters = Box::new([false; 256]);
    for fence in fences {
        for letter in fence.last_letters()? {
            if let Some(is_last) = letters.get_mut(usize::from(letter)) {
                *is_last = true;
            }
        }
    }
    Some(letters)
}
