//! Keys that are added, replaced or removed while the server runs.

use std::fs;

use serde_json::{Value, json};

use super::node_keys::{self, BY_SITE, at, write_keys};
use super::{OTHER, PASSWORD, filled, key};
use crate::support::Tree;
use crate::support::process::{EVENTS_ONLY, Process, wait_for};

/// A tree with keys of its own, which a test can replace.
fn tree_with_own_keys(private: &str, public: &str) -> Tree {
    let tree = Tree::empty();
    let options = format!(
        "{{pkcs7_private_key: {0}/private.pem, pkcs7_public_key: {0}/public.pem}}",
        tree.path("R/keys").display()
    );
    fs::create_dir(tree.path("R/keys")).unwrap();
    tree.write(
        "/hiera.yaml",
        format!("version: 5\nhierarchy: [{{name: s, lookup_key: eyaml_lookup_key, path: s.eyaml, options: {options}}}]\n"),
    );
    tree.write(
        "/data/s.eyaml",
        filled("password: <password>\nother: <other>\nplain: 1\n"),
    );
    for (name, from) in [("private", private), ("public", public)] {
        if !from.is_empty() {
            tree.write(&format!("R/keys/{name}.pem"), key(from));
        }
    }
    tree
}

/// Replaces a pair of keys, each atomically.
fn replace_keys(tree: &Tree, prefix: &str) {
    for name in ["private", "public"] {
        tree.write("R/keys/next", key(&format!("{prefix}{name}_key.pkcs7.pem")));
        let to = tree.path(&format!("R/keys/{name}.pem"));
        fs::rename(tree.path("R/keys/next"), to).unwrap();
    }
}

/// Waits until a key has this value.
#[track_caller]
fn becomes(server: &Process, key: &str, expected: &Value) {
    server.wait_for_value(&json!({ "key": key }), expected);
}

/// What a lookup comes to whose value cannot be decrypted.
fn failed() -> Value {
    json!({ "status": 422 })
}

#[test]
fn a_replaced_key_is_used_at_once() {
    let tree = tree_with_own_keys("other_private_key.pkcs7.pem", "other_public_key.pkcs7.pem");
    let server = Process::start(&tree, &EVENTS_ONLY);
    becomes(&server, "other", &json!(OTHER));
    becomes(&server, "password", &failed());
    let before = server.get("/environments/production").json()["revision"].clone();
    replace_keys(&tree, "");
    becomes(&server, "password", &json!(PASSWORD));
    becomes(&server, "other", &failed());
    becomes(&server, "plain", &json!(1));
    assert_ne!(
        server.get("/environments/production").json()["revision"],
        before
    );
}

#[test]
fn a_key_that_appears_later_is_noticed() {
    let tree = tree_with_own_keys("", "");
    let server = Process::start(&tree, &EVENTS_ONLY);
    becomes(&server, "password", &failed());
    becomes(&server, "plain", &json!(1));
    replace_keys(&tree, "");
    becomes(&server, "password", &json!(PASSWORD));
}

#[test]
fn without_its_key_a_running_server_answers_like_a_new_one() {
    let tree = tree_with_own_keys("private_key.pkcs7.pem", "public_key.pkcs7.pem");
    let server = Process::start(&tree, &EVENTS_ONLY);
    becomes(&server, "password", &json!(PASSWORD));
    let before = server.get("/environments/production").json()["revision"].clone();
    fs::remove_dir_all(tree.path("R/keys")).unwrap();
    wait_for("the loss to be noticed", || {
        let shown = server.get("/environments/production").json();
        (shown["revision"] != before).then_some(())
    });
    let fresh = Process::start(&tree, &EVENTS_ONLY);
    let status = |server: &Process| server.get("/lookup/password").status;
    assert_eq!((status(&server), status(&fresh)), (422, 422));
    becomes(&server, "plain", &json!(1));
}

#[test]
fn keys_of_nodes_that_are_added_changed_and_removed_are_noticed() {
    let tree = node_keys::tree(BY_SITE);
    let server = Process::start(&tree, &EVENTS_ONLY);
    let becomes = |site: &str, key: &str, expected: &Value| {
        server.wait_for_value(&at(site, key), expected);
    };
    let revision = || server.get("/environments/production").json()["revision"].clone();
    becomes("late", "pdx", &failed());
    let before = revision();
    write_keys(&tree, "late", "");
    becomes("late", "pdx", &json!(PASSWORD));
    assert_ne!(revision(), before);
    write_keys(&tree, "late", "other_");
    becomes("late", "bfs", &json!(OTHER));
    becomes("late", "pdx", &failed());
    fs::remove_dir_all(tree.path("R/keys/late")).unwrap();
    becomes("late", "bfs", &failed());
    becomes("late", "plain", &json!("text"));
    becomes("bfs", "bfs", &json!(OTHER));
    wait_for("the first revision", || {
        (revision() == before).then_some(())
    });
}
