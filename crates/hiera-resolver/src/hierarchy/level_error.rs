//! [`LevelError`]: a level of a hierarchy that cannot be used for a node.

use arcstr::ArcStr;

use super::glob::GlobError;

/// A level that cannot be used.
#[derive(Clone, Debug, thiserror::Error)]
pub enum LevelError {
    /// The function of the level does not exist.
    #[error(
        "level \"{level}\" of `{config}`: there is no {kind} function '{function}' here; there are {}",
        crate::data_functions::names()
    )]
    UnknownFunction {
        /// The configuration.
        config: ArcStr,
        /// The level.
        level: ArcStr,
        /// `data_hash`, `lookup_key`, ...
        kind: &'static str,
        /// The function.
        function: ArcStr,
    },
    /// The function of the level cannot work with it.
    #[error("level \"{level}\" of `{config}`: {problem}")]
    Unusable {
        /// The configuration.
        config: ArcStr,
        /// The level.
        level: ArcStr,
        /// What is wrong.
        problem: String,
    },
    /// An address that is not valid once its tokens are filled in.
    #[error("level \"{level}\": {problem}")]
    Address {
        /// The level.
        level: ArcStr,
        /// What Ruby says.
        problem: String,
    },
    /// A variable changes the part of an address that it must not change.
    #[error("level \"{level}\": a variable adds {what} to its address, which is not allowed")]
    AddressLeadsOut {
        /// The level.
        level: ArcStr,
        /// What it adds.
        what: &'static str,
    },
    /// A location with the parent of a link's target, which is not known.
    #[error(
        "level \"{level}\": its location has `..` behind the link `{link}`, which is not supported; write the path \
         without it"
    )]
    ParentOfLink {
        /// The level.
        level: ArcStr,
        /// The link.
        link: String,
    },
    /// A glob that takes too much work.
    #[error("level \"{level}\": the glob `{pattern}` cannot be searched: {error}")]
    Glob {
        /// The level.
        level: ArcStr,
        /// The glob as it was filled in.
        pattern: String,
        /// What is too much.
        error: GlobError,
    },
    /// `mapped_paths` over something that has no elements.
    #[error(
        "`mapped_paths` goes through `{variable}`, which is neither a string, an array nor a hash but {class}"
    )]
    NotMappable {
        /// The variable.
        variable: ArcStr,
        /// What it is.
        class: &'static str,
    },
    /// A data file of a module has a key that is not text.
    #[error("`{path}` of module '{module}' has a top-level key that is not a string")]
    ModuleKeyNotText {
        /// The file.
        path: ArcStr,
        /// The module.
        module: ArcStr,
    },
}
