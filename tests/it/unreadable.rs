//! Files and directories that cannot be read do not count as absent: lookups that reach them fail, and faults name them.
//!
//! Tests may run as root, to whom permissions do not apply, so the binary runs without privileges.

use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Output;

use serde_json::json;

use crate::support::process::Process;
use crate::support::{
    TestServer, Tree, after_setup, can_drop_privileges, printed, without_privileges,
};

const FIXTURE: &str = r#"
//- /hiera.yaml
version: 5
hierarchy:
  - name: node
    path: "nodes/%{trusted.certname}.yaml"
  - name: parts
    glob: "parts/*/*.yaml"
  - name: common
    path: common.yaml
//- /data/common.yaml
k: common
"#;

const DENIED: &str = "Permission denied";

/// Removes all permissions of a file or directory.
fn deny(tree: &Tree, path: &str) {
    fs::set_permissions(tree.path(path), Permissions::from_mode(0o000)).unwrap();
}

/// Runs a command on a tree without privileges.
fn run(tree: &Tree, command: &str, arguments: &[&str]) -> Output {
    let mut process = tree.hierad(command);
    let mut process = after_setup(without_privileges(), process.args(arguments));
    process.output().unwrap()
}

/// Checks that a lookup fails and names the path, in the server, on the command line and in `hierad check`.
#[track_caller]
fn fails(tree: &Tree, key: &str, path: &str) {
    let named = tree.path(path).display().to_string();
    let is_named = |text: &str| text.contains(DENIED) && text.contains(&named);
    let (out, err) = printed(&run(tree, "lookup", &["--node", "n", key]));
    assert!(is_named(&err) && out.is_empty(), "{out}{err}");
    let checked = run(tree, "check", &[]);
    let (out, _) = printed(&checked);
    assert!(is_named(&out), "{out}");
    assert_eq!(checked.status.code(), Some(1));
    let server = Process::launch_after(without_privileges(), tree.hierad("serve"), &[]);
    server.wait_until_ready();
    let answer = server.lookup(json!({ "key": key, "node": "n" }).to_string().as_bytes());
    assert_eq!(answer.status, 422, "{}", answer.text());
    assert!(is_named(&answer.text()), "{}", answer.text());
    let shown = server.get("/environments/production").json();
    assert_eq!(shown["state"], "faulty");
    assert!(is_named(&shown["faults"].to_string()), "{shown}");
}

#[test]
fn a_directory_that_cannot_be_listed_fails_the_lookups_that_reach_it() {
    if !can_drop_privileges() {
        return;
    }
    let tree = Tree::new(FIXTURE);
    tree.write("/data/nodes/n.yaml", "k: node");
    deny(&tree, "/data/nodes");
    fails(&tree, "k", "/data/nodes");
}

#[test]
fn a_glob_through_a_directory_that_cannot_be_listed_fails() {
    if !can_drop_privileges() {
        return;
    }
    let tree = Tree::new(FIXTURE);
    tree.write("/data/parts/good/a.yaml", "k: part");
    tree.write("/data/parts/bad/a.yaml", "k: part");
    deny(&tree, "/data/parts/bad");
    fails(&tree, "k", "/data/parts/bad");
}

#[test]
fn a_link_into_an_unreadable_directory_fails_globs_through_it() {
    if !can_drop_privileges() {
        return;
    }
    let tree = Tree::new(FIXTURE);
    tree.write("R/vault/inner/a.yaml", "k: part");
    fs::create_dir_all(tree.path("/data/parts")).unwrap();
    symlink(tree.path("R/vault/inner"), tree.path("/data/parts/bad")).unwrap();
    deny(&tree, "R/vault");
    fails(&tree, "k", "/data/parts/bad");
}

#[test]
fn a_path_that_cannot_be_accessed_fails() {
    if !can_drop_privileges() {
        return;
    }
    let tree = Tree::new(FIXTURE);
    deny(&tree, "/data");
    fails(&tree, "k", "/data");
}

#[test]
fn lookups_that_do_not_reach_an_unreadable_directory_are_answered() {
    if !can_drop_privileges() {
        return;
    }
    let tree = Tree::new(FIXTURE);
    tree.write("/data/nodes/n.yaml", "k: node");
    tree.write("/data/nodes/below/x.yaml", "k: below");
    deny(&tree, "/data/nodes/below");
    let server = Process::launch_after(without_privileges(), tree.hierad("serve"), &[]);
    server.wait_until_ready();
    let value = |node: &str| {
        let request = json!({ "key": "k", "node": node });
        server
            .lookup(request.to_string().as_bytes())
            .value_or_status()
    };
    assert_eq!(value("n"), "node");
    assert_eq!(value("unknown"), "common");
    assert_eq!(value("below/x"), json!({ "status": 422 }));
}

#[test]
fn unreadable_configurations_do_not_count_as_absent() {
    if !can_drop_privileges() {
        return;
    }
    let fixture = format!("{FIXTURE}//- /environment.conf\nmodulepath = site\n");
    for path in ["/hiera.yaml", "/environment.conf"] {
        let tree = Tree::new(&fixture);
        deny(&tree, path);
        fails(&tree, "k", path);
    }
    let fixture = format!("{FIXTURE}//- /modules/m/metadata.json\n{{}}\n");
    for (denied, named) in [
        ("/modules/m", "/modules/m/hiera.yaml"),
        ("/modules/m/metadata.json", "/modules/m/metadata.json"),
    ] {
        let tree = Tree::new(&fixture);
        deny(&tree, denied);
        fails(&tree, "m::k", named);
    }
}

#[test]
fn lookups_in_a_module_fail_if_a_module_directory_cannot_be_listed() {
    if !can_drop_privileges() {
        return;
    }
    let tree = Tree::new(FIXTURE);
    tree.write("/modules/m/hiera.yaml", "version: 5\n");
    tree.write("/modules/m/data/common.yaml", "m::k: own");
    tree.write("C/modules/m/hiera.yaml", "version: 5\n");
    tree.write("C/modules/m/data/common.yaml", "m::k: base");
    deny(&tree, "/modules");
    fails(&tree, "m::k", "/modules");
}

#[test]
fn unreadable_metadata_is_ignored_with_a_configuration_of_version_5() {
    if !can_drop_privileges() {
        return;
    }
    let tree = Tree::new(FIXTURE);
    tree.write("/modules/m/hiera.yaml", "version: 5\n");
    tree.write("/modules/m/data/common.yaml", "m::k: 1");
    tree.write("/modules/m/metadata.json", "{}");
    deny(&tree, "/modules/m/metadata.json");
    let (out, err) = printed(&run(&tree, "lookup", &["m::k"]));
    assert_eq!((out.as_str(), err.as_str()), ("--- 1\n", ""));
}

#[test]
fn a_key_that_cannot_be_read_is_a_fault() {
    if !can_drop_privileges() {
        return;
    }
    let tree = Tree::new(&FIXTURE.replace(
        "    path: common.yaml",
        "    path: common.yaml\n    lookup_key: eyaml_lookup_key\n    options: {pkcs7_private_key: /KEYS/private, pkcs7_public_key: /KEYS/public}",
    ));
    tree.write("R/keys/private", "");
    let keys = tree.path("R/keys");
    let hiera = fs::read_to_string(tree.path("/hiera.yaml")).unwrap();
    tree.write(
        "/hiera.yaml",
        hiera.replace("/KEYS", keys.to_str().unwrap()),
    );
    deny(&tree, "R/keys");
    let (out, _) = printed(&run(&tree, "check", &[]));
    let named = keys.join("private").display().to_string();
    assert!(
        out.contains(&format!("{named}:1:1: cannot be read: {DENIED}")),
        "{out}"
    );
}

#[test]
fn a_name_that_is_not_utf_8_is_a_fault() {
    let tree = Tree::new(FIXTURE);
    let name = std::ffi::OsStr::from_bytes(b"caf\xe9.yaml");
    fs::create_dir_all(tree.path("/data/parts/a")).unwrap();
    fs::write(tree.path("/data/parts/a").join(name), "k: part").unwrap();
    let server = TestServer::of(tree, "");
    let detail = server.failure(&json!({ "key": "k" }));
    assert!(detail.contains("not valid UTF-8"), "{detail}");
}
