//! The walk of one lookup: names → options → layers → levels → files → merged, dug, converted value.
//!
//! It mirrors Puppet's, step by step, because the order of its steps shows in results, errors and explanations.

use std::borrow::Cow;

use arcstr::{ArcStr, literal};
use smallvec::SmallVec;

use super::assemble::AssembledOptions;
use super::remote::Told;
use super::secrets::Secrets;
use super::tell::provider_kind;
use super::{Explain, MAX_EXPLAINED, MAX_WORK, Outcome, Session, Step};
use crate::Value;
use crate::error::{LookupError, Telling};
use crate::explain::{Event, Explanation, NodeKind};
use crate::hash::Hash;
use crate::key::{LookupKey, Segment};
use crate::merge::{Contribution, MergeStrategy};
use crate::options::{self, Conversion, KeyOptions, LOOKUP_OPTIONS};
use crate::plan::Plan;
use crate::types::{self, Type};

/// A lookup under way.
pub(super) struct Walk<'s, 'a> {
    pub(super) session: &'s mut Session<'a>,
    pub(super) overrides: Option<&'s Hash>,
    pub(super) defaults: Option<&'s Hash>,
    pub(super) explanation: Option<Explanation>,
    /// The keys being looked up, outermost first.
    pub(super) names: SmallVec<[ArcStr; 4]>,
    pub(super) chain: usize,
    /// Inside data of a global layer of version 3, where the environment has no layer of its own.
    pub(super) is_global_only: bool,
    /// Inside data of a global layer of version 3, which has variables of its own.
    pub(super) is_version_3: bool,
    /// Bytes of values told so far.
    pub(super) explained: usize,
    pub(super) assembled: AssembledOptions,
    /// Which of the names asked for was found.
    pub(super) found_name: Option<usize>,
    /// The value that is being looked for becomes a Sensitive: explanations and errors show nothing of it.
    pub(super) hides: bool,
    /// What was decrypted, and what was made of it. Made when it is needed.
    pub(super) secrets: Option<Box<Secrets>>,
    /// The module of the key that was asked for.
    pub(super) module: Option<ArcStr>,
    /// The file whose value is being filled in, where errors are to name it.
    pub(super) file: Option<ArcStr>,
    /// A value that cannot be interpolated was looked up once more, to name its file. It happens once in a lookup: each
    /// of those around it would double the work.
    pub(super) has_named_file: bool,
    /// How an error on its way up is to be told.
    pub(super) telling: Option<Telling>,
    /// Made when it is needed, which is hardly ever.
    pub(super) told_of_remotes: Option<Box<Told>>,
}

impl<'s, 'a> Walk<'s, 'a> {
    /// The first of the names that is found; then the defaults.
    pub(super) fn lookup(
        &mut self,
        names: &[&str],
        default: Option<&Value>,
        merge: Option<&MergeStrategy>,
        value_type: Option<&Type>,
    ) -> Result<Outcome, LookupError> {
        let assert = |walk: &Self, subject: &dyn Fn() -> String, value: Value| match value_type {
            Some(value_type) => match types::assert_instance(&subject(), value_type, &value) {
                Ok(()) => Ok(Outcome::Found(value)),
                Err(mismatch) => {
                    let error = LookupError::TypeMismatch(mismatch);
                    Err(walk.of_values(&[&value], error))
                }
            },
            None => Ok(Outcome::Found(value)),
        };
        for (place, name) in names.iter().enumerate() {
            if let Some(value) = self.overrides.and_then(|overrides| overrides.get(name)) {
                return assert(
                    self,
                    &|| format!("Value found for key '{name}' in override hash"),
                    value.clone(),
                );
            }
            if let Some(value) = self.search(name, merge)? {
                self.found_name = Some(place);
                return assert(self, &|| "Found value".to_owned(), value);
            }
        }
        for name in names {
            if let Some(value) = self.defaults.and_then(|defaults| defaults.get(name)) {
                return assert(
                    self,
                    &|| format!("Value found for key '{name}' in default values hash"),
                    value.clone(),
                );
            }
        }
        match default {
            Some(value) => assert(self, &|| "Default value".to_owned(), value.clone()),
            None => Ok(Outcome::NotFound),
        }
    }

    /// Looks a key up in all layers, merges and converts what is found.
    pub(super) fn search(&mut self, name: &str, merge: Option<&MergeStrategy>) -> Step {
        // Puppet: the reserved key is known by its text alone, so that `'lookup_options'` in quotes is another.
        if name == LOOKUP_OPTIONS
            || name
                .strip_prefix(LOOKUP_OPTIONS)
                .is_some_and(|rest| rest.starts_with('.'))
        {
            self.node(
                || (NodeKind::InvalidKey, Some(literal!("lookup_options"))),
                |_| (),
            );
            return Ok(None);
        }
        let key = LookupKey::parse(name)?;
        self.search_key(&key, merge)
    }

    pub(super) fn search_key(&mut self, key: &LookupKey, merge: Option<&MergeStrategy>) -> Step {
        if self.chain == 0 && self.explanation.is_some() {
            self.module = key.module().map(ArcStr::from);
        }
        if self.session.explain == Some(Explain::Options) {
            let options = LookupKey::parse(LOOKUP_OPTIONS)?;
            self.search_layers(&options, key.module(), &MergeStrategy::HASH)?;
            return Ok(Some(Value::Null));
        }
        let entry = self
            .options_of(key)
            .map_err(|error| self.blame_options(error, None, key.module()))?;
        let in_entry = |walk: &Self, error, entry: &KeyOptions| {
            walk.blame_options(error, Some(entry.name()), key.module())
        };
        let from_options = match &entry {
            Some(entry) if merge.is_none() => match entry.merge() {
                Err(error @ LookupError::Merge(_)) => {
                    self.report_merge_source();
                    let error = in_entry(self, error, entry);
                    let heading = || (NodeKind::Search, Some(key.as_str().into()));
                    return self.node(heading, |_| Err(error));
                }
                strategy => strategy.map_err(|error| in_entry(self, error, entry))?,
            },
            // A broken entry fails the lookup even where the request says how to merge.
            Some(entry) => {
                let usable = entry.check();
                usable.map_err(|error| in_entry(self, error, entry))?;
                None
            }
            None => None,
        };
        let strategy = match (merge, from_options) {
            (Some(merge), _) => merge,
            (None, Some(strategy)) => {
                self.report_merge_source();
                strategy
            }
            (None, None) => &MergeStrategy::DEFAULT,
        };
        // What is about to become a Sensitive must not be shown on the way there.
        let conversion = entry.as_ref().and_then(|entry| entry.convert_to());
        let outer = self.hides;
        self.hides |= conversion.is_some_and(Conversion::is_secret);
        let found = self.node(
            || (NodeKind::Search, Some(key.as_str().into())),
            |walk| match walk.search_layers(key, key.module(), strategy)? {
                Some(value) => Ok(Some(value)),
                None => walk.search_default_levels(key),
            },
        );
        let converted = match found {
            Ok(Some(value)) => self.convert(key, value, entry.as_deref()).map(Some),
            other => other,
        };
        let converted = match self.hides {
            true => converted.map_err(LookupError::withheld),
            false => converted,
        };
        self.hides = outer;
        converted
    }

    /// The value as the options say that it should be.
    fn convert(
        &mut self,
        key: &LookupKey,
        value: Value,
        entry: Option<&KeyOptions>,
    ) -> Result<Value, LookupError> {
        let Some((entry, conversion)) = entry.and_then(|entry| Some((entry, entry.convert_to()?)))
        else {
            return Ok(value);
        };
        let converted = match conversion.apply(key.as_str(), value.clone()) {
            Err(error) if conversion.problem().is_some() => {
                return Err(self.blame_options(error, Some(entry.name()), key.module()));
            }
            converted => self.made_of(&[&value], converted)?,
        };
        // It may have made no Sensitive of it after all.
        if conversion.is_secret() && !converted.traits().has_sensitive {
            self.add_secret(&converted);
        }
        if let Some(explanation) = &mut self.explanation {
            explanation.remark(format!(
                "Applying convert_to lookup_option with arguments {}",
                conversion.shown()
            ));
        }
        Ok(converted)
    }

    fn report_merge_source(&mut self) {
        let kind = || (NodeKind::MergeSource, Some(literal!("lookup_options")));
        self.node(kind, |_| ());
    }

    /// What `lookup_options` say of a key.
    pub(super) fn options_of(&mut self, key: &LookupKey) -> Step<Cow<'a, KeyOptions>> {
        if self.explanation.is_none()
            && !self.session.may_confine_to_global()
            && let Some(ready) = self.session.ready_options(key.module())?
        {
            return Ok(options::find(&ready, key.root())?.map(Cow::Borrowed));
        }
        match self.assembled_options(key.module())? {
            Some(options) => {
                let found = options::find(&[options.as_ref()], key.root())?;
                Ok(found.map(|entry| Cow::Owned(entry.clone())))
            }
            None => Ok(None),
        }
    }

    /// Global, environment, module: one combined hierarchy; then the way along the key's segments.
    pub(super) fn search_layers(
        &mut self,
        key: &LookupKey,
        module: Option<&str>,
        strategy: &MergeStrategy,
    ) -> Step {
        let merged = if self.is_global_only {
            self.in_global(key, strategy)
        } else {
            self.merge_over([0, 1, 2].iter(), strategy, |walk, layer| match layer {
                0 => walk.in_global(key, strategy),
                1 => walk.in_environment(key, strategy),
                _ => walk.in_module(key, module, strategy),
            })
        };
        match merged?.map(Contribution::into_value) {
            Some(value) if key.segments().is_empty() => Ok(Some(value)),
            Some(value) => self.dig(value, key.segments(), key.as_str()),
            None => Ok(None),
        }
    }

    /// Follows the segments of a key into a value.
    pub(super) fn dig(&mut self, value: Value, segments: &[Segment], key: &str) -> Step {
        if segments.is_empty() {
            return Ok(Some(value));
        }
        if self.explanation.is_none() {
            return Ok(crate::key::dig(&value, segments, key)?.cloned());
        }
        let shown = || {
            let segments: Vec<String> = segments.iter().map(ToString::to_string).collect();
            (
                NodeKind::SubKey {
                    segments: segments.join("."),
                },
                None,
            )
        };
        self.node(shown, |walk| {
            let mut current = value;
            for segment in segments {
                let next = walk.node(
                    || (NodeKind::Segment, None),
                    |walk| {
                        let name = segment.to_string();
                        let found = segment.dig(&current, key)?.cloned();
                        match &found {
                            Some(value) => {
                                walk.report(Some(&name.into()), || Event::Found(value.clone()))
                            }
                            None => walk.report_not_found(&name),
                        }
                        Ok::<_, LookupError>(found)
                    },
                )?;
                match next {
                    Some(next) => current = next,
                    None => return Ok(None),
                }
            }
            Ok(Some(current))
        })
    }

    /// Runs a part of the lookup of a key, unless it is part of itself.
    pub(super) fn guarded<R>(
        &mut self,
        key: &LookupKey,
        body: impl FnOnce(&mut Self) -> Result<R, LookupError>,
    ) -> Result<R, LookupError> {
        if self.names.iter().any(|name| name == key.as_str()) {
            return Err(LookupError::Recursion {
                chain: self.names.iter().map(ToString::to_string).collect(),
            });
        }
        self.names.push(key.text().clone());
        let result = body(self);
        self.names.pop();
        self.telling_of(&result, Telling::leave_layer);
        result
    }

    /// Keeps track of how an error would be told, where that is wanted.
    pub(super) fn telling_of<R>(
        &mut self,
        result: &Result<R, LookupError>,
        step: impl FnOnce(&mut Telling),
    ) {
        if let (Err(error), true) = (result, self.explanation.is_some()) {
            let hides = self.hides;
            step(self.telling.get_or_insert_with(|| {
                if hides {
                    error.clone().withheld().telling()
                } else {
                    error.telling()
                }
            }));
        }
    }

    /// Counts work done, so that data which multiplies itself comes to an end.
    pub(super) fn spend(&mut self, steps: u64) -> Result<(), LookupError> {
        self.session.work += steps;
        if self.session.work > MAX_WORK {
            return Err(LookupError::TooMuchWork { bound: MAX_WORK });
        }
        if self.explained > MAX_EXPLAINED {
            return Err(LookupError::TooMuchToExplain {
                bound: MAX_EXPLAINED,
            });
        }
        Ok(())
    }

    pub(super) fn layer_node<R>(
        &mut self,
        plan: &Plan<'a>,
        body: impl FnOnce(&mut Self) -> R,
    ) -> R {
        let (config, path) = (plan.config, plan.config.path());
        let kind = || provider_kind(config.kind(), config.version(), path.cloned());
        self.node(|| (kind(), None), body)
    }

    /// Runs a step of which nothing is told.
    pub(super) fn untold<R>(&mut self, body: impl FnOnce(&mut Self) -> R) -> R {
        let explanation = self.explanation.take();
        let result = body(self);
        self.explanation = explanation;
        result
    }

    /// Runs a step inside a node of the explanation.
    pub(super) fn node<R>(
        &mut self,
        kind: impl FnOnce() -> (NodeKind, Option<ArcStr>),
        body: impl FnOnce(&mut Self) -> R,
    ) -> R {
        let Some(explanation) = &mut self.explanation else {
            return body(self);
        };
        let (kind, key) = kind();
        explanation.open(kind, key);
        let result = body(self);
        if let Some(explanation) = &mut self.explanation {
            explanation.close();
        }
        result
    }

    pub(super) fn report(&mut self, key: Option<&ArcStr>, event: impl FnOnce() -> Event) {
        if let Some(explanation) = &mut self.explanation {
            let event = event();
            self.explained += event.weight();
            explanation.report(
                key.cloned(),
                if self.hides { event.redacted() } else { event },
            );
        }
    }

    pub(super) fn report_not_found(&mut self, key: &str) {
        if let Some(explanation) = &mut self.explanation {
            explanation.report(Some(key.into()), Event::NotFound);
        }
    }
}
