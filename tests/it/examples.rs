//! The examples in README.md and docs/ print what the pages show, on the sample in `config/`.

use axum::body::Body;
use axum::http::{Request, header};
use serde_json::Value;

use crate::support::{TestServer, hierad, printed};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");
/// The directory that the pages show instead of [`ROOT`].
const SHOWN_ROOT: &str = "/srv/hierad";

/// A command on a page, and the output below it.
struct Example {
    command: String,
    output: String,
}

/// The commands on a page that start with these words.
fn examples(page: &str, start: &str) -> Vec<Example> {
    let blocks = page.split("```console\n").skip(1);
    let blocks = blocks.map(|block| block.split("```").next().unwrap());
    blocks
        .flat_map(|block| block.split("$ ").skip(1))
        .filter(|example| example.starts_with(start))
        .map(|example| {
            let (mut command, mut output) = (String::new(), String::new());
            for line in example.lines() {
                // A command continues as long as a quote is open.
                if command.is_empty() || command.matches('\'').count() % 2 == 1 {
                    command += line;
                } else {
                    output += line;
                    output.push('\n');
                }
            }
            Example { command, output }
        })
        .collect()
}

/// The words of a command, without quotes.
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

/// The request that a curl command sends.
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
    Request::builder()
        .method(method)
        .uri(path)
        .header(header::ACCEPT, accept)
        .header(header::CONTENT_TYPE, "application/json")
        .body(body.map_or_else(Body::empty, Body::from))
        .unwrap()
}

/// Removes the members that change with the sample or with time, which the pages abbreviate.
fn comparable(mut value: Value) -> Value {
    if let Some(members) = value.as_object_mut() {
        members.retain(|name, _| name != "revision" && name != "loaded_at");
        for member in members.values_mut() {
            *member = comparable(member.take());
        }
    }
    value
}

/// Sends the curl commands of a page. Reloads, event streams and conditional requests are left to other tests.
#[track_caller]
fn check_requests(page: &str, least: usize) {
    let server = TestServer::of_the_sample();
    let mut examples = examples(page, "curl -s ");
    examples.retain(|Example { command, .. }| {
        !command.contains(" -X ") && !command.contains(" --etag-")
    });
    assert!(examples.len() >= least, "{} examples", examples.len());
    for Example { command, output } in examples {
        let reply = server.send(request(&command));
        let text = reply.text();
        if output.starts_with('{') {
            let shown: Value = serde_json::from_str(&output).unwrap();
            let sent: Value =
                serde_json::from_str(&text).unwrap_or_else(|_| panic!("{command}: {text}"));
            assert_eq!(comparable(sent), comparable(shown), "{command}");
        } else {
            assert_eq!(reply.status, 200, "{command}: {text}");
            // The command may show only the last lines.
            let sent = text.replace(ROOT, SHOWN_ROOT);
            assert!(sent.ends_with(&output), "{command}: {sent}");
        }
    }
}

#[test]
fn requests_in_the_readme_return_what_it_shows() {
    check_requests(include_str!("../../README.md"), 3);
}

#[test]
fn requests_on_the_api_page_return_what_it_shows() {
    check_requests(include_str!("../../docs/api.md"), 8);
}

/// The digits of revisions replaced by what the pages show.
fn without_revisions(text: &str) -> String {
    let lines = text.lines().map(|line| match line.split_once("revision ") {
        Some((before, rest)) => {
            let rest = rest.trim_start_matches(|letter: char| letter.is_ascii_hexdigit());
            format!("{before}revision …{}\n", rest.trim_start_matches('…'))
        }
        None => format!("{line}\n"),
    });
    lines.collect()
}

#[test]
fn commands_in_the_readme_print_what_it_shows() {
    let examples = examples(include_str!("../../README.md"), "hierad ");
    assert!(examples.len() >= 2, "{} examples", examples.len());
    for Example { command, output } in examples {
        let run = hierad()
            .args(words(&command).iter().skip(1))
            .current_dir(ROOT)
            .output()
            .unwrap();
        let (stdout, stderr) = printed(&run);
        assert!(
            run.status.success() && !stdout.is_empty(),
            "{command}: {stderr}"
        );
        if !output.is_empty() {
            assert_eq!(
                without_revisions(&stdout),
                without_revisions(&output),
                "{command}"
            );
        }
    }
}
