//! Tools that some tests need and that not every machine has.

use std::io::Write as _;

/// Is this program installed? If not, the test is reported as skipped; with `CI` set, it fails.
///
/// ```ignore
/// if !has_tool("git") {
///     return;
/// }
/// ```
#[track_caller]
pub(crate) fn has_tool(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_installed = std::env::split_paths(&path).any(|directory| {
        let file = directory.join(program);
        file.is_file()
    });
    if !is_installed {
        report_missing(program);
    }
    is_installed
}

#[track_caller]
fn report_missing(program: &str) {
    let current = std::thread::current();
    let test = current.name().unwrap_or("a test");
    assert!(
        std::env::var_os("CI").is_none_or(|value| value.is_empty()),
        "`{program}` is not installed, and CI is set"
    );
    // Not `eprintln!`: the test harness hides what a passing test prints with it.
    let line = format!("SKIPPED: {test}: `{program}` is not installed\n");
    std::io::stderr().write_all(line.as_bytes()).unwrap();
}

/// Can [`without_privileges`] work? If not, the test is skipped as by [`has_tool`].
#[track_caller]
pub(crate) fn can_drop_privileges() -> bool {
    !rustix::process::geteuid().is_root() || has_tool("setpriv")
}

/// A shell command for [`Process::launch_after`] that makes permissions apply even to root.
///
/// [`Process::launch_after`]: crate::support::process::Process::launch_after
pub(crate) fn without_privileges() -> &'static str {
    // Without capabilities, root may do what the mode bits of its own files allow, as any other user.
    "{ [ $(id -u) != 0 ] || set -- setpriv --bounding-set -all --inh-caps -all \"$@\"; }"
}
