//! Start, reload and memory on a tree of 20,000 nodes, compared with a floor.
//!
//! `cargo bench --bench scale` generates the tree once (with `benches/gen_tree.py`; needs `python3`, and `git` for its two
//! branches), starts the server on it as a process, prints a table and writes it to `target/bench/scale.json`. Wall-clock
//! times on a busy machine mean little, so each value is compared with a floor that is measured in turn with it: the same
//! bytes, already in memory, parsed by the same YAML parser on all cores, with the values dropped at once. All values are
//! medians. `-- start` measures only that part; the other parts are listed in `main`.
#![expect(clippy::print_stdout, reason = "it prints a table")]

mod client;
mod heap;
mod plain_parse;
mod report;
mod server;
mod tree;

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context as _;

use plain_parse::ParseMode;
use report::{Report, median};
use server::Server;
use tree::Tree;

#[global_allocator]
static ALLOCATOR: heap::Counting = heap::Counting;

/// Rounds of slow and of quick measurements.
const ROUNDS: usize = 5;
const QUICK_ROUNDS: usize = 25;

fn main() -> anyhow::Result<()> {
    // The same binary is also the floor, and the server with counted allocations.
    let arguments: Vec<String> = std::env::args().collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        [_, "plain-parse", way, root] => return plain_parse::run(way, Path::new(root)),
        [_, "serve", ..] => return heap::serve_counted(&arguments),
        _ => {}
    }
    let tree = Tree::generate()?;
    println!("{} files, {} bytes of YAML", tree.files, tree.bytes);
    let mut report = Report::default();
    type Part = fn(&Tree, &mut Report) -> anyhow::Result<()>;
    let parts: [(&str, Part); 5] = [
        ("start", start),
        ("one-file", one_file),
        ("branch-switch", branch_switch),
        ("lookups", lookups_during_reload),
        ("memory", memory),
    ];
    let wanted = arguments
        .iter()
        .skip(1)
        .filter(|argument| !argument.starts_with('-'));
    let wanted: Vec<&&str> = wanted.collect();
    for (name, part) in parts {
        if wanted.is_empty() || wanted.contains(&&name) {
            part(&tree, &mut report)?;
        }
    }
    report.print();
    report.write(&tree::target().join("bench/scale.json"))
}

fn start(tree: &Tree, report: &mut Report) -> anyhow::Result<()> {
    let mut floors =
        [ParseMode::Dropped, ParseMode::Kept, ParseMode::ByLibyaml].map(|way| (way, Vec::new()));
    let (mut clocks, mut cores, mut floor_cores) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..2 * ROUNDS {
        for (way, floor_clocks) in &mut floors {
            let (clock, core) = plain_parse::measure(tree, *way)?;
            floor_clocks.push(clock);
            if *way == ParseMode::Dropped {
                floor_cores.push(core);
            }
        }
        let server = Server::start(tree, &[])?;
        clocks.push(server.ready_after);
        cores.push(server.cpu_time);
    }
    let (clock, core) = (median(&mut clocks), median(&mut cores));
    let [dropped, kept, by_libyaml] = floors.map(|(_, mut clocks)| median(&mut clocks));
    for (name, value, floor, goal) in [
        ("start to ready", clock, dropped, Some(1.3 * dropped)),
        (
            "start to ready, CPU time",
            core,
            median(&mut floor_cores),
            None,
        ),
        (
            "start to ready vs. a plain parse that keeps its values",
            clock,
            kept,
            None,
        ),
        (
            "start to ready vs. a plain parse by libyaml alone",
            clock,
            by_libyaml,
            None,
        ),
    ] {
        report.add(name, "ms", value, Some(floor), goal);
    }
    Ok(())
}

/// From the write to the first answer with the new value.
fn one_file(tree: &Tree, report: &mut Report) -> anyhow::Result<()> {
    let server = Server::start(tree, &[])?;
    let mut client = server.connect()?;
    let path = tree.node_file(0)?;
    let original = fs::read_to_string(&path)?;
    let node = tree.node_name(0)?;
    let (mut changed, mut replaced, mut added, mut removed) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let new_path = path.with_file_name("scale.example.net.yaml");
    for round in 0..QUICK_ROUNDS {
        // In practice, the files have not changed just before.
        std::thread::sleep(Duration::from_millis(60));
        let text = format!("{original}scale::mark: changed {round}\n");
        fs::write(&path, text)?;
        changed.push(client.wait_for_mark(node, &format!("changed {round}"))?);

        std::thread::sleep(Duration::from_millis(60));
        let next = path.with_file_name(".next");
        fs::write(&next, format!("{original}scale::mark: replaced {round}\n"))?;
        fs::rename(&next, &path)?;
        replaced.push(client.wait_for_mark(node, &format!("replaced {round}"))?);

        std::thread::sleep(Duration::from_millis(60));
        fs::write(&new_path, format!("scale::mark: added {round}\n"))?;
        added.push(client.wait_for_mark("scale.example.net", &format!("added {round}"))?);

        std::thread::sleep(Duration::from_millis(60));
        fs::remove_file(&new_path)?;
        removed.push(client.wait_for_mark("scale.example.net", "")?);
    }
    fs::write(&path, original)?;
    for (what, mut times) in [
        ("one file changed, until it is served", changed),
        ("one file replaced by a rename", replaced),
        ("one file added", added),
        ("one file removed", removed),
    ] {
        report.add(what, "ms", median(&mut times), None, Some(100.0));
    }
    Ok(())
}

/// From `git checkout` to the first answer with the new value.
fn branch_switch(tree: &Tree, report: &mut Report) -> anyhow::Result<()> {
    let (mut visible, mut whole, mut floors) = (Vec::new(), Vec::new(), Vec::new());
    let server = Server::start(tree, &[])?;
    let node = tree.node_name(1)?;
    for _ in 0..ROUNDS {
        for branch in ["other", "main"] {
            floors.push(plain_parse::measure(tree, ParseMode::Dropped)?.0);
            let start = Instant::now();
            tree.check_out(branch)?;
            let mut client = server.connect()?;
            visible.push(client.wait_for_mark(node, if branch == "other" { "other" } else { "" })?);
            whole.push(millis(start.elapsed()));
        }
    }
    let floor = median(&mut floors);
    report.add(
        "all files changed: from the end of git checkout",
        "ms",
        median(&mut visible),
        Some(floor),
        None,
    );
    report.add(
        "all files changed: from the start of git checkout",
        "ms",
        median(&mut whole),
        Some(floor),
        None,
    );
    Ok(())
}

/// Lookups over one connection during a full reload, and while something else keeps the other core busy. With the other
/// core idle they would be slower, since the thread that answers has to be woken up.
fn lookups_during_reload(tree: &Tree, report: &mut Report) -> anyhow::Result<()> {
    let server = Server::start(tree, &[("HIERAD_WATCH", "off")])?;
    let bodies = tree.lookups()?;
    let window = Duration::from_millis(700);
    server.connect()?.ask_for(&bodies, window)?;
    let (mut idle, mut usual, mut loading, mut kept) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for round in 0..2 * ROUNDS {
        tree.check_out(if round % 2 == 0 { "other" } else { "main" })?;
        // Writes of the checkout that are still in progress must not be measured.
        std::thread::sleep(Duration::from_millis(300));
        let mut client = server.connect()?;
        idle.push(client.ask_for(&bodies, window)?);
        let before = with_busy_core(|| client.ask_for(&bodies, window))?;
        let meanwhile = std::thread::scope(|scope| {
            let reload = scope.spawn(|| server.connect()?.reload());
            let meanwhile = client.ask_while(&bodies, || !reload.is_finished());
            let outcome = reload
                .join()
                .map_err(|_| anyhow::anyhow!("the reload panicked"))??;
            anyhow::ensure!(outcome.contains("\"loaded\""), "{outcome}");
            meanwhile
        })?;
        let after = with_busy_core(|| client.ask_for(&bodies, window))?;
        usual.push(f64::midpoint(before, after));
        loading.push(meanwhile);
        kept.push(100.0 * meanwhile / f64::midpoint(before, after));
    }
    report.add(
        "lookups per second, one connection, other core idle",
        "/s",
        median(&mut idle),
        None,
        None,
    );
    report.add(
        "the same during a full reload (floor: other core busy)",
        "/s",
        median(&mut loading),
        Some(median(&mut usual)),
        None,
    );
    report.add_at_least(
        "during a full reload vs. other core busy",
        "%",
        median(&mut kept),
        90.0,
    );
    Ok(())
}

/// Runs something while another thread keeps a core busy.
fn with_busy_core<T>(work: impl FnOnce() -> T) -> T {
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        });
        let done = work();
        is_over.store(true, Ordering::Relaxed);
        done
    })
}

/// Live heap after the start, and its peak while one file is reloaded.
fn memory(tree: &Tree, report: &mut Report) -> anyhow::Result<()> {
    let plain = Server::start(tree, &[])?;
    let resident = plain.resident()?;
    drop(plain);
    let mut server = Server::start_counted(tree)?;
    let mut client = server.connect()?;
    let bytes = tree.bytes as f64;
    let live = server.live_heap()?.live as f64;
    let path = tree.node_file(2)?;
    let original = fs::read_to_string(&path)?;
    let mut peaks = Vec::new();
    for round in 0..ROUNDS {
        server.live_heap()?;
        fs::write(&path, format!("{original}scale::mark: {round}\n"))?;
        client.wait_for_mark(tree.node_name(2)?, &round.to_string())?;
        std::thread::sleep(Duration::from_millis(300));
        peaks.push(server.live_heap()?.peak as f64);
    }
    fs::write(&path, original)?;
    let after = server.live_heap()?.live as f64;
    report.add(
        "live heap per byte of YAML",
        "bytes",
        live / bytes,
        None,
        Some(4.0),
    );
    report.add(
        "live heap after five reloads of a file per byte of YAML",
        "bytes",
        after / bytes,
        None,
        Some(4.0),
    );
    let peak = median(&mut peaks);
    report.add(
        "peak heap of a reload of one file per byte of YAML",
        "bytes",
        peak / bytes,
        Some(live / bytes),
        Some(1.2 * live / bytes),
    );
    report.add(
        "resident memory per byte of YAML",
        "bytes",
        resident / bytes,
        None,
        None,
    );
    Ok(())
}

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

/// Runs a command that must succeed.
fn succeed(command: &mut std::process::Command) -> anyhow::Result<()> {
    let output = command
        .output()
        .with_context(|| format!("cannot run {command:?}"))?;
    anyhow::ensure!(
        output.status.success(),
        "{command:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(())
}
