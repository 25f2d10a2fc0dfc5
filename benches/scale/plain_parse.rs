//! The floor: the bytes of all data files, already in memory, parsed by `psych-yaml` on all cores.
//!
//! It runs in a process of its own, since a heap that was used before is faster than that of a new server.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use anyhow::Context as _;

use crate::tree::Tree;

/// How the bytes are parsed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ParseMode {
    /// The values of each file are dropped before the next is parsed, which saves the cost of their memory.
    Dropped,
    /// All values are kept, as in a server.
    Kept,
    /// All values are kept, and libyaml parses everything, without the fast reader for simple documents.
    ByLibyaml,
}

impl ParseMode {
    const NAMES: [(ParseMode, &str); 3] = [
        (ParseMode::Dropped, "dropped"),
        (ParseMode::Kept, "kept"),
        (ParseMode::ByLibyaml, "by-libyaml"),
    ];

    fn name(self) -> &'static str {
        let mut names = ParseMode::NAMES.iter();
        names
            .find(|(way, _)| *way == self)
            .map_or("", |(_, name)| name)
    }

    fn named(name: &str) -> anyhow::Result<Self> {
        let found = ParseMode::NAMES.iter().find(|(_, known)| *known == name);
        found.map(|(way, _)| *way).context("unknown way to parse")
    }
}

/// The floor in milliseconds: wall-clock time, and CPU time of all cores.
pub(crate) fn measure(tree: &Tree, way: ParseMode) -> anyhow::Result<(f64, f64)> {
    let output = Command::new(std::env::current_exe()?)
        .arg("plain-parse")
        .arg(way.name())
        .arg(tree.data())
        .output()?;
    let text = String::from_utf8(output.stdout)?;
    let (clock, cores) = text.trim().split_once(' ').context("unexpected output")?;
    Ok((clock.parse()?, cores.parse()?))
}

/// The process that [`measure`] starts.
pub(crate) fn run(way: &str, root: &Path) -> anyhow::Result<()> {
    let way = ParseMode::named(way)?;
    let mut texts = Vec::new();
    read_all(root, &mut texts)?;
    if way == ParseMode::ByLibyaml {
        for text in &mut texts {
            // The fast reader does not support directives.
            text.splice(..0, *b"%YAML 1.1\n");
            anyhow::ensure!(
                text.starts_with(b"%YAML 1.1\n---\n"),
                "a document without `---`"
            );
        }
    }
    let next = AtomicUsize::new(0);
    let work = || {
        let mut kept = Vec::new();
        while let Some(text) = texts.get(next.fetch_add(1, Ordering::Relaxed)) {
            let value = std::hint::black_box(psych_yaml::parse(text));
            if way != ParseMode::Dropped {
                kept.push(value);
            }
        }
        // Freeing the values is not measured.
        std::mem::forget(kept);
    };
    let (start, before) = (Instant::now(), cpu_time("self")?);
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    let cores = cpu_time("self")? - before;
    println!("{} {cores}", crate::millis(start.elapsed()));
    Ok(())
}

/// The CPU time of a process on all cores, in milliseconds.
pub(crate) fn cpu_time(process: &str) -> anyhow::Result<f64> {
    /// USER_HZ, which is 100 on all common platforms.
    const MILLIS_PER_TICK: f64 = 10.0;
    let stat = fs::read_to_string(format!("/proc/{process}/stat"))?;
    let (_, rest) = stat.rsplit_once(')').context("no name")?;
    let ticks = rest.split_whitespace().skip(11).take(2);
    let ticks: Vec<f64> = ticks.map(str::parse).collect::<Result<_, _>>()?;
    Ok(ticks.iter().sum::<f64>() * MILLIS_PER_TICK)
}

fn read_all(directory: &Path, texts: &mut Vec<Vec<u8>>) -> anyhow::Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            read_all(&path, texts)?;
        } else if path
            .extension()
            .is_some_and(|extension| extension == "yaml")
        {
            texts.push(fs::read(path)?);
        }
    }
    Ok(())
}
