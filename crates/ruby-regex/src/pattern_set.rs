//! [`PatternSet`]: the first match of many patterns.

use regex::{RegexSet, RegexSetBuilder};

use super::linear::Validity;
use super::prefilter::Prefilter;
use super::{MatchError, RubyRegex, SIZE_LIMIT};

/// Patterns in order, which are matched together.
///
/// ```
/// use ruby_regex::{PatternSet, RubyRegex};
///
/// let patterns = ["^profile::", "::users$", "^(a)\\1"];
/// let patterns = patterns.into_iter().map(RubyRegex::new).collect::<Result<_, _>>()?;
/// let set = PatternSet::new(patterns);
/// assert_eq!(set.first_match("profile::base::users")?, Some(0));
/// assert_eq!(set.first_match("aa::users")?, Some(1));
/// assert_eq!(set.first_match("other")?, None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct PatternSet {
    patterns: Vec<RubyRegex>,
    /// The translated patterns as one automaton; `None` if it would be too large.
    linear: Option<RegexSet>,
    /// The index in `patterns` of each pattern of `linear`.
    // Invariant: ascending.
    indices: Vec<usize>,
    /// The input for which all patterns of `linear` are valid.
    validity: Validity,
    /// A prefilter for each pattern of `linear`.
    prefilters: Vec<Prefilter>,
    /// The bytes with which a match of `linear` can end; `None` if there is no restriction.
    last_bytes: Option<Box<[bool; 256]>>,
}

impl PatternSet {
    /// A set of these patterns.
    pub fn new(patterns: Vec<RubyRegex>) -> Self {
        let mut indices = Vec::new();
        let mut translations = Vec::new();
        let mut validity = Validity::default();
        let mut prefilters = Vec::new();
        for (index, pattern) in patterns.iter().enumerate() {
            if let Some((translation, valid_for)) = pattern.translation() {
                indices.push(index);
                translations.push(translation);
                prefilters.push(Prefilter::of(translation));
                validity = validity.and(valid_for);
            }
        }
        // A few patterns can be large; many together not much larger.
        let size_limit = SIZE_LIMIT.saturating_mul(8);
        let linear = RegexSetBuilder::new(&translations)
            .size_limit(size_limit)
            .nest_limit(super::NEST_LIMIT)
            .build();
        PatternSet {
            linear: linear.ok(),
            patterns,
            indices,
            validity,
            last_bytes: last_bytes(&prefilters),
            prefilters,
        }
    }

    /// The patterns in order.
    pub fn patterns(&self) -> &[RubyRegex] {
        &self.patterns
    }

    /// The index of the first pattern that matches the string.
    ///
    /// # Errors
    ///
    /// If a pattern takes too many steps and no pattern before it matches.
    pub fn first_match(&self, text: &str) -> Result<Option<usize>, MatchError> {
        let linear = self.linear.as_ref();
        let Some(linear) = linear.filter(|_| self.validity.holds_for(text)) else {
            return self.first_of(text, |_| true);
        };
        // Most keys match no pattern, and most patterns require a certain start or end. The prefilters only apply to
        // strings of one line.
        let is_possible = self.has_last_byte(text)
            && self
                .prefilters
                .iter()
                .any(|prefilter| prefilter.accepts(text))
            || memchr::memchr(b'\n', text.as_bytes()).is_some();
        let found = is_possible.then(|| linear.matches(text).iter().next());
        let found = found.flatten();
        let found = found.and_then(|index| self.indices.get(index).copied());
        // Only the other patterns before the one that was found are left.
        let before = self.first_of(text, |index| {
            found.is_none_or(|found| index < found) && self.indices.binary_search(&index).is_err()
        })?;
        Ok(before.or(found))
    }

    fn has_last_byte(&self, text: &str) -> bool {
        let Some(bytes) = &self.last_bytes else {
            return true;
        };
        let last = text.as_bytes().last();
        last.is_some_and(|last| bytes.get(usize::from(*last)) == Some(&true))
    }

    /// The first of the wanted patterns that matches, tried one by one.
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

fn last_bytes(prefilters: &[Prefilter]) -> Option<Box<[bool; 256]>> {
    let mut bytes = Box::new([false; 256]);
    for prefilter in prefilters {
        for byte in prefilter.last_bytes()? {
            if let Some(is_last) = bytes.get_mut(usize::from(byte)) {
                *is_last = true;
            }
        }
    }
    Some(bytes)
}
