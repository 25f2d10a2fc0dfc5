//! Files that Puppet 7 ignores and Puppet 8 refuses, and where the setting comes from.

use serde_json::json;

use super::{FIXTURE, failure, lenient, strict};
use crate::encrypted::filled;
use crate::support::{TestServer, Tree, hierad, printed};

/// Trees with something that Puppet 7 ignores, and where that is.
const IGNORED_BY_PUPPET_7: [(&str, &str); 4] = [
    ("//- /hiera.yaml\n:hierarchy: [a]\n", "/hiera.yaml"),
    ("//- /hiera.yaml\n# empty\n", "/hiera.yaml"),
    (
        "//- /modules/m/hiera.yaml\nversion: 3\n",
        "/modules/m/hiera.yaml",
    ),
    (
        "//- /hiera.yaml\nversion: 5\n//- /data/common.yaml\n[1]\n",
        "/data/common.yaml",
    ),
];

#[test]
fn a_data_file_that_is_not_a_hash_fails_the_lookups_that_reach_it() {
    let (strict, lenient) = (strict(), lenient());
    for odd in ["list", "text", "number", "yes"] {
        let request = json!({"key": "plain", "facts": {"odd": odd}});
        let detail = failure(&strict, &request);
        let file = format!("<ROOT>/code/environments/production/data/{odd}.yaml");
        assert!(detail.contains(&file), "{detail}");
        assert!(detail.contains("where a hash is expected"), "{detail}");
        let explained = json!({"key": "plain", "facts": {"odd": odd}, "explain": true});
        let text = strict.post_accepting("text/plain", explained.to_string());
        let text = strict.tree.shown(&text.text());
        let expected = format!("{file}: file does not contain a valid yaml hash");
        assert_eq!(text.lines().last(), Some(expected.as_str()), "{text}");
        assert_eq!(lenient.value(&request), "1", "{odd}");
    }
    for odd in ["false", "null", "empty", "missing"] {
        let request = json!({"key": "plain", "facts": {"odd": odd}});
        assert_eq!(strict.value(&request), "1", "{odd}");
    }
}

#[test]
fn an_error_does_not_quote_decrypted_text() {
    let fixture = filled(
        r#"
//- /hiera.yaml
version: 5
hierarchy: [{name: s, lookup_key: eyaml_lookup_key, path: s.eyaml, options: <KEYS>}]
//- /data/s.eyaml
secret: <undefined>
"#,
    );
    let server = TestServer::new(&fixture);
    let detail = failure(&server, &json!({"key": "secret"}));
    assert!(detail.contains("not shown"), "{detail}");
    assert!(!detail.contains("tail_of_a_password"), "{detail}");
}

#[test]
fn files_that_fail_lookups_are_faults_and_others_are_notices() {
    for (fixture, path) in IGNORED_BY_PUPPET_7 {
        let tree = Tree::new(fixture);
        let position = format!("{}:1:1: ", tree.path(path).display());
        for (arguments, code, is_notice) in [
            (&[][..], 1, false),
            (&["--strict", "error"], 1, false),
            (&["--strict", "warning"], 0, true),
            (&["--strict=off"], 0, true),
        ] {
            let output = tree.hierad("check").args(arguments).output().unwrap();
            let (stdout, stderr) = printed(&output);
            let found = stdout.lines().find(|line| line.starts_with(&position));
            let found = found.unwrap_or_else(|| panic!("{path}: {stdout}{stderr}"));
            assert_eq!(found.ends_with("(notice)"), is_notice, "{stdout}");
            assert_eq!(output.status.code(), Some(code), "{stdout}{stderr}");
        }
        let states = ["error", "warning"].map(|level| {
            let server = TestServer::with_settings(fixture, &format!("strict: {level}\n"));
            let shown = server.get("/environments/production").json();
            let key = json!({"key": "m::k"});
            (shown["state"].clone(), server.lookup(&key).status)
        });
        assert_eq!(
            states,
            [(json!("faulty"), 422), (json!("ok"), 404)],
            "{path}"
        );
    }
}

#[test]
fn the_setting_comes_from_flag_variable_or_file_in_this_order() {
    let tree = Tree::new(FIXTURE);
    tree.write("R/warning.yaml", "strict: warning\n");
    let lookup = |arguments: &[&str], variable: Option<&str>| {
        let mut command = tree.hierad("lookup");
        command.args(["simple", "--render-as", "s"]).args(arguments);
        if let Some(level) = variable {
            command.env("HIERAD_STRICT", level);
        }
        let output = command.output().unwrap();
        (output.status.code(), printed(&output))
    };
    let file = tree.path("R/warning.yaml").display().to_string();
    let with_file = ["--config", &file];
    let passes = |result: (Option<i32>, (String, String))| {
        assert_eq!(result, (Some(0), ("<>\n".to_owned(), String::new())));
    };
    let fails = |(code, (stdout, stderr)): (Option<i32>, (String, String))| {
        assert_eq!((code, stdout.as_str()), (Some(1), ""));
        assert!(stderr.contains("undefined variable `nosuch`"), "{stderr}");
    };
    fails(lookup(&[], None));
    passes(lookup(&with_file, None));
    fails(lookup(&with_file, Some("error")));
    passes(lookup(&[], Some("off")));
    passes(lookup(&["--strict", "warning"], Some("error")));
    fails(lookup(&["--strict", "error", "--config", &file], None));
}

#[test]
fn an_unknown_value_is_refused_by_name() {
    let tree = Tree::empty();
    tree.write("R/wrong.yaml", "strict: loud\n");
    let file = tree.path("R/wrong.yaml").display().to_string();
    for (arguments, code) in [(["--strict", "loud"], 2), (["--config", &file], 1)] {
        let output = hierad().args(["check"]).args(arguments).output().unwrap();
        let (stdout, stderr) = printed(&output);
        assert!(stderr.contains("loud"), "{stdout}{stderr}");
        assert!(stderr.contains("warning"), "{stdout}{stderr}");
        assert_eq!(output.status.code(), Some(code), "{stdout}{stderr}");
    }
}
