//! `hierad check`: every mistake in every environment, as `file:line:column: message`.

use std::process::ExitCode;

use crate::command_line::CheckArgs;
use crate::environments::{faults, notices};
use crate::load;

/// Loads every environment and prints what is wrong with it.
#[expect(clippy::print_stdout, reason = "the report is what the command is for")]
pub(crate) fn check(arguments: &CheckArgs) -> anyhow::Result<ExitCode> {
    let code = arguments.code.settings()?.code_directory()?;
    let names = load::environment_names(&code);
    let (mut fault_count, mut notice_count) = (0, 0);
    let mut seen = std::collections::HashSet::new();
    for name in &names {
        let snapshot = load::load_environment(&code, name);
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
    let (environments, faults, notices) = (names.len(), fault_count, notice_count);
    eprintln!("{environments} environments, {faults} faults, {notices} notices");
    Ok(if fault_count == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
