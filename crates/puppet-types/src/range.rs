//! Ranges of integers, floats and times.

use num_bigint::BigInt;

/// A range of integers. A missing bound is infinite.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct IntegerRange {
    /// The lower bound.
    pub from: Option<BigInt>,
    /// The upper bound.
    pub to: Option<BigInt>,
}

/// A range of floats. Its bounds can be infinite.
#[derive(Clone, Copy, Debug)]
pub struct FloatRange {
    /// The lower bound.
    pub from: f64,
    /// The upper bound.
    pub to: f64,
}

/// A range of times in nanoseconds. A missing bound is infinite.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct TimeRange {
    /// The lower bound.
    pub from: Option<i128>,
    /// The upper bound.
    pub to: Option<i128>,
}

impl IntegerRange {
    /// The range from a number to infinity.
    pub(crate) fn at_least(from: usize) -> Self {
        IntegerRange {
            from: Some(BigInt::from(from)),
            to: None,
        }
    }

    /// The size of a collection type, which is unlimited if it has none.
    pub(crate) fn size_or_any(size: &Option<IntegerRange>) -> Self {
        size.clone().unwrap_or_else(|| IntegerRange::at_least(0))
    }

    /// The range of one number.
    pub(crate) fn exactly(number: usize) -> Self {
        IntegerRange::of(number, number)
    }

    /// The range from one number to another.
    pub(crate) fn of(from: usize, to: usize) -> Self {
        IntegerRange {
            from: Some(BigInt::from(from)),
            to: Some(BigInt::from(to)),
        }
    }

    /// Is it unbounded in both directions?
    pub(crate) fn is_unbounded(&self) -> bool {
        self.from.is_none() && self.to.is_none()
    }

    /// Does it have both bounds?
    pub(crate) fn is_finite(&self) -> bool {
        self.from.is_some() && self.to.is_some()
    }

    /// Is it the range from 0 to 0?
    pub(crate) fn is_zero(&self) -> bool {
        let zero = Some(BigInt::ZERO);
        self.from == zero && self.to == zero
    }

    /// Is the number in the range?
    pub(crate) fn contains(&self, number: &BigInt) -> bool {
        self.from.as_ref().is_none_or(|from| from <= number)
            && self.to.as_ref().is_none_or(|to| number <= to)
    }

    /// Is the size in the range?
    pub(crate) fn contains_size(&self, size: usize) -> bool {
        self.is_unbounded() || self.contains(&BigInt::from(size))
    }

    /// Does it contain every number of the other range?
    pub(crate) fn covers(&self, other: &IntegerRange) -> bool {
        covers((&self.from, &self.to), (&other.from, &other.to))
    }

    /// The range as a range of sizes, which cannot be negative.
    pub(crate) fn into_size(self) -> Self {
        if self.from.as_ref().is_some_and(|from| *from >= BigInt::ZERO) {
            return self;
        }
        IntegerRange {
            from: Some(BigInt::ZERO),
            to: self.to.map(|to| to.max(BigInt::ZERO)),
        }
    }

    /// Both ranges as one, if they overlap or are adjacent.
    pub(crate) fn merge(&self, other: &IntegerRange) -> Option<IntegerRange> {
        let touches = |to: &Option<BigInt>, from: &Option<BigInt>| match (to, from) {
            (Some(to), Some(from)) => to + 1 == *from,
            _ => false,
        };
        let apart = before(&self.to, &other.from) || before(&other.to, &self.from);
        if apart && !touches(&self.to, &other.from) && !touches(&other.to, &self.from) {
            return None;
        }
        Some(self.span(other))
    }

    /// The smallest range that contains both.
    pub(crate) fn span(&self, other: &IntegerRange) -> IntegerRange {
        let (from, to) = span((&self.from, &self.to), (&other.from, &other.to));
        IntegerRange { from, to }
    }

    /// The minimum and maximum size; `None` if there is no maximum.
    pub(crate) fn sizes(&self) -> (BigInt, Option<BigInt>) {
        (self.from.clone().unwrap_or_default(), self.to.clone())
    }
}

impl Default for FloatRange {
    fn default() -> Self {
        FloatRange {
            from: f64::NEG_INFINITY,
            to: f64::INFINITY,
        }
    }
}

impl FloatRange {
    /// Is it unbounded in both directions?
    pub(crate) fn is_unbounded(&self) -> bool {
        self.from == f64::NEG_INFINITY && self.to == f64::INFINITY
    }

    /// Is the number in the range?
    pub(crate) fn contains(&self, number: f64) -> bool {
        self.from <= number && number <= self.to
    }

    /// Does it contain every number of the other range?
    pub(crate) fn covers(&self, other: &FloatRange) -> bool {
        self.from <= other.from && self.to >= other.to
    }

    /// Both ranges as one, if they overlap.
    pub(crate) fn merge(&self, other: &FloatRange) -> Option<FloatRange> {
        let apart = self.to < other.from || other.to < self.from;
        (!apart).then(|| self.span(other))
    }

    /// The smallest range that contains both.
    pub(crate) fn span(&self, other: &FloatRange) -> FloatRange {
        FloatRange {
            from: self.from.min(other.from),
            to: self.to.max(other.to),
        }
    }
}

impl PartialEq for FloatRange {
    fn eq(&self, other: &Self) -> bool {
        self.from == other.from && self.to == other.to
    }
}

impl Eq for FloatRange {}

impl std::hash::Hash for FloatRange {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        // Positive and negative zero are equal.
        ((self.from + 0.0).to_bits(), (self.to + 0.0).to_bits()).hash(state);
    }
}

impl TimeRange {
    /// The range of one time.
    pub(crate) fn exactly(time: i128) -> Self {
        TimeRange {
            from: Some(time),
            to: Some(time),
        }
    }

    /// Is the time in the range?
    pub(crate) fn contains(&self, time: i128) -> bool {
        self.from.is_none_or(|from| from <= time) && self.to.is_none_or(|to| time <= to)
    }

    /// Does it contain every time of the other range?
    pub(crate) fn covers(&self, other: &TimeRange) -> bool {
        covers((&self.from, &self.to), (&other.from, &other.to))
    }

    /// Both ranges as one, if they overlap.
    pub(crate) fn merge(&self, other: &TimeRange) -> Option<TimeRange> {
        if before(&self.to, &other.from) || before(&other.to, &self.from) {
            return None;
        }
        let (from, to) = span((&self.from, &self.to), (&other.from, &other.to));
        Some(TimeRange { from, to })
    }
}

type Ends<'a, T> = (&'a Option<T>, &'a Option<T>);

fn covers<T: Ord>(outer: Ends<'_, T>, inner: Ends<'_, T>) -> bool {
    let from = match (outer.0, inner.0) {
        (None, _) => true,
        (Some(outer), Some(inner)) => outer <= inner,
        (Some(_), None) => false,
    };
    let to = match (outer.1, inner.1) {
        (None, _) => true,
        (Some(outer), Some(inner)) => outer >= inner,
        (Some(_), None) => false,
    };
    from && to
}

/// Does one range end before another begins?
fn before<T: Ord>(to: &Option<T>, from: &Option<T>) -> bool {
    matches!((to, from), (Some(to), Some(from)) if to < from)
}

fn span<T: Ord + Clone>(left: Ends<'_, T>, right: Ends<'_, T>) -> (Option<T>, Option<T>) {
    let from = match (left.0, right.0) {
        (Some(left), Some(right)) => Some(left.min(right).clone()),
        _ => None,
    };
    let to = match (left.1, right.1) {
        (Some(left), Some(right)) => Some(left.max(right).clone()),
        _ => None,
    };
    (from, to)
}
