//! [`PatternSet`]: many patterns, of which the first that matches counts.

use regex::{RegexSet, RegexSetBuilder};

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
}

impl PatternSet {
    /// A set of these patterns.
    pub fn new(patterns: Vec<RubyRegex>) -> Self {
        let translated = patterns.iter().enumerate();
        let translated =
            translated.filter_map(|(index, pattern)| Some((index, pattern.translation()?)));
        let (indices, texts): (Vec<usize>, Vec<&str>) = translated.unzip();
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
        let linear = self.linear.as_ref().filter(|_| !text.ends_with('\n'));
        let Some(linear) = linear else {
            return self.search(text, self.patterns.len());
        };
        let found = linear.matches(text).iter().next();
        let found = found.and_then(|index| self.indices.get(index).copied());
        // What is left to ask are the other patterns before the one that was found.
        let before = found.unwrap_or(self.patterns.len());
        let others = self.patterns.iter().enumerate().take(before);
        for (index, pattern) in others.filter(|(_, pattern)| pattern.translation().is_none()) {
            if pattern.is_match(text)? {
                return Ok(Some(index));
            }
        }
        Ok(found)
    }

    fn search(&self, text: &str, count: usize) -> Result<Option<usize>, MatchError> {
        for (index, pattern) in self.patterns.iter().enumerate().take(count) {
            if pattern.is_match(text)? {
                return Ok(Some(index));
            }
        }
        Ok(None)
    }
}
