//! Lists without repetitions, as `unique` and `deep` make them.

use std::hash::Hash;

use indexmap::IndexSet;
use puppet_values::Value;
use smallvec::SmallVec;

/// Lists up to this long are searched from the front, which is faster than hashing their elements.
const SHORT: usize = 24;

/// The values without repetitions, each at its first position.
pub(super) fn union<V: Eq + Hash>(values: impl Iterator<Item = V>) -> Vec<V> {
    let values: SmallVec<[V; SHORT]> = values.collect();
    if values.len() > SHORT {
        let set: IndexSet<V, foldhash::fast::RandomState> = values.into_iter().collect();
        return set.into_iter().collect();
    }
    let mut out = Vec::with_capacity(values.len());
    for value in values {
        if !out.contains(&value) {
            out.push(value);
        }
    }
    out
}

/// May a list have repetitions? Of a short one it is known; making a long one without them takes no longer than
/// finding out.
pub(super) fn may_repeat(values: &[Value]) -> bool {
    values.len() > SHORT
        || (1..values.len()).any(|index| {
            let (before, from) = values.split_at(index);
            from.first().is_some_and(|value| before.contains(value))
        })
}
