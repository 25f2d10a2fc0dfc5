//! The command line as clap reads it.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::config::CodeArgs;

/// Hiera 5 as a service: for this node, with these facts, what is the value of this key?
#[derive(Debug, Parser)]
#[command(version, about)]
pub struct CommandLine {
    /// What to do
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Answer lookups over HTTP
    Serve(ServeArgs),
    /// Look a key up and print its value
    Lookup(LookupArgs),
    /// Point at every mistake in every environment
    Check(CheckArgs),
}

/// Arguments of `serve`.
#[derive(Args, Debug)]
pub struct ServeArgs {
    /// Where the data lies
    #[command(flatten)]
    pub code: CodeArgs,
    /// The address to listen on [default: 127.0.0.1:8080]
    #[arg(long, value_name = "ADDR:PORT", env = "HIERAD_LISTEN")]
    pub listen: Option<String>,
}

/// Arguments of `check`.
#[derive(Args, Debug)]
pub struct CheckArgs {
    /// One control repository, a directory with a hiera.yaml, to check as an environment instead of those of the code
    /// directory
    #[arg(value_name = "PATH")]
    pub path: Option<PathBuf>,
    /// Where the data lies
    #[command(flatten)]
    pub code: CodeArgs,
}

/// Arguments of `lookup`: the flags of `puppet lookup`.
#[derive(Args, Debug)]
pub struct LookupArgs {
    /// The keys, of which the first found answers
    #[arg(value_name = "KEY")]
    pub keys: Vec<String>,
    /// Where the data lies
    #[command(flatten)]
    pub code: CodeArgs,
    /// The environment
    #[arg(long, default_value = "production")]
    pub environment: String,
    /// The node's name
    #[arg(long, value_name = "NODE_NAME")]
    pub node: Option<String>,
    /// The node's facts, a YAML or JSON file
    #[arg(long, value_name = "FACT_FILE")]
    pub facts: Option<PathBuf>,
    /// How to merge: first, unique, hash or deep
    #[arg(long, value_name = "TYPE")]
    pub merge: Option<String>,
    /// With --merge deep: what marks a value to be removed
    #[arg(long, value_name = "PREFIX")]
    pub knock_out_prefix: Option<String>,
    /// With --merge deep: sort merged arrays
    #[arg(long)]
    pub sort_merged_arrays: bool,
    /// With --merge deep: merge hashes in arrays by their place
    #[arg(long)]
    pub merge_hash_arrays: bool,
    /// The answer where nothing is found
    #[arg(long, value_name = "VALUE")]
    pub default: Option<String>,
    /// The Puppet type that the value must be of
    #[arg(long = "type", value_name = "TYPE_STRING")]
    pub value_type: Option<String>,
    /// The form of the output; text (s) for explanations, else yaml, unless given
    #[arg(long, value_name = "FORMAT")]
    pub render_as: Option<RenderAs>,
    /// Tell how the value was found
    #[arg(long)]
    pub explain: bool,
    /// Tell how the lookup_options were found
    #[arg(long)]
    pub explain_options: bool,
}

/// The forms of output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RenderAs {
    /// Text
    S,
    /// JSON
    Json,
    /// YAML
    Yaml,
}

/// A command line that makes no sense: exit code 2.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Usage(String);

impl Usage {
    /// Such an error.
    pub fn error(text: impl Into<String>) -> anyhow::Error {
        Usage(text.into()).into()
    }
}
