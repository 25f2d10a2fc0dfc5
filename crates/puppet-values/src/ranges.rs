//! Merging ranges of any kind.

/// Merges ranges two at a time, from the last one on, until no two of those that are left can be merged. `merge` returns
/// `None` for two ranges that neither overlap nor touch.
///
/// # Errors
///
/// If `merge` fails.
pub fn merge_ranges<T, E>(
    mut ranges: Vec<T>,
    merge: impl Fn(&T, &T) -> Result<Option<T>, E>,
) -> Result<Vec<T>, E> {
    let mut merged = Vec::new();
    while let Some(last) = ranges.pop() {
        let mut unmerged = Vec::new();
        let mut current = last;
        for range in ranges {
            match merge(&current, &range)? {
                Some(both) => current = both,
                None => unmerged.push(range),
            }
        }
        merged.push(current);
        ranges = unmerged;
    }
    Ok(merged)
}
