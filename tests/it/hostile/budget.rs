//! Legal requests that cost a lot. Each has a limit of processor time, of memory, and of the size of its answer.

use std::fmt::Write as _;
use std::io::Write as _;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Hostile, tree, tree_of};
use crate::support::Tree;
use crate::support::process::{Answer, lookup_head, wait_for};

/// Megabytes that one request may take in addition to what the server has at rest.
const MEMORY_LIMIT: u64 = 300;
/// Bytes in the answer to a request that is refused.
const ERROR_LIMIT: usize = 80_000;

/// Sends a lookup and checks its cost. Returns the status and the detail.
#[track_caller]
fn refused(hostile: &Hostile, request: &Value) -> (u16, String) {
    let before = hostile.server.memory();
    let answer = hostile.ask(request.to_string().as_bytes());
    let taken = hostile.server.peak_memory().saturating_sub(before);
    assert!(taken < MEMORY_LIMIT, "took {taken} MB");
    assert!(answer.text().len() < ERROR_LIMIT, "{}", answer.text().len());
    let detail = answer.json()["detail"].as_str().unwrap().to_owned();
    (answer.status, detail)
}

fn numbered(count: usize, write: impl Fn(usize) -> String) -> String {
    (0..count).map(write).collect::<Vec<_>>().join(", ")
}

#[test]
fn many_patterns_in_a_type_exceed_the_budget() {
    let hostile = Hostile::new(tree_of("common.yaml", "k: text\n"));
    let patterns = numbered(1_200, |number| format!("/[[:alpha:]]{{20}}{number}/"));
    let request = json!({"key": "k", "type": format!("Pattern[{patterns}]")});
    let (status, detail) = refused(&hostile, &request);
    assert!(matches!(status, 413 | 422), "{status}");
    assert!(detail.contains("`limits.max_"), "{detail}");
}

#[test]
fn large_defaults_of_many_keys_exceed_the_budget() {
    let hostile = Hostile::new(tree_of("common.yaml", "k: text\n"));
    let keys: Vec<String> = (0..1_000)
        .map(|number| format!("missing{number}"))
        .collect();
    let request = json!({"keys": keys, "default": "x".repeat(900_000)});
    let (status, detail) = refused(&hostile, &request);
    assert_eq!(status, 413);
    assert!(detail.contains("`limits.max_bytes`"), "{detail}");
}

#[test]
fn the_text_of_a_mismatch_is_cut() {
    let content = format!("k: [{}]\n", numbered(1_000, |number| format!("x{number}")));
    let hostile = Hostile::new(tree_of("common.yaml", content));
    let names = numbered(12_000, |number| format!("'{number}'"));
    let request = json!({"key": "k", "type": format!("Array[Enum[{names}]]")});
    let (status, detail) = refused(&hostile, &request);
    assert_eq!(status, 422);
    assert!(
        detail.contains("cut after") || detail.contains("limits.max_"),
        "{}",
        detail.len()
    );
}

#[test]
fn backtracking_patterns_exceed_the_budget_and_never_count_as_no_match() {
    let content = format!(
        "k: [{}]\n",
        numbered(200, |_| format!("{}b", "a".repeat(28)))
    );
    let hostile = Hostile::new(tree_of("common.yaml", content));
    let pattern = r"/\A(?=(a+)+c)(\1a)*\z/";
    for value_type in [
        format!("Array[Pattern[{pattern}]]"),
        format!("Array[Variant[Pattern[{pattern}], String]]"),
    ] {
        let (status, detail) = refused(&hostile, &json!({"key": "k", "type": value_type}));
        assert_eq!(status, 422);
        assert!(detail.contains("steps"), "{detail}");
    }
}

#[test]
fn a_mismatch_with_thousands_of_variants_ends() {
    let hostile = Hostile::new(tree_of("common.yaml", "k: {a: [1, {b: 2}]}\n"));
    let types = numbered(4_000, |number| {
        format!("Integer[{}, {}]", number * 10, number * 10 + 5)
    });
    let request = json!({"key": "k", "type": format!("Variant[{types}]")});
    let (status, _) = refused(&hostile, &request);
    assert_eq!(status, 422);
}

/// A value of a megabyte that is merged from two levels.
fn merged_tree() -> Tree {
    let tree = tree();
    let levels = "version: 5\nhierarchy: [{name: l, paths: [a.yaml, b.yaml]}]\n";
    tree.write("/hiera.yaml", levels);
    for file in ["a", "b"] {
        let mut content = "lookup_options: {k: {merge: deep}}\nk:\n".to_owned();
        for number in 0..10_000 {
            writeln!(
                content,
                "  p{number}: {{{file}: value of {number}, c: [{number}]}}"
            )
            .unwrap();
        }
        tree.write(&format!("/data/{file}.yaml"), content);
    }
    tree
}

#[test]
fn parts_of_a_merged_value_are_taken_from_one_merge() {
    let hostile = Hostile::new(merged_tree());
    let ask = |count: usize| {
        let keys: Vec<String> = (0..count).map(|number| format!("k.p{number}.a")).collect();
        let start = hostile.server.cpu_time();
        let answer = hostile.ask(json!({ "keys": keys }).to_string().as_bytes());
        assert_eq!(answer.status, 200, "{}", answer.text());
        let last = format!("k.p{}.a", count - 1);
        let expected = format!("value of {}", count - 1);
        assert_eq!(answer.json()["results"][last]["value"], expected);
        hostile.server.cpu_time() - start
    };
    let (one, many) = (ask(1), ask(1_000));
    assert!(
        many < one * 5 + Duration::from_millis(500),
        "{one:?} {many:?}"
    );
}

#[test]
fn braces_in_a_fact_exceed_the_budget() {
    let tree = tree();
    tree.write(
        "/hiera.yaml",
        "version: 5\nhierarchy: [{name: g, glob: \"%{facts.f}.yaml\"}]\n",
    );
    let hostile = Hostile::new(tree);
    for fact in [
        "{a,b}".repeat(150_000),
        format!(
            "{}{}",
            "{a,b}{c,d}{e,f}{g,h}{i,j}{k,l}",
            "x".repeat(800_000)
        ),
        format!("{{{}}}", "a,".repeat(400_000)),
    ] {
        let before = hostile.server.memory();
        let answer = hostile.ask(
            json!({"key": "k", "facts": {"f": fact}})
                .to_string()
                .as_bytes(),
        );
        assert!(
            matches!(answer.status, 404 | 413 | 422),
            "{}",
            answer.status
        );
        let taken = hostile.server.peak_memory().saturating_sub(before);
        assert!(taken < MEMORY_LIMIT, "took {taken} MB");
    }
}

/// A request that takes as long as it may.
fn dear_request() -> Vec<u8> {
    let pattern = r"/\A(?=(a+)+c)(\1a)*\z/";
    let patterns = numbered(200, |_| pattern.to_owned());
    let request = json!({"key": "k", "type": format!("Array[Pattern[{patterns}]]")});
    request.to_string().into_bytes()
}

fn dear_tree() -> Tree {
    // Each match takes many steps, and less than a match may.
    let content = format!(
        "k: [{}]\n",
        numbered(5_000, |_| format!("{}b", "a".repeat(15)))
    );
    tree_of("common.yaml", content)
}

#[test]
fn cheap_lookups_and_health_checks_are_fast_beside_dear_ones() {
    let hostile = Hostile::new(dear_tree());
    let body = dear_request();
    let is_over = std::sync::atomic::AtomicBool::new(false);
    let mut slowest = Duration::ZERO;
    std::thread::scope(|scope| {
        let clients: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    let mut statuses = Vec::new();
                    while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
                        statuses.push(hostile.server.lookup(&body).status);
                    }
                    statuses
                })
            })
            .collect();
        let end = Instant::now() + Duration::from_secs(3);
        while Instant::now() < end {
            let cheap: [&dyn Fn() -> Answer; 2] = [
                &|| {
                    hostile
                        .server
                        .lookup(br#"{"key":"k","environment":"good"}"#)
                },
                &|| hostile.server.get("/livez"),
            ];
            for ask in cheap {
                let start = Instant::now();
                assert_eq!(ask().status, 200);
                slowest = slowest.max(start.elapsed());
            }
        }
        is_over.store(true, std::sync::atomic::Ordering::Relaxed);
        for client in clients {
            let statuses = client.join().unwrap();
            assert!(statuses.iter().all(|status| *status == 422), "{statuses:?}");
        }
    });
    // Tests run beside each other on few cores; the benchmark measures the real figure.
    assert!(slowest < Duration::from_secs(1), "{slowest:?}");
}

#[test]
fn a_client_that_hangs_up_ends_its_work() {
    let settings = [
        ("HIERAD_MAX_TIME_MS", "60000"),
        ("HIERAD_MAX_STEPS", "100000000000"),
    ];
    let hostile = Hostile::with(dear_tree(), &settings);
    let body = dear_request();
    let mut stream = hostile.server.connect().unwrap();
    stream
        .write_all(lookup_head(body.len(), "").as_bytes())
        .unwrap();
    stream.write_all(&body).unwrap();
    let start = hostile.server.cpu_time();
    wait_for("the work to begin", || {
        (hostile.server.cpu_time() - start > Duration::from_millis(300)).then_some(())
    });
    drop(stream);
    wait_for("the work to end", || {
        let before = hostile.server.cpu_time();
        hostile.check_good();
        std::thread::park_timeout(Duration::from_millis(200));
        (hostile.server.cpu_time() - before < Duration::from_millis(50)).then_some(())
    });
}

#[test]
fn the_shutdown_timeout_is_kept_while_a_lookup_runs() {
    let settings = [
        ("HIERAD_MAX_TIME_MS", "60000"),
        ("HIERAD_MAX_STEPS", "100000000000"),
        ("HIERAD_DRAIN_DELAY_MS", "0"),
        ("HIERAD_SHUTDOWN_TIMEOUT_MS", "500"),
    ];
    let mut hostile = Hostile::with(dear_tree(), &settings);
    let body = dear_request();
    let mut stream = hostile.server.connect().unwrap();
    stream
        .write_all(lookup_head(body.len(), "").as_bytes())
        .unwrap();
    stream.write_all(&body).unwrap();
    let start = hostile.server.cpu_time();
    wait_for("the work to begin", || {
        (hostile.server.cpu_time() - start > Duration::from_millis(300)).then_some(())
    });
    hostile.server.terminate();
    let start = Instant::now();
    let server = &mut hostile.server;
    wait_for("the end", || server.ended());
    assert!(
        start.elapsed() < Duration::from_secs(5),
        "{:?}",
        start.elapsed()
    );
}
