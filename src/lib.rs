//! hierad: Hiera 5 as a service.
//!
//! The modules follow the flow. [`cli`] parses the arguments and runs a command, [`config`] has the checked settings.
//! [`data_loading`] turns a code directory into snapshots, `reload` repeats that whenever files change, and
//! [`environments`] maps each name to its current snapshot. `lookup` checks and runs a request, for [`http`] and for the
//! command line. `backends` ask other servers and decrypt, `metrics` counts, and `server` owns listener and connections.
//! How a lookup is answered is all in the crate `hiera_resolver`.

mod backends;
mod backoff;
pub mod cli;
mod compute;
pub mod config;
pub mod data_loading;
pub mod environments;
mod filesystem;
pub mod http;
pub mod json;
mod lookup;
mod metrics;
mod reload;
mod server;
mod timestamp;

use std::process::ExitCode;

use cli::{Command, CommandLine};

/// Nested lookups and deep values need more stack than threads have by default. Unused stack costs no memory.
pub const STACK_SIZE: usize = 32 * 1024 * 1024;

/// Runs the command of the command line.
pub fn run(command_line: CommandLine) -> anyhow::Result<ExitCode> {
    match command_line.command {
        Command::Serve(arguments) => {
            let mut settings = arguments.code.settings()?;
            if let Some(listen) = arguments.listen {
                settings.listen = Some(listen);
            }
            server::telemetry::start(&settings)?;
            server::run(&settings)?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Lookup(arguments) => with_stack(|| cli::lookup(&arguments)),
        Command::Check(arguments) => with_stack(|| cli::check(&arguments)),
    }
}

/// Runs a command on a thread with enough stack for deep values.
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
