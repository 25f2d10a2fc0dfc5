//! The floor: the bytes of all data files, in memory already, parsed by `psych-yaml` on all cores into its own values.
//!
//! In a process of its own, since a heap that was used before is faster than that of a server which starts.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use crate::tree::Tree;

/// Milliseconds of the floor.
pub(crate) fn measure(tree: &Tree) -> anyhow::Result<f64> {
    let output = Command::new(std::env::current_exe()?)
        .arg("plain-parse")
        .arg(tree.data())
        .output()?;
    Ok(String::from_utf8(output.stdout)?.trim().parse()?)
}

/// What [`measure`] starts.
pub(crate) fn run(root: &Path) -> anyhow::Result<()> {
    let mut texts = Vec::new();
    read_all(root, &mut texts)?;
    let next = AtomicUsize::new(0);
    // Each value is dropped where the next begins: keeping them takes longer, and a floor should be low.
    let work = || {
        while let Some(text) = texts.get(next.fetch_add(1, Ordering::Relaxed)) {
            drop(std::hint::black_box(psych_yaml::parse(text)));
        }
    };
    let start = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    println!("{}", crate::millis(start.elapsed()));
    Ok(())
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
