//! `hierad lookup`: one lookup from the shell, with the flags and the output of `puppet lookup`.

mod request;

use std::future::ready;
use std::process::ExitCode;

use anyhow::bail;
use hiera_resolver::Explanation;
use hiera_resolver::{Answer, Node, Outcome};

use super::print;
use super::render::render;
use crate::backends::hiera_http::RemoteClient;
use crate::cli::arguments::{LookupArgs, RenderAs};
use crate::cli::disk_tree::DiskTree;
use crate::config::{RemoteSettings, is_environment_name};
use crate::data_loading::{self, NoEnvironments};
use crate::lookup::{LookupRequest, RemoteAnswers, with_remote_answers};

/// Looks up keys and prints what is found. The exit code says whether anything was found.
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
    let request = request::check(arguments)?;
    let tree = DiskTree::new(&code, &arguments.environment);
    let (answer, explanation) = run(&request, &tree, &settings.remote)?;
    let form = arguments.render_as;
    if let Some(explanation) = explanation {
        if let Err(error) = answer.outcome
            && !explanation.has_reason()
        {
            // As in Puppet: if the explanation does not end with the error, only the error is printed.
            eprintln!("hierad: {error}");
            return Ok(ExitCode::FAILURE);
        }
        print(&match form.unwrap_or(RenderAs::S) {
            RenderAs::S => explanation.to_string(),
            form => render(&explanation.to_value(), form)?,
        })?;
        // As in Puppet: an explanation is a success, whatever the outcome.
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

/// Runs the request, and again with a runtime if it needs other servers.
fn run(
    request: &LookupRequest<'_, Node>,
    tree: &DiskTree<'_>,
    settings: &RemoteSettings,
) -> anyhow::Result<(Answer, Option<Box<Explanation>>)> {
    let keys = request.keys.names();
    let needed = match request.first_found(&keys, tree) {
        Ok(result) => return Ok(result),
        Err(needed) => needed,
    };
    let client = RemoteClient::new(settings);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let run_again = |answers: RemoteAnswers| ready(request.first_found(&keys, &answers.on(tree)));
    Ok(runtime.block_on(with_remote_answers(needed, &client, run_again))?)
}
