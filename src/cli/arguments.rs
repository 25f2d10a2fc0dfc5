//! The command line as clap parses it. Comments on arguments are shown by `--help`.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::config::CodeArgs;

/// Hiera 5 as a service: for this node, with these facts, what is the value of this key?
#[derive(Debug, Parser)]
#[command(version, about)]
pub struct CommandLine {
    /// The command
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve lookups over HTTP
    Serve(ServeArgs),
    /// Look up a key and print its value
    Lookup(LookupArgs),
    /// Report every fault in every environment
    Check(CheckArgs),
}

/// Arguments of `serve`.
#[derive(Args, Debug)]
pub struct ServeArgs {
    /// Where the data is
    #[command(flatten)]
    pub code: CodeArgs,
    /// Address to listen on [default: 127.0.0.1:8080]
    #[arg(long, value_name = "ADDR:PORT", env = "HIERAD_LISTEN")]
    pub listen: Option<String>,
}

/// Arguments of `check`.
#[derive(Args, Debug)]
pub struct CheckArgs {
    /// Control repository (a directory with a hiera.yaml) to check instead of the environments of the code directory
    #[arg(value_name = "PATH")]
    pub path: Option<PathBuf>,
    /// Where the data is
    #[command(flatten)]
    pub code: CodeArgs,
}

/// Arguments of `lookup`: the flags of `puppet lookup`.
#[derive(Args, Debug)]
pub struct LookupArgs {
    /// Keys to look up, in order; the first one found is the result
    #[arg(value_name = "KEY")]
    pub keys: Vec<String>,
    /// Where the data is
    #[command(flatten)]
    pub code: CodeArgs,
    /// Environment
    #[arg(long, default_value = "production")]
    pub environment: String,
    /// Name of the node
    #[arg(long, value_name = "NODE_NAME")]
    pub node: Option<String>,
    /// YAML or JSON file with the facts of the node
    #[arg(long, value_name = "FACT_FILE")]
    pub facts: Option<PathBuf>,
    /// Merge strategy: first, unique, hash or deep
    #[arg(long, value_name = "TYPE")]
    pub merge: Option<String>,
    /// With --merge deep: prefix that marks a value to remove
    #[arg(long, value_name = "PREFIX")]
    pub knock_out_prefix: Option<String>,
    /// With --merge deep: sort merged arrays
    #[arg(long)]
    pub sort_merged_arrays: bool,
    /// With --merge deep: merge hashes in arrays by index
    #[arg(long)]
    pub merge_hash_arrays: bool,
    /// Value to return if the key is not found
    #[arg(long, value_name = "VALUE")]
    pub default: Option<String>,
    /// Puppet type that the value must match
    #[arg(long = "type", value_name = "TYPE_STRING")]
    pub value_type: Option<String>,
    /// Output format [default: s for explanations, yaml for values]
    #[arg(long, value_name = "FORMAT")]
    pub render_as: Option<RenderAs>,
    /// Explain how the value was found
    #[arg(long)]
    pub explain: bool,
    /// Explain how the lookup_options were found
    #[arg(long)]
    pub explain_options: bool,
}

/// The output formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RenderAs {
    /// Text
    S,
    /// JSON
    Json,
    /// YAML
    Yaml,
}

/// An error in the command line: exit code 2.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Usage(String);

impl Usage {
    /// A usage error with this text.
    pub fn error(text: impl Into<String>) -> anyhow::Error {
        Usage(text.into()).into()
    }
}
