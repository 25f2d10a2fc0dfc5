//! `hierad check`: every fault in every environment, as `file:line:column: message`.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::process::ExitCode;

use anyhow::bail;

use super::print;
use crate::cli::arguments::CheckArgs;
use crate::config::CodeDirectory;
use crate::data_loading::progress::Progress;
use crate::data_loading::{self, Load, NoEnvironments};
use crate::environments::{faults, notices};

/// Loads every environment and prints its faults and notices, then a summary.
pub(crate) fn check(arguments: &CheckArgs) -> anyhow::Result<ExitCode> {
    let (code, names) = environments_to_check(arguments)?;
    let (mut fault_count, mut notice_count) = (0usize, 0usize);
    let progress = Progress::shown();
    let mut seen = HashSet::new();
    let (mut findings, mut summary) = (String::new(), String::new());
    for name in &names {
        let load = Load::from_scratch(&code, name, &progress);
        let snapshot = load.run().snapshot;
        for fault in faults(&snapshot) {
            // Faults that environments share are reported once.
            if seen.insert(fault.to_string()) {
                writeln!(findings, "{fault}")?;
                fault_count += 1;
            }
        }
        for notice in notices(&snapshot) {
            if seen.insert(notice.to_string()) {
                writeln!(findings, "{notice} (notice)")?;
                notice_count += 1;
            }
        }
        writeln!(
            summary,
            "environment {name}: revision {}, {}",
            snapshot.revision(),
            count(snapshot.files().count(), "file")
        )?;
    }
    // Removes the progress bar before anything is printed.
    drop(progress);
    print(&format!(
        "{findings}{summary}{}, {}, {}\n",
        count(names.len(), "environment"),
        count(fault_count, "fault"),
        count(notice_count, "notice")
    ))?;
    Ok(if fault_count == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// The code directory, and the names of its environments, at least one.
fn environments_to_check(arguments: &CheckArgs) -> anyhow::Result<(CodeDirectory, Vec<String>)> {
    if let Some(path) = &arguments.path {
        let settings = arguments.code.settings_for_repository()?;
        let (code, name) = settings.control_repository(path)?;
        return Ok((code, vec![name]));
    }
    let code = arguments.code.settings()?.code_directory()?;
    let names = data_loading::environment_names(&code).unwrap_or_default();
    if names.is_empty() {
        bail!(NoEnvironments::in_directory(&code));
    }
    Ok((code, names))
}

fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}
