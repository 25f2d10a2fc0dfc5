//! Layers prepared for a session: the files that the node sees in them, found when a layer is first needed.

use std::cell::OnceCell;
use std::rc::Rc;
use std::sync::LazyLock;

use smallvec::SmallVec;

use super::session::Session;
use crate::hierarchy::plan::Plan;
use crate::hierarchy::visible_files::VisibleFiles;
use crate::hierarchy::{ConfigFaults, HieraConfig, Layer, LayerKind};
use crate::lookup::LookupError;
use crate::lookup::options::LookupOptions;

/// A module's layer, prepared if it has data.
pub(super) type PreparedModule<'a> = (&'a Layer, Option<Rc<Prepared<'a>>>);

/// A layer as the node sees it.
pub(super) struct Prepared<'a> {
    pub(super) config: &'a HieraConfig,
    /// Made when it is needed; the visible files are enough for most lookups.
    plan: OnceCell<Plan<'a>>,
    /// Empty if lookups are explained, since every step is recorded then.
    pub(super) visible_files: VisibleFiles<'a>,
}

impl<'a> Session<'a> {
    /// Do layers keep the paths that have no file?
    fn keeps_paths(&self) -> bool {
        self.explain.is_some()
    }

    /// The global layer.
    pub(super) fn global(&mut self) -> Result<Rc<Prepared<'a>>, LookupError> {
        static EMPTY: LazyLock<Layer> = LazyLock::new(|| Layer::empty(LayerKind::Global));
        if let Some(prepared) = &self.global {
            return Ok(prepared.clone());
        }
        // The global layer has a configuration even if there is no file for it.
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
    pub(super) fn has_global(&self) -> bool {
        !matches!(self.tree.global(), Layer::Absent | Layer::Ignored(_))
    }

    /// May data refer to the global layer alone? The options of the keys it refers to then depend on the lookups around
    /// it, and are only known then.
    pub(super) fn may_confine_to_global(&self) -> bool {
        let is_version_3 =
            matches!(self.tree.global(), Layer::Configured(config) if config.version() == 3);
        let has_version_5 = || matches!(self.tree.environment(), Layer::Configured(config) if config.version() >= 5);
        is_version_3 && !has_version_5()
    }

    /// The environment's layer.
    pub(super) fn environment(&mut self) -> Result<Option<Rc<Prepared<'a>>>, LookupError> {
        if let Some(prepared) = &self.environment {
            return Ok(prepared.clone());
        }
        let prepared = self.prepare(self.tree.environment())?;
        self.environment = Some(prepared.clone());
        Ok(prepared)
    }

    /// A module's layer.
    pub(super) fn module(&mut self, name: &str) -> Result<Option<Rc<Prepared<'a>>>, LookupError> {
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
                // An explanation ends with the mistake that Puppet finds first.
                if let (Some(before), true) = (faults.before(), self.keeps_paths()) {
                    self.check_variables(before)?;
                    Plan::make(before, self.tree, self.scope, self.keeps_paths())?;
                }
                Err(faults.clone().into())
            }
            Layer::Configured(config) => self.prepare_config(config).map(Some),
        }
    }

    /// Checks that the variables are set which a configuration needs.
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
        let visible_files =
            index.and_then(|index| index.visible_files(config, self.tree, self.scope));
        if let Some(visible_files) = visible_files {
            return Ok(Rc::new(Prepared {
                config,
                plan: OnceCell::new(),
                visible_files,
            }));
        }
        let plan = Plan::make(config, self.tree, self.scope, self.keeps_paths())?;
        let visible_files = match self.keeps_paths() {
            true => VisibleFiles::default(),
            false => plan.visible_files()?,
        };
        Ok(Rc::new(Prepared {
            config,
            plan: OnceCell::from(plan),
            visible_files,
        }))
    }

    /// The plan of a layer.
    pub(super) fn plan<'p>(&self, prepared: &'p Prepared<'a>) -> Result<&'p Plan<'a>, LookupError> {
        if let Some(plan) = prepared.plan.get() {
            return Ok(plan);
        }
        let plan = Plan::make(prepared.config, self.tree, self.scope, self.keeps_paths())?;
        Ok(prepared.plan.get_or_init(|| plan))
    }

    /// The compiled options that apply to keys of a module, the highest level first; `None` if some depend on
    /// the lookup.
    pub(super) fn ready_options(
        &mut self,
        module: Option<&str>,
    ) -> Result<Option<SmallVec<[&'a LookupOptions; 8]>>, LookupError> {
        let mut all = SmallVec::new();
        let mut add = |prepared: Option<Rc<Prepared<'a>>>| match prepared {
            None => true,
            Some(prepared) => match &prepared.visible_files.options {
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
