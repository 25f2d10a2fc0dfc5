//! Instructions per lookup, counted by callgrind. Unlike times, the counts are reproducible.
//!
//!     cargo bench --bench instructions                 the table, with the goals
//!     cargo bench --bench instructions -- --check      fails if a count exceeds its budget by more than 5 %
//!     cargo bench --bench instructions -- --record     records the counts as the new budgets
//!     cargo bench --bench instructions -- --large      also with 20 and 20,000 nodes, which takes minutes
//!
//! The process runs itself under callgrind, which counts only inside of [`measured_region`] and writes a file each time
//! the function returns. Trees come from `gen_tree.py` and are kept below `target/bench`.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a benchmark that cannot run should say so and stop"
)]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::Command;

use axum::body::{Body, Bytes};
use axum::http::Request as HttpRequest;
use hiera_resolver::Snapshot;
use hiera_resolver::work_budget::Budget;
use hierad::config::Limits;
use hierad::environments::Environments;
use hierad::http::{App, Gate};
use http_body_util::BodyExt;
use tower::ServiceExt;
use workload::{Lookup, bodies, load, tree, workspace};

#[path = "workload/workload.rs"]
mod workload;

/// The allocator of the server.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Lookups per case. Callgrind counts all of them, and the table shows the mean.
const LOOKUPS: usize = 200;
/// How much a count may exceed its budget, since it varies with the compiler and the hash seed.
const TOLERANCE: f64 = 1.05;

/// A case, and its goal if there is one.
struct Case {
    name: &'static str,
    goal: Option<u64>,
    run: fn(&Bench),
}

const CASES: &[Case] = &[
    case("resolver: first found, 6 levels", Some(5_000), |bench| {
        bench.resolve("first_common")
    }),
    case("resolver: first found, 1st level", Some(5_000), |bench| {
        bench.resolve("first_node")
    }),
    case("resolver: not found", None, |bench| bench.resolve("miss")),
    case("resolver: unique merge", Some(40_000), |bench| {
        bench.resolve("unique")
    }),
    case("resolver: hash merge", Some(40_000), |bench| {
        bench.resolve("hash")
    }),
    case("resolver: deep merge", None, |bench| bench.resolve("deep")),
    case(
        "resolver: deep merge, 4 × 200 entries",
        Some(1_500_000),
        |bench| bench.resolve("bigdeep"),
    ),
    case("resolver: three interpolations", Some(25_000), |bench| {
        bench.resolve("interp")
    }),
    case("resolver: module layer", Some(12_000), |bench| {
        bench.resolve("module")
    }),
    case("resolver: first found of 8 levels", None, |bench| {
        bench.resolve_levels(8)
    }),
    case("resolver: first found of 40 levels", None, |bench| {
        bench.resolve_levels(40)
    }),
    case("request: first found", None, |bench| {
        bench.request(&bench.bodies("first_common"))
    }),
    case("request: no facts", None, |bench| {
        bench.request(&bench.bodies_without_facts())
    }),
    case("request: one key", None, |bench| {
        bench.request(&bench.batches(1))
    }),
    case("request: batch of 100 keys", None, |bench| {
        bench.request(&bench.batches(100))
    }),
];

const fn case(name: &'static str, goal: Option<u64>, run: fn(&Bench)) -> Case {
    Case { name, goal, run }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
    if let Some(index) = arguments.iter().position(|argument| argument == "--inside") {
        return run_cases(&arguments[index + 1]);
    }
    if has("--test") {
        // `cargo test --benches` only checks that it builds and starts.
        return;
    }
    let counts = count("medium");
    let budgets = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/budgets.json");
    if has("--record") {
        let text = serde_json::to_string_pretty(&counts).unwrap();
        std::fs::write(&budgets, text + "\n").unwrap();
    }
    let budgets: BTreeMap<String, u64> =
        serde_json::from_slice(&std::fs::read(&budgets).expect("benches/budgets.json")).unwrap();
    let is_within = show(&counts, &budgets);
    if has("--large") {
        show_growth(&counts);
    }
    if has("--check") && !is_within {
        println!("\nA count exceeds its budget. If the cost is intended, record it: -- --record");
        std::process::exit(1);
    }
}

/// Prints the counts. Returns whether all are within their budgets.
fn show(counts: &BTreeMap<String, u64>, budgets: &BTreeMap<String, u64>) -> bool {
    let mut is_within = true;
    let mut rows = Vec::new();
    println!(
        "{:40} {:>12} {:>12} {:>12}",
        "instructions of", "counted", "goal", "budget"
    );
    for case in CASES {
        let count = counts[case.name];
        let budget = budgets.get(case.name).copied();
        let is_over = budget.is_none_or(|budget| count as f64 > budget as f64 * TOLERANCE);
        is_within &= !is_over;
        let shown = |number: Option<u64>| number.map_or("-".to_owned(), |it| it.to_string());
        let mut remark = String::new();
        if case.goal.is_some_and(|goal| count > goal) {
            remark.push_str("  goal missed");
        }
        if is_over {
            remark.push_str("  OVER BUDGET");
        }
        println!(
            "{:40} {count:>12} {:>12} {:>12}{remark}",
            case.name,
            shown(case.goal),
            shown(budget)
        );
        rows.push((
            case.name.to_owned(),
            count as f64,
            case.goal.map(|it| it as f64),
        ));
    }
    let per_level = (counts["resolver: first found of 40 levels"] as f64
        - counts["resolver: first found of 8 levels"] as f64)
        / 32.0;
    let batch = counts["request: batch of 100 keys"] as f64 / counts["request: one key"] as f64;
    println!(
        "\n{:40} {per_level:>12.0} {:>12}",
        "instructions per level", 300
    );
    println!("{:40} {batch:>11.1}× {:>11}×", "100 keys vs. one", 15);
    rows.push(("instructions per level".to_owned(), per_level, Some(300.0)));
    rows.push(("100 keys vs. one".to_owned(), batch, Some(15.0)));
    write_rows("instructions.json", &rows);
    is_within
}

/// The same lookups with 20 and with 20,000 nodes.
fn show_growth(medium: &BTreeMap<String, u64>) {
    let (small, large) = (count("small"), count("large"));
    println!(
        "\n{:40} {:>10} {:>10} {:>10} {:>8} {:>6}",
        "growth", "20 nodes", "1,000", "20,000", "ratio", "goal"
    );
    let mut rows = Vec::new();
    for name in [
        "resolver: first found, 6 levels",
        "resolver: first found, 1st level",
        "resolver: module layer",
        "request: first found",
    ] {
        let ratio = large[name] as f64 / small[name] as f64;
        println!(
            "{name:40} {:>10} {:>10} {:>10} {ratio:>7.2}× {:>5}×",
            small[name], medium[name], large[name], 1.3
        );
        rows.push((format!("20,000 nodes vs. 20, {name}"), ratio, Some(1.3)));
    }
    write_rows("growth.json", &rows);
}

fn write_rows(file: &str, rows: &[(String, f64, Option<f64>)]) {
    let rows: Vec<serde_json::Value> = rows
        .iter()
        .map(|(name, value, goal)| {
            serde_json::json!({"name": name, "value": value, "goal": goal,
                "met": goal.map(|goal| *value <= goal)})
        })
        .collect();
    let path = workspace("").join(file);
    std::fs::write(path, serde_json::to_string_pretty(&rows).unwrap()).unwrap();
}

/// Runs all cases on a tree under callgrind. Returns the mean instructions by name.
fn count(size: &str) -> BTreeMap<String, u64> {
    tree(size);
    let dumps = tempfile::tempdir().unwrap();
    let output = Command::new("valgrind")
        .args([
            "--tool=callgrind",
            "--toggle-collect=instructions::measured_region",
        ])
        .arg("--dump-after=instructions::measured_region")
        .arg(format!(
            "--callgrind-out-file={}",
            dumps.path().join("counts").display()
        ))
        .arg(std::env::current_exe().unwrap())
        .args(["--inside", size])
        .output()
        .expect("valgrind is needed: apt-get install valgrind");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let total = |index: usize| {
        let text =
            std::fs::read_to_string(dumps.path().join(format!("counts.{}", index + 1))).unwrap();
        let total = text.lines().find_map(|line| line.strip_prefix("totals: "));
        total.unwrap().trim().parse::<u64>().unwrap()
    };
    CASES
        .iter()
        .enumerate()
        .map(|(index, case)| (case.name.to_owned(), total(index) / LOOKUPS as u64))
        .collect()
}

fn run_cases(size: &str) {
    let bench = Bench::new(tree(size));
    for case in CASES {
        (case.run)(&bench);
    }
}

/// The only code that callgrind counts.
#[inline(never)]
fn measured_region(work: &mut dyn FnMut()) {
    work();
}

/// Runs the work once to warm up, and once to be counted.
fn measure(mut work: impl FnMut()) {
    work();
    measured_region(&mut work);
}

struct Bench {
    tree: PathBuf,
    environments: Environments,
    gate: Gate,
}

impl Bench {
    fn new(tree: PathBuf) -> Self {
        let environments = load(&tree);
        let gate = App::new(environments.clone(), Limits::default()).service();
        Bench {
            tree,
            environments,
            gate,
        }
    }

    /// The lookups of one kind, as in the generated file.
    fn bodies(&self, kind: &str) -> Vec<String> {
        bodies(&self.tree, kind, LOOKUPS)
    }

    fn bodies_without_facts(&self) -> Vec<String> {
        let mut bodies = self.bodies("first_common");
        for body in &mut bodies {
            let whole: serde_json::Value = serde_json::from_str(body).unwrap();
            *body =
                serde_json::json!({"key": whole["key"], "trusted": whole["trusted"]}).to_string();
        }
        bodies
    }

    /// Requests for the given number of keys, each for one node.
    fn batches(&self, size: usize) -> Vec<String> {
        let bodies = self.bodies("first_common");
        let keys = first_found_keys(&self.tree);
        let batch = |index: usize, body: &String| {
            let keys: Vec<_> = keys.iter().cycle().skip(index).take(size).collect();
            let mut whole: serde_json::Value = serde_json::from_str(body).unwrap();
            let object = whole.as_object_mut().unwrap();
            object.remove("key");
            object.insert("keys".to_owned(), serde_json::json!(keys));
            whole.to_string()
        };
        bodies
            .iter()
            .enumerate()
            .map(|(index, body)| batch(index, body))
            .collect()
    }

    /// Lookups by the resolver alone, with facts that are parsed already, including the JSON of the result.
    fn resolve(&self, kind: &str) {
        let environment = self.environments.get("production").unwrap();
        let lookups: Vec<Lookup> = self
            .bodies(kind)
            .iter()
            .map(|it| Lookup::read(it))
            .collect();
        resolve_all(&environment.snapshot, &lookups);
    }

    /// A hierarchy with this number of levels. Only the last one has the key.
    fn resolve_levels(&self, levels: usize) {
        let tree = workspace(&format!("levels-{levels}"));
        let production = tree.join("environments/production");
        let mut hiera = "version: 5\nhierarchy:\n".to_owned();
        for level in 0..levels {
            writeln!(
                hiera,
                "  - {{name: l{level}, path: \"l{level}/%{{facts.role}}.yaml\"}}"
            )
            .unwrap();
            let directory = production.join(format!("data/l{level}"));
            std::fs::create_dir_all(&directory).unwrap();
            let key = if level + 1 == levels {
                "wanted"
            } else {
                "other"
            };
            std::fs::write(directory.join("web.yaml"), format!("{key}: 1\n")).unwrap();
        }
        std::fs::write(production.join("hiera.yaml"), hiera).unwrap();
        let environment = load(&tree).get("production").unwrap();
        let body = r#"{"key":"wanted","facts":{"role":"web"},"trusted":{}}"#;
        let lookups: Vec<Lookup> = (0..LOOKUPS).map(|_| Lookup::read(body)).collect();
        resolve_all(&environment.snapshot, &lookups);
    }

    /// Whole requests, from the bytes of the body to the bytes of the answer, without a socket.
    fn request(&self, bodies: &[String]) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let make = |body: &String| {
            HttpRequest::post("/lookup")
                .header("content-type", "application/json")
                .body(Body::from(Bytes::from(body.clone())))
                .unwrap()
        };
        let mut rounds: Vec<Vec<_>> = (0..2).map(|_| bodies.iter().map(make).collect()).collect();
        measure(|| {
            let requests = rounds.pop().unwrap();
            runtime.block_on(async {
                for request in requests {
                    let response = self.gate.clone().oneshot(request).await.unwrap();
                    assert!(response.status().is_success());
                    black_box(response.into_body().collect().await.unwrap().to_bytes());
                }
            });
        });
    }
}

/// Distinct keys without merges: a batch looks up a repeated key only once.
fn first_found_keys(tree: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(tree.join("lookups.jsonl")).unwrap();
    let key = |line: &str| {
        let whole: serde_json::Value = serde_json::from_str(line).unwrap();
        whole["key"].as_str().unwrap().to_owned()
    };
    let mut keys: Vec<String> = text.lines().map(key).collect();
    // The generator names scalars `profile::APP::WORD_PARAMETER`.
    keys.retain(|key| key.split("::").nth(2).is_some_and(|it| it.contains('_')));
    keys.retain(|key| key.starts_with("profile::") && !key.ends_with("_url"));
    keys.sort_unstable();
    keys.dedup();
    keys
}

fn resolve_all(snapshot: &Snapshot, lookups: &[Lookup]) {
    let mut out = Vec::with_capacity(1 << 20);
    measure(|| {
        // As in the server: all work of a request has one budget.
        let resolved = Budget::new(Limits::default().request_budget()).run(|| {
            for lookup in lookups {
                out.clear();
                lookup.resolve(&mut lookup.session(snapshot), &mut out);
                black_box(&out);
            }
        });
        resolved.unwrap();
    });
}
