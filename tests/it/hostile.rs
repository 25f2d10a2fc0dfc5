//! Trees and requests that are made to hurt.
//!
//! Each runs against a server of its own, as a process with the stacks it really has: a clear answer has to come
//! soon, the server has to live, and the good environment next to the bad one has to answer. What the server
//! survives, the command line must survive too.

use std::fmt::Write;
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::process::{Answer, Process, wait_for};
use crate::support::{Tree, printed};

/// A second or two; builds without optimization are some ten times slower, and the others test at the same time.
const SOON: Duration = Duration::from_secs(if cfg!(debug_assertions) { 20 } else { 4 });

/// An environment to be spoiled, beside a good one.
fn tree() -> Tree {
    Tree::new(
        "
//- /hiera.yaml
version: 5
//- C/environments/good/hiera.yaml
version: 5
//- C/environments/good/data/common.yaml
k: good
",
    )
}

/// A tree with this as its only data file.
fn tree_of(path: &str, content: impl AsRef<[u8]>) -> Tree {
    let tree = tree();
    if path.ends_with(".json") {
        let config =
            format!("version: 5\nhierarchy: [{{name: j, data_hash: json_data, path: {path}}}]\n");
        tree.write("/hiera.yaml", config);
    }
    tree.write(&format!("/data/{path}"), content);
    tree
}

/// These measure time and use the processor to the full: one after the other.
static TURN: Mutex<()> = Mutex::new(());

struct Hostile {
    tree: Tree,
    server: Process,
    _turn: MutexGuard<'static, ()>,
}

impl Hostile {
    #[track_caller]
    fn new(tree: Tree) -> Self {
        Hostile::with(tree, &[])
    }

    #[track_caller]
    fn with(tree: Tree, variables: &[(&str, &str)]) -> Self {
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let start = Instant::now();
        let server = Process::start(&tree, variables);
        assert!(start.elapsed() < SOON, "loading took {:?}", start.elapsed());
        let hostile = Hostile {
            tree,
            server,
            _turn: turn,
        };
        hostile.check_good();
        hostile
    }

    /// An answer that came soon.
    #[track_caller]
    fn ask(&self, body: &[u8]) -> Answer {
        let start = Instant::now();
        let answer = self.server.lookup(body);
        let took = start.elapsed();
        assert_ne!(
            answer.status,
            0,
            "no answer after {took:?}: {}\n{}",
            answer.head,
            self.server.log()
        );
        assert!(took < SOON, "an answer {} after {took:?}", answer.status);
        self.check_good();
        answer
    }

    /// The good environment answers.
    #[track_caller]
    fn check_good(&self) {
        let answer = self.server.lookup(br#"{"key":"k","environment":"good"}"#);
        assert_eq!(answer.status, 200, "{} {}", answer.head, self.server.log());
        assert_eq!(answer.json()["value"], "good");
    }

    /// A key fails, with this in the reason; on the command line too.
    #[track_caller]
    fn fails(&self, key: &str, reason: &str) {
        let answer = self.ask(json!({ "key": key }).to_string().as_bytes());
        assert_eq!(answer.status, 422, "{key}: {}", head_of(&answer.text()));
        let detail = answer.json()["detail"].as_str().unwrap().to_owned();
        assert!(detail.contains(reason), "{key}: {}", head_of(&detail));
        let (code, stderr) = self.run(&["lookup", key]);
        assert_eq!(code, Some(1), "{key}: {stderr}");
        assert!(stderr.contains(reason), "{key}: {stderr}");
    }

    /// A key has this value; on the command line too.
    #[track_caller]
    fn is(&self, key: &str, value: &Value) {
        let answer = self.ask(json!({ "key": key }).to_string().as_bytes());
        assert_eq!(answer.status, 200, "{key}: {}", head_of(&answer.text()));
        assert_eq!(answer.json()["value"], *value, "{key}");
        let (code, stderr) = self.run(&["lookup", key]);
        assert_eq!(code, Some(0), "{key}: {stderr}");
    }

    /// A key is not found; on the command line too.
    #[track_caller]
    fn is_missing(&self, key: &str) {
        let answer = self.ask(json!({ "key": key }).to_string().as_bytes());
        assert_eq!(answer.status, 404, "{key}: {}", head_of(&answer.text()));
        let (code, stderr) = self.run(&["lookup", key]);
        assert_eq!(code, Some(1), "{key}: {stderr}");
    }

    /// Some answer comes: a value or a refusal, and nothing falls over.
    #[track_caller]
    fn survives(&self, request: &Value) -> u16 {
        let answer = self.ask(request.to_string().as_bytes());
        assert!(
            matches!(answer.status, 200 | 400..=499),
            "{}",
            head_of(&answer.text())
        );
        answer.status
    }

    /// The check tells a fault with this in it.
    #[track_caller]
    fn is_told_by_check(&self, reason: &str) {
        let output = self.tree.hierad("check").output().unwrap();
        let (stdout, stderr) = printed(&output);
        assert_eq!(output.status.code(), Some(1), "{stdout} {stderr}");
        assert!(stdout.contains(reason), "{stdout} {stderr}");
    }

    /// Runs a command that must end soon, and by itself.
    #[track_caller]
    fn run(&self, arguments: &[&str]) -> (Option<i32>, String) {
        let (command, rest) = arguments.split_first().unwrap();
        let mut child = self
            .tree
            .hierad(command)
            .arg("--")
            .args(rest)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let start = Instant::now();
        let mut status = None;
        while status.is_none() && start.elapsed() < SOON {
            status = child.try_wait().unwrap();
            std::thread::sleep(Duration::from_millis(2));
        }
        child.kill().unwrap();
        let (_, stderr) = printed(&child.wait_with_output().unwrap());
        let status = status.unwrap_or_else(|| panic!("{arguments:?} did not end in {SOON:?}"));
        (status.code(), head_of(&stderr))
    }
}

/// The beginning of what may be very long.
fn head_of(text: &str) -> String {
    text.chars().take(500).collect()
}

#[test]
fn a_directory_named_as_a_data_file_is_refused_as_such() {
    let tree = tree();
    std::fs::create_dir_all(tree.path("/data/common.yaml")).unwrap();
    let hostile = Hostile::new(tree);
    hostile.fails("k", "is a directory");
    hostile.is_told_by_check("common.yaml:1:1: ");
}

#[test]
fn directories_in_the_place_of_configurations_are_refused() {
    let tree = tree();
    std::fs::remove_file(tree.path("/hiera.yaml")).unwrap();
    std::fs::create_dir_all(tree.path("/hiera.yaml")).unwrap();
    std::fs::create_dir_all(tree.path("/modules/m/hiera.yaml")).unwrap();
    std::fs::create_dir_all(tree.path("/modules/m/metadata.json")).unwrap();
    std::fs::create_dir_all(tree.path("C/environments/other/environment.conf")).unwrap();
    let hostile = Hostile::new(tree);
    hostile.fails("k", "is a directory");
    hostile.survives(&json!({"key": "m::k"}));
    hostile.survives(&json!({"key": "k", "environment": "other"}));
}

#[test]
fn pipes_are_not_waited_for() {
    let tree = tree();
    for path in [
        "/data/common.yaml",
        "C/environments/other/hiera.yaml",
        "/modules/m/hiera.yaml",
    ] {
        std::fs::create_dir_all(tree.path(path).parent().unwrap()).unwrap();
        assert!(
            Command::new("mkfifo")
                .arg(tree.path(path))
                .status()
                .unwrap()
                .success()
        );
    }
    let hostile = Hostile::new(tree);
    hostile.fails("k", "a pipe");
    hostile.survives(&json!({"key": "k", "environment": "other"}));
}

#[test]
fn devices_are_not_read() {
    let tree = tree();
    std::fs::create_dir_all(tree.path("/data")).unwrap();
    symlink("/dev/zero", tree.path("/data/common.yaml")).unwrap();
    let hostile = Hostile::new(tree);
    hostile.fails("k", "a device");
    hostile.is_told_by_check("a device");
}

#[test]
fn links_that_lead_nowhere_or_to_themselves_count_as_missing() {
    for target in ["/no/such/file", "common.yaml"] {
        let tree = tree();
        std::fs::create_dir_all(tree.path("/data")).unwrap();
        symlink(target, tree.path("/data/common.yaml")).unwrap();
        Hostile::new(tree).is_missing("k");
    }
}

/// Levels that make the loader look through all of `data`.
const SEARCHED: &str = r#"version: 5
hierarchy:
  - {name: variable, path: "%{x}.yaml"}
  - {name: glob, glob: "**/*.yaml"}
"#;

#[test]
fn links_in_circles_are_gone_through_once() {
    let tree = tree();
    tree.write("/hiera.yaml", SEARCHED);
    tree.write("/data/a/b/common.yaml", "k: found");
    for (target, link) in [
        ("..", "/data/a/up"),
        (".", "/data/here"),
        ("../..", "/data/a/b/top"),
        ("a", "/data/again"),
    ] {
        symlink(target, tree.path(link)).unwrap();
    }
    symlink(tree.codedir(), tree.path("C/environments/circle")).unwrap();
    Hostile::new(tree).is("k", &json!("found"));
}

#[test]
fn directories_that_links_multiply_are_not_searched_forever() {
    let tree = tree();
    tree.write("/hiera.yaml", SEARCHED);
    // Two links from each directory to the next: 2^24 ways down, no circle.
    for number in 0..24 {
        let directory = tree.path(&format!("/data/d{number}"));
        std::fs::create_dir_all(&directory).unwrap();
        for name in ["x", "y"] {
            symlink(format!("../d{}", number + 1), directory.join(name)).unwrap();
        }
    }
    tree.write("/data/d24/common.yaml", "k: found");
    Hostile::new(tree).survives(&json!({"key": "k"}));
}

#[test]
fn deep_nesting_in_files_is_refused() {
    const DEPTH: usize = 100_000;
    for (path, content) in [
        ("common.yaml", format!("k: {}", "[".repeat(DEPTH))),
        (
            "common.yaml",
            format!("k: {}{}", "[".repeat(DEPTH), "]".repeat(DEPTH)),
        ),
        (
            "common.yaml",
            format!("k: {}1{}", "{a: ".repeat(DEPTH), "}".repeat(DEPTH)),
        ),
        ("common.yaml", format!("k:\n  {}x", "- ".repeat(DEPTH))),
        ("common.yaml", format!("{}x", "? ".repeat(DEPTH))),
        ("data.json", format!(r#"{{"k": {}"#, "[".repeat(DEPTH))),
        (
            "data.json",
            format!(r#"{{"k": {}{}}}"#, "[".repeat(DEPTH), "]".repeat(DEPTH)),
        ),
        (
            "data.json",
            format!(
                r#"{{"k": {}1{}}}"#,
                r#"{"a":"#.repeat(DEPTH),
                "}".repeat(DEPTH)
            ),
        ),
    ] {
        let hostile = Hostile::new(tree_of(path, content));
        hostile.fails("k", path);
        hostile.is_told_by_check(path);
    }
}

#[test]
fn block_mappings_of_a_thousand_levels_are_refused() {
    let mut content = String::new();
    for depth in 0..1_000 {
        writeln!(content, "{}a:", " ".repeat(depth)).unwrap();
    }
    Hostile::new(tree_of("common.yaml", content)).fails("a", "common.yaml");
}

#[test]
fn deep_nesting_is_refused_on_the_loaders_other_threads_too() {
    let tree = tree();
    tree.write(
        "/hiera.yaml",
        "version: 5\nhierarchy: [{name: n, path: \"%{x}.yaml\"}]\n",
    );
    for number in 0..40 {
        tree.write(
            &format!("/data/{number}.yaml"),
            format!("k: {}", "[".repeat(100_000)),
        );
        let nested = format!("k: {}{}", "[".repeat(400), "]".repeat(400));
        tree.write(&format!("/data/ok{number}.yaml"), nested);
    }
    let hostile = Hostile::new(tree);
    assert_eq!(
        hostile.survives(&json!({"key": "k", "facts": {"x": "7"}})),
        422
    );
    hostile.survives(&json!({"key": "k", "facts": {"x": "ok7"}}));
}

#[test]
fn nesting_of_ninety_levels_is_answered() {
    // Ruby's JSON ends at a hundred.
    let nested = format!("{}1{}", "[".repeat(90), "]".repeat(90));
    let value: Value = serde_json::from_str(&nested).unwrap();
    Hostile::new(tree_of("common.yaml", format!("k: {nested}"))).is("k", &value);
    Hostile::new(tree_of("data.json", format!(r#"{{"k": {nested}}}"#))).is("k", &value);
}

#[test]
fn aliases_that_multiply_are_refused() {
    let mut content = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for number in 1..10 {
        let alias = format!("*a{}, ", number - 1).repeat(10);
        writeln!(content, "a{number}: &a{number} [{alias}]").unwrap();
    }
    let hostile = Hostile::new(tree_of("common.yaml", &content));
    assert_eq!(hostile.survives(&json!({"key": "a9"})), 422);
    hostile.survives(&json!({"key": "a9", "merge": "unique"}));
    hostile.survives(&json!({"key": "a9", "merge": "deep"}));
    hostile.survives(&json!({"key": "a9", "type": "Array[Array[Array]]"}));
    hostile.survives(&json!({"key": "a9", "explain": true}));
    hostile.run(&["lookup", "a9"]);
    hostile.run(&["check"]);
}

#[test]
fn aliases_that_multiply_hashes_and_merge_keys_are_refused() {
    let mut content = "a0: &a0 {a: x, b: x, c: x}\n".to_owned();
    for number in 1..30 {
        let last = number - 1;
        writeln!(
            content,
            "a{number}: &a{number} {{a: *a{last}, b: *a{last}, c: {{<<: [*a{last}, *a{last}]}}}}"
        )
        .unwrap();
    }
    let hostile = Hostile::new(tree_of("common.yaml", &content));
    assert_eq!(hostile.survives(&json!({"key": "a29"})), 422);
    assert_eq!(
        hostile.survives(&json!({"key": "a29", "merge": "deep"})),
        422
    );
}

#[test]
fn an_alias_to_what_it_stands_in_is_refused() {
    let hostile = Hostile::new(tree_of("common.yaml", "k: &k [*k]\nh: &h {a: *h}\n"));
    assert_eq!(hostile.survives(&json!({"key": "k"})), 422);
    assert_eq!(hostile.survives(&json!({"key": "h", "merge": "deep"})), 422);
}

#[test]
fn broken_utf_8_is_refused_with_its_file() {
    Hostile::new(tree_of("common.yaml", b"k: caf\xe9\n")).fails("k", "common.yaml");
    Hostile::new(tree_of("data.json", b"{\"k\": \"caf\xe9\"}")).survives(&json!({"key": "k"}));
    Hostile::new(tree_of("common.yaml", b"\0\0\0\0")).survives(&json!({"key": "k"}));
    Hostile::new(tree_of("common.yaml", b"\xff\xfek\0:\0 \x001\0\n\0"))
        .survives(&json!({"key": "k"}));
}

#[test]
fn files_beyond_the_limit_are_not_read() {
    let tree = tree_of("common.yaml", format!("k: {}", "x".repeat(2_000)));
    let hostile = Hostile::with(tree, &[("HIERAD_MAX_FILE_SIZE", "1000")]);
    let answer = hostile.ask(br#"{"key":"k"}"#);
    assert_eq!(answer.status, 422);
    assert!(
        answer.text().contains("larger than 1000 bytes"),
        "{}",
        answer.text()
    );
    drop(hostile);
    // A file of 100 gigabytes that takes no space.
    let tree = tree_of("common.yaml", "k: 1\n");
    let file = std::fs::File::options()
        .write(true)
        .open(tree.path("/data/common.yaml"))
        .unwrap();
    file.set_len(100_000_000_000).unwrap();
    Hostile::new(tree).fails("k", "larger than");
}

#[test]
fn lookups_in_circles_fail() {
    let content = "
a: \"%{lookup('b')}\"
b: \"%{lookup('c')}\"
c: \"%{lookup('a')}\"
self: \"%{alias('self')}\"
deep: {x: [\"%{lookup('deep.x.0')}\"]}
";
    let hostile = Hostile::new(tree_of("common.yaml", content));
    hostile.fails("a", "[a, b, c]");
    hostile.fails("self", "[self]");
    hostile.fails("deep", "[deep, deep.x.0]");
}

fn chain(length: usize, last: &str) -> String {
    let mut content = format!("k{length}: {last}\n");
    for number in 0..length {
        writeln!(content, "k{number}: \"%{{lookup('k{}')}}\"", number + 1).unwrap();
    }
    content
}

#[test]
fn chains_of_lookups_are_followed_a_long_way_and_not_forever() {
    Hostile::new(tree_of("common.yaml", chain(100, "end"))).is("k0", &json!("end"));
    let hostile = Hostile::new(tree_of("common.yaml", chain(10_000, "end")));
    hostile.fails("k0", "nested more than");
    assert_eq!(
        hostile.survives(&json!({"key": "k0", "explain": true})),
        422
    );
    assert_eq!(
        hostile.survives(&json!({"key": "k0", "merge": "deep"})),
        422
    );
    hostile.is("k9950", &json!("end"));
}

#[test]
fn chains_that_nest_the_value_deeper_with_every_lookup_end() {
    for wrap in ["[[[[[[[[X]]]]]]]]", "{a: {a: {a: {a: X}}}}"] {
        let mut content = "k240: end\n".to_owned();
        for number in 0..240 {
            let alias = format!("\"%{{alias('k{}')}}\"", number + 1);
            writeln!(content, "k{number}: {}", wrap.replace('X', &alias)).unwrap();
        }
        let hostile = Hostile::new(tree_of("common.yaml", content));
        hostile.survives(&json!({"key": "k0"}));
        hostile.survives(&json!({"key": "k0", "merge": "deep", "explain": true}));
        let (code, stderr) = hostile.run(&["lookup", "k0"]);
        assert!(code.is_some(), "{stderr}");
    }
}

fn doubling(form: &str) -> String {
    let mut content = "v0: xxxxxxxxxx\n".to_owned();
    for number in 1..60 {
        let last = format!("v{}", number - 1);
        writeln!(content, "v{number}: {}", form.replace("LAST", &last)).unwrap();
    }
    content
}

#[test]
fn texts_that_double_with_every_lookup_are_refused() {
    let form = r#""%{lookup('LAST')}%{lookup('LAST')}""#;
    let hostile = Hostile::new(tree_of("common.yaml", doubling(form)));
    hostile.is("v3", &json!("x".repeat(80)));
    hostile.fails("v59", "steps");
    assert_eq!(
        hostile.survives(&json!({"key": "v59", "merge": "unique"})),
        422
    );
}

#[test]
fn values_that_double_with_every_lookup_are_refused() {
    for form in [
        r#"["%{alias('LAST')}", "%{alias('LAST')}"]"#,
        r#"{a: "%{alias('LAST')}", b: "%{alias('LAST')}"}"#,
    ] {
        let hostile = Hostile::new(tree_of("common.yaml", doubling(form)));
        assert_eq!(hostile.survives(&json!({"key": "v59"})), 422);
        assert_eq!(
            hostile.survives(&json!({"key": "v59", "merge": "deep"})),
            422
        );
        let (code, stderr) = hostile.run(&["lookup", "v59"]);
        assert_eq!(code, Some(1), "{stderr}");
    }
}

#[test]
fn an_explanation_of_what_doubles_stays_within_bounds() {
    let form = r#""%{lookup('LAST')}%{lookup('LAST')}""#;
    let hostile = Hostile::new(tree_of("common.yaml", doubling(form)));
    assert_eq!(
        hostile.survives(&json!({"key": "v59", "explain": true})),
        422
    );
}

#[test]
fn a_batch_of_costly_lookups_stays_within_bounds() {
    let mut content = doubling(r#""%{lookup('LAST')}%{lookup('LAST')}""#);
    for number in 0..1_000 {
        writeln!(content, "b{number}: \"%{{lookup('v30')}}\"").unwrap();
    }
    let hostile = Hostile::new(tree_of("common.yaml", content));
    let keys: Vec<String> = (0..1_000).map(|number| format!("b{number}")).collect();
    hostile.survives(&json!({ "keys": keys }));
}

#[test]
fn a_body_of_a_hundred_thousand_levels_is_refused() {
    let hostile = Hostile::new(tree());
    for body in [
        "[".repeat(100_000),
        format!(r#"{{"key":"k","facts":{}"#, r#"{"a":"#.repeat(100_000)),
        format!(
            r#"{{"key":"k","default":{}{}}}"#,
            "[".repeat(100_000),
            "]".repeat(100_000)
        ),
    ] {
        let answer = hostile.ask(body.as_bytes());
        assert_eq!(answer.status, 400, "{}", answer.text());
    }
}

#[test]
fn a_body_that_is_not_utf_8_is_refused() {
    let hostile = Hostile::new(tree());
    for body in [
        &b"{\"key\":\"\xff\"}"[..],
        b"\xff\xfe{}",
        b"{\"key\":\"k\",\"facts\":{\"a\":\"\xc3\x28\"}}",
        b"\0",
    ] {
        let answer = hostile.ask(body);
        assert_eq!(answer.status, 400, "{}", answer.text());
    }
}

#[test]
fn keys_of_a_megabyte_are_answered() {
    let hostile = Hostile::new(tree_of("common.yaml", "k: 1\n"));
    for key in [
        "k".repeat(1_000_000),
        "k.".repeat(499_999) + "k",
        "'".repeat(999_999),
        ":".repeat(1_000_000),
    ] {
        hostile.survives(&json!({ "key": key }));
    }
    let path = "k".repeat(1_000_000);
    let answer = hostile.server.get(&format!("/lookup/{path}"));
    assert!(
        matches!(answer.status, 400..=499),
        "{} {}",
        answer.status,
        answer.head
    );
    hostile.check_good();
}

#[test]
fn types_of_a_megabyte_are_answered() {
    let hostile = Hostile::new(tree_of("common.yaml", "k: 1\n"));
    for value_type in [
        "Array[".repeat(150_000),
        format!("{}Any{}", "Array[".repeat(100_000), "]".repeat(100_000)),
        "[".repeat(900_000),
        "-".repeat(900_000),
        format!("Integer[{}]", "9".repeat(900_000)),
        format!("Variant[{}Any]", "Integer, ".repeat(100_000)),
        format!("Pattern[/{}/]", "(a*)*".repeat(100_000)),
        format!("Regexp[/{}/]", "(".repeat(500_000)),
    ] {
        hostile.survives(&json!({"key": "k", "type": value_type}));
    }
}

#[test]
fn types_in_lookup_options_are_bounded_too() {
    let nested = format!("{}Any{}", "Array[".repeat(100_000), "]".repeat(100_000));
    let content = format!("lookup_options: {{k: {{convert_to: '{nested}'}}}}\nk: 1\n");
    Hostile::new(tree_of("common.yaml", content)).survives(&json!({"key": "k"}));
}

#[test]
fn conversions_do_not_fill_the_memory() {
    for conversion in [
        "[String, '%2000000000d']",
        "[String, '%.2000000000d']",
        "[String, '%-9999999999999999999s']",
        "[Integer, 99999999999999999999]",
    ] {
        let content = format!("lookup_options: {{k: {{convert_to: {conversion}}}}}\nk: 5\n");
        Hostile::new(tree_of("common.yaml", content)).survives(&json!({"key": "k"}));
    }
}

#[test]
fn numbers_of_a_megabyte_are_answered() {
    let digits = "7".repeat(900_000);
    let hostile = Hostile::new(tree_of(
        "common.yaml",
        format!("k: {digits}\nf: 1e{digits}\n"),
    ));
    hostile.survives(&json!({"key": "k"}));
    hostile.survives(&json!({"key": "f"}));
    let answer = hostile.ask(format!(r#"{{"key":"no","default":{digits}}}"#).as_bytes());
    assert!(
        matches!(answer.status, 200 | 400..=499),
        "{}",
        answer.status
    );
    let facts = format!(r#"{{"key":"k","facts":{{"a":{digits}}}}}"#);
    hostile.ask(facts.as_bytes());
}

#[test]
fn patterns_that_backtrack_are_given_up() {
    let content = r#"
lookup_options:
  '^(a+)+b\1$': {merge: unique}
  '^(a*)*(a*)*(a*)*b$': {merge: unique}
k: 1
"#;
    let hostile = Hostile::new(tree_of("common.yaml", content));
    hostile.survives(&json!({"key": "a".repeat(5_000)}));
    hostile.survives(&json!({"key": "a".repeat(40)}));
}

#[test]
fn globs_that_multiply_are_bounded() {
    for pattern in [
        "{a,b}".repeat(40),
        "{".repeat(10_000),
        "*a".repeat(50) + "b",
        "**/".repeat(200) + "*.yaml",
        "[".repeat(10_000),
    ] {
        let tree = tree_of("common.yaml", "k: 1\n");
        let levels = format!(
            "version: 5\nhierarchy:\n  - {{name: g, glob: '{pattern}'}}\n  - {{name: c, path: common.yaml}}\n"
        );
        tree.write("/hiera.yaml", levels);
        tree.write(&format!("/data/{}", "a".repeat(200)), "k: 2\n");
        let hostile = Hostile::new(tree);
        hostile.survives(&json!({"key": "k"}));
    }
}

#[test]
fn facts_cannot_multiply_the_files_that_are_looked_into() {
    let tree = tree_of("common.yaml", "k: 1\n");
    let levels = r#"version: 5
hierarchy:
  - {name: m, mapped_paths: [roles, role, "%{role}.yaml"]}
  - {name: g, glob: "%{pattern}"}
  - {name: c, path: common.yaml}
"#;
    tree.write("/hiera.yaml", levels);
    let hostile = Hostile::new(tree);
    let roles: Vec<String> = (0..100_000).map(|number| number.to_string()).collect();
    hostile.survives(&json!({"key": "k", "facts": {"roles": roles}}));
    hostile.survives(&json!({"key": "k", "facts": {"pattern": "{a,b}".repeat(40)}}));
    hostile.survives(&json!({"key": "k", "facts": {"pattern": "*".repeat(500_000)}}));
    hostile.survives(&json!({"key": "k", "facts": {"pattern": "../../../../../../**/*"}}));
    let names: Vec<String> = (0..1_000).map(|number| format!("k{number}")).collect();
    let roles: Vec<String> = (0..50_000).map(|number| number.to_string()).collect();
    hostile.survives(&json!({"keys": names, "facts": {"roles": roles}}));
}

#[test]
fn texts_full_of_tokens_are_bounded() {
    let content = format!(
        "open: '{}'\ntokens: '{}'\nnested: '{}'\n",
        "%{".repeat(100_000),
        "%{x}".repeat(100_000),
        "%{lookup(\"".repeat(50_000)
    );
    let hostile = Hostile::new(tree_of("common.yaml", content));
    for key in ["open", "tokens", "nested"] {
        hostile.survives(&json!({ "key": key, "facts": {"x": "y"} }));
    }
    // A text of a megabyte, a hundred thousand times.
    hostile.survives(&json!({"key": "tokens", "facts": {"x": "y".repeat(900_000)}}));
}

#[test]
fn queries_with_thousands_of_parameters_are_answered() {
    let hostile = Hostile::new(tree_of("common.yaml", "k: 1\n"));
    let mut query = "/lookup/k?a=b".to_owned();
    for number in 0..5_000 {
        write!(query, "&facts.{number:x}=").unwrap();
    }
    let start = Instant::now();
    let answer = hostile.server.get(&query);
    assert!(
        matches!(answer.status, 200 | 400..=499),
        "{} {}",
        answer.status,
        answer.head
    );
    assert!(start.elapsed() < SOON);
    let deep = format!("/lookup/k?facts.{}x=1", "a.".repeat(20_000));
    let answer = hostile.server.get(&deep);
    assert!(
        matches!(answer.status, 200 | 400..=499),
        "{} {}",
        answer.status,
        answer.head
    );
    hostile.check_good();
}

#[test]
fn hostile_requests_at_once_do_not_starve_the_good_environment() {
    let form = r#""%{lookup('LAST')}%{lookup('LAST')}""#;
    let hostile = Hostile::new(tree_of("common.yaml", doubling(form)));
    std::thread::scope(|scope| {
        let costly: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| hostile.server.lookup(br#"{"key":"v59"}"#).status))
            .collect();
        let start = Instant::now();
        let health = hostile.server.get("/livez");
        assert_eq!(health.status, 200);
        assert!(
            start.elapsed() < SOON * 4,
            "health took {:?}",
            start.elapsed()
        );
        for request in costly {
            assert_eq!(request.join().unwrap(), 422);
        }
    });
    wait_for("the good environment", || {
        let answer = hostile
            .server
            .lookup(br#"{"key":"k","environment":"good"}"#);
        (answer.status == 200).then_some(())
    });
}
