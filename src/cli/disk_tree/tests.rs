//! Random trees: lookups in memory and on disk give the same answers, whatever the hierarchy looks like.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use fastrand::Rng;
use hiera_resolver::Node;
use hiera_resolver::{Explain, Hash, MergeStrategy, Request, Strictness, Value};
use serde_json::json;

use super::*;
use crate::data_loading::Load;
use crate::data_loading::progress::Progress;

/// Directories of data, below a data directory.
const DIRECTORIES: [&str; 8] = ["", "", "a", "b", "a/b", "prod", "a b", "linked"];
/// Names of data files. Some look like globs or braces.
const NAMES: [&str; 10] = [
    "a.yaml",
    "b.yaml",
    "c.yaml",
    "ab.yaml",
    ".a.yaml",
    "c",
    "*.yaml",
    "{a,b}.yaml",
    "[ab].yaml",
    "prod.yaml",
];
/// The pieces of random locations.
const PIECES: [&str; 30] = [
    "a",
    "b",
    "c",
    "a",
    "b",
    ".yaml",
    ".yaml",
    ".yaml",
    "/",
    "/",
    "..",
    "../",
    "./",
    "//",
    "%{x}",
    "%{y}",
    "%{facts.z}",
    "%{environment}",
    "%{nope}",
    "{%{x}}",
    "{a,%{y}}",
    "[%{x}]",
    "*",
    "?",
    "**/",
    "{a,b}",
    "[ab]",
    "linked/",
    "loop/",
    "\\",
];
/// The values of variables.
const VALUES: [&str; 18] = [
    "", "a", "b", "ab", "a/b", "prod", "..", ".", "./a", "a/", "/a", "a,b", "*", "{a,b}", "[ab]",
    "loop/a", "linked", "a.",
];

fn pick<'a>(random: &mut Rng, from: &[&'a str]) -> &'a str {
    from[random.usize(..from.len())]
}

/// Typical locations.
const TYPICAL: [&str; 16] = [
    "%{x}.yaml",
    "%{x}/%{y}.yaml",
    "a/%{x}.yaml",
    "*.yaml",
    "**/*.yaml",
    "{%{x}}.yaml",
    "c.yaml",
    "[%{x}]*.yaml",
    "%{x}/../%{y}.yaml",
    "linked/%{x}.yaml",
    "loop/%{x}.yaml",
    "a/{b,%{y}}*.yaml",
    "%{environment}/*.yaml",
    "?.yaml",
    "%{x}%{y}.yaml",
    "../%{environment}/%{facts.z}.yaml",
];

fn location(random: &mut Rng) -> String {
    if random.bool() {
        return pick(random, &TYPICAL).to_owned();
    }
    let mut text: String = (0..random.usize(1..6))
        .map(|_| pick(random, &PIECES))
        .collect();
    if random.bool() {
        text.push_str(".yaml");
    }
    // One from the root of the disk would search all of it.
    format!("{}{text}", ["", "a"][usize::from(text.starts_with('/'))])
}

fn level(random: &mut Rng, index: usize) -> serde_json::Value {
    let most = if random.u8(..10) == 0 { 80 } else { 4 };
    let count = random.usize(1..=most);
    let mut locations = || (0..count).map(|_| location(random)).collect::<Vec<_>>();
    let mut level = match index % 5 {
        0 | 1 => json!({"paths": locations()}),
        2 | 3 => json!({"globs": locations()}),
        _ => json!({"mapped_paths": ["facts.list", "x", location(random)]}),
    };
    level["name"] = json!(format!("level {index}"));
    if random.u8(..4) == 0 {
        let datadir = [
            "data/%{x}",
            "%{environment}",
            "data/%{environment}",
            "other",
            "data/../data",
            "da%{nope}ta",
        ];
        level["datadir"] = json!(pick(random, &datadir));
    }
    if random.u8(..8) == 0 {
        level["data_hash"] = json!("json_data");
    }
    level
}

/// Writes a data directory, links included.
fn write_data(random: &mut Rng, root: &Path, prefix: &str) {
    for directory in ["data", "other", "prod"] {
        let root = root.join(directory);
        for _ in 0..random.usize(2..12) {
            let directory = root.join(pick(random, &DIRECTORIES));
            fs::create_dir_all(&directory).unwrap();
            let path = directory.join(pick(random, &NAMES));
            if !path.exists() {
                let shown = path.strip_prefix(&root).unwrap().display();
                let text = json!({format!("{prefix}k"): [shown.to_string()], format!("{prefix}h"): {shown.to_string(): 1}});
                fs::write(&path, text.to_string()).unwrap();
            }
        }
        for (target, link) in [
            ("a", "linked"),
            (".", "loop"),
            ("..", "a/loop"),
            ("a.yaml", "c.yaml"),
            ("nowhere", "b.yaml"),
        ] {
            let link = root.join(link);
            if random.u8(..5) == 0 && !link.exists() {
                // Fails if the directory does not exist.
                _ = symlink(target, link);
            }
        }
    }
}

fn write_layer(random: &mut Rng, root: &Path, prefix: &str) {
    fs::create_dir_all(root).unwrap();
    let levels = (0..random.usize(1..5)).map(|index| level(random, index + prefix.len() % 3));
    let levels: Vec<_> = levels.collect();
    fs::write(
        root.join("hiera.yaml"),
        json!({"version": 5, "hierarchy": levels}).to_string(),
    )
    .unwrap();
    write_data(random, root, prefix);
}

fn node(random: &mut Rng) -> Node {
    let value = |random: &mut Rng| Value::str(pick(random, &VALUES));
    let list = Value::array(vec![value(random), value(random)]);
    let facts = [
        ("x", value(random)),
        ("y", value(random)),
        ("z", value(random)),
        ("list", list),
    ];
    let facts: Hash = facts
        .into_iter()
        .map(|(name, value)| (name.into(), value))
        .collect();
    Node::new("prod").facts(facts)
}

/// Everything that a lookup returns.
fn answer(
    tree: &dyn Tree,
    scope: &Node,
    request: &Request<'_>,
    explain: Option<Explain>,
) -> String {
    let (answer, explanation) = request.answer(tree, scope, explain);
    let mut shown = match answer.outcome {
        Ok(outcome) => format!("{outcome:?}"),
        Err(error) => format!("failed: {error}"),
    };
    if let Some(explanation) = explanation {
        write!(shown, "\n{explanation}").unwrap();
    }
    shown
}

#[test]
fn memory_and_disk_give_the_same_answers() {
    let (mut found, mut distinct) = (0, BTreeSet::new());
    let trees = std::env::var("RANDOM_TREES").map_or(40, |count| count.parse().unwrap());
    for seed in 0..trees {
        let mut random = Rng::with_seed(seed);
        let temporary = tempfile::tempdir().unwrap();
        // Deep enough for all `..` in a location.
        let root = temporary.path().join("1/2/3/4/5/6/7/8");
        let environment = root.join("environments/prod");
        write_layer(&mut random, &root.join("global"), "");
        write_layer(&mut random, &environment, "");
        write_layer(&mut random, &environment.join("modules/m"), "m::");
        let code = CodeDirectory {
            hiera_config: Some(root.join("global/hiera.yaml")),
            strictness: Strictness::Warning,
            ..CodeDirectory::for_tests(&root)
        };
        let progress = Progress::silent();
        let load = Load::from_scratch(&code, "prod", &progress);
        let snapshot = load.run().snapshot;
        for _ in 0..8 {
            let scope = node(&mut random);
            let disk = DiskTree::new(&code, "prod");
            for key in ["k", "h", "m::k", "none"] {
                for (merge, explain) in [
                    (None, None),
                    (MergeStrategy::parse(&Value::str("unique")).ok(), None),
                    (None, Some(Explain::Value)),
                ] {
                    let keys = [key];
                    let request = Request {
                        merge: merge.as_ref(),
                        ..Request::new(&keys)
                    };
                    let expected = answer(&disk, &scope, &request, explain);
                    let got = answer(snapshot.as_ref(), &scope, &request, explain);
                    // Below a loop, errors name a file by its shorter path.
                    let fail_alike =
                        |text: &str| text.starts_with("failed") && text.contains("loop");
                    let is_same_failure = got.starts_with("failed") && fail_alike(&expected);
                    if got != expected && !is_same_failure {
                        let kept = temporary.keep();
                        panic!(
                            "seed {seed}, `{key}`, {scope:?}, tree in {}:\nin memory: {got}\non disk: {expected}",
                            kept.display()
                        );
                    }
                    found += usize::from(got.starts_with("Found"));
                    distinct.insert(got);
                }
            }
        }
    }
    assert!(
        found > 400 && distinct.len() > 500,
        "{found} found, {} distinct",
        distinct.len()
    );
}
