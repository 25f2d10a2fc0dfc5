//! `hierad lookup`: one lookup from the shell, with the flags and the output of `puppet lookup`.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, bail};
use hiera_resolver::data::read_yaml;
use hiera_resolver::explain::Explanation;
use hiera_resolver::remote::RemoteRequest;
use hiera_resolver::scope::{Node, is_assignable};
use hiera_resolver::{
    Answer, Explain, Hash, LookupError, MergeStrategy, Outcome, Request, Type, Value, json,
};

use super::print;
use super::render::render;
use crate::backends::hiera_http::RemoteClient;
use crate::cli::arguments::{LookupArgs, RenderAs, Usage};
use crate::cli::disk_tree::DiskTree;
use crate::config::{RemoteSettings, is_environment_name};
use crate::data_loading::{self, NoEnvironments};

/// The key that stands for none where only the options are explained.
const NO_KEY: &str = "__global__";

/// Looks keys up and prints what is found. The exit code says whether something was.
pub(crate) fn lookup(arguments: &LookupArgs) -> anyhow::Result<ExitCode> {
    let settings = arguments.code.settings()?;
    let code = settings.code_directory()?;
    if !is_environment_name(&arguments.environment)
        || !code.environment(&arguments.environment).is_dir()
    {
        if data_loading::environment_names(&code)
            .unwrap_or_default()
            .is_empty()
        {
            bail!(NoEnvironments::in_directory(&code));
        }
        bail!(
            "there is no environment `{}` in `{}`",
            arguments.environment,
            code.root.display()
        );
    }
    let explain = match (arguments.explain, arguments.explain_options) {
        (true, _) => Some(Explain::Value),
        (false, true) => Some(Explain::Options),
        (false, false) => None,
    };
    let keys: Vec<&str> = match arguments.keys.as_slice() {
        [] if explain == Some(Explain::Options) => vec![NO_KEY],
        [] => return Err(Usage::error("no keys were given to look up")),
        keys => keys.iter().map(String::as_str).collect(),
    };
    let merge = merge_strategy(arguments)?;
    let value_type = arguments.value_type.as_deref().map(Type::parse).transpose();
    let value_type = value_type.map_err(|error| Usage::error(format!("--type: {error}")))?;
    let default = arguments.default.as_deref().map(Value::str);
    let scope = scope(arguments)?;
    let tree = DiskTree::new(&code, &arguments.environment);
    let request = Request {
        merge: merge.as_ref(),
        default: default.as_ref(),
        value_type: value_type.as_ref(),
        ..Request::new(&keys)
    };
    let (answer, explanation) = answer(&tree, &scope, &request, explain, &settings.remote)?;
    let form = arguments.render_as;
    if let Some(explanation) = explanation {
        if let Err(error) = answer.outcome
            && !explanation.tells_end()
        {
            // As Puppet: an error that the explanation does not tell of leaves nothing of it.
            eprintln!("hierad: {error}");
            return Ok(ExitCode::FAILURE);
        }
        print(&match form.unwrap_or(RenderAs::S) {
            RenderAs::S => explanation.to_string(),
            form => render(&explanation.to_value(), form)?,
        })?;
        // As Puppet: an explanation is an answer, whatever it tells.
        return Ok(ExitCode::SUCCESS);
    }
    match answer.outcome {
        Ok(Outcome::Found(value)) => {
            print(&render(&value, form.unwrap_or(RenderAs::Yaml))?)?;
            Ok(ExitCode::SUCCESS)
        }
        Ok(Outcome::NotFound) => Ok(ExitCode::FAILURE),
        Err(error) => {
            eprintln!("hierad: {error}");
            Ok(ExitCode::FAILURE)
        }
    }
}

/// Looks up, and again with every answer of another server that turns out to be needed.
fn answer(
    tree: &DiskTree<'_>,
    scope: &Node,
    request: &Request<'_>,
    explain: Option<Explain>,
    settings: &RemoteSettings,
) -> anyhow::Result<(Answer, Option<Explanation>)> {
    let mut remotes = None;
    loop {
        let (answer, explanation) = request.answer(tree, scope, explain);
        let Err(LookupError::NeedsRemote(needed)) = &answer.outcome else {
            return Ok((answer, explanation));
        };
        let (runtime, remotes) = match &remotes {
            Some(known) => known,
            None => {
                let runtime = tokio::runtime::Builder::new_current_thread()
                    .enable_all()
                    .build()?;
                remotes.insert((runtime, RemoteClient::new(settings)))
            }
        };
        tree.add_answer(
            RemoteRequest::clone(needed),
            runtime.block_on(remotes.answer(needed)),
        );
    }
}

fn merge_strategy(arguments: &LookupArgs) -> anyhow::Result<Option<MergeStrategy>> {
    let deep_options = arguments.sort_merged_arrays
        || arguments.merge_hash_arrays
        || arguments.knock_out_prefix.is_some();
    if deep_options && arguments.merge.as_deref() != Some("deep") {
        return Err(Usage::error(
            "the options --knock-out-prefix, --sort-merged-arrays, and --merge-hash-arrays are only available with '--merge deep'",
        ));
    }
    let Some(name) = &arguments.merge else {
        return Ok(None);
    };
    if !matches!(name.as_str(), "first" | "unique" | "hash" | "deep") {
        return Err(Usage::error(
            "the --merge option only accepts 'first', 'hash', 'unique', or 'deep'",
        ));
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

fn scope(arguments: &LookupArgs) -> anyhow::Result<Node> {
    let facts = match &arguments.facts {
        Some(path) => read_facts(path)?,
        None => Hash::new(),
    };
    let mut trusted = Hash::new();
    if let Some(node) = &arguments.node {
        trusted.insert("certname".into(), Value::str(node));
    }
    Ok(Node::new(&arguments.environment)
        .facts(facts)
        .trusted(trusted))
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
        Value::Hash(hash) => {
            let reserved = hash
                .iter()
                .filter_map(|(name, _)| name.as_str())
                .find(|name| !is_assignable(name));
            match reserved {
                Some(name) => {
                    bail!("a fact cannot be called `{name}`: Puppet keeps that name for itself")
                }
                None => Ok(Hash::clone(&hash)),
            }
        }
        _ => bail!("the facts in `{shown}` are not a hash"),
    }
}
