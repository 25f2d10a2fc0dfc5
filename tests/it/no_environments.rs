//! Code directories without environments: what each command says, and when a server becomes ready.

use std::os::unix::fs::symlink;
use std::path::Path;

use crate::support::process::{Process, wait_for};
use crate::support::{Tree, hierad};

/// Checks that `check` and `lookup` refuse a code directory and that a server for it is not ready, for this reason.
#[track_caller]
fn check_no_environments(tree: &Tree, codedir: &Path, reason: &str) {
    let mut check = hierad();
    check.args(["check", "--codedir"]).arg(codedir);
    let (code, stdout, stderr) = tree.run(&mut check);
    assert_eq!((code, stdout.as_str()), (Some(1), ""), "{stderr}");
    assert_eq!(stderr, format!("hierad: {reason}\n"));
    let mut lookup = hierad();
    lookup.args(["lookup", "k", "--codedir"]).arg(codedir);
    let (code, _, stderr) = tree.run(&mut lookup);
    assert_eq!(code, Some(1));
    assert_eq!(stderr, format!("hierad: {reason}\n"));
    let mut command = hierad();
    command.arg("serve").arg("--codedir").arg(codedir);
    let server = Process::launch_command(command, &[]);
    wait_for("the reason to be given", || {
        let answer = server.get("/readyz");
        assert_eq!(answer.status, 503, "{}", answer.text());
        let problem = answer.json();
        assert_eq!(problem["type"], "/problems/not-loaded");
        (tree.shown(problem["detail"].as_str().unwrap()) == reason).then_some(())
    });
    assert_eq!(server.get("/livez").status, 200);
    assert_eq!(server.lookup(br#"{"key":"k"}"#).status, 503);
    let log = tree.shown(&server.log());
    assert!(log.contains(&format!("ERROR {reason}")), "{log}");
    assert!(!log.contains("ready"), "{log}");
}

#[test]
fn a_code_directory_without_environments_is_reported_with_the_expected_path() {
    let reason = "there is no environment in `<ROOT>/code/environments`; \
                  expected `<ROOT>/code/environments/<name>/hiera.yaml`";
    let tree = Tree::without_environments();
    check_no_environments(&tree, &tree.codedir(), reason);
    std::fs::create_dir(tree.path("C/environments")).unwrap();
    check_no_environments(&tree, &tree.codedir(), reason);
}

#[test]
fn environments_that_cannot_be_listed_are_reported_with_the_system_error() {
    let tree = Tree::without_environments();
    let environments = tree.path("C/environments");
    symlink(&environments, &environments).unwrap();
    let reason = "cannot read `<ROOT>/code/environments`: Too many levels of symbolic links (os error 40); \
                  expected `<ROOT>/code/environments/<name>/hiera.yaml`";
    check_no_environments(&tree, &tree.codedir(), reason);
    std::fs::remove_file(&environments).unwrap();
    tree.write("C/environments", "");
    let reason = "cannot read `<ROOT>/code/environments`: Not a directory (os error 20); \
                  expected `<ROOT>/code/environments/<name>/hiera.yaml`";
    check_no_environments(&tree, &tree.codedir(), reason);
}

#[test]
fn an_environment_given_as_code_directory_is_recognized() {
    for file in ["hiera.yaml", "environment.conf"] {
        let tree = Tree::without_environments();
        tree.write(&format!("C/{file}"), "");
        let reason = format!(
            "`<ROOT>/code` is an environment, not a code directory: it has `{file}`. Run `hierad check <ROOT>/code` \
             to check it alone, or set --codedir to the directory that has it as `environments/<name>`"
        );
        check_no_environments(&tree, &tree.codedir(), &reason);
    }
    let tree = Tree::new("//- /hiera.yaml\nversion: 5\n");
    let production = "<ROOT>/code/environments/production";
    let reason = format!(
        "`{production}` is an environment, not a code directory: it has `hiera.yaml`. \
         Run `hierad check {production}` to check it alone, or set --codedir to `<ROOT>/code`"
    );
    check_no_environments(&tree, &tree.path("C/environments/production"), &reason);
    let reason = "`<ROOT>/code/environments` is the directory of the environments; \
                  set --codedir to `<ROOT>/code`, the directory above it";
    check_no_environments(&tree, &tree.path("C/environments"), reason);
}

#[test]
fn environments_with_invalid_names_are_named() {
    let tree = Tree::without_environments();
    tree.write("C/environments/feature-x/hiera.yaml", "version: 5\n");
    let reason = "there is no environment in `<ROOT>/code/environments`: `feature-x` is not a valid name for one, \
                  which has letters, digits and underscores only";
    check_no_environments(&tree, &tree.codedir(), reason);
}

#[test]
fn a_server_is_ready_from_the_first_environment_until_the_last_is_gone() {
    for watch in ["auto", "poll"] {
        let tree = Tree::without_environments();
        let server = Process::launch(
            &tree,
            &[("HIERAD_WATCH", watch), ("HIERAD_POLL_INTERVAL_MS", "20")],
        );
        let is_ready = |status| {
            wait_for("/readyz to change", || {
                (server.get("/readyz").status == status).then_some(())
            });
        };
        wait_for("the reason to be logged", || {
            server
                .log()
                .contains("ERROR there is no environment")
                .then_some(())
        });
        is_ready(503);
        tree.write("/hiera.yaml", "version: 5\n");
        is_ready(200);
        std::fs::remove_dir_all(tree.path("/")).unwrap();
        is_ready(503);
        wait_for("the reason to be logged again", || {
            (server.log().matches("ERROR").count() == 2).then_some(())
        });
    }
}
