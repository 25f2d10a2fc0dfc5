//! `hierad check`: every mistake in every environment, as `file:line:column: message`.

use std::process::ExitCode;

use crate::command_line::CheckArgs;
use crate::environments::{faults, notices};
use crate::load::{self, Load};
use crate::progress::Progress;

/// Loads every environment and prints what is wrong with it.
#[expect(clippy::print_stdout, reason = "the report is what the command is for")]
pub(crate) fn check(arguments: &CheckArgs) -> anyhow::Result<ExitCode> {
    let code = arguments.code.settings()?.code_directory()?;
    let names = load::environment_names(&code);
    let (mut fault_count, mut notice_count) = (0usize, 0usize);
    let progress = Progress::shown();
    let mut seen = std::collections::HashSet::new();
    for name in &names {
        let load = Load {
            code: &code,
            name,
            previous: None,
            cores: load::all_cores(),
            progress: &progress,
        };
        let snapshot = load.run().snapshot;
        for fault in faults(&snapshot) {
            // What environments share is told once.
            if seen.insert(fault.to_string()) {
                println!("{fault}");
                fault_count += 1;
            }
        }
        for notice in notices(&snapshot) {
            if seen.insert(notice.to_string()) {
                println!("{notice} (notice)");
                notice_count += 1;
            }
        }
    }
    let count = |number: usize, noun: &str| {
        format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
    };
    eprintln!(
        "{}, {}, {}",
        count(names.len(), "environment"),
        count(fault_count, "fault"),
        count(notice_count, "notice")
    );
    Ok(if fault_count == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
