//! How Puppet tells of layers, files and values that it cannot use, where that takes knowing where they lie.

use arcstr::ArcStr;

use super::Step;
use super::request::Outcome;
use super::walk::Walk;
use crate::config::{Layer, LayerKind};
use crate::data::FileFault;
use crate::data_functions::{self, FunctionKind};
use crate::error::{LookupError, Telling};
use crate::explain::NodeKind;
use crate::key::LookupKey;
use crate::merge::Contribution;
use crate::options::{LOOKUP_OPTIONS, OptionsError};
use crate::plan::{Location, Plan, PlannedLevel};
use crate::table_key::TableKey;
use crate::types;
use crate::value::Value;

impl<'a> Walk<'_, 'a> {
    /// Fails where Puppet does: before a layer is entered, where its configuration cannot be read, or inside of
    /// it, where its levels cannot be worked out.
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
                let kind = || provider_kind(kind, version, path);
                walk.node(|| (kind(), None), |_| Err(error))
            }),
            None if *kind == LayerKind::Global => self.guarded(key, |_| Err(error)),
            None => Err(error),
        }
    }

    /// Notes how to tell of a file that cannot be used, or of the function that should read it.
    pub(super) fn tell_of_location(
        &mut self,
        error: &LookupError,
        plan: &Plan<'a>,
        planned: &PlannedLevel<'a>,
        location: &Location<'a>,
    ) {
        if self.explanation.is_none() {
            return;
        }
        self.telling = match error {
            LookupError::File(FileFault::Unparsable {
                path,
                puppet_text: Some(puppet_text),
                quotes_file,
                ..
            }) => Some(Telling::lookup(
                if *quotes_file && self.has_secrets(puppet_text) {
                    format!(
                        "Unable to parse ({}): what exactly is not shown, since the data has secrets",
                        location.path
                    )
                } else {
                    puppet_text.replacen(path.as_str(), &location.path, 1)
                },
            )),
            LookupError::File(FileFault::NotAHash { mismatch: None, .. }) => {
                let place = &location.path;
                let text = format!("{place}: file does not contain a valid yaml hash");
                Some(Telling::lookup(text))
            }
            LookupError::File(FileFault::NotAHash {
                mismatch: Some(mismatch),
                ..
            }) => {
                let function = function_name(plan, planned);
                let place = &location.path;
                Some(Telling::puppet(format!(
                    "Value returned from {function}, when using location '{place}', {mismatch}"
                )))
            }
            _ => return self.tell_of_function(error),
        };
    }

    /// Notes how to tell of a function that is not there.
    pub(super) fn tell_of_function(&mut self, error: &LookupError) {
        if let LookupError::UnknownFunction { kind, function, .. } = error
            && self.explanation.is_some()
            && !self.is_missing(kind, function)
        {
            self.telling = Some(Telling::other());
        }
    }

    /// Notes how to tell of a value that Puppet's data cannot hold.
    pub(super) fn tell_of_irregular(
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
        if self.explanation.is_none() || may_be_secret {
            return;
        }
        let (kind, _) = planned.level.function().kind_and_name();
        let is_data_hash = kind == FunctionKind::DataHash.as_str();
        let in_hash = if is_data_hash { " in hash" } else { "" };
        let function = function_name(plan, planned);
        let (place, found) = (&location.path, types::infer(value));
        self.telling = Some(Telling::puppet(format!(
            "Value for key '{key}',{in_hash} returned from {function}, when using location '{place}', \
             has wrong type, expects Puppet::LookupValue, got {found}"
        )));
    }

    /// The error with the place in the `lookup_options` that it comes from: those of the highest file that has the entry,
    /// as they count. The same error where it has none there.
    pub(super) fn blame_options(
        &self,
        error: LookupError,
        entry: Option<&str>,
        module: Option<&str>,
    ) -> LookupError {
        let tree = self.session.tree;
        let of_module = module.and_then(|module| tree.module(module));
        let mut layers = vec![Some(tree.global()), Some(tree.environment()), of_module];
        let entry = match &error {
            LookupError::Options(OptionsError::BadPattern { pattern, .. }) => Some(&**pattern),
            LookupError::Options(OptionsError::ForeignKey { key, .. }) => {
                layers.drain(..2);
                Some(&**key)
            }
            LookupError::Options(OptionsError::KeyOptionsNotAHash { .. })
            | LookupError::Merge(_)
            | LookupError::ConversionType { .. }
            | LookupError::Conversion { .. } => entry,
            LookupError::Options(_) => None,
            _ => return error,
        };
        let configs = layers.into_iter().flatten().filter_map(Layer::config);
        for config in configs {
            let Ok(plan) = Plan::make(config, tree, self.session.scope, false) else {
                continue;
            };
            let place = plan.all_files().find_map(|file| {
                let mark = file
                    .contents()
                    .ok()?
                    .options_diagnostics()?
                    .position(entry)?;
                Some((file.path().clone(), mark))
            });
            if let Some((path, mark)) = place {
                return LookupError::InOptions {
                    path,
                    line: mark.line,
                    column: mark.column,
                    error: Box::new(error),
                };
            }
        }
        error
    }

    /// Takes what is secret out of the explanation, and ends it with why there is no value.
    pub(super) fn end_explanation(
        &mut self,
        outcome: &Result<Outcome, LookupError>,
        names: &[&str],
    ) {
        self.hide_secrets();
        let end = match outcome {
            Ok(Outcome::Found(_)) => None,
            Ok(Outcome::NotFound) => Some(not_found_text(names)),
            Err(error) => {
                let telling = self.telling.take().unwrap_or_else(|| error.telling());
                telling.told().filter(|text| !self.quotes_secret(text))
            }
        };
        if let Some(explanation) = &mut self.explanation {
            explanation.tell_end(end);
        }
    }

    /// Is there no function of this name, as far as Puppet would look?
    fn is_missing(&self, kind: &str, function: &str) -> bool {
        match function.split_once("::") {
            // Puppet: a backend of Hiera 3 is none of its functions.
            _ if kind.ends_with("backend") => false,
            // In a module that is not there it does not even look.
            Some((module, _)) => {
                module == "environment" || self.session.tree.module(module).is_some()
            }
            // One that is called in the wrong way is there all the same.
            None => !data_functions::BUILT_IN
                .iter()
                .any(|known| known.name == function),
        }
    }

    /// May a text out of a file hold a value that is meant to be secret?
    fn has_secrets(&mut self, text: &str) -> bool {
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

/// What Puppet calls the function of a level.
fn function_name(plan: &Plan<'_>, planned: &PlannedLevel<'_>) -> String {
    let (kind, name) = planned.level.function().kind_and_name();
    let version = if plan.config.version() == 3 {
        "v3_"
    } else {
        ""
    };
    format!("{version}{kind} function '{name}'")
}

/// What a layer with a configuration is in an explanation.
pub(super) fn provider_kind(
    kind: &LayerKind,
    version: u8,
    config_path: Option<ArcStr>,
) -> NodeKind {
    NodeKind::Provider {
        name: kind.provider_name(version),
        config_path,
        module: match kind {
            LayerKind::Module(name) => Some(name.clone()),
            _ => None,
        },
    }
}

fn not_found_text(names: &[&str]) -> String {
    match names {
        [name] => format!("Function lookup() did not find a value for the name '{name}'"),
        names => {
            let quoted: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
            format!(
                "Function lookup() did not find a value for any of the names [{}]",
                quoted.join(", ")
            )
        }
    }
}
