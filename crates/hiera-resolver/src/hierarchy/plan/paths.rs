//! `path`s and `glob`s of a level, filled in → files.

use std::borrow::Cow;

use arcstr::ArcStr;

use super::Location;
use super::fill::{Filled, fill, fill_parts, fill_text};
use super::planner::Planner;
use crate::data::FileFault;
use crate::hierarchy::glob::EntryKind;
use crate::hierarchy::{ConfigText, Level, LevelError, path};
use crate::lookup::LookupError;
use crate::scope::Scope;

/// The directory of a level, filled in.
pub(super) struct FilledDirectory<'a> {
    level: &'a Level,
    /// `None`: it has no tokens.
    filled: Option<Filled>,
    leads_out: bool,
}

impl<'a> FilledDirectory<'a> {
    pub(super) fn of(level: &'a Level, scope: &dyn Scope) -> Result<Self, LookupError> {
        let mut directory = FilledDirectory {
            level,
            filled: None,
            leads_out: false,
        };
        if let Some(template) = level.datadir().template() {
            let mut filled = Filled::default();
            fill(template, scope, &mut filled)?;
            directory.leads_out = filled.leads_out(level.datadir().source());
            directory.filled = Some(filled);
        }
        Ok(directory)
    }

    fn text(&self) -> &str {
        let filled = self.filled.as_ref().map(|filled| filled.text.as_str());
        filled.unwrap_or(self.level.datadir().source())
    }

    fn as_glob(&self) -> Cow<'_, str> {
        let filled = self.filled.as_ref().map(Filled::as_glob);
        filled.unwrap_or(Cow::Borrowed(self.level.datadir().source()))
    }
}

impl<'a> Planner<'a> {
    /// Adds the location of a `path`.
    pub(super) fn path(
        &mut self,
        level: &'a Level,
        datadir: &FilledDirectory<'_>,
        text: &ConfigText,
        scope: &dyn Scope,
    ) -> Result<(), LookupError> {
        if self.plain_path(level, text, scope)? {
            let file = self.tree.file(&self.filled.text, level.format());
            self.locations.push(Location {
                original: ArcStr::new(),
                path: String::new(),
                is_uri: false,
                file,
            });
            return Ok(());
        }
        fill_text(text, scope, &mut self.filled)?;
        self.add_extension(level);
        let leads_out = datadir.leads_out || self.filled.leads_out(text.source());
        let joined = path::join(datadir.text(), &self.filled.text);
        let resolved = match leads_out {
            true => None,
            false => self.resolve(level, &joined)?,
        };
        let file = resolved.and_then(|path| self.tree.file(&path, level.format()));
        let (original, path) = if self.keeps_paths {
            (text.source().clone(), joined)
        } else {
            (ArcStr::new(), String::new())
        };
        self.locations.push(Location {
            original,
            path,
            is_uri: false,
            file,
        });
        Ok(())
    }

    /// A path without doubled slashes, `.` and `..`; `None` if it goes through a directory that does not exist.
    fn resolve<'p>(
        &self,
        level: &Level,
        path: &'p str,
    ) -> Result<Option<Cow<'p, str>>, LookupError> {
        let normal = path::normalize(path);
        if path::parents(path) > 0 {
            let mut before = String::new();
            for name in path.split('/').filter(|name| !matches!(*name, "" | ".")) {
                if name != ".." {
                    before.push('/');
                    before.push_str(name);
                    continue;
                }
                match self.tree.kind_of(&before) {
                    _ if before.is_empty() => {}
                    Some(EntryKind::Directory) => before.truncate(before.rfind('/').unwrap_or(0)),
                    Some(EntryKind::LinkToDirectory) => {
                        return Err(LevelError::ParentOfLink {
                            level: level.name().clone(),
                            link: before,
                        }
                        .into());
                    }
                    _ => return Ok(None),
                }
            }
        }
        let wants_directory = path.ends_with('/') || path.ends_with("/.");
        let is_directory =
            || matches!(self.tree.kind_of(&normal), Some(kind) if kind != EntryKind::File);
        Ok((!wants_directory || is_directory()).then_some(normal))
    }

    /// Fills in a path that is normalized as written, as nearly all are, and appends it to its directory. Returns whether
    /// it turned out to be one: then it need not be joined, normalized and checked for where it leads.
    fn plain_path(
        &mut self,
        level: &Level,
        text: &ConfigText,
        scope: &dyn Scope,
    ) -> Result<bool, LookupError> {
        if self.keeps_paths || !level.has_plain_path(text) {
            return Ok(false);
        }
        self.filled.clear();
        self.filled.text.push_str(level.datadir().source());
        self.filled.text.push('/');
        match text.template() {
            None => self.filled.text.push_str(text.source()),
            Some(template) => fill_parts(template, scope, &mut self.filled)?,
        }
        self.add_extension(level);
        Ok(self.filled.are_variables_plain())
    }

    /// Appends the extension of a level's files, if it has one and the path does not end in it.
    fn add_extension(&mut self, level: &Level) {
        if let Some(extension) = level.extension()
            && !self.filled.text.ends_with(extension)
        {
            self.filled.text.push_str(extension);
        }
    }

    /// Adds the locations that a `glob` finds.
    pub(super) fn glob(
        &mut self,
        level: &'a Level,
        datadir: &FilledDirectory<'_>,
        text: &ConfigText,
        scope: &dyn Scope,
    ) -> Result<(), LookupError> {
        fill_text(text, scope, &mut self.filled)?;
        if datadir.leads_out || self.filled.leads_out(text.source()) {
            return Ok(());
        }
        let shown = path::join(datadir.text(), &self.filled.text);
        let pattern = path::join(&datadir.as_glob(), &self.filled.as_glob());
        let found = self.tree.glob(&pattern);
        let found = found.map_err(|error| LevelError::Glob {
            level: level.name().clone(),
            pattern: shown.clone(),
            error,
        })?;
        // Braces around a variable (`{%{facts.list}}`) become a path, or a part of one, only now.
        let parents = [level.datadir(), text].map(|it| it.source().matches("..").count());
        let leads_out = |path: &str| path::parents(path) > parents.iter().sum();
        let original = ArcStr::from(shown);
        for path in found.into_iter().filter(|path| !leads_out(path)) {
            let file = self.tree.file(&path::normalize(&path), level.format());
            // A glob finds dangling links, and Puppet then fails to read them.
            let file = file.ok_or_else(|| FileFault::dangling(&path))?;
            let path = if self.keeps_paths {
                path
            } else {
                String::new()
            };
            self.locations.push(Location {
                original: original.clone(),
                path,
                is_uri: false,
                file: Some(file),
            });
        }
        Ok(())
    }
}
