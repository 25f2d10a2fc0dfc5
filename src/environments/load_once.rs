//! [`load_once`]: every environment of a code directory, without reloading.

use super::Environments;
use crate::config::CodeDirectory;
use crate::data_loading::progress::Progress;
use crate::data_loading::{self, Load, NoEnvironments};

/// Loads every environment of a code directory once.
pub fn load_once(code: &CodeDirectory) -> Environments {
    let environments = Environments::new();
    let progress = Progress::silent();
    for name in data_loading::environment_names(code).unwrap_or_default() {
        let load = Load::from_scratch(code, &name, &progress);
        environments.serve(&name, load.run().snapshot);
    }
    if environments.all().is_empty() {
        environments.report_no_environments(&NoEnvironments::in_directory(code));
    }
    environments.set_loaded();
    environments
}
