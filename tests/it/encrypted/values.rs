//! Decrypted values in answers: in texts, in merges, interpolated.

use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::{NUMBER, PASSWORD, SECOND, SECRETS, filled, key_file, server};
use crate::support::{TestServer, Tree, has_tool, printed};

#[test]
fn encrypted_values_are_answered_over_http_and_on_the_command_line() {
    let server = server();
    for (key, expected) in [
        ("password", json!(PASSWORD)),
        (
            "around",
            json!(format!("user=admin;pass={PASSWORD};old={SECOND}")),
        ),
        ("folded", json!(PASSWORD)),
        ("number", json!(NUMBER)),
        ("plain", json!("plain text")),
        ("uses", json!(format!("{PASSWORD}!"))),
        ("nested.list.1", json!(PASSWORD)),
        (
            "nested",
            json!({
                "list": ["one", PASSWORD, { "deep": SECOND }],
                "hash": { "user": "admin", "password": PASSWORD },
            }),
        ),
    ] {
        assert_eq!(
            server.lookup(&json!({ "key": key })).json()["value"],
            expected
        );
        assert_eq!(
            server.get(&format!("/lookup/{key}")).json()["value"],
            expected
        );
        let batch = server.lookup(&json!({ "keys": [key] })).json();
        assert_eq!(batch["results"][key]["value"], expected);
        let output = server
            .tree
            .hierad("lookup")
            .args([key, "--render-as", "json"])
            .output();
        let (stdout, stderr) = printed(&output.unwrap());
        let printed: Value = serde_json::from_str(&stdout).unwrap_or_else(|_| panic!("{stderr}"));
        assert_eq!(printed, expected);
    }
}

#[test]
fn levels_without_eyaml_return_encrypted_text_unchanged() {
    let value = server().lookup(&json!({ "key": "unencrypted" })).json()["value"].clone();
    assert_eq!(value, SECRETS["password"]);
}

#[test]
fn decrypted_text_is_interpolated() {
    let server = server();
    let request = json!({ "key": "interpolated", "facts": { "host": "web" } });
    assert_eq!(server.value(&request), "\"for web by plain text\"");
    assert_eq!(server.value(&json!({ "key": "aliased" })), "[1,2]");
    let request = json!({ "key": "with_fact", "facts": { "host": "web" } });
    assert_eq!(server.value(&request), "\"is web\"");
}

#[test]
fn decrypted_values_are_merged_with_those_of_other_levels() {
    let server = server();
    let request = |key: &str| json!({ "key": key, "node": "web" });
    assert_eq!(
        server.lookup(&request("settings")).json()["value"],
        json!({
            "a": { "common": 2, "secret": PASSWORD, "own": 1 },
            "list": ["common", PASSWORD, "web"],
        })
    );
    assert_eq!(
        server.lookup(&request("members")).json()["value"],
        json!(["web", SECOND, PASSWORD, "common"])
    );
}

#[test]
fn a_global_layer_of_version_3_has_the_eyaml_backend() {
    let fixture = r#"
//- G/hiera.yaml
---
:backends: [eyaml, yaml]
:hierarchy: ["nodes/%{trusted.certname}", common]
:eyaml:
  :datadir: secrets
  :pkcs7_private_key: <PRIVATE>
  :pkcs7_public_key: <PUBLIC>
:yaml:
  :datadir: plain
//- G/secrets/common.eyaml
password: <password>
both: ["<second>"]
plain: 1
//- G/plain/common.yaml
both: [plain]
only_plain: <password>
"#;
    let fixture = filled(fixture)
        .replace(
            "<PRIVATE>",
            &key_file("private_key.pkcs7.pem").display().to_string(),
        )
        .replace(
            "<PUBLIC>",
            &key_file("public_key.pkcs7.pem").display().to_string(),
        );
    let server = TestServer::new(&fixture);
    assert_eq!(
        server.value(&json!({ "key": "password" })),
        format!("\"{PASSWORD}\"")
    );
    assert_eq!(server.value(&json!({ "key": "plain" })), "1");
    let merged = json!({ "key": "both", "merge": "unique" });
    assert_eq!(server.value(&merged), format!("[\"{SECOND}\",\"plain\"]"));
    assert_eq!(
        server.lookup(&json!({ "key": "only_plain" })).json()["value"],
        SECRETS["password"]
    );
    let (stdout, stderr) = printed(
        &server
            .tree
            .hierad("lookup")
            .arg("password")
            .output()
            .unwrap(),
    );
    assert!(stdout.contains(PASSWORD), "{stdout}{stderr}");
}

#[test]
fn what_the_installed_eyaml_encrypts_is_decrypted() {
    if !has_tool("eyaml") {
        return;
    }
    let encrypt = |plain: &str, form: &str| -> String {
        let mut eyaml = Command::new("eyaml")
            .args(["encrypt", "-o", form, "--stdin"])
            .arg(format!(
                "--pkcs7-public-key={}",
                key_file("public_key.pkcs7.pem").display()
            ))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = eyaml.stdin.take().unwrap();
        stdin.write_all(plain.as_bytes()).unwrap();
        drop(stdin);
        let output = eyaml.wait_with_output().unwrap();
        let (stdout, stderr) = printed(&output);
        assert!(output.status.success(), "{stderr}");
        stdout
    };
    let plain = "fresh ünïcode\nof two lines";
    let (string, block) = (encrypt(plain, "string"), encrypt(plain, "block"));
    let tree = Tree::new(&filled(
        "//- /hiera.yaml\nversion: 5\nhierarchy: [{name: s, lookup_key: eyaml_lookup_key, path: s.eyaml, options: <KEYS>}]\n",
    ));
    tree.write(
        "/data/s.eyaml",
        format!("string: {}\nblock: >\n{block}\n", string.trim()),
    );
    let server = TestServer::of(tree, "");
    for key in ["string", "block"] {
        assert_eq!(
            server.lookup(&json!({ "key": key })).json()["value"],
            json!(plain)
        );
    }
}
