//! [`Contents`]: what a good data file holds, ready for lookups.

use std::sync::Arc;

use puppet_values::table_key::{KeyFilter, TableKey, hash_of};
use puppet_values::{Hash, Value};

use super::fault::{FileFault, Notice, kind_of};
use super::file::RawFile;
use crate::lookup::options::{FileOptions, LOOKUP_OPTIONS, OptionsDiagnostics, OptionsError};
use crate::strictness::Strictness;

/// What a good file holds.
#[derive(Debug, Default)]
pub struct Contents {
    pub(super) data: Hash,
    /// Over the keys of `data`. Most files do not have the key that is looked up.
    filter: KeyFilter,
    options: FileOptions,
    /// Where the options are written and what is wrong with them. `None` if there are none.
    options_diagnostics: Option<Arc<OptionsDiagnostics>>,
    /// Puppet fails on a module's file that has such a key.
    has_other_keys: bool,
    /// What is odd but not a fault.
    notices: Vec<Notice>,
    /// What could not be decrypted: a fault of the lookups that need it.
    pub(super) undecryptable: Vec<Notice>,
    /// What the file holds if that is neither a hash nor nothing.
    instead_of_hash: Option<&'static str>,
}

impl Contents {
    fn new(data: Hash, notices: Vec<Notice>) -> Self {
        let options = FileOptions::compile(data.get(LOOKUP_OPTIONS));
        let (mut filter, mut has_other_keys) = (KeyFilter::default(), false);
        let data = with_plain_keys(data);
        for (key, _) in &data {
            match key {
                Value::Str(text) => filter.add(hash_of(text)),
                _ => has_other_keys = true,
            }
        }
        Contents {
            data,
            filter,
            options,
            options_diagnostics: None,
            has_other_keys,
            notices,
            undecryptable: Vec::new(),
            instead_of_hash: None,
        }
    }

    /// The contents of a file whose root must be a hash.
    pub fn of_root(file: &RawFile<'_>, root: Value) -> Result<Self, FileFault> {
        let Value::Hash(hash) = root else {
            return Err(FileFault::wrong_root(file.path, &root));
        };
        let contents = Contents::new(Arc::unwrap_or_clone(hash), Vec::new());
        Ok(contents.with_checked_options(|options, notices| {
            OptionsDiagnostics::of_text(options, file.bytes, notices)
        }))
    }

    /// The contents of a YAML file. A root that is not a hash counts as empty, unless lookups are strict; see
    /// [`Contents::fault_under`].
    pub(crate) fn of_yaml_root(
        file: &RawFile<'_>,
        root: Option<Value>,
        notices: Vec<Notice>,
        undecryptable: Vec<Notice>,
    ) -> Self {
        if let Some(Value::Hash(hash)) = root {
            let contents = Contents::new(Arc::unwrap_or_clone(hash), notices);
            return Contents {
                undecryptable,
                ..contents.with_checked_options(|options, notices| {
                    OptionsDiagnostics::of_yaml(options, file.bytes, notices)
                })
            };
        }
        // Puppet: `false` counts as an empty file.
        let is_something = !matches!(root, None | Some(Value::Null | Value::Bool(false)));
        let found = root.map_or("no data", |value| kind_of(&value));
        let text = format!("the file holds {found} where a hash is expected, and counts as empty");
        Contents {
            notices: vec![Notice::about_file(text)],
            instead_of_hash: is_something.then_some(found),
            ..Contents::default()
        }
    }

    /// The same file with other values.
    pub(super) fn with_data(&self, data: Hash) -> Self {
        Contents {
            options_diagnostics: self.options_diagnostics.clone(),
            ..Contents::new(data, self.notices.clone())
        }
    }

    /// Checks `lookup_options`, if there are some.
    fn with_checked_options(
        mut self,
        check: impl FnOnce(&Value, &mut Vec<Notice>) -> OptionsDiagnostics,
    ) -> Self {
        if let Some(options) = self.data.get(LOOKUP_OPTIONS) {
            self.options_diagnostics = Some(Arc::new(check(options, &mut self.notices)));
        }
        self
    }

    /// Why the file cannot be used if lookups are this strict.
    pub(super) fn fault_under(
        &self,
        path: &arcstr::ArcStr,
        strictness: Strictness,
    ) -> Option<FileFault> {
        let found = self.instead_of_hash.filter(|_| strictness.is_error())?;
        Some(FileFault::NotAHash {
            path: path.clone(),
            found,
            mismatch: None,
        })
    }

    /// The value of a key, as written in the file.
    pub fn get(&self, key: &TableKey) -> Option<&Value> {
        if !self.filter.may_have(key.hash()) {
            return None;
        }
        self.data.get_hashed(key)
    }

    /// The number of keys.
    pub fn len(&self) -> usize {
        self.data.len()
    }

    /// Has it no key?
    pub fn is_empty(&self) -> bool {
        self.data.is_empty()
    }

    /// Its `lookup_options`.
    pub(crate) fn options(&self) -> &FileOptions {
        &self.options
    }

    /// Has it a key that is not a string?
    pub(crate) fn has_other_keys(&self) -> bool {
        self.has_other_keys
    }

    /// What could not be decrypted.
    pub fn undecryptable(&self) -> &[Notice] {
        &self.undecryptable
    }

    /// Has it `lookup_options`?
    pub fn has_options(&self) -> bool {
        self.options_diagnostics.is_some()
    }

    /// What is wrong with its `lookup_options`: a fault of the lookups that need them.
    pub fn option_faults(&self) -> &[Notice] {
        let notes = self.options_diagnostics.as_ref();
        notes.map(|notes| notes.faults()).unwrap_or_default()
    }

    /// Where its `lookup_options` are written.
    pub(crate) fn options_diagnostics(&self) -> Option<&OptionsDiagnostics> {
        self.options_diagnostics.as_deref()
    }

    /// A key or pattern of its `lookup_options` that does not belong to this module, with its line and column: a fault
    /// if the file is the module's.
    pub fn foreign_options(&self, module: &str) -> Option<Notice> {
        let FileOptions::Ready(options) = &self.options else {
            return None;
        };
        let error = options.check_namespace(module).err()?;
        let OptionsError::ForeignKey { key, .. } = &error else {
            return None;
        };
        let mark = self.options_diagnostics()?.position(Some(key))?;
        Some(Notice::at(mark, error.to_string()))
    }

    /// What is odd but not a fault.
    pub fn notices(&self) -> &[Notice] {
        &self.notices
    }
}

/// The data of a file under its keys as written. Puppet interpolates the values of root keys and not the keys, so
/// `'%{facts.name}'` in quotes is a key that can be looked up.
fn with_plain_keys(data: Hash) -> Hash {
    if !data
        .iter()
        .any(|(key, _)| matches!(key, Value::Template(_)))
    {
        return data;
    }
    let plain = |key: &Value| match key {
        Value::Template(template) => Value::str(template.source()),
        other => other.clone(),
    };
    let entries = data.iter().map(|(key, value)| (plain(key), value.clone()));
    entries.collect()
}
