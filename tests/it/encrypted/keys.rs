//! Where keys come from, and what happens without them or when they change.

use std::fs;

use serde_json::{Value, json};

use super::{EVENTS_ONLY, FIXTURE, PASSWORD, filled, key, key_file};
use crate::process::{Process, wait_for};
use crate::support::{TestServer, Tree, printed};

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

#[track_caller]
fn becomes(server: &Process, key: &str, expected: &Value) {
    wait_for(&format!("{key} to be {expected}"), || {
        let answer = server.get(&format!("/lookup/{key}"));
        let value = match answer.status {
            200 => answer.json()["value"].clone(),
            status => json!(status),
        };
        (value == *expected).then_some(())
    });
}

#[test]
fn every_level_has_its_own_keys() {
    let fixture = r#"
//- /hiera.yaml
version: 5
hierarchy:
  - {name: a, lookup_key: eyaml_lookup_key, path: a.eyaml, options: <KEYS>}
  - {name: b, lookup_key: eyaml_lookup_key, path: b.eyaml, options: <OTHER_KEYS>}
  - {name: same file, lookup_key: eyaml_lookup_key, path: a.eyaml, options: <OTHER_KEYS>}
//- /data/a.eyaml
a: <password>
lists: ["<second>"]
//- /data/b.eyaml
b: <other>
wrong: <password>
lists: ["<other>"]
"#;
    let server = TestServer::new(&filled(fixture));
    assert_eq!(
        server.value(&json!({ "key": "a" })),
        format!("\"{PASSWORD}\"")
    );
    assert_eq!(
        server.value(&json!({ "key": "b" })),
        "\"staple-of-another-key\""
    );
    let detail = server
        .lookup(&json!({ "key": "wrong" }))
        .detail(422, "lookup-failed");
    assert!(
        detail.contains("cannot be opened with this key"),
        "{detail}"
    );
    // For a level with other keys, the same file is another file.
    let request = json!({ "key": "lists", "merge": "unique" });
    let detail = server.lookup(&request).detail(422, "lookup-failed");
    assert!(detail.contains("cannot be decrypted"), "{detail}");
}

#[test]
fn keys_can_come_from_environment_variables() {
    let fixture = r#"
//- /hiera.yaml
version: 5
hierarchy:
  - name: secrets
    lookup_key: eyaml_lookup_key
    path: secrets.eyaml
    options: {pkcs7_private_key_env_var: TEST_PRIVATE, pkcs7_public_key_env_var: TEST_PUBLIC}
//- /data/secrets.eyaml
password: <password>
plain: plain text
"#;
    let tree = Tree::new(&filled(fixture));
    let (private, public) = (key("private_key.pkcs7.pem"), key("public_key.pkcs7.pem"));
    let variables = [
        ("TEST_PRIVATE", private.as_str()),
        ("TEST_PUBLIC", public.as_str()),
    ];
    let server = Process::start(&tree, &variables);
    assert_eq!(server.get("/lookup/password").json()["value"], PASSWORD);
    let mut lookup = tree.hierad("lookup");
    let (stdout, _) = printed(&lookup.arg("password").envs(variables).output().unwrap());
    assert!(stdout.contains(PASSWORD), "{stdout}");

    let server = Process::start(&tree, &[]);
    let answer = server.get("/lookup/password");
    assert_eq!(answer.status, 422);
    assert!(
        answer.text().contains("`TEST_PRIVATE` is not set"),
        "{}",
        answer.text()
    );
    assert_eq!(server.get("/lookup/plain").json()["value"], "plain text");
}

#[test]
fn a_private_key_is_enough() {
    let options = format!(
        "{{pkcs7_private_key: {}}}",
        key_file("private_key.pkcs7.pem").display()
    );
    for strict in ["error", "warning"] {
        let fixture = filled(&FIXTURE.replace("<KEYS>", &options));
        let server = TestServer::with_settings(&fixture, &format!("strict: {strict}\n"));
        let value = server.value(&json!({ "key": "password" }));
        assert_eq!(value, format!("\"{PASSWORD}\""));
        let shown = server.get("/environments/production").json();
        assert_eq!(shown["faults"], json!([]), "{shown}");
    }
}

#[test]
fn a_missing_or_wrong_key_fails_only_lookups_of_encrypted_values() {
    for (options, reason) in [
        (
            "{pkcs7_private_key: /nowhere/a.pem, pkcs7_public_key: /nowhere/b.pem}",
            "/nowhere/a.pem",
        ),
        ("<OTHER_KEYS>", "cannot be opened with this key"),
        ("{pkcs7_public_key: /nowhere/b.pem}", "pkcs7_private_key"),
        ("{}", "pkcs7_private_key"),
    ] {
        let server = TestServer::new(&filled(&FIXTURE.replace("<KEYS>", options)));
        for key in ["password", "nested", "around", "uses"] {
            let detail = server
                .lookup(&json!({ "key": key }))
                .detail(422, "lookup-failed");
            assert!(detail.contains(reason), "{options} {key}: {detail}");
            let output = server.tree.hierad("lookup").arg(key).output().unwrap();
            let (_, stderr) = printed(&output);
            assert_eq!(output.status.code(), Some(1));
            assert!(stderr.contains(reason), "{options} {key}: {stderr}");
        }
        assert_eq!(
            server.value(&json!({ "key": "plain" })),
            "\"plain text\"",
            "{options}"
        );
        assert_eq!(
            server.value(&json!({ "key": "list" })),
            "[1,2]",
            "{options}"
        );
    }
}

#[test]
fn a_malformed_encrypted_value_fails_alone() {
    let fixture = format!(
        "{FIXTURE}\n//- /data/nodes/bad.eyaml\nbad: ENC[PKCS7,abcd]\ngpg: ENC[GPG,abcd]\ngood: <password>\n"
    );
    let server = TestServer::new(&filled(&fixture));
    let request = |key: &str| json!({ "key": key, "node": "bad" });
    let detail = server.lookup(&request("bad")).detail(422, "lookup-failed");
    assert!(detail.contains("not a PKCS#7 envelope"), "{detail}");
    let detail = server.lookup(&request("gpg")).detail(422, "lookup-failed");
    assert!(detail.contains("unknown encryptor `GPG`"), "{detail}");
    assert_eq!(server.value(&request("good")), format!("\"{PASSWORD}\""));
}

#[test]
fn a_replaced_key_is_used_at_once() {
    let tree = tree_with_own_keys("other_private_key.pkcs7.pem", "other_public_key.pkcs7.pem");
    let server = Process::start(&tree, &EVENTS_ONLY);
    becomes(&server, "other", &json!("staple-of-another-key"));
    becomes(&server, "password", &json!(422));
    let before = server.get("/environments/production").json()["revision"].clone();
    replace_keys(&tree, "");
    becomes(&server, "password", &json!(PASSWORD));
    becomes(&server, "other", &json!(422));
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
    becomes(&server, "password", &json!(422));
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
