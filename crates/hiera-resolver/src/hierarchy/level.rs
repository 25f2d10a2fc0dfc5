//! [`Level`]: a level of a hierarchy: where it looks, and with which function.

use std::hash::BuildHasher as _;

use arcstr::ArcStr;
use puppet_values::Value;

use super::config_text::ConfigText;
use crate::data::{Format, KeysId};
use crate::data_functions::LevelFunction;
use crate::template::Variable;

/// A level of a hierarchy.
#[derive(Clone, Debug)]
pub struct Level {
    name: ArcStr,
    function: LevelFunction,
    /// An absolute path, which may have tokens.
    datadir: ConfigText,
    locations: Locations,
    /// What paths end in if they do not have it themselves (configurations of version 3 and 4).
    extension: Option<ArcStr>,
    options: Option<Value>,
    line: u32,
    /// Invariant: follows from `function` and `options`, like `options_problem`.
    format: Format,
    options_problem: Option<ArcStr>,
}

/// Where a level looks.
#[derive(Clone, Debug)]
pub enum Locations {
    /// The level has no location setting.
    None,
    /// `path`, `paths`
    Paths(Vec<ConfigText>),
    /// `glob`, `globs`
    Globs(Vec<ConfigText>),
    /// `uri`, `uris`
    Uris(Vec<ConfigText>),
    /// `mapped_paths`
    Mapped {
        /// The variable to iterate over.
        variable: Variable,
        /// The variable that each of its elements is assigned to.
        name: ArcStr,
        /// The path for each element.
        path: ConfigText,
    },
}

impl Level {
    pub(super) fn new(
        name: &str,
        function: LevelFunction,
        datadir: ConfigText,
        locations: Locations,
    ) -> Self {
        let level = Level {
            name: name.into(),
            function,
            datadir,
            locations,
            extension: None,
            options: None,
            line: 0,
            format: Format::UNREAD,
            options_problem: None,
        };
        level.with_options(None)
    }

    pub(super) fn at_line(self, line: u32) -> Self {
        Level { line, ..self }
    }

    pub(super) fn with_extension(self, extension: &str) -> Self {
        Level {
            extension: Some(extension.into()),
            ..self
        }
    }

    pub(super) fn with_options(self, options: Option<Value>) -> Self {
        let function = self.function.known();
        let check = |options: &Value| {
            let problem = (function?.check_options)(options.as_hash()?).err()?;
            Some(ArcStr::from(problem))
        };
        Level {
            format: function.map_or(Format::UNREAD, |function| {
                Format::new(function, keys_id(options.as_ref()))
            }),
            options_problem: options.as_ref().and_then(check),
            options,
            ..self
        }
    }

    /// Its name.
    pub fn name(&self) -> &ArcStr {
        &self.name
    }

    /// What gets its data.
    pub fn function(&self) -> &LevelFunction {
        &self.function
    }

    /// The directory that its paths are relative to.
    pub fn datadir(&self) -> &ConfigText {
        &self.datadir
    }

    /// Can a path be appended to the directory as both are written, once its tokens are names?
    pub(crate) fn has_plain_path(&self, path: &ConfigText) -> bool {
        self.datadir.is_plain()
            && self.datadir.template().is_none()
            && path.is_plain()
            && !path.source().starts_with('/')
    }

    /// Where it looks.
    pub fn locations(&self) -> &Locations {
        &self.locations
    }

    /// What its paths end in, if they leave it out.
    pub fn extension(&self) -> Option<&str> {
        self.extension.as_deref()
    }

    /// The options of its function.
    pub fn options(&self) -> Option<&Value> {
        self.options.as_ref()
    }

    /// Why its function cannot use its options.
    pub(crate) fn options_problem(&self) -> Option<&str> {
        self.options_problem.as_deref()
    }

    /// The line it starts at.
    pub fn line(&self) -> u32 {
        self.line
    }

    /// The format of its files.
    pub fn format(&self) -> Format {
        self.format
    }
}

fn keys_id(options: Option<&Value>) -> KeysId {
    options.map_or(0, |options| {
        foldhash::quality::FixedState::default().hash_one(options)
    })
}
