//! The command line: arguments, and one file for each command that runs without a server.

pub mod arguments;
mod check;
mod disk_tree;
mod lookup;
mod render;

use std::io::Write as _;

use anyhow::Context;

pub use arguments::{Command, CommandLine, Usage};
pub(crate) use check::check;
pub(crate) use lookup::lookup;

/// Prints to standard output. A closed pipe is no error: the reader has seen enough.
fn print(text: &str) -> anyhow::Result<()> {
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(error).context("cannot write to standard output")
        }
        _ => Ok(()),
    }
}
