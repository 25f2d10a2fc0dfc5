//! Code directories without environments, and control repositories given by themselves.

use std::ffi::OsStr;
use std::os::unix::fs::symlink;
use std::path::Path;

use crate::process::{Process, wait_for};
use crate::support::{TestServer, Tree, hierad, printed};

/// A code directory without anything in it.
fn bare() -> Tree {
    let tree = Tree::empty();
    std::fs::remove_dir_all(tree.path("C/environments")).unwrap();
    tree
}

/// Runs `hierad check`: exit code, standard output and standard error, with the root of the tree replaced.
fn check(tree: &Tree, arguments: &[&OsStr]) -> (Option<i32>, String, String) {
    let output = hierad().arg("check").args(arguments).output().unwrap();
    let (stdout, stderr) = printed(&output);
    (
        output.status.code(),
        shown(tree, &stdout),
        shown(tree, &stderr),
    )
}

fn shown(tree: &Tree, text: &str) -> String {
    text.replace(&tree.root().display().to_string(), "<ROOT>")
}

/// Checks that `check` and `lookup` refuse a code directory and that a server on it is not ready, for this reason.
#[track_caller]
fn is_vacant(tree: &Tree, codedir: &Path, reason: &str) {
    let (code, stdout, stderr) = check(tree, &["--codedir".as_ref(), codedir.as_ref()]);
    assert_eq!((code, stdout.as_str()), (Some(1), ""), "{stderr}");
    assert_eq!(stderr, format!("hierad: {reason}\n"));
    let mut lookup = hierad();
    lookup.args(["lookup", "k", "--codedir"]).arg(codedir);
    let output = lookup.output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let (_, stderr) = printed(&output);
    assert_eq!(shown(tree, &stderr), format!("hierad: {reason}\n"));
    let mut command = hierad();
    command.arg("serve").arg("--codedir").arg(codedir);
    let server = Process::launch_command(command, &[]);
    wait_for("the reason to be given", || {
        let answer = server.get("/readyz");
        assert_eq!(answer.status, 503, "{}", answer.text());
        let problem = answer.json();
        assert_eq!(problem["type"], "/problems/not-loaded");
        (shown(tree, problem["detail"].as_str().unwrap()) == reason).then_some(())
    });
    assert_eq!(server.get("/livez").status, 200);
    assert_eq!(server.lookup(br#"{"key":"k"}"#).status, 503);
    let log = shown(tree, &server.log());
    assert!(log.contains(&format!("ERROR {reason}")), "{log}");
    assert!(!log.contains("ready"), "{log}");
}

#[test]
fn what_was_expected_is_said_of_a_code_directory_without_environments() {
    let reason = "there is no environment in `<ROOT>/code/environments`; \
                  expected `<ROOT>/code/environments/<name>/hiera.yaml`";
    let tree = bare();
    is_vacant(&tree, &tree.codedir(), reason);
    std::fs::create_dir(tree.path("C/environments")).unwrap();
    is_vacant(&tree, &tree.codedir(), reason);
}

#[test]
fn environments_that_cannot_be_listed_are_reported_with_the_system_error() {
    let tree = bare();
    let environments = tree.path("C/environments");
    symlink(&environments, &environments).unwrap();
    let reason = "cannot read `<ROOT>/code/environments`: Too many levels of symbolic links (os error 40); \
                  expected `<ROOT>/code/environments/<name>/hiera.yaml`";
    is_vacant(&tree, &tree.codedir(), reason);
    std::fs::remove_file(&environments).unwrap();
    tree.write("C/environments", "");
    let reason = "cannot read `<ROOT>/code/environments`: Not a directory (os error 20); \
                  expected `<ROOT>/code/environments/<name>/hiera.yaml`";
    is_vacant(&tree, &tree.codedir(), reason);
}

#[test]
fn an_environment_in_place_of_a_code_directory_is_recognized() {
    for file in ["hiera.yaml", "environment.conf"] {
        let tree = bare();
        tree.write(&format!("C/{file}"), "");
        let reason = format!(
            "`<ROOT>/code` is an environment, not a code directory: it has `{file}`. Run `hierad check <ROOT>/code` \
             to check it alone, or set --codedir to the directory that has it as `environments/<name>`"
        );
        is_vacant(&tree, &tree.codedir(), &reason);
    }
    let tree = Tree::new("//- /hiera.yaml\nversion: 5\n");
    let production = "<ROOT>/code/environments/production";
    let reason = format!(
        "`{production}` is an environment, not a code directory: it has `hiera.yaml`. \
         Run `hierad check {production}` to check it alone, or set --codedir to `<ROOT>/code`"
    );
    is_vacant(&tree, &tree.path("C/environments/production"), &reason);
    let reason = "`<ROOT>/code/environments` is the directory of the environments; \
                  set --codedir to `<ROOT>/code`, the directory above it";
    is_vacant(&tree, &tree.path("C/environments"), reason);
}

#[test]
fn environments_with_names_that_puppet_refuses_are_named() {
    let tree = bare();
    tree.write("C/environments/feature-x/hiera.yaml", "version: 5\n");
    let reason = "there is no environment in `<ROOT>/code/environments`: `feature-x` is not a valid name for one, \
                  which has letters, digits and underscores only";
    is_vacant(&tree, &tree.codedir(), reason);
}

#[test]
fn a_server_is_ready_from_the_first_environment_until_the_last_is_gone() {
    for watch in ["auto", "poll"] {
        let tree = bare();
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
        wait_for("the reason to be logged once more", || {
            (server.log().matches("ERROR").count() == 2).then_some(())
        });
    }
}

const REPOSITORY: &str = r#"
//- R/control/hiera.yaml
version: 5
hierarchy: [{name: all, glob: "*.yaml"}]
//- R/control/environment.conf
modulepath = site:$basemodulepath
//- R/control/data/common.yaml
k: 1
//- R/control/site/own/hiera.yaml
version: 5
//- R/control/site/own/data/common.yaml
own::k: 1
//- C/modules/base/hiera.yaml
version: 5
//- C/modules/base/data/common.yaml
base::k: [1
"#;

fn repository() -> Tree {
    let tree = Tree::new(REPOSITORY);
    std::fs::remove_dir_all(tree.path("C/environments")).unwrap();
    tree
}

#[test]
fn a_control_repository_is_checked_as_an_environment() {
    let tree = repository();
    let path = tree.path("R/control");
    let (code, stdout, stderr) = check(&tree, &[path.as_ref()]);
    assert_eq!((code, stderr.as_str()), (Some(0), ""), "{stdout}");
    assert!(
        stdout.starts_with("environment production: revision "),
        "{stdout}"
    );
    assert!(
        stdout.ends_with(", 2 files\n1 environment, 0 faults, 0 notices\n"),
        "{stdout}"
    );
    tree.write("R/control/data/bad.yaml", "a: [1\n");
    tree.write("R/control/site/own/data/common.yaml", "a: {1\n");
    let (code, stdout, _) = check(&tree, &[path.as_ref()]);
    assert_eq!(code, Some(1), "{stdout}");
    for file in ["data/bad.yaml:2:1: ", "site/own/data/common.yaml:2:1: "] {
        assert!(
            stdout.contains(&format!("<ROOT>/control/{file}")),
            "{stdout}"
        );
    }
    assert!(stdout.contains("1 environment, 2 faults"), "{stdout}");
}

#[test]
fn a_control_repository_gets_base_modules_and_a_global_layer_where_they_are_given() {
    let tree = repository();
    tree.write("G/hiera.yaml", "version: 4\n");
    let (path, codedir, global) = (
        tree.path("R/control"),
        tree.codedir(),
        tree.path("G/hiera.yaml"),
    );
    let arguments: [&OsStr; 5] = [
        path.as_ref(),
        "--codedir".as_ref(),
        codedir.as_ref(),
        "--hiera-config".as_ref(),
        global.as_ref(),
    ];
    let (code, stdout, _) = check(&tree, &arguments);
    assert_eq!(code, Some(1), "{stdout}");
    let fault = "<ROOT>/code/modules/base/data/common.yaml:2:1: ";
    assert!(stdout.contains(fault), "{stdout}");
    assert!(stdout.contains("<ROOT>/global/hiera.yaml:"), "{stdout}");
}

#[test]
fn an_environment_of_a_code_directory_is_checked_as_what_it_is_there() {
    let server = TestServer::new(
        r#"
//- C/environments/staging/hiera.yaml
version: 5
//- C/environments/staging/data/common.yaml
k: 1
//- C/modules/base/hiera.yaml
version: 5
//- C/modules/base/data/common.yaml
base::k: 1
"#,
    );
    let revision = &server.get("/environments/staging").json()["revision"];
    let path = server.tree.path("C/environments/staging");
    let (code, stdout, _) = check(&server.tree, &[path.as_ref()]);
    let expected = format!(
        "environment staging: revision {}, 2 files\n",
        revision.as_str().unwrap()
    );
    assert!(stdout.starts_with(&expected), "{expected}{stdout}");
    assert_eq!(code, Some(0));
}

#[test]
fn what_is_not_a_control_repository_is_refused() {
    let tree = Tree::new("//- /hiera.yaml\nversion: 5\n//- R/file\n//- R/empty/file\n");
    for (path, reason) in [
        (
            "R/nowhere",
            "cannot check `<ROOT>/nowhere`: No such file or directory (os error 2)",
        ),
        (
            "R/file",
            "cannot check `<ROOT>/file`: it is not a directory",
        ),
        (
            "R/empty",
            "`<ROOT>/empty` is not a control repository: expected `<ROOT>/empty/hiera.yaml`",
        ),
        (
            "R/code",
            "`<ROOT>/code` is a code directory, not a control repository: it has `environments`. \
             Run `hierad check --codedir <ROOT>/code`",
        ),
    ] {
        let path = tree.path(path);
        let (code, stdout, stderr) = check(&tree, &[path.as_ref()]);
        assert_eq!((code, stdout.as_str()), (Some(1), ""), "{stderr}");
        assert_eq!(stderr, format!("hierad: {reason}\n"));
    }
}
