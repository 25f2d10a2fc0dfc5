//! `hierad lookup`: one lookup from the shell, with the flags and the output of `puppet lookup`.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, bail};
use hiera_resolver::data::read_yaml;
use hiera_resolver::scope::Variables;
use hiera_resolver::{Explain, Hash, MergeStrategy, Outcome, Request, Session, Type, Value, json};

use super::render::render;
use crate::command_line::{LookupArgs, RenderAs};
use crate::disk_tree::DiskTree;
use crate::load::is_environment_name;

/// The key that stands for none where only the options are explained.
const NO_KEY: &str = "__global__";

/// Looks keys up and prints what is found. The exit code says whether something was.
pub(crate) fn lookup(arguments: &LookupArgs) -> anyhow::Result<ExitCode> {
    let code = arguments.code.settings()?.code_directory()?;
    if !is_environment_name(&arguments.environment)
        || !code.environment(&arguments.environment).is_dir()
    {
        bail!(
            "there is no environment `{}` in `{}`",
            arguments.environment,
            code.root.display()
        );
    }
    let explain = match (arguments.explain, arguments.explain_options) {
        (true, _) => Explain::Value,
        (false, true) => Explain::Options,
        (false, false) => Explain::Nothing,
    };
    let keys: Vec<&str> = match arguments.keys.as_slice() {
        [] if explain == Explain::Options => vec![NO_KEY],
        [] => bail!("no keys were given to look up"),
        keys => keys.iter().map(String::as_str).collect(),
    };
    let merge = merge_strategy(arguments)?;
    let value_type = arguments
        .value_type
        .as_deref()
        .map(Type::parse)
        .transpose()
        .context("--type")?;
    let default = arguments.default.as_deref().map(Value::str);
    let scope = scope(arguments)?;
    let tree = DiskTree::new(&code, &arguments.environment);
    let request = Request {
        merge: merge.as_ref(),
        default: default.as_ref(),
        value_type: value_type.as_ref(),
        explain,
        ..Request::new(&keys)
    };
    let answer = Session::new(&tree, &scope, explain != Explain::Nothing).lookup(&request);
    let form = arguments.render_as;
    if let Some(explanation) = answer.explanation {
        let is_told = explanation.tells_end();
        print(&match form.unwrap_or(RenderAs::S) {
            RenderAs::S => format!("{explanation}\n"),
            form => render(&explanation.to_value(), form)?,
        });
        if let Err(error) = answer.outcome
            && !is_told
        {
            eprintln!("hierad: {error}");
        }
        // As Puppet: an explanation is an answer, whatever it tells.
        return Ok(ExitCode::SUCCESS);
    }
    match answer.outcome {
        Ok(Outcome::Found(value)) => {
            print(&render(&value, form.unwrap_or(RenderAs::Yaml))?);
            Ok(ExitCode::SUCCESS)
        }
        Ok(Outcome::NotFound) => Ok(ExitCode::FAILURE),
        Err(error) => {
            eprintln!("hierad: {error}");
            Ok(ExitCode::FAILURE)
        }
    }
}

#[expect(clippy::print_stdout, reason = "the value is what the command is for")]
fn print(text: &str) {
    print!("{text}");
}

fn merge_strategy(arguments: &LookupArgs) -> anyhow::Result<Option<MergeStrategy>> {
    let deep_options = arguments.sort_merged_arrays
        || arguments.merge_hash_arrays
        || arguments.knock_out_prefix.is_some();
    if deep_options && arguments.merge.as_deref() != Some("deep") {
        bail!(
            "the options --knock-out-prefix, --sort-merged-arrays, and --merge-hash-arrays are only available with '--merge deep'"
        );
    }
    let Some(name) = &arguments.merge else {
        return Ok(None);
    };
    if !matches!(name.as_str(), "first" | "unique" | "hash" | "deep") {
        bail!("the --merge option only accepts 'first', 'hash', 'unique', or 'deep'");
    }
    let mut options = Hash::new();
    options.insert("strategy".into(), Value::str(name));
    if name == "deep" {
        options.insert(
            "sort_merged_arrays".into(),
            Value::Bool(arguments.sort_merged_arrays),
        );
        options.insert(
            "merge_hash_arrays".into(),
            Value::Bool(arguments.merge_hash_arrays),
        );
        if let Some(prefix) = &arguments.knock_out_prefix {
            options.insert("knockout_prefix".into(), Value::str(prefix));
        }
    }
    Ok(Some(MergeStrategy::parse(&Value::hash(options))?))
}

fn scope(arguments: &LookupArgs) -> anyhow::Result<Variables> {
    let facts = match &arguments.facts {
        Some(path) => read_facts(path)?,
        None => Hash::new(),
    };
    let mut trusted = Hash::new();
    if let Some(node) = &arguments.node {
        trusted.insert("certname".into(), Value::str(node));
    }
    Ok(Variables::new(
        &arguments.environment,
        facts,
        trusted,
        Hash::new(),
    ))
}

/// Facts from a file, JSON or YAML by its name, else whichever it can be read as.
fn read_facts(path: &Path) -> anyhow::Result<Hash> {
    let shown = path.display();
    let bytes =
        std::fs::read(path).with_context(|| format!("cannot read the facts in `{shown}`"))?;
    let as_json = || {
        json::parse(&bytes, &mut |text| Value::str(text)).with_context(|| format!("in `{shown}`"))
    };
    let as_yaml = || {
        let value =
            read_yaml(&bytes, &mut Default::default()).with_context(|| format!("in `{shown}`"))?;
        Ok::<_, anyhow::Error>(value.unwrap_or_default())
    };
    let extension = path.extension().and_then(|extension| extension.to_str());
    let facts = match extension {
        Some("json") => as_json()?,
        Some("yaml" | "yml") => as_yaml()?,
        _ => as_json().or_else(|_| as_yaml())?,
    };
    match crate::http::plain_facts(facts) {
        Value::Hash(hash) => Ok(Hash::clone(&hash)),
        _ => bail!("the facts in `{shown}` are not a hash"),
    }
}
