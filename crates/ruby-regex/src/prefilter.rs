//! [`Prefilter`]: the prefixes and suffixes that a match requires, checked before the automaton runs.

use regex_syntax::hir::literal::{ExtractKind, Extractor, Seq};
use regex_syntax::hir::{Hir, Look, LookSet};

/// A string that matches has one of the prefixes and one of the suffixes; `None` if there is no restriction.
#[derive(Clone, Debug, Default)]
pub(super) struct Prefilter {
    prefixes: Option<Vec<Box<[u8]>>>,
    suffixes: Option<Vec<Box<[u8]>>>,
}

/// With more literals, it would not be faster than the automaton.
const MAX_LITERALS: usize = 8;

impl Prefilter {
    /// The prefilter of a pattern in the syntax of the regex crate.
    pub(super) fn of(pattern: &str) -> Self {
        let Ok(parsed) = regex_syntax::parse(pattern) else {
            return Prefilter::default();
        };
        let properties = parsed.properties();
        let holds = |looks: LookSet, wanted: [Look; 2]| wanted.iter().any(|it| looks.contains(*it));
        let is_anchored_at_start =
            holds(properties.look_set_prefix(), [Look::Start, Look::StartLF]);
        let is_anchored_at_end = holds(properties.look_set_suffix(), [Look::End, Look::EndLF]);
        Prefilter {
            prefixes: is_anchored_at_start
                .then(|| literals(&parsed, ExtractKind::Prefix))
                .flatten(),
            suffixes: is_anchored_at_end
                .then(|| literals(&parsed, ExtractKind::Suffix))
                .flatten(),
        }
    }

    /// The last bytes of strings that can match; `None` if there is no restriction.
    pub(super) fn last_bytes(&self) -> Option<Vec<u8>> {
        let suffixes = self.suffixes.as_ref()?;
        suffixes
            .iter()
            .map(|suffix| suffix.last().copied())
            .collect()
    }

    /// Can a string of one line match?
    pub(super) fn accepts(&self, text: &str) -> bool {
        let text = text.as_bytes();
        let prefixes = self.prefixes.as_deref();
        let suffixes = self.suffixes.as_deref();
        suffixes.is_none_or(|suffixes| suffixes.iter().any(|suffix| text.ends_with(suffix)))
            && prefixes
                .is_none_or(|prefixes| prefixes.iter().any(|prefix| text.starts_with(prefix)))
    }
}

fn literals(pattern: &Hir, kind: ExtractKind) -> Option<Vec<Box<[u8]>>> {
    let found: Seq = Extractor::new().kind(kind).extract(pattern);
    let found = found.literals()?;
    let found = found.iter().map(|literal| literal.as_bytes().into());
    Some(found.collect()).filter(|found: &Vec<_>| found.len() <= MAX_LITERALS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &str, accepted: &[&str], rejected: &[&str]) {
        let prefilter = Prefilter::of(pattern);
        for text in accepted {
            assert!(prefilter.accepts(text), "{pattern} {text}");
        }
        for text in rejected {
            assert!(!prefilter.accepts(text), "{pattern} {text}");
        }
    }

    #[test]
    fn strings_that_cannot_match_are_rejected() {
        check(
            "(?m:^)a::.+::b(?m:$)",
            &["a::x::b"],
            &["a::x::c", "c::x::b", ""],
        );
        check("(?m:^)(?:a|b)x", &["ax", "bxy"], &["cx", "x"]);
        check("(?m:^)a|b", &["zb", "a", "z"], &[]);
        check("a(?m:$)", &["xa"], &["ax"]);
        check("a", &["xax", "b"], &[]);
    }
}
