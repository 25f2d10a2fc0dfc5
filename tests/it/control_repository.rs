//! `hierad check PATH`: a control repository or a single environment, checked by itself.

use std::ffi::OsStr;

use crate::support::{TestServer, Tree, hierad};

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

/// Runs `hierad check`: exit code, standard output and standard error, with the root of the tree replaced.
fn check(tree: &Tree, arguments: &[&OsStr]) -> (Option<i32>, String, String) {
    tree.run(hierad().arg("check").args(arguments))
}

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
fn a_control_repository_is_checked_with_the_given_base_modules_and_global_layer() {
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
fn an_environment_in_a_code_directory_is_checked_under_its_name() {
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
fn other_paths_are_refused() {
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
