//! Encrypted values (eyaml), end to end; secrets are shown in answers only.

mod key_changes;
mod keys;
mod node_keys;
mod secrecy;
mod values;

use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use serde_json::Value;

use crate::support::TestServer;

/// Decrypted values of `secrets.json`.
pub(crate) const PASSWORD: &str = "correct-horse-battery";
const SECOND: &str = "tr0ub4dor-and-3";
const NUMBER: &str = "4711421";

/// A value that is encrypted for the keys `other_*.pem`.
const OTHER: &str = "staple-of-another-key";

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

/// A fixture with `<NAME>` replaced by the value in `secrets.json`, and `<KEYS>` by options that name the keys.
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

/// Checks that a text contains no decrypted value.
#[track_caller]
pub(crate) fn contains_no_secret(text: &str) {
    for secret in [PASSWORD, SECOND, NUMBER, "correct-horse", "tr0ub4dor"] {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
}
