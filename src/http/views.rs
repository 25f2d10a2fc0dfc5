//! Views of what is loaded: environments and their changes.

pub(super) mod changes;
pub(super) mod environments;
