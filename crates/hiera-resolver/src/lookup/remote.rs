//! Levels whose data comes from another server.

use arcstr::ArcStr;
use puppet_values::Value;

use super::Step;
use super::walk::Walk;
use crate::data_functions::{FunctionKind, Question, RemoteCall, RemoteQuery, RemoteSource};
use crate::explain::Event;
use crate::hierarchy::plan::{Location, PlannedLevel};
use crate::lookup::LookupError;
use crate::remote::{RemoteAnswer, no_options};

/// What an explanation has reported of levels that ask other servers. Puppet's function remembers for each location what
/// it has found and fetched, and its explanation shows which of both it is.
#[derive(Default)]
pub(super) struct RemoteHistory {
    found: Vec<(usize, ArcStr, Value)>,
    fetched: Vec<(usize, String)>,
}

impl RemoteHistory {
    /// What was found for a key before.
    fn value(&self, location: &Location<'_>, key: &str) -> Option<Value> {
        let address = address(location);
        let mut found = self.found.iter();
        let known = found.find(|(known, name, _)| *known == address && name == key)?;
        Some(known.2.clone())
    }
}

impl<'a> Walk<'_, 'a> {
    /// What a server has for a key.
    pub(super) fn in_remote(
        &mut self,
        planned: &PlannedLevel<'a>,
        location: &Location<'a>,
        (source, kind): (&RemoteSource, FunctionKind),
        key: &ArcStr,
    ) -> Step {
        let failed = |reason: String| LookupError::Remote {
            level: planned.level.name().clone(),
            reason,
            puppet_text: None,
        };
        let no_options = no_options();
        let question = Question {
            kind,
            uri: &location.path,
            options: planned.options.as_ref().unwrap_or(&no_options),
            key,
        };
        let call = match (source.ask)(&question).map_err(failed)? {
            RemoteQuery::Call(call) => call,
            RemoteQuery::Skip(remark) => {
                self.remark(|| remark.to_owned());
                self.report_not_found(key);
                return Ok(None);
            }
        };
        if let Some(history) = &self.remote_history
            && let Some(value) = history.value(location, key)
        {
            self.report(Some(key), || Event::Found(value.clone()));
            return Ok(Some(value));
        }
        let Some(answer) = self.session.tree.remote(&call.request) else {
            return Err(LookupError::NeedsRemote(Box::new(call.request)));
        };
        self.remark_fetch(source, location, &call);
        let document = match answer {
            RemoteAnswer::Failed {
                reason,
                puppet_text,
            } => {
                return Err(LookupError::Remote {
                    level: planned.level.name().clone(),
                    reason,
                    puppet_text,
                });
            }
            RemoteAnswer::NotFound => None,
            RemoteAnswer::Found(document) => Some(document),
        };
        let found = (source.read)(&question, &call, document).map_err(failed)?;
        let Some(value) = found else {
            self.report_not_found(key);
            return Ok(None);
        };
        if value.traits().is_irregular {
            return Err(LookupError::IrregularValue {
                key: key.to_string(),
                path: call.shown.into(),
            });
        }
        let value = self.interpolate(&value, key)?;
        self.report(Some(key), || Event::Found(value.clone()));
        if self.explanation.is_some() {
            let found = (address(location), key.clone(), value.clone());
            self.remote_history
                .get_or_insert_default()
                .found
                .push(found);
        }
        Ok(Some(value))
    }

    /// Adds what Puppet's function says before it fetches.
    fn remark_fetch(&mut self, source: &RemoteSource, location: &Location<'a>, call: &RemoteCall) {
        if self.explanation.is_none() {
            return;
        }
        let fetched = (address(location), call.path.clone());
        let history = self.remote_history.get_or_insert_default();
        if history.fetched.contains(&fetched) {
            self.remark(|| (source.cached_remark)(call));
        } else {
            history.fetched.push(fetched);
            self.remark(|| (source.fetch_remark)(call));
        }
    }
}

/// Identifies a location: locations are stored in the plans of the session and do not move.
fn address(location: &Location<'_>) -> usize {
    std::ptr::from_ref(location).addr()
}
