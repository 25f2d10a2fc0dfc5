//! [`EnvironmentConf`]: what `environment.conf` says about modules and data.

use std::path::PathBuf;

use hiera_resolver::Fault;
use hiera_resolver::hierarchy::ConfigFault;

use super::ConfigFiles;
use super::module_path::module_directories;
use crate::config::CodeDirectory;

/// The settings of `environment.conf`. Nothing in it is ever executed (`config_version`).
pub(crate) struct EnvironmentConf {
    /// The directories of modules, in order.
    pub(crate) modulepath: Vec<PathBuf>,
    pub(crate) data_provider: Option<String>,
    /// The first invalid line, or why the file cannot be read: Puppet then rejects the environment.
    pub(super) error: Option<ConfigFault>,
    /// Directories that may contain modules and cannot be listed.
    pub(super) faults: Vec<Fault>,
}

impl EnvironmentConf {
    /// Reads the file. The default module path is the environment's own modules, then those of the code directory.
    pub(crate) fn read(code: &CodeDirectory, name: &str, files: &mut ConfigFiles) -> Self {
        let root = code.environment(name);
        let modulepath = vec![root.join("modules"), code.root.join("modules")];
        let mut conf = EnvironmentConf {
            modulepath,
            data_provider: None,
            error: None,
            faults: Vec::new(),
        };
        let path = root.join("environment.conf");
        let error = |line, problem| ConfigFault {
            path: path.to_string_lossy().into(),
            line,
            column: 1,
            problem,
        };
        let bytes = match files.read(&path, code) {
            Ok(bytes) => bytes,
            Err(reason) => {
                if !reason.is_absence() {
                    conf.error = Some(error(1, format!("cannot be read: {reason}")));
                }
                return conf;
            }
        };
        let text = String::from_utf8_lossy(&bytes).into_owned();
        match parse_settings(&text) {
            Ok(settings) => {
                for (setting, value) in settings {
                    match setting {
                        "modulepath" => match module_directories(code, name, value) {
                            Ok(found) => (conf.modulepath, conf.faults) = found,
                            Err(glob_error) => {
                                let problem = format!("`modulepath`: {glob_error}");
                                conf.error = Some(error(1, problem));
                            }
                        },
                        "environment_data_provider" => conf.data_provider = Some(value.to_owned()),
                        _ => {}
                    }
                }
            }
            Err((line, text)) => {
                let problem =
                    format!("this is neither a setting, a section nor a comment: `{text}`");
                conf.error = Some(error(line, problem));
            }
        }
        files.texts.push((path, bytes));
        conf
    }
}

/// The settings of the section `main`, which is also the one without a heading; or the first invalid line.
fn parse_settings(text: &str) -> Result<Vec<(&str, &str)>, (u32, &str)> {
    let mut settings: Vec<(&str, &str)> = Vec::new();
    let mut is_main = true;
    for (line, number) in text.lines().map(str::trim).zip(1u32..) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(section) = line
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'))
        {
            is_main = section == "main";
            continue;
        }
        let is_word = |name: &str| {
            !name.is_empty()
                && name
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        };
        let Some((name, value)) = line
            .split_once('=')
            .filter(|(name, _)| is_word(name.trim()))
        else {
            return Err((number, line));
        };
        // The first of several wins, as in Puppet.
        if is_main && !settings.iter().any(|(setting, _)| *setting == name.trim()) {
            settings.push((name.trim(), unquoted(value.trim())));
        }
    }
    Ok(settings)
}

/// A value without the quotes at its ends, which need not match.
fn unquoted(value: &str) -> &str {
    let value = value.strip_prefix(['"', '\'']).unwrap_or(value);
    value.strip_suffix(['"', '\'']).unwrap_or(value).trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_from_the_main_section() {
        let text = "# a comment\nmodulepath = a:b\n\n[other]\nmodulepath = c\n[main]\nconfig_version = x\n";
        assert_eq!(
            parse_settings(text),
            Ok(vec![("modulepath", "a:b"), ("config_version", "x")])
        );
        assert_eq!(
            parse_settings("modulepath = \"a:b\""),
            Ok(vec![("modulepath", "a:b")])
        );
        assert_eq!(parse_settings("\n; no comment"), Err((2, "; no comment")));
    }
}
