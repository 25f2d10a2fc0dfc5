//! What `config/` ships: it loads without faults and answers the README's examples.

use axum::body::Body;
use axum::http::{Request, header};
use serde_json::{Value, json};

use crate::support::{TestServer, Tree, hierad, printed};

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

/// The words of a command, quotes taken off.
fn words(command: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
    for letter in command.chars() {
        match (quote, letter) {
            (None, '\'' | '"') => quote = Some(letter),
            (Some(open), _) if open == letter => quote = None,
            (None, ' ') if word.is_empty() => {}
            (None, ' ' | '\n') => words.push(std::mem::take(&mut word)),
            (_, letter) => word.push(letter),
        }
    }
    words.push(word);
    words
}

/// The examples of a page: each `$ curl` with the JSON below it, if any is shown. Reloads, streams and answers that are
/// compared with earlier ones are left to other tests.
fn examples(page: &str) -> Vec<(String, Option<Value>)> {
    let mut examples = Vec::new();
    for block in page.split("```console\n").skip(1) {
        let block = block.split("```").next().unwrap();
        for example in block
            .split("$ ")
            .skip(1)
            .filter(|example| example.starts_with("curl -s "))
            .filter(|example| !example.contains(" -X ") && !example.contains(" --etag-"))
        {
            let (mut command, mut answer) = (String::new(), None);
            for line in example.lines() {
                // A line with an open quote goes on.
                if command.is_empty() || command.matches('\'').count() % 2 == 1 {
                    command += line;
                } else if line.starts_with('{') {
                    answer = Some(serde_json::from_str(line).unwrap());
                }
            }
            examples.push((command, answer));
        }
    }
    examples
}

fn request(command: &str) -> Request<Body> {
    let words = words(command);
    let mut words = words.iter().skip(1);
    let (mut path, mut body, mut accept) = (String::new(), None, "*/*".to_owned());
    while let Some(word) = words.next() {
        match word.as_str() {
            "-s" | "-sS" => {}
            "--json" | "-d" => body = words.next().cloned(),
            "-H" => {
                let header = words.next().unwrap();
                accept = header
                    .strip_prefix("Accept: ")
                    .unwrap_or_else(|| panic!("{header}"))
                    .to_owned();
            }
            "|" => break,
            address => {
                path = address
                    .strip_prefix("localhost:8080")
                    .expect("the sample's address")
                    .to_owned()
            }
        }
    }
    let method = if body.is_some() { "POST" } else { "GET" };
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header(header::ACCEPT, accept);
    let request = request.header(header::CONTENT_TYPE, "application/json");
    request
        .body(body.map_or_else(Body::empty, Body::from))
        .unwrap()
}

/// Takes out what differs from time to time, and what the page leaves out.
fn comparable(mut value: Value) -> Value {
    if let Some(members) = value.as_object_mut() {
        members.retain(|name, _| name != "revision" && name != "loaded_at");
        for member in members.values_mut() {
            *member = comparable(member.take());
        }
    }
    value
}

#[track_caller]
fn check_page(page: &str, least: usize) {
    let server = TestServer::of_the_sample();
    let examples = examples(page);
    assert!(examples.len() >= least, "{} examples", examples.len());
    for (command, answer) in examples {
        let reply = server.send(request(&command));
        match answer {
            Some(answer) => {
                let got: Value = serde_json::from_slice(&reply.body)
                    .unwrap_or_else(|_| panic!("{command}: {}", reply.text()));
                assert_eq!(comparable(got), comparable(answer), "{command}");
            }
            None => assert_eq!(reply.status, 200, "{command}: {}", reply.text()),
        }
    }
}

#[test]
fn the_readme_shows_what_the_sample_answers() {
    check_page(include_str!("../../README.md"), 3);
}

#[test]
fn the_page_on_the_interface_shows_what_the_sample_answers() {
    check_page(include_str!("../../docs/api.md"), 8);
}

/// The names of the settings in a line of the file, commented out or not.
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
fn the_settings_that_are_commented_out_are_settings_with_their_built_in_values() {
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
        // What is built in is nothing, and the listener's to know.
        settings.listen = None;
        format!("{settings:#?}")
    };
    assert_eq!(settings("R/all.yaml"), settings("R/none.yaml"));
}

#[test]
fn every_setting_is_in_the_file() {
    let tree = Tree::empty();
    let names: Vec<&str> = SETTINGS.lines().filter_map(setting).collect();
    for section in ["", "http", "limits", "reload", "remote", "shutdown", "log"] {
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
        for name in expected.split('`').skip(1).step_by(2) {
            assert!(
                names.contains(&name),
                "`{name}` is not in config/hierad.yaml"
            );
        }
    }
}

#[test]
fn an_unknown_log_level_is_refused_with_those_there_are() {
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
        // Under `timeout`, since a server that takes it would run on.
        let output = std::process::Command::new("timeout")
            .arg("20")
            .arg(process.get_program())
            .args(process.get_args())
            .args(["--listen", "127.0.0.1:0"])
            .envs(
                process
                    .get_envs()
                    .filter_map(|(name, value)| Some((name, value?))),
            )
            .output()
            .unwrap();
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
