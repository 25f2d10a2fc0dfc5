//! [`Fence`]: what a text must start and end with to match a pattern, checked before the automaton is run.

use regex_syntax::hir::literal::{ExtractKind, Extractor, Seq};
use regex_syntax::hir::{Hir, Look, LookSet};

/// Beginnings and ends of which a matching text has one each; none where that cannot be said.
#[derive(Clone, Debug, Default)]
pub(super) struct Fence {
    starts: Option<Vec<Box<[u8]>>>,
    ends: Option<Vec<Box<[u8]>>>,
}

/// More of them are no faster than the automaton.
const MAX_LITERALS: usize = 8;

impl Fence {
    /// The fence around a pattern in the syntax of the regex crate.
    pub(super) fn of(pattern: &str) -> Self {
        let Ok(parsed) = regex_syntax::parse(pattern) else {
            return Fence::default();
        };
        let properties = parsed.properties();
        let holds = |looks: LookSet, wanted: [Look; 2]| wanted.iter().any(|it| looks.contains(*it));
        let starts = holds(properties.look_set_prefix(), [Look::Start, Look::StartLF]);
        let ends = holds(properties.look_set_suffix(), [Look::End, Look::EndLF]);
        Fence {
            starts: starts
                .then(|| literals(&parsed, ExtractKind::Prefix))
                .flatten(),
            ends: ends
                .then(|| literals(&parsed, ExtractKind::Suffix))
                .flatten(),
        }
    }

    /// What a matching text may end in; `None` where that may be anything.
    pub(super) fn last_letters(&self) -> Option<Vec<u8>> {
        let ends = self.ends.as_ref()?;
        ends.iter().map(|end| end.last().copied()).collect()
    }

    /// May a text of one line match?
    pub(super) fn lets_in(&self, text: &str) -> bool {
        let text = text.as_bytes();
        let starts = self.starts.as_deref();
        let ends = self.ends.as_deref();
        ends.is_none_or(|ends| ends.iter().any(|end| text.ends_with(end)))
            && starts.is_none_or(|starts| starts.iter().any(|start| text.starts_with(start)))
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

    fn check(pattern: &str, let_in: &[&str], kept_out: &[&str]) {
        let fence = Fence::of(pattern);
        for text in let_in {
            assert!(fence.lets_in(text), "{pattern} {text}");
        }
        for text in kept_out {
            assert!(!fence.lets_in(text), "{pattern} {text}");
        }
    }

    #[test]
    fn texts_that_cannot_match_are_kept_out() {
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
