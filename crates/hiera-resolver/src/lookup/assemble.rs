//! `lookup_options` that depend on the lookup: looked up layer by layer, as Puppet does.
//!
//! Only needed if they contain tokens, have mistakes to report, or are to be explained. The results are kept for the
//! length of one lookup, in the same pieces as in Puppet: a lookup inside of `lookup_options` sees those that are known by
//! then.

use std::rc::Rc;

use arcstr::{ArcStr, literal};
use puppet_values::Value;

use super::Step;
use super::prepared::Prepared;
use super::walk::Walk;
use crate::explain::words::headings;
use crate::explain::{Event, NodeKind};
use crate::key::LookupKey;
use crate::lookup::LookupError;
use crate::lookup::options::{LOOKUP_OPTIONS, LookupOptions, OptionsError};
use crate::merge::{Contribution, MergeStrategy};

/// The options found so far. `Some(None)`: there are none.
#[derive(Default)]
pub(super) struct AssembledOptions {
    global: Option<Option<Value>>,
    environment: Option<Option<Value>>,
    /// Compiled, by module; for keys of no module under `None`.
    by_module: Vec<(Option<ArcStr>, Option<Rc<LookupOptions>>)>,
    /// Those of the default hierarchies, by module.
    defaults: Vec<(ArcStr, Option<Rc<LookupOptions>>)>,
}

impl AssembledOptions {
    fn of_module(&self, module: Option<&str>) -> Option<Option<Rc<LookupOptions>>> {
        self.by_module
            .iter()
            .find(|(known, _)| known.as_deref() == module)
            .map(|(_, options)| options.clone())
    }
}

impl<'a> Walk<'_, 'a> {
    /// The options that hold for keys of a module.
    pub(super) fn assembled_options(&mut self, module: Option<&str>) -> Step<Rc<LookupOptions>> {
        if let Some(known) = self.assembled.of_module(module) {
            return Ok(known);
        }
        let options = self.node(
            || (NodeKind::Search, Some(literal!("lookup_options"))),
            |walk| {
                walk.apart_from_request(|walk| match walk.is_global_only {
                    true => {
                        let options = walk.global_options(&LookupKey::parse(LOOKUP_OPTIONS)?)?;
                        compile(options.as_ref())
                    }
                    false => walk.assemble(module),
                })
            },
        )?;
        self.assembled
            .by_module
            .push((module.map(ArcStr::from), options.clone()));
        Ok(options)
    }

    /// Runs a part of the lookup that `override` and `default_values` of the request do not reach.
    fn apart_from_request<R>(&mut self, body: impl FnOnce(&mut Self) -> R) -> R {
        let outer = (self.overrides.take(), self.defaults.take());
        let result = body(self);
        (self.overrides, self.defaults) = outer;
        result
    }

    fn assemble(&mut self, module: Option<&str>) -> Step<Rc<LookupOptions>> {
        let key = LookupKey::parse(LOOKUP_OPTIONS)?;
        let upper = self.environment_options(&key)?;
        let Some(module) = module else {
            return compile(upper.as_ref());
        };
        if self.assembled.of_module(None).is_none() {
            let compiled = compile(upper.as_ref())?;
            self.assembled.by_module.push((None, compiled));
        }
        let Some(own) = self.in_module(&key, Some(module), &MergeStrategy::HASH)? else {
            return compile(upper.as_ref());
        };
        let own = validate(own.into_value(), Some(module))?;
        let options = match (upper, own) {
            (None, own) => own,
            // Puppet: a module with empty options undoes those of the layers above it.
            (Some(_), None) => None,
            (Some(upper), Some(own)) => Some(self.merge_with_module(&upper, &own, module)?),
        };
        compile(options.as_ref())
    }

    fn merge_with_module(
        &mut self,
        upper: &Value,
        own: &Value,
        module: &str,
    ) -> Result<Value, LookupError> {
        let strategy = &MergeStrategy::HASH;
        let merged = self.merge_over([true, false].iter(), strategy, |walk, is_upper| {
            let heading = || match is_upper {
                true => (headings::options_above_modules(), None),
                false => (headings::options_of_module(module), None),
            };
            let value = if *is_upper { upper } else { own };
            walk.node(heading, |walk| {
                let key = literal!("lookup_options");
                walk.report(Some(&key), || Event::Found(value.clone()));
            });
            Ok(Some(value.clone().into()))
        })?;
        Ok(merged.map(Contribution::into_value).unwrap_or_default())
    }

    fn global_options(&mut self, key: &LookupKey) -> Step {
        if self.assembled.global.is_none() {
            // Set before it is known: a lookup inside of it finds none.
            self.assembled.global = Some(None);
            if let Some(found) = self.in_global(key, &MergeStrategy::HASH)? {
                self.assembled.global = Some(validate(found.into_value(), None)?);
            }
        }
        Ok(self.assembled.global.clone().flatten())
    }

    fn environment_options(&mut self, key: &LookupKey) -> Step {
        if self.assembled.environment.is_none() {
            let global = self.global_options(key)?;
            let own = match self.in_environment(key, &MergeStrategy::HASH)? {
                Some(found) => validate(found.into_value(), None)?,
                None => None,
            };
            // Puppet's explanations do not show this merge.
            let merged = self.unexplained(|walk| {
                walk.merge_over(
                    [global, own].into_iter(),
                    &MergeStrategy::HASH,
                    |_, value| Ok(value.map(Contribution::from)),
                )
            })?;
            self.assembled.environment = Some(merged.map(Contribution::into_value));
        }
        Ok(self.assembled.environment.clone().flatten())
    }

    /// The options of a module's default hierarchy, which hold for nothing else.
    pub(super) fn default_options(
        &mut self,
        module: &str,
        prepared: &Prepared<'a>,
    ) -> Step<Rc<LookupOptions>> {
        if let Some((_, known)) = self
            .assembled
            .defaults
            .iter()
            .find(|(known, _)| known == module)
        {
            return Ok(known.clone());
        }
        let key = LookupKey::parse(LOOKUP_OPTIONS)?;
        let heading = || (headings::options_in_default_hierarchy(), None);
        let found = self.node(heading, |walk| {
            walk.apart_from_request(|walk| {
                walk.in_default_levels(prepared, &key, &MergeStrategy::HASH)
            })
        })?;
        let options = match found {
            Some(found) => compile(validate(found.into_value(), Some(module))?.as_ref())?,
            None => None,
        };
        self.assembled
            .defaults
            .push((module.into(), options.clone()));
        Ok(options)
    }
}

/// Are these options at all, and a module's own?
fn validate(options: Value, module: Option<&str>) -> Result<Option<Value>, LookupError> {
    let hash = match &options {
        Value::Null => return Ok(None),
        Value::Hash(hash) => hash,
        other => {
            return Err(OptionsError::NotAHash {
                found: other.ruby_class(),
            }
            .into());
        }
    };
    if let Some(module) = module {
        LookupOptions::compile(hash)?.check_namespace(module)?;
    }
    Ok(Some(options))
}

fn compile(options: Option<&Value>) -> Step<Rc<LookupOptions>> {
    match options.and_then(Value::as_hash) {
        Some(hash) => Ok(Some(Rc::new(LookupOptions::compile(hash)?))),
        None => Ok(None),
    }
}
