//! Encrypted values (eyaml), end to end, and that they are never shown where they should not be.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use serde_json::{Value, json};

use crate::process::{Process, wait_for};
use crate::support::{TestServer, Tree, has_tool, printed};

/// What the values of `secrets.json` are when they are decrypted.
pub(crate) const PASSWORD: &str = "correct-horse-battery";
const SECOND: &str = "tr0ub4dor-and-3";
const NUMBER: &str = "4711421";

static SECRETS: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_slice(&fs::read(key_file("secrets.json")).unwrap()).unwrap());

pub(crate) fn key_file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/eyaml")
        .join(name)
}

pub(crate) fn key(name: &str) -> String {
    fs::read_to_string(key_file(name)).unwrap()
}

/// A fixture with `<NAME>` filled in: values of `secrets.json`, and `KEYS` as the options that name the keys.
pub(crate) fn filled(fixture: &str) -> String {
    let options = |prefix: &str| {
        format!(
            "{{pkcs7_private_key: {}, pkcs7_public_key: {}}}",
            key_file(&format!("{prefix}private_key.pkcs7.pem")).display(),
            key_file(&format!("{prefix}public_key.pkcs7.pem")).display()
        )
    };
    let mut filled = fixture
        .replace("<KEYS>", &options(""))
        .replace("<OTHER_KEYS>", &options("other_"));
    for (name, secret) in SECRETS.as_object().unwrap() {
        filled = filled.replace(&format!("<{name}>"), secret.as_str().unwrap());
    }
    filled
}

const FIXTURE: &str = r#"
//- /hiera.yaml
version: 5
hierarchy:
  - name: node
    lookup_key: eyaml_lookup_key
    path: "nodes/%{trusted.certname}.eyaml"
    options: <KEYS>
  - name: secrets
    lookup_key: eyaml_lookup_key
    path: secrets.eyaml
    options: <KEYS>
  - name: common
    path: common.yaml
//- /data/secrets.eyaml
password: <password>
around: "user=admin;pass=<password>;old=<second>"
folded: >
  <password>
interpolated: <interpolated>
aliased: <alias>
number: <number>
plain: plain text
with_fact: "is %{facts.host}"
nested:
  list: [one, "<password>", {deep: "<second>"}]
  hash: {user: admin, password: "<password>"}
settings: {a: {secret: "<password>"}, list: ["<password>"]}
members: ["<password>", "<second>"]
lookup_options:
  settings: {merge: deep}
  members: {merge: unique}
  converted: {convert_to: Integer}
  sensitive: {convert_to: Sensitive}
  merged_badly: {merge: hash}
converted: <password>
uses_converted: "%{lookup('converted')}"
irregular:
  true: <password>
  ? [x, y]
  : <password>
sensitive: <password>
merged_badly: <password>
uses: "%{lookup('password')}!"
into_path: "%{lookup('password.nothing')}"
//- /data/nodes/web.eyaml
password: <second>
settings: {a: {own: 1}, list: [web]}
members: [web, "<second>"]
//- /data/common.yaml
settings: {a: {common: 2}, list: [common]}
members: [common]
list: [1, 2]
merged_badly: {a: 1}
unencrypted: <password>
"#;

fn server() -> TestServer {
    TestServer::new(&filled(FIXTURE))
}

/// Nothing of what is encrypted stands in a text.
#[track_caller]
pub(crate) fn tells_nothing(text: &str) {
    for secret in [PASSWORD, SECOND, NUMBER, "correct-horse", "tr0ub4dor"] {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
}

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
fn values_of_other_levels_stay_as_they_are() {
    let value = server().lookup(&json!({ "key": "unencrypted" })).json()["value"].clone();
    assert_eq!(value, SECRETS["password"]);
}

#[test]
fn tokens_in_a_decrypted_text_are_filled_in() {
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
    // The same file by a level with other keys is another file.
    let request = json!({ "key": "lists", "merge": "unique" });
    let detail = server.lookup(&request).detail(422, "lookup-failed");
    assert!(detail.contains("cannot be decrypted"), "{detail}");
}

#[test]
fn keys_may_come_from_environment_variables() {
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
fn a_missing_or_wrong_key_fails_what_is_encrypted_and_nothing_else() {
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
fn what_is_encrypted_wrongly_fails_alone() {
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
fn nothing_decrypted_stands_in_explanations_and_errors() {
    let server = server();
    let requests = [
        json!({ "key": "password" }),
        json!({ "key": "around" }),
        json!({ "key": "nested" }),
        json!({ "key": "nested.hash.password" }),
        json!({ "key": "nested.list.9" }),
        json!({ "key": "uses" }),
        json!({ "key": "settings", "node": "web" }),
        json!({ "key": "settings", "merge": { "strategy": "deep", "knockout_prefix": "--" } }),
        json!({ "key": "interpolated", "facts": { "host": "web" } }),
        json!({ "key": "sensitive" }),
        // Failures.
        json!({ "key": "converted" }),
        json!({ "key": "uses_converted" }),
        json!({ "key": "irregular" }),
        json!({ "key": "password", "type": "Integer" }),
        json!({ "key": "number", "type": "Enum['a', 'b']" }),
        json!({ "key": "nested", "type": "Hash[String, Integer]" }),
        json!({ "key": "merged_badly" }),
        json!({ "key": "password", "merge": "hash" }),
        json!({ "key": "password", "merge": "deep", "node": "web" }),
        json!({ "key": "password.nothing" }),
        json!({ "key": "password.0" }),
        json!({ "key": "into_path" }),
    ];
    for mut request in requests {
        let answer = server.lookup(&request);
        if answer.status != 200 {
            tells_nothing(&answer.text());
        }
        request["explain"] = json!(true);
        let explained = server.lookup(&request);
        let json: Value = serde_json::from_slice(&explained.body).unwrap();
        tells_nothing(&json["explanation"].to_string());
        tells_nothing(&json["detail"].to_string());
        tells_nothing(
            &server
                .post_accepting("text/plain", request.to_string())
                .text(),
        );
        let mut lookup = server.tree.hierad("lookup");
        lookup.args([request["key"].as_str().unwrap(), "--explain"]);
        if let Some(value_type) = request["type"].as_str() {
            lookup.args(["--type", value_type]);
        }
        if let Some(merge) = request["merge"].as_str() {
            lookup.args(["--merge", merge]);
        }
        let (stdout, stderr) = printed(&lookup.output().unwrap());
        tells_nothing(&(stdout + &stderr));
    }
}

#[test]
fn failures_with_decrypted_values_still_say_what_failed() {
    let server = server();
    for request in [
        json!({ "key": "converted" }),
        json!({ "key": "password", "type": "Integer" }),
        json!({ "key": "merged_badly" }),
    ] {
        let detail = server.lookup(&request).detail(422, "lookup-failed");
        assert!(detail.contains("failed"), "{request}: {detail}");
    }
}

#[test]
fn nothing_decrypted_stands_in_the_log_or_in_the_state_of_an_environment() {
    let tree = Tree::new(&filled(FIXTURE));
    let variables = [
        ("HIERAD_LOG_LEVEL", "trace"),
        ("HIERAD_DRAIN_DELAY_MS", "0"),
    ];
    let server = Process::start(&tree, &variables);
    for body in [
        r#"{"key":"password"}"#,
        r#"{"key":"password","explain":true}"#,
        r#"{"key":"converted"}"#,
        r#"{"key":"password","type":"Integer"}"#,
        r#"{"key":"merged_badly"}"#,
        r#"{"keys":["password","nested","converted"]}"#,
    ] {
        assert_ne!(server.lookup(body.as_bytes()).status, 0);
    }
    tells_nothing(&server.get("/environments/production").text());
    tells_nothing(&server.get("/metrics").text());
    tells_nothing(&server.stop());
}

/// A tree whose keys lie beside it, where a test can replace them.
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

/// Puts a pair of keys into place, each in one step.
fn replace_keys(tree: &Tree, prefix: &str) {
    for name in ["private", "public"] {
        tree.write("R/keys/next", key(&format!("{prefix}{name}_key.pkcs7.pem")));
        let to = tree.path(&format!("R/keys/{name}.pem"));
        fs::rename(tree.path("R/keys/next"), to).unwrap();
    }
}

pub(crate) const EVENTS_ONLY: [(&str, &str); 2] = [
    ("HIERAD_SETTLE_MS", "20"),
    ("HIERAD_RESCAN_INTERVAL_S", "3600"),
];

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
fn a_key_that_is_replaced_is_used_from_then_on() {
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
fn a_key_that_comes_late_is_noticed() {
    let tree = tree_with_own_keys("", "");
    let server = Process::start(&tree, &EVENTS_ONLY);
    becomes(&server, "password", &json!(422));
    becomes(&server, "plain", &json!(1));
    replace_keys(&tree, "");
    becomes(&server, "password", &json!(PASSWORD));
}

#[test]
fn without_its_key_a_running_server_answers_as_one_that_starts() {
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
