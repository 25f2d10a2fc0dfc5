//! Every recorded answer of Puppet 7 and of Puppet 8, by the library, over HTTP in all its forms, and by the command line.
//!
//! Answers are compared as `tests/conformance/recorder/run.py` compares them.

mod judge;
mod library;
mod query;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex};

use self::judge::{Got, check, check_batch, check_text, first_line_difference};
use crate::cases::{self, Ask, Case};
use crate::exact::Json;
use crate::support::{STACK_SIZE, TestServer, Tree, printed};

/// Topics whose cases do not all pass yet. They are asked all the same: one that passes must leave the list.
const NOT_YET: &[&str] = &[];

/// How many failures are shown.
const SHOWN: usize = 20;

static CASES: LazyLock<Vec<Case>> = LazyLock::new(cases::load);

/// What came of a run: passed and failed by topic, and the failures.
#[derive(Default)]
struct Tally {
    passed: BTreeMap<String, usize>,
    failures: Vec<Failure>,
}

struct Failure {
    topic: String,
    text: String,
}

impl Tally {
    fn add(&mut self, case: &Case, ask: &Ask, form: &str, result: Result<(), String>) {
        match result {
            Ok(()) => *self.passed.entry(case.topic.clone()).or_default() += 1,
            Err(fault) => {
                let place = format!("{}.case:{} {}", case.topic, ask.line, case.label());
                let form = format!("{form}, strict {}", case.puppet.strict());
                let text = format!("{place}, {form}: {}\n    {fault}", ask.request);
                let topic = case.topic.clone();
                self.failures.push(Failure { topic, text });
            }
        }
    }

    fn take(&mut self, other: Tally) {
        for (topic, count) in other.passed {
            *self.passed.entry(topic).or_default() += count;
        }
        self.failures.extend(other.failures);
    }

    /// Fails where something failed that is not expected to, or all of a topic passed that is.
    fn finish(mut self) {
        let total: usize = self.passed.values().sum::<usize>() + self.failures.len();
        self.failures
            .sort_by(|left, right| left.text.cmp(&right.text));
        let is_expected = |failure: &Failure| NOT_YET.contains(&failure.topic.as_str());
        let (expected, failures): (Vec<_>, Vec<_>) =
            self.failures.into_iter().partition(is_expected);
        eprintln!(
            "{total} questions, {} failed, {} left out as not yet",
            failures.len(),
            expected.len()
        );
        for failure in failures.iter().take(SHOWN) {
            eprintln!("FAIL {}", failure.text);
        }
        let mut by_topic: BTreeMap<&str, usize> = BTreeMap::new();
        for failure in &failures {
            *by_topic.entry(&failure.topic).or_default() += 1;
        }
        assert!(
            failures.is_empty(),
            "{} of {total} failed: {by_topic:?}",
            failures.len()
        );
        for topic in NOT_YET {
            let is_failing = expected.iter().any(|failure| failure.topic == *topic);
            assert!(is_failing, "all of `{topic}` passes: take it off NOT_YET");
        }
    }
}

/// Runs every case on a tree of its own, on all cores.
fn run(judge: impl Fn(&Case, TestServer, &mut Tally) + Sync) -> Tally {
    let (next, all) = (AtomicUsize::new(0), Mutex::new(Tally::default()));
    let work = || {
        let mut tally = Tally::default();
        while let Some(case) = CASES.get(next.fetch_add(1, Ordering::Relaxed)) {
            let settings = format!("strict: {}\n", case.puppet.strict());
            judge(case, TestServer::of(case.write(), &settings), &mut tally);
        }
        all.lock().unwrap().take(tally);
    };
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            let thread = std::thread::Builder::new().stack_size(STACK_SIZE);
            thread.spawn_scoped(scope, work).unwrap();
        }
    });
    all.into_inner().unwrap()
}

#[test]
fn every_topic_that_is_left_out_is_there() {
    for topic in NOT_YET {
        assert!(
            CASES.iter().any(|case| case.topic == *topic),
            "there is no topic `{topic}`"
        );
    }
}

#[test]
fn the_library_answers_as_puppet_does() {
    let tally = run(|case, server, tally| {
        for ask in &case.asks {
            let got = library::answer(&server, &ask.request(&server.tree));
            let got = got.shown(&server.tree);
            tally.add(case, ask, "library", check(ask, &got));
            if let (Some(text), true) = (&got.text, ask.want().get("explain_text").is_some()) {
                tally.add(case, ask, "library, text", check_text(ask, text));
            }
        }
    });
    tally.finish();
}

#[test]
fn the_server_answers_as_puppet_does() {
    let tally = run(|case, server, tally| {
        for ask in &case.asks {
            let request = ask.request(&server.tree);
            let got = ask_by_post(&server, &request);
            tally.add(case, ask, "POST", got.and_then(|got| check(ask, &got)));
            if ask.request.get("explain").is_some() {
                tally.add(
                    case,
                    ask,
                    "POST, text",
                    ask_for_text(&server, ask, &request),
                );
            }
            if let Some(path) = query::of(&request) {
                let got = Got::of_reply(&server.get(&path)).map(|got| got.shown(&server.tree));
                tally.add(case, ask, "GET", got.and_then(|got| check(ask, &got)));
            }
        }
        for asks in batches(case) {
            tally.add(case, asks[0], "batch", ask_in_a_batch(&server, &asks));
        }
    });
    tally.finish();
}

#[test]
fn an_explained_lookup_finds_what_a_plain_one_finds() {
    let tally = run(|case, server, tally| {
        for ask in case
            .asks
            .iter()
            .filter(|ask| ask.request.get("explain").is_none())
        {
            let request = ask.request(&server.tree);
            let explained = request.clone().with("explain", Json::Bool(true));
            let same = ask_by_post(&server, &request).and_then(|plain| {
                let explained = ask_by_post(&server, &explained)?;
                match plain.outcome == explained.outcome {
                    true => Ok(()),
                    false => Err(format!(
                        "{:?}; explained: {:?}",
                        plain.outcome, explained.outcome
                    )),
                }
            });
            tally.add(case, ask, "explained", same);
        }
    });
    // Whatever the answers are, right or not yet, the two ways must agree.
    for failure in tally.failures.iter().take(SHOWN) {
        eprintln!("FAIL {}", failure.text);
    }
    assert!(tally.failures.is_empty(), "{} differ", tally.failures.len());
}

#[test]
fn the_command_line_finds_on_disk_what_the_server_has_loaded() {
    let tally = run(|case, server, tally| {
        let expressible = case.asks.iter().find_map(|ask| {
            let arguments = as_arguments(&ask.request(&server.tree), &server.tree)?;
            Some((ask, arguments))
        });
        if let Some((ask, arguments)) = expressible {
            let result = ask_by_command(&server, case, ask, &arguments);
            tally.add(case, ask, "command line", result);
        }
    });
    for failure in tally.failures.iter().take(SHOWN) {
        eprintln!("FAIL {}", failure.text);
    }
    let asked = tally.passed.values().sum::<usize>() + tally.failures.len();
    eprintln!("{asked} of {} cases asked", CASES.len());
    assert!(tally.failures.is_empty(), "{} differ", tally.failures.len());
    assert!(
        asked * 2 > CASES.len(),
        "few cases can be asked by the command line: {asked}"
    );
}

#[test]
fn the_command_line_explains_as_puppet_does() {
    let tally = run(|case, server, tally| {
        for ask in &case.asks {
            if ask.request.get("explain").is_none() {
                continue;
            }
            let request = ask.request(&server.tree).without("explain");
            if let Some(arguments) = as_arguments(&request, &server.tree) {
                let result = explain_by_command(&server, case, ask, &arguments);
                tally.add(case, ask, "command line", result);
            }
        }
    });
    tally.finish();
}

/// The explanation that the command prints, or its failure without one.
fn explain_by_command(
    server: &TestServer,
    case: &Case,
    ask: &Ask,
    arguments: &[String],
) -> Result<(), String> {
    let explain = match ask.request.get("explain").and_then(Json::as_text) {
        Some("options") => "--explain-options",
        _ => "--explain",
    };
    let output = server
        .tree
        .hierad("lookup")
        .args([explain, "--render-as", "s"])
        .args(["--strict", case.puppet.strict()])
        // Those were for values.
        .args(arguments.iter().skip(2))
        .output()
        .map_err(|error| error.to_string())?;
    let (stdout, stderr) = printed(&output);
    let code = output.status.code();
    if judge::is_told(ask) == Some(false) {
        return if code == Some(1) && stdout.is_empty() && !stderr.is_empty() {
            Ok(())
        } else {
            Err(format!("exit code {code:?}, {stdout}; Puppet fails alone"))
        };
    }
    if ask.want().get("explain_text").is_none() {
        return Ok(());
    }
    if code != Some(0) {
        return Err(format!("exit code {code:?}: {stderr}"));
    }
    let root = server.tree.root().display().to_string();
    let stdout = stdout.replace(&root, judge::ROOT_SHOWN);
    if !stdout.ends_with('\n') || stdout.ends_with("\n\n") {
        return Err(format!("it ends in {:?}", stdout.chars().last()));
    }
    check_text(ask, &stdout)
}

fn ask_by_post(server: &TestServer, request: &Json) -> Result<Got, String> {
    let reply = server.post(request.to_string());
    Ok(Got::of_reply(&reply)?.shown(&server.tree))
}

/// The same question for an answer of text.
fn ask_for_text(server: &TestServer, ask: &Ask, request: &Json) -> Result<(), String> {
    let reply = server.post_accepting("text/plain", request.to_string());
    let is_text = reply.content_type().starts_with("text/plain");
    let unlike = |wanted: &str| {
        let (status, kind) = (reply.status, reply.content_type());
        Err(format!("HTTP {status} {kind}; should be {wanted}"))
    };
    if judge::is_told(ask) == Some(false) {
        return if is_text {
            unlike("a problem alone")
        } else {
            Ok(())
        };
    }
    if ask.want().get("explain_text").is_none() {
        return Ok(());
    }
    let explains_options = request.get("explain").and_then(Json::as_text) == Some("options");
    let is_found = ask.status() == "found" && !explains_options;
    if !is_text || (is_found && reply.status != 200) {
        return unlike("text/plain");
    }
    let root = server.tree.root().display().to_string();
    check_text(ask, &reply.text().replace(&root, judge::ROOT_SHOWN))
}

/// Questions that differ in the key alone, two or more.
fn batches(case: &Case) -> Vec<Vec<&Ask>> {
    let mut groups: BTreeMap<String, Vec<&Ask>> = BTreeMap::new();
    for ask in &case.asks {
        if ask.key().is_none() || !ask.is_plain() || ask.request.get("explain").is_some() {
            continue;
        }
        let rest = ask.request.clone().without("key");
        let mut rest: Vec<String> = rest
            .members()
            .iter()
            .map(|(name, value)| format!("{name}: {value}"))
            .collect();
        rest.sort();
        let group = groups.entry(rest.join(", ")).or_default();
        // The later of two questions for the same key counts, in the place of the first.
        match group.iter_mut().find(|known| known.key() == ask.key()) {
            Some(known) => *known = ask,
            None => group.push(ask),
        }
    }
    groups
        .into_values()
        .filter(|group| group.len() > 1)
        .collect()
}

fn ask_in_a_batch(server: &TestServer, asks: &[&Ask]) -> Result<(), String> {
    let first = asks.first().ok_or("an empty batch")?;
    let keys = asks
        .iter()
        .filter_map(|ask| ask.request.get("key").cloned())
        .collect();
    let request = first
        .request(&server.tree)
        .without("key")
        .with("keys", Json::Array(keys));
    check_batch(asks, &server.post(request.to_string()), &server.tree)
}

/// The request as arguments of `hierad lookup`, where they can say it.
fn as_arguments(request: &Json, tree: &Tree) -> Option<Vec<String>> {
    let mut arguments = vec!["--render-as".to_owned(), "json".to_owned()];
    let mut keys = Vec::new();
    for (name, value) in request.members() {
        match (name.as_str(), value) {
            ("key", Json::Text(key)) => keys.push(key.clone()),
            ("key", Json::Array(names)) if !names.is_empty() => {
                for key in names {
                    keys.push(key.as_text()?.to_owned());
                }
            }
            ("node" | "environment" | "default", Json::Text(text)) => {
                arguments.push(format!("--{name}={text}"));
            }
            ("merge", Json::Text(text))
                if ["first", "unique", "hash", "deep"].contains(&text.as_str()) =>
            {
                arguments.push(format!("--merge={text}"));
            }
            ("facts", Json::Object(_)) => {
                tree.write("R/facts.json", value.to_string());
                arguments.push(format!("--facts={}", tree.path("R/facts.json").display()));
            }
            _ => return None,
        }
    }
    arguments.push("--".to_owned());
    arguments.extend(keys);
    Some(arguments)
}

fn ask_by_command(
    server: &TestServer,
    case: &Case,
    ask: &Ask,
    arguments: &[String],
) -> Result<(), String> {
    let served = ask_by_post(server, &ask.request(&server.tree))?;
    let output = server
        .tree
        .hierad("lookup")
        .args(["--strict", case.puppet.strict()])
        .args(arguments)
        .output()
        .map_err(|error| error.to_string())?;
    let (stdout, stderr) = printed(&output);
    let code = output.status.code();
    match (&served.outcome, code) {
        (judge::Outcome::Found { value, .. }, Some(0)) => {
            let printed =
                Json::parse(&stdout).map_err(|error| format!("not JSON: {error}: {stdout}"))?;
            let printed =
                printed.replace(&server.tree.root().display().to_string(), judge::ROOT_SHOWN);
            match printed == *value {
                true => Ok(()),
                false => Err(first_line_difference(
                    &value.to_string(),
                    &printed.to_string(),
                )),
            }
        }
        (judge::Outcome::Found { .. }, _) => Err(format!("exit code {code:?}: {stderr}")),
        (_, Some(1)) if stdout.is_empty() => Ok(()),
        (other, _) => Err(format!(
            "exit code {code:?}, {stdout} {stderr}; served: {other:?}"
        )),
    }
}
