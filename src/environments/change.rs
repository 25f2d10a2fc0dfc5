//! [`Change`]: what subscribers receive when an environment changes.

use std::sync::Arc;

use hiera_resolver::Fault;

/// A change of an environment.
#[derive(Clone, Debug)]
pub struct Change {
    /// The name of the environment.
    pub environment: String,
    /// What happened.
    pub kind: ChangeKind,
}

/// What happened to an environment.
#[derive(Clone, Debug)]
pub enum ChangeKind {
    /// A new snapshot is served.
    Loaded {
        /// Its revision.
        revision: String,
    },
    /// The old snapshot is kept because of faults in the data on disk.
    Kept {
        /// The revision that is served.
        revision: String,
        /// The faults.
        faults: Arc<[Fault]>,
    },
    /// The environment is gone.
    Removed,
    /// The server is stopping: this is the last change, of no particular environment.
    Stopping,
}
