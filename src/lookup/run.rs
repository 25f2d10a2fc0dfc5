//! A checked request on a tree: one run, which ends early where the answer of another server is missing.

use std::borrow::Cow;
use std::collections::HashSet;

use hiera_resolver::Explanation;
use hiera_resolver::work_budget;
use hiera_resolver::{Answer, Request, Session, Tree};

use super::remote_answers::NeedsRemote;
use super::request::{LookupRequest, NodeScope};

impl<N: NodeScope> LookupRequest<'_, N> {
    /// Answers with the first of these keys that is found.
    pub(crate) fn first_found(
        &self,
        keys: &[&str],
        tree: &dyn Tree,
    ) -> Result<(Answer, Option<Box<Explanation>>), NeedsRemote> {
        let request = self.for_keys(keys);
        let (answer, explanation) = self.node.with_scope(&self.environment, |scope| {
            request.answer(tree, scope, self.explain)
        });
        Ok((NeedsRemote::check(answer)?, explanation))
    }

    /// Answers each of these keys by itself, in order. A key that is asked for twice is answered once.
    pub(crate) fn batch(
        &self,
        keys: &[Cow<'_, str>],
        tree: &dyn Tree,
        mut answered: impl FnMut(&str, Answer),
    ) -> Result<(), NeedsRemote> {
        self.node.with_scope(&self.environment, |scope| {
            let mut session = Session::new(tree, scope);
            let mut seen: HashSet<&str> = HashSet::with_capacity(keys.len());
            for key in keys {
                // The result is discarded.
                if work_budget::is_spent() {
                    break;
                }
                if seen.insert(key) {
                    let answer = session.lookup(&self.for_keys(&[key]));
                    answered(key, NeedsRemote::check(answer)?);
                }
            }
            Ok(())
        })
    }

    fn for_keys<'b>(&'b self, names: &'b [&'b str]) -> Request<'b> {
        Request {
            names,
            merge: self.merge.as_ref(),
            default: self.default.as_ref(),
            default_values: self.default_values.as_ref(),
            overrides: self.overrides.as_ref(),
            value_type: self.value_type.as_ref(),
        }
    }
}
