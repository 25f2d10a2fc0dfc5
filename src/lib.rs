//! hierad: Hiera 5 as a service.
//!
//! [`command_line`] says what was asked for, [`config`] where the data lies; [`load`] reads it into
//! [`environments`], and [`http`] answers from there. [`serve`] holds these together while the server runs;
//! `commands` are what runs without one. How a lookup is answered is all in the crate `hiera_resolver`.

pub mod command_line;
mod commands;
pub mod config;
mod disk_tree;
pub mod environments;
pub mod http;
mod json;
pub mod load;
mod metrics;
mod serve;
mod telemetry;

use std::process::ExitCode;

use command_line::{Command, CommandLine};

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
        Command::Lookup(arguments) => commands::lookup(&arguments),
        Command::Check(arguments) => commands::check(&arguments),
    }
}
