//! [`Quota`]: an amount that all requests share; [`Share`]: what one of them has taken.

use std::sync::atomic::{AtomicUsize, Ordering};

/// An amount that all requests share.
#[derive(Debug)]
pub(super) struct Quota {
    used: AtomicUsize,
    limit: usize,
}

/// A part of a quota, returned when the value is dropped.
#[derive(Debug)]
pub(super) struct Share<'a> {
    quota: &'a Quota,
    amount: usize,
}

impl Quota {
    pub(super) fn new(limit: usize) -> Self {
        Quota {
            used: AtomicUsize::new(0),
            limit,
        }
    }

    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    pub(super) fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    /// Takes an amount, unless it exceeds the limit together with what is taken already. Alone, any amount fits: it would
    /// never fit later either.
    pub(super) fn take(&self, amount: usize) -> bool {
        let before = self.used.fetch_add(amount, Ordering::Relaxed);
        let fits = before == 0 || before.saturating_add(amount) <= self.limit;
        if !fits {
            self.give_back(amount);
        }
        fits
    }

    pub(super) fn give_back(&self, amount: usize) {
        self.used.fetch_sub(amount, Ordering::Relaxed);
    }
}

impl<'a> Share<'a> {
    /// Takes an amount; `None` if it exceeds the limit.
    pub(super) fn take(quota: &'a Quota, amount: usize) -> Option<Self> {
        // Lazily: a share that is dropped returns its amount.
        quota.take(amount).then(|| Share { quota, amount })
    }
}

impl Drop for Share<'_> {
    fn drop(&mut self) {
        self.quota.give_back(self.amount);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_fit_into_the_limit_and_are_returned() {
        let quota = Quota::new(10);
        let first = Share::take(&quota, 4).unwrap();
        let second = Share::take(&quota, 6).unwrap();
        assert!(Share::take(&quota, 1).is_none());
        assert_eq!(quota.used(), 10);
        drop(second);
        assert!(Share::take(&quota, 6).is_some());
        drop(first);
        assert_eq!(quota.used(), 0);
    }

    #[test]
    fn a_share_larger_than_the_limit_fits_alone() {
        let quota = Quota::new(10);
        let large = Share::take(&quota, 11).unwrap();
        assert!(Share::take(&quota, 1).is_none());
        drop(large);
        let _small = Share::take(&quota, 1).unwrap();
        assert!(Share::take(&quota, 10).is_none());
    }

    #[test]
    fn nothing_fits_into_a_limit_of_zero_twice() {
        let quota = Quota::new(0);
        let _first = Share::take(&quota, 1).unwrap();
        assert!(Share::take(&quota, 1).is_none());
    }
}
