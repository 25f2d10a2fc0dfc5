//! The walk of one lookup, from top to bottom: names → options → layers → levels → files → merged, dug, converted value.
//!
//! It mirrors Puppet's step by step, because the order of its steps shows in results, errors and explanations.

use std::borrow::Cow;

use arcstr::{ArcStr, literal};
use puppet_types::{Type, assert_instance};
use puppet_values::{Hash, Value};
use smallvec::SmallVec;

use super::Step;
use super::assemble::AssembledOptions;
use super::remote::RemoteHistory;
use super::request::{Explain, Outcome, Request};
use super::secrets::Secrets;
use super::session::Session;
use crate::explain::words::subjects::Subject;
use crate::explain::{Explanation, NodeKind, PuppetError};
use crate::key::LookupKey;
use crate::lookup::LookupError;
use crate::lookup::options::{self, Conversion, KeyOptions, LOOKUP_OPTIONS};
use crate::merge::MergeStrategy;

/// A lookup under way.
pub(super) struct Walk<'s, 'a> {
    pub(super) session: &'s mut Session<'a>,
    pub(super) overrides: Option<&'s Hash>,
    pub(super) defaults: Option<&'s Hash>,
    pub(super) explanation: Option<Box<Explanation>>,
    /// The keys being looked up, outermost first.
    pub(super) names: SmallVec<[ArcStr; 4]>,
    pub(super) chain: usize,
    /// Inside data of a global layer of version 3, for which the environment has no layer.
    pub(super) is_global_only: bool,
    /// Inside data of a global layer of version 3, which has variables of its own.
    pub(super) is_version_3: bool,
    /// Bytes of the values in the explanation so far.
    pub(super) explained: usize,
    pub(super) assembled: AssembledOptions,
    /// Which of the names asked for was found.
    pub(super) found_name: Option<usize>,
    /// The value becomes a Sensitive in the end, so explanations and errors must not show it.
    pub(super) hides: bool,
    /// Decrypted texts, and everything derived from them. `None` until there is one.
    pub(super) secrets: Option<Box<Secrets>>,
    /// The module of the key that was asked for.
    pub(super) module: Option<ArcStr>,
    /// The file whose value is being filled in, if errors have to name it.
    pub(super) file: Option<ArcStr>,
    /// A value that cannot be interpolated was looked up once more, to name its file. Done once in a lookup: nested
    /// lookups would each double the work.
    pub(super) has_named_file: bool,
    /// Puppet's form of the error that is being returned.
    pub(super) puppet_error: Option<PuppetError>,
    /// What was asked of other servers. `None` until something was.
    pub(super) remote_history: Option<Box<RemoteHistory>>,
}

impl<'s, 'a> Walk<'s, 'a> {
    pub(super) fn new(session: &'s mut Session<'a>, request: &Request<'s>) -> Self {
        Walk {
            explanation: session.explain.map(|_| Box::default()),
            session,
            overrides: request.overrides,
            defaults: request.default_values,
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
            puppet_error: None,
            remote_history: None,
        }
    }

    /// The first of the names that is found; then the defaults.
    pub(super) fn lookup(
        &mut self,
        names: &[&str],
        default: Option<&Value>,
        merge: Option<&MergeStrategy>,
        value_type: Option<&Type>,
    ) -> Result<Outcome, LookupError> {
        let Some((subject, value)) = self.first_value(names, default, merge)? else {
            return Ok(Outcome::NotFound);
        };
        match value_type {
            Some(value_type) => self.assert_type(subject, value_type, value),
            None => Ok(Outcome::Found(value)),
        }
    }

    #[inline]
    fn first_value<'n>(
        &mut self,
        names: &[&'n str],
        default: Option<&Value>,
        merge: Option<&MergeStrategy>,
    ) -> Step<(Subject<'n>, Value)> {
        for (index, name) in names.iter().enumerate() {
            if let Some(value) = self.overrides.and_then(|overrides| overrides.get(name)) {
                return Ok(Some((Subject::Override(name), value.clone())));
            }
            if let Some(value) = self.search(name, merge)? {
                self.found_name = Some(index);
                return Ok(Some((Subject::Found, value)));
            }
        }
        for name in names {
            if let Some(value) = self.defaults.and_then(|defaults| defaults.get(name)) {
                return Ok(Some((Subject::DefaultValues(name), value.clone())));
            }
        }
        Ok(default.map(|value| (Subject::Default, value.clone())))
    }

    fn assert_type(
        &self,
        subject: Subject<'_>,
        expected: &Type,
        value: Value,
    ) -> Result<Outcome, LookupError> {
        match assert_instance(&subject.to_string(), expected, &value) {
            Ok(()) => Ok(Outcome::Found(value)),
            Err(mismatch) => Err(self.of_values(&[&value], LookupError::TypeMismatch(mismatch))),
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

    fn search_key(&mut self, key: &LookupKey, merge: Option<&MergeStrategy>) -> Step {
        if self.chain == 0 && self.explanation.is_some() {
            self.module = key.module().map(ArcStr::from);
        }
        if self.session.explain == Some(Explain::Options) {
            let options = LookupKey::parse(LOOKUP_OPTIONS)?;
            self.search_layers(&options, key.module(), &MergeStrategy::HASH)?;
            return Ok(Some(Value::Null));
        }
        let options = self
            .options_of(key)
            .map_err(|error| self.locate_in_options(error, None, key.module()))?;
        let options = options.as_deref();
        let strategy = self.choose_strategy(key, merge, options)?;
        // What is about to become a Sensitive must not be shown before it is one.
        let conversion = options.and_then(KeyOptions::convert_to);
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
            Ok(Some(value)) => self.convert(key, value, options).map(Some),
            other => other,
        };
        let converted = match self.hides {
            true => converted.map_err(LookupError::withheld),
            false => converted,
        };
        self.hides = outer;
        converted
    }

    /// What `lookup_options` say about a key.
    fn options_of(&mut self, key: &LookupKey) -> Step<Cow<'a, KeyOptions>> {
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

    /// The strategy of the request, else that of the options.
    fn choose_strategy<'o>(
        &mut self,
        key: &LookupKey,
        merge: Option<&'o MergeStrategy>,
        options: Option<&'o KeyOptions>,
    ) -> Result<&'o MergeStrategy, LookupError> {
        let Some(options) = options else {
            return Ok(merge.unwrap_or(&MergeStrategy::DEFAULT));
        };
        let chosen = match merge {
            // Options that cannot be used fail the lookup even if the request says how to merge.
            Some(merge) => options.check().map(|()| merge),
            None => match options.merge() {
                Ok(None) => Ok(&MergeStrategy::DEFAULT),
                Ok(Some(strategy)) => {
                    self.report_merge_source();
                    Ok(strategy)
                }
                Err(error) => {
                    // Puppet parses the strategy when it searches.
                    if matches!(error, LookupError::Merge(_)) {
                        self.report_merge_source();
                        self.node(|| (NodeKind::Search, Some(key.as_str().into())), |_| ());
                    }
                    Err(error)
                }
            },
        };
        chosen.map_err(|error| self.locate_in_options(error, Some(options.name()), key.module()))
    }

    fn report_merge_source(&mut self) {
        let kind = || (NodeKind::MergeSource, Some(literal!("lookup_options")));
        self.node(kind, |_| ());
    }

    /// Searches global, environment and module layer as one hierarchy, then follows the segments of the key.
    fn search_layers(
        &mut self,
        key: &LookupKey,
        module: Option<&str>,
        strategy: &MergeStrategy,
    ) -> Step {
        match self.merged_root(key, module, strategy)? {
            Some(value) if key.segments().is_empty() => Ok(Some(value)),
            Some(value) => self.dig(value, key.segments(), key.as_str()),
            None => Ok(None),
        }
    }
}
