//! What `config/` ships: the sample loads without faults, and the settings file names every setting with its default.

use serde_json::json;

use crate::support::process::PATIENCE;
use crate::support::{TestServer, Tree, hierad, output_within, printed};

const SETTINGS: &str = include_str!("../../config/hierad.yaml");

#[test]
fn the_sample_loads_without_faults_or_notices() {
    let server = TestServer::of_the_sample();
    let all = server.get("/environments").json();
    let environments = all["environments"].as_object().unwrap();
    assert!(!environments.is_empty());
    for (name, environment) in environments {
        assert_eq!(environment["state"], "ok", "{name}: {environment}");
        assert_eq!(environment["notices"], json!([]), "{name}: {environment}");
        assert!(
            environment["keys"].as_u64().unwrap() > 0,
            "{name}: {environment}"
        );
    }
}

#[test]
fn the_sample_passes_the_check() {
    let root = env!("CARGO_MANIFEST_DIR");
    let output = hierad()
        .args(["check", "--config"])
        .arg(format!("{root}/config/hierad.yaml"))
        .output()
        .unwrap();
    let (stdout, stderr) = printed(&output);
    assert_eq!(output.status.code(), Some(0), "{stdout}{stderr}");
    assert!(stdout.contains(" 0 faults, 0 notices\n"), "{stdout}");
}

/// The name of the setting in a line of the file, commented out or not.
fn setting(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let (name, value) = line.strip_prefix("# ").unwrap_or(line).split_once(':')?;
    let is_name = !name.is_empty()
        && name
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    (is_name && !value.trim().contains(' ')).then_some(name)
}

#[test]
fn settings_in_comments_show_the_defaults() {
    let tree = Tree::new("//- /hiera.yaml\nversion: 5\n");
    let uncommented: String = SETTINGS
        .lines()
        .filter(|line| setting(line).is_some())
        .filter(|line| !line.starts_with("codedir") && !line.starts_with("hiera_config"))
        .map(|line| {
            let indent = if line.starts_with(' ') { "  " } else { "" };
            format!("{indent}{}\n", line.trim_start().trim_start_matches("# "))
        })
        .collect();
    assert!(uncommented.contains("max_body_size"), "{uncommented}");
    tree.write("R/all.yaml", &uncommented);
    tree.write("R/none.yaml", "");
    let settings = |file: &str| {
        let config = Some(tree.path(file));
        let arguments = hierad::config::CodeArgs {
            config,
            codedir: Some(tree.codedir()),
            ..hierad::config::CodeArgs::default()
        };
        let mut settings = arguments
            .settings()
            .unwrap_or_else(|error| panic!("{error:#}\n{uncommented}"));
        // The default is not part of the settings.
        settings.listen = None;
        format!("{settings:#?}")
    };
    assert_eq!(settings("R/all.yaml"), settings("R/none.yaml"));
}

#[test]
fn every_setting_is_in_the_file() {
    let tree = Tree::empty();
    let names: Vec<&str> = SETTINGS.lines().filter_map(setting).collect();
    for section in [
        "",
        "http",
        "connections",
        "limits",
        "reload",
        "remote",
        "shutdown",
        "log",
    ] {
        let text = if section.is_empty() {
            "no_such: 1".to_owned()
        } else {
            format!("{section}: {{no_such: 1}}")
        };
        tree.write("R/wrong.yaml", text);
        let config = Some(tree.path("R/wrong.yaml"));
        let arguments = hierad::config::CodeArgs {
            config,
            codedir: Some(tree.codedir()),
            ..hierad::config::CodeArgs::default()
        };
        let error = format!("{:#}", arguments.settings().unwrap_err());
        assert!(error.contains("`no_such`"), "{error}");
        let expected = error.split("expected").nth(1).unwrap_or_default();
        let known: Vec<&str> = expected.split('`').skip(1).step_by(2).collect();
        assert!(!known.is_empty(), "{error}");
        for name in known {
            assert!(
                names.contains(&name),
                "`{name}` is not in config/hierad.yaml"
            );
        }
    }
}

#[test]
fn an_unknown_log_level_is_refused_with_the_known_ones() {
    let tree = Tree::new("//- /hiera.yaml\nversion: 5\n");
    tree.write("R/loud.yaml", "codedir: code\nlog: {level: loud}\n");
    let mut by_file = hierad();
    by_file
        .args(["serve", "--config"])
        .arg(tree.path("R/loud.yaml"));
    let mut by_variable = tree.hierad("serve");
    by_variable.env("HIERAD_LOG_LEVEL", "loud");
    for (process, source) in [
        (&mut by_file, "loud.yaml"),
        (&mut by_variable, "HIERAD_LOG_LEVEL"),
    ] {
        // A server that accepted the level would keep running.
        let output = output_within(PATIENCE, process.args(["--listen", "127.0.0.1:0"]));
        let (stdout, stderr) = printed(&output);
        assert_eq!(
            (output.status.code(), stdout.as_str()),
            (Some(1), ""),
            "{stderr}"
        );
        for part in [source, "`loud`", "error, warn, info, debug, trace"] {
            assert!(stderr.contains(part), "{part}: {stderr}");
        }
    }
}
