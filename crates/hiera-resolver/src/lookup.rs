//! The lookup itself: names → options → layers → levels → files → merged, dug, converted value.
//!
//! [`Session`] is one node's view of a tree; what does not depend on the key is worked out once in it.
//! `lookup/walk.rs` goes the way of one lookup, `lookup/interpolate.rs` fills in tokens,
//! `lookup/assemble.rs` works out `lookup_options` where the compiled ones do not do, and
//! `lookup/remote.rs` asks other servers. `lookup/secrets.rs` knows what must not be told.

mod assemble;
mod interpolate;
mod layers;
mod merging;
pub mod options;
mod remote;
mod secrets;
mod tell;
mod walk;

use std::cell::OnceCell;
use std::rc::Rc;
use std::sync::LazyLock;

use smallvec::SmallVec;

use self::assemble::AssembledOptions;
use self::walk::Walk;
use crate::Value;
use crate::config::{ConfigFaults, HieraConfig, Layer, LayerKind};
use crate::error::LookupError;
use crate::explain::Explanation;
use crate::hash::Hash;
use crate::layer_index::Survey;
use crate::merge::MergeStrategy;
use crate::options::LookupOptions;
use crate::plan::Plan;
use crate::scope::Scope;
use crate::tree::Tree;
use crate::types::Type;

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

    /// Answers this one request in a session of its own, with an explanation where one is asked for.
    pub fn answer(
        &self,
        tree: &dyn Tree,
        scope: &dyn Scope,
        explain: Option<Explain>,
    ) -> (Answer, Option<Explanation>) {
        match explain {
            None => (Session::new(tree, scope).lookup(self), None),
            Some(explain) => {
                let (answer, explanation) = Session::explaining(tree, scope, explain).lookup(self);
                (answer, Some(explanation))
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

/// What a lookup came to. A key set to `~` is found, and its value is null.
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

/// One node's view of a tree, for any number of lookups.
pub struct Session<'a> {
    tree: &'a dyn Tree,
    scope: &'a dyn Scope,
    /// What lookups record. It decides how layers are prepared: an explanation names every path, even one that has no
    /// file, and such layers take longer to make.
    explain: Option<Explain>,
    /// Lookups fail on undefined variables.
    is_strict: bool,
    global: Option<Rc<Prepared<'a>>>,
    /// Outer `None`: not asked yet. Inner `None`: the environment has no layer.
    environment: Option<Option<Rc<Prepared<'a>>>>,
    modules: SmallVec<[PreparedModule<'a>; 2]>,
    work: u64,
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
        (answer, explanation.unwrap_or_default())
    }
}

/// A module's layer, and what came of it where it has data.
type PreparedModule<'a> = (&'a Layer, Option<Rc<Prepared<'a>>>);

/// A layer as the node sees it.
struct Prepared<'a> {
    config: &'a HieraConfig,
    /// Made when it is needed: most lookups get along with the survey.
    plan: OnceCell<Plan<'a>>,
    /// Empty where lookups are explained, since every step is recorded then.
    survey: Survey<'a>,
}

/// What a step of the walk came to: `None` where there is no such key.
type Step<T = Value> = Result<Option<T>, LookupError>;

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
            work: 0,
        }
    }

    /// Answers a request.
    pub fn lookup(&mut self, request: &Request<'_>) -> Answer {
        self.run(request).0
    }

    fn run(&mut self, request: &Request<'_>) -> (Answer, Option<Explanation>) {
        let explanation = self.explain.map(|_| Explanation::default());
        let mut walk = Walk {
            session: self,
            overrides: request.overrides,
            defaults: request.default_values,
            explanation,
            names: SmallVec::new(),
            chain: 0,
            is_global_only: false,
            is_version_3: false,
            explained: 0,
            assembled: AssembledOptions::default(),
            found_name: None,
            hides: false,
            secrets: None,
            module: None,
            file: None,
            has_named_file: false,
            telling: None,
            told_of_remotes: None,
        };
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

    /// Do layers keep the paths that have no file?
    fn keeps_paths(&self) -> bool {
        self.explain.is_some()
    }

    fn global(&mut self) -> Result<Rc<Prepared<'a>>, LookupError> {
        static EMPTY: LazyLock<Layer> = LazyLock::new(|| Layer::empty(LayerKind::Global));
        if let Some(prepared) = &self.global {
            return Ok(prepared.clone());
        }
        // The global layer has a configuration even where there is no file for it.
        let prepared = match self.prepare(self.tree.global())? {
            Some(prepared) => prepared,
            None => self
                .prepare(&EMPTY)?
                .ok_or_else(|| ConfigFaults::new(Vec::new()))?,
        };
        self.global = Some(prepared.clone());
        Ok(prepared)
    }

    /// Is there anything to find in the global layer?
    fn has_global(&self) -> bool {
        !matches!(self.tree.global(), Layer::Absent | Layer::Ignored(_))
    }

    /// May data refer to the global layer alone? Which options hold for what it refers to then depends on the lookups
    /// around it, and they have to be worked out.
    fn may_confine_to_global(&self) -> bool {
        let is_version_3 =
            matches!(self.tree.global(), Layer::Configured(config) if config.version() == 3);
        let has_version_5 = || matches!(self.tree.environment(), Layer::Configured(config) if config.version() >= 5);
        is_version_3 && !has_version_5()
    }

    fn environment(&mut self) -> Result<Option<Rc<Prepared<'a>>>, LookupError> {
        if let Some(prepared) = &self.environment {
            return Ok(prepared.clone());
        }
        let prepared = self.prepare(self.tree.environment())?;
        self.environment = Some(prepared.clone());
        Ok(prepared)
    }

    fn module(&mut self, name: &str) -> Result<Option<Rc<Prepared<'a>>>, LookupError> {
        let Some(layer) = self.tree.module(name) else {
            return Ok(None);
        };
        let mut known = self.modules.iter();
        if let Some((_, prepared)) = known.find(|(known, _)| std::ptr::eq(*known, layer)) {
            return Ok(prepared.clone());
        }
        let prepared = self.prepare(layer)?;
        self.modules.push((layer, prepared.clone()));
        Ok(prepared)
    }

    fn prepare(&self, layer: &'a Layer) -> Result<Option<Rc<Prepared<'a>>>, LookupError> {
        match layer {
            Layer::Absent | Layer::Ignored(_) => Ok(None),
            Layer::Faulty(faults) => {
                // An explanation ends in what Puppet comes to first.
                if let (Some(before), true) = (faults.before(), self.keeps_paths()) {
                    self.check_variables(before)?;
                    Plan::make(before, self.tree, self.scope, self.keeps_paths())?;
                }
                Err(faults.clone().into())
            }
            Layer::Configured(config) => self.prepare_config(config).map(Some),
        }
    }

    /// Are the variables set that a configuration cannot do without?
    fn check_variables(&self, config: &HieraConfig) -> Result<(), LookupError> {
        match self
            .is_strict
            .then(|| config.undefined_variable(self.scope))
        {
            Some(Some(undefined)) => Err(undefined.into()),
            _ => Ok(()),
        }
    }

    fn prepare_config(&self, config: &'a HieraConfig) -> Result<Rc<Prepared<'a>>, LookupError> {
        self.check_variables(config)?;
        let index = match self.keeps_paths() {
            true => None,
            false => self.tree.layer_index(config.kind()),
        };
        if let Some(survey) = index.and_then(|index| index.survey(config, self.tree, self.scope)) {
            return Ok(Rc::new(Prepared {
                config,
                plan: OnceCell::new(),
                survey,
            }));
        }
        let plan = Plan::make(config, self.tree, self.scope, self.keeps_paths())?;
        let survey = match self.keeps_paths() {
            true => Survey::default(),
            false => plan.survey()?,
        };
        Ok(Rc::new(Prepared {
            config,
            plan: OnceCell::from(plan),
            survey,
        }))
    }

    /// The plan of a layer.
    fn plan<'p>(&self, prepared: &'p Prepared<'a>) -> Result<&'p Plan<'a>, LookupError> {
        if let Some(plan) = prepared.plan.get() {
            return Ok(plan);
        }
        let plan = Plan::make(prepared.config, self.tree, self.scope, self.keeps_paths())?;
        Ok(prepared.plan.get_or_init(|| plan))
    }

    /// The compiled options that hold for keys of a module, the highest level first; `None` where some have to be
    /// worked out.
    fn ready_options(
        &mut self,
        module: Option<&str>,
    ) -> Result<Option<SmallVec<[&'a LookupOptions; 8]>>, LookupError> {
        let mut all = SmallVec::new();
        let mut add = |prepared: Option<Rc<Prepared<'a>>>| match prepared {
            None => true,
            Some(prepared) => match &prepared.survey.options {
                Some(options) => {
                    all.extend_from_slice(options);
                    true
                }
                None => false,
            },
        };
        let mut is_ready = !self.has_global() || add(Some(self.global()?));
        is_ready &= add(self.environment()?);
        if let Some(module) = module {
            is_ready &= add(self.module(module)?);
        }
        Ok(is_ready.then_some(all))
    }
}
