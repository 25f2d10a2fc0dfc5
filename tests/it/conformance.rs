//! Every recorded answer of Puppet 7 and Puppet 8: by the library, over HTTP in all its forms, and by the command line.
//!
//! `CASES=TOPIC[/CASE] cargo test --test it conformance` asks only the cases whose label starts with that.

mod batch;
mod command;
mod library;
mod query;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex};

use recorded_cases::{
    Answer, Case, Difference, Json, Puppet, Question, ROOT_SHOWN, Recording, judge, load,
};

use crate::support::{STACK_SIZE, TestServer, Tree};

/// How many differences are shown.
const SHOWN: usize = 20;

static CASES: LazyLock<Vec<Case>> = LazyLock::new(|| {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance/cases");
    let mut cases = load(&directory).unwrap_or_else(|error| panic!("{error}"));
    if let Ok(start) = std::env::var("CASES") {
        cases.retain(|case| case.label().starts_with(&start));
        assert!(!cases.is_empty(), "there is no case `{start}`");
    }
    cases
});

/// Every case, once for each version of Puppet.
static RECORDINGS: LazyLock<Vec<Recording<'static>>> = LazyLock::new(|| {
    let versions = [Puppet::Seven, Puppet::Eight];
    let recordings = versions.iter().flat_map(|puppet| {
        let recordings = CASES.iter().map(|case| case.answered_by(*puppet));
        recordings.map(|recording| recording.unwrap_or_else(|error| panic!("{error}")))
    });
    recordings.collect()
});

/// The result of a run.
#[derive(Default)]
struct Tally {
    compared: usize,
    differences: Vec<(&'static str, String)>,
}

impl Tally {
    fn add(
        &mut self,
        recording: &Recording<'static>,
        question: &Question<'_>,
        form: &str,
        result: Result<(), Difference>,
    ) {
        self.compared += 1;
        if let Err(difference) = result {
            let (case, line) = (recording.case, question.line);
            let strict = recording.puppet.strict();
            let text = format!(
                "{}.case:{line} {}, {form}, strict {strict}: {}\n    {difference}",
                case.topic,
                case.label(),
                question.request
            );
            self.differences.push((&case.topic, text));
        }
    }

    fn extend(&mut self, other: Tally) {
        self.compared += other.compared;
        self.differences.extend(other.differences);
    }

    /// Fails if an answer differs.
    #[track_caller]
    fn finish(mut self) {
        self.differences.sort();
        for (_, text) in self.differences.iter().take(SHOWN) {
            eprintln!("FAIL {text}");
        }
        let mut by_topic: BTreeMap<&str, usize> = BTreeMap::new();
        for (topic, _) in &self.differences {
            *by_topic.entry(topic).or_default() += 1;
        }
        let (differ, compared) = (self.differences.len(), self.compared);
        assert!(
            differ == 0,
            "{differ} of {compared} answers differ: {by_topic:?}"
        );
        assert!(compared > 0, "no case has a question of this form");
    }
}

/// Runs something for every case on a tree of its own, on all cores.
fn for_each(ask: impl Fn(&Recording<'static>, TestServer, &mut Tally) + Sync) -> Tally {
    let (next, all) = (AtomicUsize::new(0), Mutex::new(Tally::default()));
    let work = || {
        let mut tally = Tally::default();
        while let Some(recording) = RECORDINGS.get(next.fetch_add(1, Ordering::Relaxed)) {
            let tree = Tree::empty();
            recording.case.write(tree.root()).unwrap();
            let settings = format!("strict: {}\n", recording.puppet.strict());
            ask(recording, TestServer::of(tree, &settings), &mut tally);
        }
        all.lock().unwrap().extend(tally);
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

/// Judges an answer with the path of the tree as it is recorded.
fn check(question: &Question<'_>, answer: Answer, tree: &Tree) -> Result<(), Difference> {
    judge(question, &shown(answer, tree))
}

fn shown(answer: Answer, tree: &Tree) -> Answer {
    answer.replace(&tree.root().display().to_string(), ROOT_SHOWN)
}

#[test]
fn the_library_answers_like_puppet() {
    let tally = for_each(|recording, server, tally| {
        for question in &recording.questions {
            let request = question.request_for(server.tree.root());
            let (data, text) = library::answer(&server, &request);
            let result = check(question, data, &server.tree);
            tally.add(recording, question, "library", result);
            if let Some(text) = text
                && question.expected.get("explain_text").is_some()
            {
                let result = check(question, text, &server.tree);
                tally.add(recording, question, "library, text", result);
            }
        }
    });
    tally.finish();
}

#[test]
fn the_server_answers_like_puppet() {
    let tally = for_each(|recording, server, tally| {
        for question in &recording.questions {
            let request = question.request_for(server.tree.root());
            let result =
                post(&server, &request).and_then(|answer| check(question, answer, &server.tree));
            tally.add(recording, question, "POST", result);
            if question.has_recorded_text() {
                let result = post_for_text(&server, &request)
                    .and_then(|answer| check(question, answer, &server.tree));
                tally.add(recording, question, "POST, text", result);
            }
            if let Some(path) = query::of(&request) {
                let reply = server.get(&path);
                let result = Answer::from_json_reply(reply.status, &reply.text())
                    .and_then(|answer| check(question, answer, &server.tree));
                tally.add(recording, question, "GET", result);
            }
        }
        for questions in batch::groups(&recording.questions) {
            let results = batch::ask(&server, &questions);
            for (question, result) in questions.iter().zip(results) {
                tally.add(recording, question, "batch", result);
            }
        }
    });
    tally.finish();
}

fn post(server: &TestServer, request: &Json) -> Result<Answer, Difference> {
    let reply = server.post(request.to_string());
    Answer::from_json_reply(reply.status, &reply.text())
}

fn post_for_text(server: &TestServer, request: &Json) -> Result<Answer, Difference> {
    let reply = server.post_accepting("text/plain", request.to_string());
    Answer::from_text_reply(reply.status, reply.content_type(), &reply.text())
}

#[test]
fn explaining_a_lookup_does_not_change_its_answer() {
    let outcome = |answer: Answer| match answer {
        Answer::Data { outcome, .. } => outcome,
        other => panic!("not an answer to a lookup: {other:?}"),
    };
    let tally = for_each(|recording, server, tally| {
        let plain = recording.questions.iter();
        for question in plain.filter(|question| !question.is_explained()) {
            let request = question.request_for(server.tree.root());
            let explained = request.clone().with("explain", Json::Bool(true));
            let same = post(&server, &request).and_then(|plain| {
                let (plain, explained) = (outcome(plain), outcome(post(&server, &explained)?));
                match plain == explained {
                    true => Ok(()),
                    false => Err(Difference(format!("{plain:?}; explained: {explained:?}"))),
                }
            });
            tally.add(recording, question, "explained", same);
        }
    });
    tally.finish();
}

#[test]
fn the_command_line_answers_like_puppet() {
    let cases_asked = AtomicUsize::new(0);
    let tally = for_each(|recording, server, tally| {
        // One question per case, since a process takes a while.
        let expressible = recording.questions.iter().find_map(|question| {
            let request = question.request_for(server.tree.root());
            Some((question, command::arguments(&request, &server.tree)?))
        });
        if let Some((question, arguments)) = expressible {
            let result = command::value(&server.tree, recording.puppet, &arguments)
                .and_then(|answer| check(question, answer, &server.tree));
            tally.add(recording, question, "command line", result);
            cases_asked.fetch_add(1, Ordering::Relaxed);
        }
    });
    tally.finish();
    let (asked, all) = (cases_asked.into_inner(), RECORDINGS.len());
    assert!(
        asked * 2 > all || std::env::var_os("CASES").is_some(),
        "only {asked} of {all} cases can be asked on the command line"
    );
}

#[test]
fn the_command_line_explains_like_puppet() {
    let tally = for_each(|recording, server, tally| {
        let explained = recording.questions.iter();
        for question in explained.filter(|question| question.has_recorded_text()) {
            let request = question.request_for(server.tree.root()).without("explain");
            if let Some(arguments) = command::arguments(&request, &server.tree) {
                let flag = match question.explains_options() {
                    true => "--explain-options",
                    false => "--explain",
                };
                let result = command::explanation(&server.tree, recording.puppet, flag, &arguments)
                    .and_then(|answer| check(question, answer, &server.tree));
                tally.add(recording, question, "command line", result);
            }
        }
    });
    tally.finish();
}
