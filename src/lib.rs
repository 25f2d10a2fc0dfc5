//! hierad: Hiera 5 as a service.
//!
//! [`command_line`] says what was asked for, [`config`] where the data lies; [`load`] reads it into
//! [`environments`], again whenever `reload` sees it change, and [`http`] answers from there. `serve` holds these
//! together while the server runs; `commands` are what runs without one. How a lookup is answered is all in the
//! crate `hiera_resolver`.

pub mod command_line;
mod commands;
pub mod config;
mod disk_tree;
pub mod environments;
mod eyaml;
pub mod http;
pub mod json;
pub mod load;
mod metrics;
mod progress;
mod reload;
mod remote;
mod serve;
mod telemetry;

use std::process::ExitCode;

use command_line::{Command, CommandLine};

/// Nested lookups and deep values need more stack than threads usually get. It is only touched when used.
pub const STACK_SIZE: usize = 32 * 1024 * 1024;

/// Does what the command line asks for.
pub fn run(command_line: CommandLine) -> anyhow::Result<ExitCode> {
    match command_line.command {
        Command::Serve(arguments) => {
            let mut settings = arguments.code.settings()?;
            if let Some(listen) = arguments.listen {
                settings.listen = Some(listen);
            }
            telemetry::start(&settings)?;
            serve::run(&settings)?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Lookup(arguments) => with_stack(|| commands::lookup(&arguments)),
        Command::Check(arguments) => with_stack(|| commands::check(&arguments)),
    }
}

/// Runs a command where there is room for deep values.
fn with_stack<T: Send>(work: impl FnOnce() -> anyhow::Result<T> + Send) -> anyhow::Result<T> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .stack_size(STACK_SIZE)
            .spawn_scoped(scope, work)?;
        thread
            .join()
            .unwrap_or_else(|_| Err(anyhow::anyhow!("the command ended unexpectedly")))
    })
}
