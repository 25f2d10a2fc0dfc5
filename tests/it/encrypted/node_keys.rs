//! Encrypted values whose keys are selected by facts.
//!
//! The expected values are those of Puppet 7.23 with hiera-eyaml 3.3.0, except for what `docs/differences.md` lists.

use std::fs;

use serde_json::{Value, json};

use super::{OTHER, PASSWORD, contains_no_secret, filled, key};
use crate::support::process::Process;
use crate::support::{TestServer, Tree, printed};

/// A tree with keys for the sites `pdx` and `bfs` and a level with these options, where `<K>` is the directory of keys.
pub(super) fn tree(options: &str) -> Tree {
    let tree = Tree::empty();
    write_keys(&tree, "pdx", "");
    write_keys(&tree, "bfs", "other_");
    let keys = tree.path("R/keys").display().to_string();
    let options = options.replace("<K>", &keys);
    tree.write(
        "/hiera.yaml",
        format!(
            r#"version: 5
hierarchy:
  - name: secrets
    lookup_key: eyaml_lookup_key
    paths: ["sites/%{{facts.site}}.eyaml", s.eyaml]
    options: {{{options}}}
"#
        ),
    );
    tree.write(
        "/data/s.eyaml",
        filled("pdx: <password>\nbfs: <other>\nplain: text\nuses: \"%{lookup('pdx')}!\"\nboth: {list: ['<password>', '<other>']}\n"),
    );
    tree.write("/data/sites/bfs.eyaml", filled("own: <other>\n"));
    tree
}

/// Writes a pair of keys for a site, each atomically.
pub(super) fn write_keys(tree: &Tree, site: &str, prefix: &str) {
    for name in ["private", "public"] {
        let text = key(&format!("{prefix}{name}_key.pkcs7.pem"));
        tree.write(&format!("R/keys/{site}/next"), text);
        let path = |name: &str| tree.path(&format!("R/keys/{site}/{name}"));
        fs::rename(path("next"), path(&format!("{name}.pem"))).unwrap();
    }
}

/// Options that name the keys by the fact `site`.
pub(super) const BY_SITE: &str = r#"pkcs7_private_key: "<K>/%{facts.site}/private.pem", pkcs7_public_key: "<K>/%{facts.site}/public.pem""#;

pub(super) fn at(site: &str, key: &str) -> Value {
    json!({ "key": key, "facts": { "site": site } })
}

#[track_caller]
fn fails(server: &TestServer, request: &Value, reason: &str) {
    let detail = server.failure(request);
    assert!(detail.contains(reason), "{request}: {detail}");
}

#[test]
fn each_node_decrypts_with_the_keys_its_facts_name() {
    let server = TestServer::of(tree(BY_SITE), "");
    for _ in 0..2 {
        for (site, key, expected) in [
            ("pdx", "pdx", PASSWORD),
            ("bfs", "bfs", OTHER),
            ("bfs", "own", OTHER),
            ("pdx", "plain", "text"),
            ("pdx", "uses", &format!("{PASSWORD}!")),
            ("nowhere", "plain", "text"),
            // Puppet opens the same file by these names.
            ("./bfs", "bfs", OTHER),
            ("/bfs", "bfs", OTHER),
        ] {
            let value = server.lookup(&at(site, key)).json()["value"].clone();
            assert_eq!(value, expected, "{site} {key}");
        }
    }
    let (stdout, stderr) = printed(
        &server
            .tree
            .hierad("lookup")
            .args(["bfs", "--facts"])
            .arg(facts_file(&server.tree, "bfs"))
            .output()
            .unwrap(),
    );
    assert!(stdout.contains(OTHER), "{stdout}{stderr}");
}

fn facts_file(tree: &Tree, site: &str) -> std::path::PathBuf {
    tree.write("R/facts.json", json!({ "site": site }).to_string());
    tree.path("R/facts.json")
}

#[test]
fn a_wrong_or_missing_key_fails_only_lookups_that_need_it() {
    let server = TestServer::of(tree(BY_SITE), "");
    for key in ["pdx", "uses", "both"] {
        fails(&server, &at("bfs", key), "cannot be opened with this key");
        fails(&server, &at("nowhere", key), "/keys/nowhere/private.pem");
        fails(&server, &json!({ "key": key }), "/keys//private.pem");
        assert_eq!(server.value(&at("nowhere", "plain")), "\"text\"");
    }
    fails(
        &server,
        &at("pdx", "both"),
        "cannot be opened with this key",
    );
    let half = r#"pkcs7_public_key: "<K>/%{facts.site}/public.pem""#;
    let server = TestServer::of(tree(half), "");
    fails(&server, &at("pdx", "pdx"), "`pkcs7_private_key`");
    assert_eq!(server.value(&at("pdx", "plain")), "\"text\"");
}

#[test]
fn a_private_key_is_sufficient() {
    let server = TestServer::of(
        tree(r#"pkcs7_private_key: "<K>/%{facts.site}/private.pem""#),
        "",
    );
    assert_eq!(server.value(&at("pdx", "pdx")), format!("\"{PASSWORD}\""));
    fails(&server, &at("bfs", "pdx"), "cannot be opened with this key");
    fails(&server, &at("nowhere", "pdx"), "/keys/nowhere/private.pem");
}

#[test]
fn a_file_that_is_not_a_key_fails_alone() {
    let options = r#"pkcs7_private_key: "<K>/%{facts.site}/private.pem", pkcs7_public_key: "<K>/pdx/public.pem""#;
    let tree = tree(options);
    tree.write("R/keys/text/private.pem", "no key at all");
    fs::create_dir_all(tree.path("R/keys/directory/private.pem")).unwrap();
    let server = TestServer::of(tree, "");
    assert_eq!(server.value(&at("pdx", "pdx")), format!("\"{PASSWORD}\""));
    fails(&server, &at("bfs", "bfs"), "does not belong");
    fails(&server, &at("text", "pdx"), "not an RSA key");
    fails(&server, &at("directory", "pdx"), "a directory");
    assert_eq!(server.value(&at("text", "plain")), "\"text\"");
    let shown = server.get("/environments/production").json();
    assert_eq!(shown["state"], "ok", "{shown}");
    assert_eq!(shown["last_fault"], Value::Null, "{shown}");
}

#[test]
fn a_fact_cannot_select_a_key_in_another_directory() {
    let options =
        r#"pkcs7_private_key: "<K>/pdx/%{facts.site}.pem", pkcs7_public_key: "<K>/bfs/public.pem""#;
    let server = TestServer::of(tree(options), "");
    let elsewhere = server.tree.path("R/keys/bfs/private").display().to_string();
    for site in [
        "../bfs/private",
        "x/../../bfs/private",
        elsewhere.as_str(),
        "../../keys/bfs/private",
        "..",
        "private\u{0}",
    ] {
        fails(&server, &at(site, "bfs"), "cannot be decrypted");
    }
    // A path that consists of nothing but a fact cannot do so either.
    let whole = r#"pkcs7_private_key: "%{facts.site}", pkcs7_public_key: "<K>/bfs/public.pem""#;
    let server = TestServer::of(tree(whole), "");
    let elsewhere = server.tree.path("R/keys/bfs/private.pem");
    let request = at(&elsewhere.display().to_string(), "bfs");
    fails(&server, &request, "out of its directory");
}

#[test]
fn functions_are_not_allowed_in_the_names_of_keys() {
    for call in [
        "lookup('plain')",
        "alias('plain')",
        "literal('pdx')",
        "scope('site')",
    ] {
        let options = BY_SITE.replace("facts.site", call);
        let server = TestServer::of(tree(&options), "");
        for key in ["pdx", "plain"] {
            let detail = server.failure(&at("pdx", key));
            assert!(detail.contains("not allowed"), "{call}: {detail}");
        }
    }
}

#[test]
fn facts_can_select_environment_variables_with_keys() {
    let options = r#"pkcs7_private_key_env_var: "TEST_%{facts.name}_PRIVATE", pkcs7_public_key_env_var: "TEST_%{facts.name}_PUBLIC", pkcs7_public_key: "<K>/%{facts.site}/public.pem""#
        .replace("facts.name", "facts.who");
    let tree = tree(&options);
    let texts = ["", "other_"].map(|prefix| {
        ["private", "public"].map(|name| key(&format!("{prefix}{name}_key.pkcs7.pem")))
    });
    let variables = [
        ("TEST_PDX_PRIVATE", texts[0][0].as_str()),
        ("TEST_PDX_PUBLIC", texts[0][1].as_str()),
        ("TEST_BFS_PRIVATE", texts[1][0].as_str()),
        ("TEST_BAD_PRIVATE", "none"),
    ];
    let server = Process::start(&tree, &variables);
    let ask = |key: &str, who: &str, site: &str| {
        let body = json!({ "key": key, "facts": { "who": who, "site": site } });
        server.lookup(body.to_string().as_bytes())
    };
    assert_eq!(ask("pdx", "PDX", "").json()["value"], PASSWORD);
    // The variable of the public key is not set, so its file is used.
    assert_eq!(ask("bfs", "BFS", "bfs").json()["value"], OTHER);
    for (who, site, reason) in [
        ("BFS", "pdx", "does not belong"),
        ("BAD", "pdx", "not an RSA key"),
        ("NONE", "pdx", "`TEST_NONE_PRIVATE` is not set"),
    ] {
        let answer = ask("bfs", who, site);
        assert_eq!(answer.status, 422);
        assert!(answer.text().contains(reason), "{}", answer.text());
        assert_eq!(ask("plain", who, site).json()["value"], "text");
    }
}

#[test]
fn the_name_of_the_environment_is_known_when_loading() {
    let options = r#"pkcs7_private_key: "<K>/%{environment}/private.pem", pkcs7_public_key: "<K>/%{server_facts.environment}/public.pem""#;
    let tree = tree(options);
    write_keys(&tree, "production", "");
    let server = TestServer::of(tree, "");
    assert_eq!(server.value(&at("", "pdx")), format!("\"{PASSWORD}\""));
    // The key is known at load time, and so are the values that it cannot decrypt.
    let shown = server.get("/environments/production").json();
    assert!(shown.to_string().contains("cannot be decrypted"), "{shown}");

    let mixed = r#"pkcs7_private_key: "<K>/%{environment}/%{facts.site}/private.pem", pkcs7_public_key: "<K>/%{facts.site}/public.pem""#;
    let server = TestServer::of(self::tree(mixed), "");
    fails(
        &server,
        &at("pdx", "pdx"),
        "/keys/production/pdx/private.pem",
    );
    write_keys(&server.tree, "production/pdx", "");
    assert_eq!(
        server
            .tree
            .hierad("lookup")
            .args(["pdx", "--facts"])
            .arg(facts_file(&server.tree, "pdx"))
            .output()
            .unwrap()
            .status
            .code(),
        Some(0)
    );
}

#[test]
fn explanations_and_errors_contain_no_secret() {
    let server = TestServer::of(tree(BY_SITE), "");
    for key in ["pdx", "both", "uses"] {
        for site in ["pdx", "bfs", "nowhere"] {
            let mut request = at(site, key);
            request["explain"] = json!(true);
            let text = server
                .post_accepting("text/plain", request.to_string())
                .text();
            contains_no_secret(&text);
            request["type"] = json!("Integer");
            let answer = server.lookup(&request);
            contains_no_secret(&answer.text());
        }
    }
}

#[test]
fn concurrent_lookups_get_the_same_values() {
    let server = TestServer::of(tree(BY_SITE), "");
    std::thread::scope(|scope| {
        for number in 0..16 {
            let server = &server;
            scope.spawn(move || {
                let (site, value) = [("pdx", PASSWORD), ("bfs", OTHER)][number % 2];
                for _ in 0..20 {
                    assert_eq!(server.lookup(&at(site, site)).json()["value"], value);
                }
            });
        }
    });
}
