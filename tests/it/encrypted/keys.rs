//! Where keys come from, and what happens without them.

use serde_json::json;

use super::{FIXTURE, OTHER, PASSWORD, filled, key, key_file};
use crate::support::process::Process;
use crate::support::{TestServer, Tree, printed};

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
    assert_eq!(server.value(&json!({ "key": "b" })), format!("\"{OTHER}\""));
    let detail = server.failure(&json!({ "key": "wrong" }));
    assert!(
        detail.contains("cannot be opened with this key"),
        "{detail}"
    );
    // For a level with other keys, the same file is another file.
    let request = json!({ "key": "lists", "merge": "unique" });
    let detail = server.failure(&request);
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
fn a_private_key_is_sufficient() {
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
            let detail = server.failure(&json!({ "key": key }));
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
    let detail = server.failure(&request("bad"));
    assert!(detail.contains("not a PKCS#7 envelope"), "{detail}");
    let detail = server.failure(&request("gpg"));
    assert!(detail.contains("unknown encryptor `GPG`"), "{detail}");
    assert_eq!(server.value(&request("good")), format!("\"{PASSWORD}\""));
}
