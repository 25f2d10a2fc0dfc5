//! Questions asked by `hierad lookup`, as far as its flags can express them.

use recorded_cases::{Answer, Difference, Json, Puppet};

use crate::support::{Tree, printed};

/// The request as arguments of `hierad lookup`; `None` if they cannot express it.
pub(super) fn arguments(request: &Json, tree: &Tree) -> Option<Vec<String>> {
    let mut arguments = Vec::new();
    let mut keys = Vec::new();
    for (name, value) in request.members() {
        match (name.as_str(), value) {
            ("key", Json::Text(key)) => keys.push(key.clone()),
            ("key", Json::Array(names)) if !names.is_empty() => {
                for key in names {
                    keys.push(key.as_text()?.to_owned());
                }
            }
            ("node" | "environment" | "default", Json::Text(text)) => {
                arguments.push(format!("--{name}={text}"));
            }
            ("merge", Json::Text(text))
                if ["first", "unique", "hash", "deep"].contains(&text.as_str()) =>
            {
                arguments.push(format!("--merge={text}"));
            }
            ("facts", Json::Object(_)) => {
                tree.write("R/facts.json", value.to_string());
                arguments.push(format!("--facts={}", tree.path("R/facts.json").display()));
            }
            _ => return None,
        }
    }
    arguments.push("--".to_owned());
    arguments.extend(keys);
    Some(arguments)
}

/// Exit code, standard output and standard error of a lookup.
fn run(
    tree: &Tree,
    puppet: Puppet,
    flags: &[&str],
    arguments: &[String],
) -> (Option<i32>, String, String) {
    let mut process = tree.hierad("lookup");
    process.args(["--strict", puppet.strict()]).args(flags);
    let output = process.args(arguments).output().unwrap();
    let (stdout, stderr) = printed(&output);
    (output.status.code(), stdout, stderr)
}

/// The value, as JSON.
pub(super) fn value(
    tree: &Tree,
    puppet: Puppet,
    arguments: &[String],
) -> Result<Answer, Difference> {
    match run(tree, puppet, &["--render-as", "json"], arguments) {
        (Some(0), stdout, _) => match Json::parse(&stdout) {
            Ok(value) => Ok(Answer::Value(Some(value))),
            Err(error) => Err(Difference(format!("not JSON: {error}: {stdout}"))),
        },
        (Some(1), stdout, _) if stdout.is_empty() => Ok(Answer::Value(None)),
        (code, stdout, stderr) => Err(Difference(format!("exit code {code:?}: {stdout}{stderr}"))),
    }
}

/// The explanation, as text.
pub(super) fn explanation(
    tree: &Tree,
    puppet: Puppet,
    flag: &str,
    arguments: &[String],
) -> Result<Answer, Difference> {
    let text = match run(tree, puppet, &[flag, "--render-as", "s"], arguments) {
        (Some(0), stdout, _) if stdout.ends_with('\n') && !stdout.ends_with("\n\n") => Some(stdout),
        (Some(1), stdout, stderr) if stdout.is_empty() && !stderr.is_empty() => None,
        (code, stdout, stderr) => {
            return Err(Difference(format!("exit code {code:?}: {stdout}{stderr}")));
        }
    };
    Ok(Answer::Text {
        text,
        is_found: None,
    })
}
