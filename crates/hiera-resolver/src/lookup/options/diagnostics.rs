//! [`OptionsDiagnostics`]: the positions and mistakes of a file's `lookup_options`, kept for messages.

use indexmap::IndexMap;
use lean_string::LeanStr;
use psych_yaml::Mark;
use puppet_values::Value;

use super::check::{Finding, check, written};
use super::positions::Positions;
use crate::data::Notice;

/// Where a file's `lookup_options` are written, and what is wrong with them.
#[derive(Debug)]
pub(crate) struct OptionsDiagnostics {
    /// The position of a mistake that every lookup fails on, if there is one.
    whole: Option<Mark>,
    /// Each key and pattern as it is written, with the position of its mistake or else its own.
    entries: Box<[(LeanStr, Mark)]>,
    faults: Box<[Notice]>,
}

impl OptionsDiagnostics {
    /// Checks what a YAML file has under `lookup_options`, and adds to its notices.
    pub(crate) fn of_yaml(options: &Value, bytes: &[u8], notices: &mut Vec<Notice>) -> Self {
        OptionsDiagnostics::new(options, |_| Positions::in_yaml(bytes), notices)
    }

    /// Checks what a JSON or HOCON file has under `lookup_options`, and adds to its notices.
    pub(crate) fn of_text(options: &Value, bytes: &[u8], notices: &mut Vec<Notice>) -> Self {
        OptionsDiagnostics::new(options, |names| Positions::in_text(bytes, names), notices)
    }

    fn new(
        options: &Value,
        locate: impl FnOnce(&[LeanStr]) -> Positions,
        notices: &mut Vec<Notice>,
    ) -> Self {
        let entries = options.as_hash().into_iter().flat_map(|hash| hash.iter());
        let names: Vec<LeanStr> = entries.map(|(key, _)| written(key)).collect();
        let positions = locate(&names);
        let (mut faults, mut whole) = (Vec::new(), None);
        let mut mistakes: IndexMap<LeanStr, Mark, foldhash::fast::RandomState> =
            IndexMap::default();
        for finding in check(options) {
            let mark = mark_of(&finding, &positions);
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
            let mark = mistake.unwrap_or_else(|| positions.key(&name));
            (name, mark)
        });
        OptionsDiagnostics {
            whole,
            entries: entries.collect(),
            faults: faults.into(),
        }
    }

    /// The mistakes that lookups fail on.
    pub(crate) fn faults(&self) -> &[Notice] {
        &self.faults
    }

    /// The position of a key or pattern or of its mistake; of a mistake that every lookup fails on without one.
    pub(crate) fn position(&self, entry: Option<&str>) -> Option<Mark> {
        let Some(name) = entry else {
            return self.whole;
        };
        let mut entries = self.entries.iter();
        let found = entries.find(|(known, _)| known == name);
        found.map(|(_, mark)| *mark)
    }
}

fn mark_of(finding: &Finding, positions: &Positions) -> Mark {
    match &finding.entry {
        None => positions.whole,
        // The key or pattern itself is wrong.
        Some(entry) if finding.concerns_all => positions.key(entry),
        Some(entry) => positions.value(entry, finding.member),
    }
}
