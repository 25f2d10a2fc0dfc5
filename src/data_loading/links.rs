//! Which symbolic links in data directories may be followed (`reload.follow_links`).

use std::path::Path;

use crate::config::{CodeDirectory, FollowLinks};

/// Why a path must not be read: a link between `base` and the path leads where links must not lead. `None` if it may be
/// read.
pub(crate) fn link_refusal(
    code: &CodeDirectory,
    environment: &str,
    base: &Path,
    path: &Path,
) -> Option<&'static str> {
    if code.follow_links == FollowLinks::All {
        return None;
    }
    // An absent path leads nowhere, and a path that cannot be inspected fails when it is read.
    let (real, real_base) = (path.canonicalize().ok()?, base.canonicalize().ok()?);
    if real == real_base.join(path.strip_prefix(base).ok()?) {
        return None;
    }
    if code.follow_links == FollowLinks::None {
        return Some("it is a link, or below one, and `reload.follow_links` is `none`");
    }
    let is_below = |root: &Path| root.canonicalize().is_ok_and(|root| real.starts_with(root));
    let is_inside = is_below(&code.root) || is_below(&code.environment(environment));
    (!is_inside)
        .then_some("a link leads out of the code directory, and `reload.follow_links` is `inside`")
}
