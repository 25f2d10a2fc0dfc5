//! How a lookup fails: where Puppet does, and with what its explanation says of layers, files and values.

use puppet_values::Value;
use puppet_values::table_key::TableKey;

use super::Step;
use super::error::LookupError;
use super::request::Outcome;
use super::walk::Walk;
use crate::data_functions;
use crate::explain::PuppetError;
use crate::explain::words::{self, data, headings};
use crate::hierarchy::plan::{Location, Plan, PlannedLevel};
use crate::hierarchy::{Layer, LayerKind, LevelError};
use crate::key::LookupKey;
use crate::lookup::options::LOOKUP_OPTIONS;
use crate::merge::Contribution;

impl<'a> Walk<'_, 'a> {
    /// Fails at the same step as Puppet: before it enters a layer if the configuration cannot be read, and inside of the
    /// layer if its levels cannot be filled in.
    pub(super) fn fail_in_layer(
        &mut self,
        kind: &LayerKind,
        layer: &Layer,
        key: &LookupKey,
        error: LookupError,
    ) -> Step<Contribution> {
        let entered = match layer {
            Layer::Configured(config) => Some((config.version(), config.path().cloned())),
            Layer::Faulty(faults) => {
                let path = faults.iter().next().map(|fault| fault.path.clone());
                faults.refusal().late.map(|version| (version, path))
            }
            Layer::Absent | Layer::Ignored(_) => None,
        };
        match entered {
            Some((version, path)) => self.guarded(key, |walk| {
                let kind = || headings::layer(kind, version, path);
                walk.node(|| (kind(), None), |_| Err(error))
            }),
            None if *kind == LayerKind::Global => self.guarded(key, |_| Err(error)),
            None => Err(error),
        }
    }

    /// Notes what Puppet says of a file that cannot be used, or of the function that should read it.
    pub(super) fn note_unusable_file(
        &mut self,
        error: &LookupError,
        plan: &Plan<'a>,
        planned: &PlannedLevel<'a>,
        location: &Location<'a>,
    ) {
        if self.explanation.is_none() {
            return;
        }
        let noted = match error {
            LookupError::File(fault) => {
                data::unusable_file(fault, plan, planned, location, |text| {
                    self.may_quote_secrets(text)
                })
            }
            _ => None,
        };
        match noted {
            Some(noted) => self.puppet_error = Some(noted),
            None => self.note_unknown_function(error),
        }
    }

    /// Notes that Puppet does not look for the function of a level.
    pub(super) fn note_unknown_function(&mut self, error: &LookupError) {
        if let LookupError::Level(LevelError::UnknownFunction { kind, function, .. }) = error
            && self.explanation.is_some()
            && !self.is_missing(kind, function)
        {
            self.puppet_error = Some(PuppetError::unexpected());
        }
    }

    /// Notes what Puppet says of a value with something in it that is not data.
    pub(super) fn note_irregular_value(
        &mut self,
        value: &Value,
        key: &str,
        plan: &Plan<'a>,
        planned: &PlannedLevel<'a>,
        location: &Location<'a>,
    ) {
        // The type of a value can reveal it, and decrypted values are templates.
        let is_decrypted = planned.level.format().keys().is_some();
        let may_be_secret = self.hides || is_decrypted && value.traits().has_templates;
        if self.explanation.is_some() && !may_be_secret {
            let noted = data::irregular_value(key, value, plan, planned, location);
            self.puppet_error = Some(noted);
        }
    }

    /// Removes secrets from the explanation, and ends it with why there is no value.
    pub(super) fn end_explanation(
        &mut self,
        outcome: &Result<Outcome, LookupError>,
        names: &[&str],
    ) {
        self.hide_secrets();
        let reason = match outcome {
            Ok(Outcome::Found(_)) => None,
            Ok(Outcome::NotFound) => Some(words::not_found(names)),
            Err(error) => {
                let noted = self.puppet_error.take();
                let noted = noted.unwrap_or_else(|| PuppetError::from(error));
                noted.last_line().filter(|text| !self.quotes_secret(text))
            }
        };
        if let (Some(explanation), Some(reason)) = (&mut self.explanation, reason) {
            explanation.end_with(reason);
        }
    }

    /// Is there no function of this name, as far as Puppet would look?
    fn is_missing(&self, kind: &str, function: &str) -> bool {
        match function.split_once("::") {
            // Puppet: a backend of Hiera 3 is none of its functions.
            _ if kind.ends_with("backend") => false,
            // It does not look into a module that does not exist.
            Some((module, _)) => {
                module == "environment" || self.session.tree.module(module).is_some()
            }
            // One that is called in the wrong way exists all the same.
            None => !data_functions::BUILT_IN
                .iter()
                .any(|known| known.name == function),
        }
    }

    /// May a text from a file have a value in it that is meant to be secret?
    fn may_quote_secrets(&mut self, text: &str) -> bool {
        let global = self.session.global().ok();
        let environment = self.session.environment().ok().flatten();
        let module = self.module.clone();
        let module = module.and_then(|name| self.session.module(&name).ok().flatten());
        let options = TableKey::new(LOOKUP_OPTIONS.into());
        let layers = [global, environment, module];
        let mut layers = layers.iter().flatten();
        self.hides
            || text.contains("Sensitive")
            || layers.any(|layer| match self.session.plan(layer) {
                Ok(plan) => plan
                    .all_files()
                    .filter_map(|file| file.contents().ok()?.get(&options))
                    .any(mentions_sensitive),
                Err(_) => true,
            })
    }
}

fn mentions_sensitive(options: &Value) -> bool {
    match options {
        Value::Str(text) => text.contains("Sensitive"),
        Value::Template(_) => true,
        Value::Array(array) => array.items().iter().any(mentions_sensitive),
        Value::Hash(hash) => hash.iter().any(|(_, value)| mentions_sensitive(value)),
        _ => false,
    }
}
