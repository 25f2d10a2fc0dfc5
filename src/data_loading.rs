//! Data loading: a code directory → [`Snapshot`](hiera_resolver::Snapshot)s.
//!
//! Nothing else in the server reads data. A `Load` reads the configurations of an environment first (`layers`,
//! `environment_conf`, `module_path`), since they decide which files matter; then it searches the directories that they
//! name (`search`, `listings`), and reads and decodes each file on all cores (`decode`), or reuses it from the previous
//! load if it has not changed (`file_fingerprint`). If only a few files changed, `incremental` reads just these. A fault
//! stays with its file: loading itself cannot fail.

mod decode;
mod environment_conf;
mod environment_names;
mod file_changes;
mod file_fingerprint;
mod incremental;
mod key_rings;
mod layers;
mod links;
mod listings;
mod load;
mod loaded;
mod module_path;
mod no_environments;
mod parent_directory;
pub(crate) mod progress;
mod read;
mod revision;
mod search;
mod stability_check;
mod unreported_writes;

pub(crate) use self::decode::decode_one;
pub(crate) use self::environment_conf::EnvironmentConf;
pub(crate) use self::environment_names::environment_names;
pub(crate) use self::file_changes::FileChanges;
pub(crate) use self::file_fingerprint::{FileFingerprint, FileIdentity};
pub(crate) use self::key_rings::KeyRings;
pub(crate) use self::layers::{
    ConfigFiles, environment_layer, global_layer, is_module_name, module_layer,
};
pub(crate) use self::links::link_refusal;
pub(crate) use self::listings::{Listings, nearest_directory};
pub(crate) use self::load::{Load, all_cores, all_cores_but_one};
pub(crate) use self::loaded::LoadedEnvironment;
pub(crate) use self::no_environments::NoEnvironments;
pub(crate) use self::search::Search;
pub(crate) use self::stability_check::Stability;
