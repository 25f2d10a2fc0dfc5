//! [`Request`] and [`Answer`]: what a lookup is asked for, and what it gives back.

use puppet_types::Type;
use puppet_values::{Hash, Value};

use super::session::Session;
use crate::explain::Explanation;
use crate::lookup::LookupError;
use crate::merge::MergeStrategy;
use crate::scope::Scope;
use crate::snapshot::Tree;

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The keys. The first one that is found answers.
    pub names: &'a [&'a str],
    /// The strategy; `None` leaves it to `lookup_options`.
    pub merge: Option<&'a MergeStrategy>,
    /// The answer if nothing is found.
    pub default: Option<&'a Value>,
    /// Answers by key if nothing is found.
    pub default_values: Option<&'a Hash>,
    /// Answers by key that take precedence over the data.
    pub overrides: Option<&'a Hash>,
    /// The type that the answer must have.
    pub value_type: Option<&'a Type>,
}

impl<'a> Request<'a> {
    /// A request for the first of these names, and nothing else.
    pub fn new(names: &'a [&'a str]) -> Self {
        Request {
            names,
            merge: None,
            default: None,
            default_values: None,
            overrides: None,
            value_type: None,
        }
    }

    /// Answers this one request in a session of its own, with an explanation if one is asked for.
    pub fn answer(
        &self,
        tree: &dyn Tree,
        scope: &dyn Scope,
        explain: Option<Explain>,
    ) -> (Answer, Option<Box<Explanation>>) {
        match explain {
            None => (Session::new(tree, scope).lookup(self), None),
            Some(explain) => {
                let (answer, explanation) = Session::explaining(tree, scope, explain).lookup(self);
                (answer, Some(Box::new(explanation)))
            }
        }
    }
}

/// What an explanation is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Explain {
    /// How the value was found.
    Value,
    /// How the `lookup_options` were found; no value is looked up.
    Options,
}

/// The result of a lookup. A key set to `~` is found, and its value is null.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// A value.
    Found(Value),
    /// Nothing.
    NotFound,
}

/// The answer to a request.
#[derive(Debug)]
pub struct Answer {
    /// The outcome.
    pub outcome: Result<Outcome, LookupError>,
    /// The index of the name that was found, among those asked for.
    pub name: Option<usize>,
}
