//! [`OptionsNotes`]: what is kept of a file's `lookup_options` beside what they mean: their places and mistakes.

use indexmap::IndexMap;
use lean_string::LeanStr;
use psych_yaml::Mark;

use super::check::{Finding, check, written};
use super::places::Places;
use crate::Value;
use crate::data::Notice;

/// The places of a file's `lookup_options`, and what is wrong with them.
#[derive(Debug)]
pub(crate) struct OptionsNotes {
    /// Where a mistake is that every lookup comes to, where there is one.
    whole: Option<Mark>,
    /// Each key and pattern as it is written; with the place of its mistake, where it has one.
    entries: Box<[(LeanStr, Mark)]>,
    faults: Box<[Notice]>,
}

impl OptionsNotes {
    /// Checks what a file holds under `lookup_options`, and adds to its notices.
    pub(crate) fn of_yaml(options: &Value, bytes: &[u8], notices: &mut Vec<Notice>) -> Self {
        OptionsNotes::new(options, |_| Places::in_yaml(bytes), notices)
    }

    /// The same for JSON and HOCON.
    pub(crate) fn of_text(options: &Value, bytes: &[u8], notices: &mut Vec<Notice>) -> Self {
        OptionsNotes::new(options, |names| Places::in_text(bytes, names), notices)
    }

    fn new(
        options: &Value,
        locate: impl FnOnce(&[LeanStr]) -> Places,
        notices: &mut Vec<Notice>,
    ) -> Self {
        let entries = options.as_hash().into_iter().flat_map(|hash| hash.iter());
        let names: Vec<LeanStr> = entries.map(|(key, _)| written(key)).collect();
        let places = locate(&names);
        let (mut faults, mut whole) = (Vec::new(), None);
        let mut mistakes: IndexMap<LeanStr, Mark, foldhash::fast::RandomState> =
            IndexMap::default();
        for finding in check(options) {
            let mark = mark_of(&finding, &places);
            if finding.concerns_all {
                whole = whole.or(Some(mark));
            }
            let notice = Notice::at(mark, finding.problem);
            if !finding.is_fault {
                notices.push(notice);
                continue;
            }
            faults.push(notice);
            if let Some(entry) = finding.entry {
                mistakes.entry(entry).or_insert(mark);
            }
        }
        notices.sort_by_key(|notice| (notice.line, notice.column));
        let entries = names.into_iter().map(|name| {
            let mistake = mistakes.get(&name).copied();
            let mark = mistake.unwrap_or_else(|| places.key(&name));
            (name, mark)
        });
        OptionsNotes {
            whole,
            entries: entries.collect(),
            faults: faults.into(),
        }
    }

    /// What lookups fail on.
    pub(crate) fn faults(&self) -> &[Notice] {
        &self.faults
    }

    /// Where a key or pattern stands, or a mistake that every lookup comes to.
    pub(crate) fn place(&self, entry: Option<&str>) -> Option<Mark> {
        let Some(name) = entry else {
            return self.whole;
        };
        let mut entries = self.entries.iter();
        let found = entries.find(|(known, _)| known == name);
        found.map(|(_, mark)| *mark)
    }
}

fn mark_of(finding: &Finding, places: &Places) -> Mark {
    match &finding.entry {
        None => places.whole,
        // A key or pattern that is none.
        Some(entry) if finding.concerns_all => places.key(entry),
        Some(entry) => places.value(entry, finding.member),
    }
}
