//! [`Session`]: one node's view of an environment. Everything that does not depend on the key is computed once.

use std::rc::Rc;

use smallvec::SmallVec;
use work_budget::Budget;

use super::limits::DEFAULT_BUDGET;
use super::merged_roots::MergedRoots;
use super::prepared::{Prepared, PreparedModule};
use super::request::{Answer, Explain, Request};
use super::walk::Walk;
use crate::explain::Explanation;
use crate::scope::Scope;
use crate::snapshot::Tree;

/// One node's view of a tree, for any number of lookups.
pub struct Session<'a> {
    pub(super) tree: &'a dyn Tree,
    pub(super) scope: &'a dyn Scope,
    /// What lookups record. It decides how layers are prepared: an explanation names every path, even one that has no
    /// file, and such layers take longer to make.
    pub(super) explain: Option<Explain>,
    /// Lookups fail on undefined variables.
    pub(super) is_strict: bool,
    pub(super) global: Option<Rc<Prepared<'a>>>,
    /// Outer `None`: not asked yet. Inner `None`: the environment has no layer.
    pub(super) environment: Option<Option<Rc<Prepared<'a>>>>,
    pub(super) modules: SmallVec<[PreparedModule<'a>; 2]>,
    /// Merged values whose parts were asked for.
    pub(super) merged_roots: MergedRoots,
}

impl std::fmt::Debug for Session<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Session").finish_non_exhaustive()
    }
}

/// A [`Session`] that explains each of its lookups. See [`Session::explaining`].
#[derive(Debug)]
pub struct ExplainingSession<'a>(Session<'a>);

impl ExplainingSession<'_> {
    /// Answers a request and explains the answer.
    pub fn lookup(&mut self, request: &Request<'_>) -> (Answer, Explanation) {
        let (answer, explanation) = self.0.run(request);
        (answer, explanation.map(|boxed| *boxed).unwrap_or_default())
    }
}

impl<'a> Session<'a> {
    /// A view of the tree with these variables.
    pub fn new(tree: &'a dyn Tree, scope: &'a dyn Scope) -> Self {
        Session::with(tree, scope, None)
    }

    /// A view of the tree with these variables that also explains each answer.
    pub fn explaining(
        tree: &'a dyn Tree,
        scope: &'a dyn Scope,
        explain: Explain,
    ) -> ExplainingSession<'a> {
        ExplainingSession(Session::with(tree, scope, Some(explain)))
    }

    fn with(tree: &'a dyn Tree, scope: &'a dyn Scope, explain: Option<Explain>) -> Self {
        Session {
            tree,
            scope,
            explain,
            is_strict: tree.strictness().is_error(),
            global: None,
            environment: None,
            modules: SmallVec::new(),
            merged_roots: MergedRoots::default(),
        }
    }

    /// Answers a request.
    pub fn lookup(&mut self, request: &Request<'_>) -> Answer {
        self.run(request).0
    }

    fn run(&mut self, request: &Request<'_>) -> (Answer, Option<Box<Explanation>>) {
        match work_budget::has_budget() {
            true => self.run_charged(request),
            false => self.run_with_budget(request),
        }
    }

    #[cold]
    fn run_with_budget(&mut self, request: &Request<'_>) -> (Answer, Option<Box<Explanation>>) {
        let mut budget = Budget::new(DEFAULT_BUDGET);
        let run = budget.start();
        let mut answer = self.run_charged(request);
        if let Some(spent) = run.finish() {
            answer.0.outcome = Err(spent.into());
        }
        answer
    }

    #[inline(always)]
    fn run_charged(&mut self, request: &Request<'_>) -> (Answer, Option<Box<Explanation>>) {
        let mut walk = Walk::new(self, request);
        let outcome = walk.lookup(
            request.names,
            request.default,
            request.merge,
            request.value_type,
        );
        let outcome = outcome.map_err(|error| walk.without_quotes(error));
        if walk.explanation.is_some() {
            walk.end_explanation(&outcome, request.names);
        }
        let answer = Answer {
            outcome,
            name: walk.found_name,
        };
        (answer, walk.explanation)
    }
}
