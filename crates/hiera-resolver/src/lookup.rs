//! The lookup itself: names → options → layers → levels → files → merged, dug, converted value.
//!
//! [`Session`] is one node's view of a tree; what does not depend on the key is worked out once in it. The
//! walk mirrors Puppet's, step by step, because the order of its steps shows in results, errors and
//! explanations. `lookup/interpolate.rs` fills in tokens, `lookup/assemble.rs` works out `lookup_options`
//! where the compiled ones do not do.

mod assemble;
mod interpolate;
mod remote;

use std::borrow::Cow;
use std::rc::Rc;

use arcstr::{ArcStr, literal};

use self::assemble::AssembledOptions;
use crate::config::{DataFunction, Layer};
use crate::error::{LookupError, Telling};
use crate::explain::{Event, Explanation, NodeKind};
use crate::hash::Hash;
use crate::key::{LookupKey, Segment};
use crate::merge::MergeStrategy;
use crate::options::{self, Conversion, Entry, LOOKUP_OPTIONS, Options};
use crate::plan::{Location, Plan, PlannedLevel, PlannedOptions};
use crate::scope::Scope;
use crate::tree::Tree;
use crate::types::{self, Type};
use crate::value::Value;

/// Lookups that may wait for each other. Ruby's stack ends between 150 and 200.
const MAX_CHAIN: usize = 250;
/// How deep interpolation may nest a value: twice what a file may hold.
const MAX_DEPTH: u16 = 1000;
/// How large interpolation may make a value, in pieces of 16 bytes: some 64 MB.
const MAX_WEIGHT: u32 = 4_000_000;
/// Steps of all lookups of a session: files looked into, tokens filled in, pieces of text written.
const MAX_WORK: u64 = 1_000_000;
/// Bytes that the values in an explanation may come to.
const MAX_EXPLAINED: usize = 16 * 1024 * 1024;

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The keys, of which the first found answers.
    pub names: &'a [&'a str],
    /// The strategy; `None` leaves it to `lookup_options`.
    pub merge: Option<&'a MergeStrategy>,
    /// The answer where nothing is found.
    pub default: Option<&'a Value>,
    /// Answers by key where nothing is found.
    pub default_values: Option<&'a Hash>,
    /// Answers by key before anything is searched.
    pub overrides: Option<&'a Hash>,
    /// The type that the answer must be of.
    pub value_type: Option<&'a Type>,
    /// What to explain.
    pub explain: Explain,
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
            explain: Explain::Nothing,
        }
    }
}

/// What to explain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Explain {
    /// Nothing.
    Nothing,
    /// How the value was found.
    Value,
    /// How the `lookup_options` were found; no value is looked up.
    Options,
}

/// What a lookup came to. A key set to `~` is found, and its value is null.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// A value.
    Found(Value),
    /// Nothing.
    NotFound,
}

/// An outcome and how it came about.
#[derive(Debug)]
pub struct Answer {
    /// The outcome.
    pub outcome: Result<Outcome, LookupError>,
    /// The name that was found, among those asked for.
    pub name: Option<usize>,
    /// The explanation, where one was asked for.
    pub explanation: Option<Explanation>,
}

/// One node's view of a tree.
pub struct Session<'a> {
    tree: &'a dyn Tree,
    scope: &'a dyn Scope,
    keeps_paths: bool,
    global: Option<Rc<Prepared<'a>>>,
    /// Outer `None`: not asked yet. Inner `None`: the environment has no layer.
    environment: Option<Option<Rc<Prepared<'a>>>>,
    modules: Vec<(ArcStr, Option<Rc<Prepared<'a>>>)>,
    /// The options of the global and the environment layer, and of these with each module's.
    ready_options: Vec<(Option<ArcStr>, ReadyOptions<'a>)>,
    work: u64,
}

impl std::fmt::Debug for Session<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Session").finish_non_exhaustive()
    }
}

/// Compiled options, the highest level first; `None` where they have to be worked out.
type ReadyOptions<'a> = Option<Rc<[&'a Options]>>;

/// A plan with its options.
struct Prepared<'a> {
    plan: Plan<'a>,
    /// Not looked at where lookups are explained, since every step of that is told.
    options: PlannedOptions<'a>,
}

/// What a step of the walk came to: `None` where there is no such key.
type Step<T = Value> = Result<Option<T>, LookupError>;

impl<'a> Session<'a> {
    /// A view of the tree with these variables. Explanations need `explains` from the start.
    pub fn new(tree: &'a dyn Tree, scope: &'a dyn Scope, explains: bool) -> Self {
        Session {
            tree,
            scope,
            keeps_paths: explains,
            global: None,
            environment: None,
            modules: Vec::new(),
            ready_options: Vec::new(),
            work: 0,
        }
    }

    /// Answers a request.
    pub fn lookup(&mut self, request: &Request<'_>) -> Answer {
        let mut walk = Walk {
            session: self,
            overrides: request.overrides,
            defaults: request.default_values,
            explain: request.explain,
            explanation: (request.explain != Explain::Nothing).then(Explanation::default),
            names: Vec::new(),
            chain: 0,
            is_global_only: false,
            explained: 0,
            gathered: Vec::new(),
            assembled: AssembledOptions::default(),
            found_name: None,
            is_secret: false,
            telling: None,
        };
        let outcome = walk.lookup(
            request.names,
            request.default,
            request.merge,
            request.value_type,
        );
        let outcome = if walk.is_secret {
            outcome.map_err(LookupError::withheld)
        } else {
            outcome
        };
        let name = walk.found_name;
        let telling = walk.telling.take();
        let mut explanation = walk.explanation;
        if let Some(explanation) = &mut explanation {
            match &outcome {
                Ok(Outcome::Found(_)) => {}
                Ok(Outcome::NotFound) => explanation.tell_end(Some(not_found_text(request.names))),
                Err(error) => {
                    explanation.tell_end(telling.unwrap_or_else(|| error.telling()).told())
                }
            }
        }
        Answer {
            outcome,
            name,
            explanation,
        }
    }

    fn global(&mut self) -> Result<Rc<Prepared<'a>>, LookupError> {
        if let Some(prepared) = &self.global {
            return Ok(prepared.clone());
        }
        let prepared = self.prepare(self.tree.global())?;
        // The global layer has a configuration even where there is no file for it.
        let prepared = match prepared {
            Some(prepared) => prepared,
            None => Rc::new(Prepared {
                plan: self.no_plan()?,
                options: PlannedOptions::Ready(Vec::new()),
            }),
        };
        self.global = Some(prepared.clone());
        Ok(prepared)
    }

    fn no_plan(&self) -> Result<Plan<'a>, LookupError> {
        static EMPTY: std::sync::LazyLock<Layer> =
            std::sync::LazyLock::new(|| Layer::empty(crate::config::LayerKind::Global));
        match &*EMPTY {
            Layer::Configured(config) => {
                Plan::make(config, self.tree, self.scope, self.keeps_paths)
            }
            Layer::Faulty(faults) => Err(faults.clone().into()),
            Layer::Absent | Layer::Ignored(_) => {
                Err(crate::config::ConfigFaults::new(Vec::new()).into())
            }
        }
    }

    fn environment(&mut self) -> Result<Option<Rc<Prepared<'a>>>, LookupError> {
        if let Some(prepared) = &self.environment {
            return Ok(prepared.clone());
        }
        let prepared = self.prepare(self.tree.environment())?;
        self.environment = Some(prepared.clone());
        Ok(prepared)
    }

    fn module(&mut self, name: &ArcStr) -> Result<Option<Rc<Prepared<'a>>>, LookupError> {
        if let Some((_, prepared)) = self.modules.iter().find(|(known, _)| known == name) {
            return Ok(prepared.clone());
        }
        let prepared = match self.tree.module(name) {
            Some(layer) => self.prepare(layer)?,
            None => None,
        };
        self.modules.push((name.clone(), prepared.clone()));
        Ok(prepared)
    }

    fn prepare(&self, layer: &'a Layer) -> Result<Option<Rc<Prepared<'a>>>, LookupError> {
        match layer {
            Layer::Absent | Layer::Ignored(_) => Ok(None),
            Layer::Faulty(faults) => Err(faults.clone().into()),
            Layer::Configured(config) => {
                let plan = Plan::make(config, self.tree, self.scope, self.keeps_paths)?;
                let options = if self.keeps_paths {
                    PlannedOptions::PerLookup
                } else {
                    plan.options()?
                };
                Ok(Some(Rc::new(Prepared { plan, options })))
            }
        }
    }

    /// The compiled options that hold for keys of a module, the highest level first; `None` where they have
    /// to be worked out.
    fn ready_options(&mut self, module: Option<&ArcStr>) -> Result<ReadyOptions<'a>, LookupError> {
        if let Some((_, ready)) = self
            .ready_options
            .iter()
            .find(|(known, _)| known.as_ref() == module)
        {
            return Ok(ready.clone());
        }
        let mut layers = vec![Some(self.global()?), self.environment()?];
        if let Some(module) = module {
            layers.push(self.module(module)?);
        }
        let mut all = Some(Vec::new());
        for prepared in layers.into_iter().flatten() {
            match (&prepared.options, &mut all) {
                (PlannedOptions::Ready(ready), Some(all)) => all.extend(ready.iter().copied()),
                _ => all = None,
            }
        }
        let ready: ReadyOptions<'a> = all.map(Into::into);
        self.ready_options.push((module.cloned(), ready.clone()));
        Ok(ready)
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

/// A lookup under way.
struct Walk<'s, 'a> {
    session: &'s mut Session<'a>,
    overrides: Option<&'s Hash>,
    defaults: Option<&'s Hash>,
    explain: Explain,
    explanation: Option<Explanation>,
    /// The keys being looked up, outermost first.
    names: Vec<ArcStr>,
    chain: usize,
    /// Inside data of a global layer of version 3, where the environment has no layer of its own.
    is_global_only: bool,
    /// Bytes of values told so far.
    explained: usize,
    /// The values found so far, where the strategy merges them all at once.
    gathered: Vec<Value>,
    assembled: AssembledOptions,
    /// Which of the names asked for was found.
    found_name: Option<usize>,
    /// Something was decrypted: from then on explanations and errors show no values.
    is_secret: bool,
    /// How an error on its way up is to be told.
    telling: Option<Telling>,
}

impl<'s, 'a> Walk<'s, 'a> {
    /// The first of the names that is found; then the defaults.
    fn lookup(
        &mut self,
        names: &[&str],
        default: Option<&Value>,
        merge: Option<&MergeStrategy>,
        value_type: Option<&Type>,
    ) -> Result<Outcome, LookupError> {
        let assert = |subject: &dyn Fn() -> String, value: Value| match value_type {
            Some(value_type) => match types::assert_instance(&subject(), value_type, &value) {
                Ok(()) => Ok(Outcome::Found(value)),
                Err(mismatch) => Err(LookupError::TypeMismatch(mismatch)),
            },
            None => Ok(Outcome::Found(value)),
        };
        for (place, name) in names.iter().enumerate() {
            if let Some(value) = self.overrides.and_then(|overrides| overrides.get(name)) {
                return assert(
                    &|| format!("Value found for key '{name}' in override hash"),
                    value.clone(),
                );
            }
            if let Some(value) = self.search(name, merge)? {
                self.found_name = Some(place);
                return assert(&|| "Found value".to_owned(), value);
            }
        }
        for name in names {
            if let Some(value) = self.defaults.and_then(|defaults| defaults.get(name)) {
                return assert(
                    &|| format!("Value found for key '{name}' in default values hash"),
                    value.clone(),
                );
            }
        }
        match default {
            Some(value) => assert(&|| "Default value".to_owned(), value.clone()),
            None => Ok(Outcome::NotFound),
        }
    }

    /// Looks a key up in all layers, merges and converts what is found.
    fn search(&mut self, name: &str, merge: Option<&MergeStrategy>) -> Step {
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

    fn search_key(&mut self, key: &LookupKey, merge: Option<&MergeStrategy>) -> Step {
        if self.explain == Explain::Options {
            let options = LookupKey::parse(LOOKUP_OPTIONS)?;
            self.search_layers(&options, key.module(), &MergeStrategy::HASH)?;
            return Ok(Some(Value::Null));
        }
        let entry = self.options_of(key)?;
        let from_options = match &entry {
            Some(entry) if merge.is_none() => entry.merge()?,
            // A broken entry fails the lookup even where the request says how to merge.
            Some(entry) => entry.merge_or_fault()?,
            None => None,
        };
        let strategy = match (merge, from_options) {
            (Some(merge), _) => merge,
            (None, Some(strategy)) => {
                if let Some(explanation) = &mut self.explanation {
                    explanation.open(NodeKind::MergeSource, Some(literal!("lookup_options")));
                    explanation.close();
                }
                strategy
            }
            (None, None) => &MergeStrategy::DEFAULT,
        };
        // What is about to become a Sensitive must not be shown on the way there.
        self.is_secret |= entry
            .as_ref()
            .and_then(|entry| entry.convert_to())
            .is_some_and(Conversion::is_secret);
        let found = self.node(
            || (NodeKind::Search, Some(key.as_str().into())),
            |walk| match walk.search_layers(key, key.module(), strategy)? {
                Some(value) => Ok(Some(value)),
                None => walk.search_default_levels(key),
            },
        )?;
        let Some(value) = found else { return Ok(None) };
        let Some(conversion) = entry.as_ref().and_then(|entry| entry.convert_to()) else {
            return Ok(Some(value));
        };
        let value = conversion.apply(key.as_str(), value)?;
        if let Some(explanation) = &mut self.explanation {
            explanation.remark(format!(
                "Applying convert_to lookup_option with arguments {}",
                conversion.shown()
            ));
        }
        Ok(Some(value))
    }

    /// What `lookup_options` say of a key.
    fn options_of(&mut self, key: &LookupKey) -> Step<Cow<'a, Entry>> {
        if self.explanation.is_none()
            && !self.is_global_only
            && let Some(ready) = self.session.ready_options(key.module())?
        {
            return Ok(options::find(&ready, key.root())?.map(Cow::Borrowed));
        }
        match self.assembled_options(key.module())? {
            Some(options) => {
                Ok(options::find(&[&options], key.root())?.map(|entry| Cow::Owned(entry.clone())))
            }
            None => Ok(None),
        }
    }

    /// Global, environment, module: one combined hierarchy; then the way along the key's segments.
    fn search_layers(
        &mut self,
        key: &LookupKey,
        module: Option<&ArcStr>,
        strategy: &MergeStrategy,
    ) -> Step {
        let outer = std::mem::take(&mut self.gathered);
        let merged = if self.is_global_only {
            self.in_global(key, strategy)
        } else {
            self.merge_over([0, 1, 2].iter(), strategy, |walk, layer| match layer {
                0 => walk.in_global(key, strategy),
                1 => walk.in_environment(key, strategy),
                _ => walk.in_module(key, module, strategy),
            })
        };
        self.gathered = outer;
        match merged? {
            Some(value) => self.dig(value, key.segments(), key.as_str()),
            None => Ok(None),
        }
    }

    fn in_global(&mut self, key: &LookupKey, strategy: &MergeStrategy) -> Step {
        let found = self.in_global_layer(key, strategy);
        self.telling_of(&found, |telling| telling.leave_global(key.as_str()));
        found
    }

    fn in_global_layer(&mut self, key: &LookupKey, strategy: &MergeStrategy) -> Step {
        let prepared = self.session.global()?;
        if prepared.plan.config.version() != 3 {
            return self.in_layer(&prepared, key, strategy);
        }
        // Puppet: what data of version 3 refers to is found in the global layer alone, as it was with Hiera 3,
        // unless the environment has a layer of version 5.
        let has_environment = self
            .session
            .environment()?
            .is_some_and(|environment| environment.plan.config.version() >= 5);
        let outer = self.is_global_only;
        self.is_global_only |= !has_environment;
        let found = self.in_layer(&prepared, key, strategy);
        self.is_global_only = outer;
        found
    }

    fn in_environment(&mut self, key: &LookupKey, strategy: &MergeStrategy) -> Step {
        match self.session.environment()? {
            Some(prepared) => self.in_layer(&prepared, key, strategy),
            None => Ok(None),
        }
    }

    fn in_module(
        &mut self,
        key: &LookupKey,
        module: Option<&ArcStr>,
        strategy: &MergeStrategy,
    ) -> Step {
        let Some(module) = module else {
            return Ok(None);
        };
        if let Some(prepared) = self.session.module(module)? {
            return self.in_layer(&prepared, key, strategy);
        }
        if let Some(explanation) = &mut self.explanation {
            let event = match self.session.tree.module(module) {
                None => Event::ModuleNotFound,
                Some(_) => Event::ModuleProviderNotFound,
            };
            explanation.open(
                NodeKind::Module {
                    name: module.clone(),
                },
                None,
            );
            explanation.report(None, event);
            explanation.close();
        }
        Ok(None)
    }

    fn in_layer(
        &mut self,
        prepared: &Prepared<'a>,
        key: &LookupKey,
        strategy: &MergeStrategy,
    ) -> Step {
        self.guarded(key, |walk| {
            walk.layer_node(&prepared.plan, |walk| {
                if prepared.plan.levels().is_empty() {
                    walk.report_not_found(key.as_str());
                    return Ok(None);
                }
                walk.merge_over(prepared.plan.levels().iter(), strategy, |walk, level| {
                    walk.in_level(&prepared.plan, level, key.root(), strategy)
                })
            })
        })
    }

    /// The levels for keys that nothing else has. Puppet: a merge of the request does not reach them.
    fn search_default_levels(&mut self, key: &LookupKey) -> Step {
        if self.is_global_only {
            return Ok(None);
        }
        let Some(module) = key.module() else {
            return Ok(None);
        };
        let Some(prepared) = self.session.module(module)? else {
            return Ok(None);
        };
        if prepared.plan.config.default_levels().is_none() {
            return Ok(None);
        }
        let heading = || {
            (
                NodeKind::Scope {
                    name: format!("Searching default_hierarchy of module \"{module}\""),
                },
                None,
            )
        };
        let found = self.node(heading, |walk| {
            let options = walk.default_options(module, &prepared)?;
            let entry = match &options {
                Some(options) => options::find(&[options.as_ref()], key.root())?,
                None => None,
            };
            let strategy = match entry {
                Some(entry) => entry.merge()?.cloned().unwrap_or(MergeStrategy::DEFAULT),
                None => MergeStrategy::DEFAULT,
            };
            let heading = || {
                (
                    NodeKind::Scope {
                        name: format!("Searching for \"{}\"", key.as_str()),
                    },
                    None,
                )
            };
            walk.node(heading, |walk| {
                walk.in_default_levels(&prepared, key, &strategy)
            })
        })?;
        match found {
            Some(value) => self.dig(value, key.segments(), key.as_str()),
            None => Ok(None),
        }
    }

    fn in_default_levels(
        &mut self,
        prepared: &Prepared<'a>,
        key: &LookupKey,
        strategy: &MergeStrategy,
    ) -> Step {
        let plan = &prepared.plan;
        if plan.default_levels().is_empty() {
            self.report_not_found(key.as_str());
            return Ok(None);
        }
        let outer = std::mem::take(&mut self.gathered);
        let found = self.guarded(key, |walk| {
            walk.layer_node(plan, |walk| {
                walk.merge_over(plan.default_levels().iter(), strategy, |walk, level| {
                    walk.in_level(plan, level, key.root(), strategy)
                })
            })
        });
        self.gathered = outer;
        found
    }

    fn in_level(
        &mut self,
        plan: &Plan<'a>,
        planned: &PlannedLevel<'a>,
        root: &ArcStr,
        strategy: &MergeStrategy,
    ) -> Step {
        let level = planned.level;
        let kind = || NodeKind::Provider {
            name: format!("Hierarchy entry \"{}\"", level.name()),
            config_path: None,
            module: None,
        };
        self.node(
            || (kind(), None),
            |walk| {
                let Some(range) = planned.locations.clone() else {
                    return Err(plan.unusable(level));
                };
                let locations = plan.locations(range);
                walk.merge_over(locations.iter(), strategy, |walk, location| {
                    walk.in_location(plan, planned, location, root, strategy)
                })
            },
        )
    }

    fn in_location(
        &mut self,
        plan: &Plan<'a>,
        planned: &PlannedLevel<'a>,
        location: &Location<'a>,
        root: &ArcStr,
        strategy: &MergeStrategy,
    ) -> Step {
        self.spend(1)?;
        self.node(
            || (location_kind(location), None),
            |walk| {
                if location.is_uri && *planned.level.function() == DataFunction::Http {
                    return walk.in_remote(planned, location, root);
                }
                let Some(contents) = plan.contents(planned.level, location)? else {
                    walk.report(None, || Event::LocationNotFound);
                    return Ok(None);
                };
                let Some(raw) = contents.get(root) else {
                    walk.report_not_found(root);
                    return Ok(None);
                };
                if raw.traits().is_irregular {
                    let path = location
                        .file
                        .map(|file| file.path().clone())
                        .unwrap_or_default();
                    return Err(LookupError::IrregularValue {
                        key: root.to_string(),
                        path,
                    });
                }
                let value = walk.interpolate(raw, root)?;
                walk.report(Some(root), || Event::Found(value.clone()));
                if strategy.gathers() {
                    walk.gathered.push(value.clone());
                }
                Ok(Some(value))
            },
        )
    }

    /// Visits the places one after the other and merges what they have.
    fn merge_over<T>(
        &mut self,
        mut places: impl ExactSizeIterator<Item = T>,
        strategy: &MergeStrategy,
        mut visit: impl FnMut(&mut Self, T) -> Step,
    ) -> Step {
        if strategy.is_first() {
            for place in places {
                if let Some(value) = visit(self, place)? {
                    return Ok(Some(value));
                }
            }
            return Ok(None);
        }
        if places.len() <= 1 {
            let Some(place) = places.next() else {
                return Ok(None);
            };
            return Ok(visit(self, place)?.map(|value| strategy.merge_single(value)));
        }
        let kind = || NodeKind::Merge {
            strategy: strategy.name().to_owned(),
            options: strategy.options(),
        };
        self.node(
            || (kind(), None),
            |walk| {
                let start = walk.gathered.len();
                let mut merged = None;
                for place in places {
                    let Some(value) = visit(walk, place)? else {
                        continue;
                    };
                    merged = Some(match merged {
                        None => strategy.convert_first(value),
                        Some(higher) if strategy.gathers() => higher,
                        Some(higher) => {
                            let merged = strategy.merge(&higher, &value)?;
                            if let Some(explanation) = &mut walk.explanation
                                && let Some(after) = strategy.aftermath(&higher, &value, &merged)?
                            {
                                explanation.replace(&higher, &after);
                            }
                            merged
                        }
                    });
                }
                if strategy.gathers() {
                    merged = strategy.merge_all(walk.gathered.get(start..).unwrap_or_default())?;
                }
                if let Some(merged) = &merged {
                    walk.report(None, || Event::Result(merged.clone()));
                }
                Ok(merged)
            },
        )
    }

    /// Follows the segments of a key into a value.
    fn dig(&mut self, value: Value, segments: &[Segment], key: &str) -> Step {
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
    fn guarded<R>(
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
    fn telling_of<R>(&mut self, result: &Result<R, LookupError>, step: impl FnOnce(&mut Telling)) {
        if let (Err(error), true) = (result, self.explanation.is_some()) {
            step(self.telling.get_or_insert_with(|| error.telling()));
        }
    }

    /// Counts work done, so that data which multiplies itself comes to an end.
    fn spend(&mut self, steps: u64) -> Result<(), LookupError> {
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

    fn layer_node<R>(&mut self, plan: &Plan<'a>, body: impl FnOnce(&mut Self) -> R) -> R {
        let kind = || NodeKind::Provider {
            name: plan.config.provider_name(),
            config_path: plan.config.path().cloned(),
            module: match plan.config.kind() {
                crate::config::LayerKind::Module(name) => Some(name.clone()),
                _ => None,
            },
        };
        self.node(|| (kind(), None), body)
    }

    /// Runs a step inside a node of the explanation.
    fn node<R>(
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

    fn report(&mut self, key: Option<&ArcStr>, event: impl FnOnce() -> Event) {
        if let Some(explanation) = &mut self.explanation {
            let event = event();
            self.explained += event.weight();
            explanation.report(
                key.cloned(),
                if self.is_secret {
                    event.redacted()
                } else {
                    event
                },
            );
        }
    }

    fn report_not_found(&mut self, key: &str) {
        if let Some(explanation) = &mut self.explanation {
            explanation.report(Some(key.into()), Event::NotFound);
        }
    }
}

fn location_kind(location: &Location<'_>) -> NodeKind {
    let (original, path) = (location.original.clone(), location.path.clone());
    if location.is_uri {
        NodeKind::Uri {
            original,
            uri: path,
        }
    } else {
        NodeKind::Path { original, path }
    }
}
