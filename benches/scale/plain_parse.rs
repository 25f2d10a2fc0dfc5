//! The floor: the bytes of all data files, in memory already, parsed by `psych-yaml` on all cores into its own values.
//!
//! In a process of its own, since a heap that was used before is faster than that of a server which starts.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use anyhow::Context as _;

use crate::tree::Tree;

/// How the bytes are parsed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// Each file's values are dropped before those of the next are made: lower by the memory for them.
    Dropped,
    /// All values are there in the end, as they are in a server.
    Kept,
    /// The same by libyaml alone, without the reader for simple texts.
    ByLibyaml,
}

impl Way {
    const NAMES: [(Way, &str); 3] = [
        (Way::Dropped, "dropped"),
        (Way::Kept, "kept"),
        (Way::ByLibyaml, "by-libyaml"),
    ];

    fn name(self) -> &'static str {
        let mut names = Way::NAMES.iter();
        names
            .find(|(way, _)| *way == self)
            .map_or("", |(_, name)| name)
    }

    fn named(name: &str) -> anyhow::Result<Self> {
        let found = Way::NAMES.iter().find(|(_, known)| *known == name);
        found.map(|(way, _)| *way).context("no such way to parse")
    }
}

/// Milliseconds of the floor, on the clock and of all cores together.
pub(crate) fn measure(tree: &Tree, way: Way) -> anyhow::Result<(f64, f64)> {
    let output = Command::new(std::env::current_exe()?)
        .arg("plain-parse")
        .arg(way.name())
        .arg(tree.data())
        .output()?;
    let text = String::from_utf8(output.stdout)?;
    let (clock, cores) = text.trim().split_once(' ').context("no figures")?;
    Ok((clock.parse()?, cores.parse()?))
}

/// What [`measure`] starts.
pub(crate) fn run(way: &str, root: &Path) -> anyhow::Result<()> {
    let way = Way::named(way)?;
    let mut texts = Vec::new();
    read_all(root, &mut texts)?;
    if way == Way::ByLibyaml {
        for text in &mut texts {
            // The reader for simple texts knows no directives, and stops here.
            text.splice(..0, *b"%YAML 1.1\n");
            anyhow::ensure!(
                text.starts_with(b"%YAML 1.1\n---\n"),
                "a text without a start"
            );
        }
    }
    let next = AtomicUsize::new(0);
    let work = || {
        let mut kept = Vec::new();
        while let Some(text) = texts.get(next.fetch_add(1, Ordering::Relaxed)) {
            let value = std::hint::black_box(psych_yaml::parse(text));
            if way != Way::Dropped {
                kept.push(value);
            }
        }
        // The end of the process is no part of the work.
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

/// Milliseconds that a process has used of all cores together.
pub(crate) fn cpu_time(process: &str) -> anyhow::Result<f64> {
    /// As Linux counts them for everyone, whatever it does inside.
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
