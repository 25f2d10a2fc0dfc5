//! The layers of an environment: its `hiera.yaml`, those of its modules, and `environment.conf`.

use std::fs::DirEntry;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arcstr::ArcStr;
use hiera_resolver::config::{ConfigFault, ConfigFaults};
use hiera_resolver::glob::{self, GlobError};
use hiera_resolver::{Layer, LayerKind, Value};

use super::Fault;
use super::read::ReadError;
use super::{Layers, Listings, read_file};
use crate::config::{CodeDirectory, is_environment_name};
use crate::filesystem::{is_absence, is_directory};

/// May a directory of this name be a module?
pub(crate) fn is_module_name(name: &str) -> bool {
    name.starts_with(|letter: char| letter.is_ascii_lowercase())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

/// The configurations that were looked for.
#[derive(Debug, Default)]
pub(crate) struct ConfigFiles {
    /// What they hold.
    pub(super) texts: Vec<(PathBuf, Vec<u8>)>,
    /// The system failed to read one that may be there.
    pub(super) has_unread: bool,
}

impl ConfigFiles {
    fn read(&mut self, path: &Path, code: &CodeDirectory) -> Result<Vec<u8>, ReadError> {
        let bytes = read_file(path, code.max_file_size);
        let failed = |reason: &ReadError| reason.is_passing() && !reason.is_absence();
        self.has_unread |= bytes.as_ref().is_err_and(failed);
        bytes
    }
}

/// The environments of a code directory, sorted; none where there is no directory with environments.
pub(crate) fn environment_names(code: &CodeDirectory) -> Result<Vec<String>, Fault> {
    let directory = code.environments();
    let mut names = directories_in(&directory).map_err(|fault| Fault {
        problem: format!("cannot be read: {}", fault.problem),
        ..fault
    })?;
    names.retain(|name| is_environment_name(name));
    names.sort();
    Ok(names)
}

/// Reads all configurations of an environment.
pub(super) fn read_layers(code: &CodeDirectory, name: &str) -> Layers {
    let mut files = ConfigFiles::default();
    let root = code.environment(name);
    let conf = EnvironmentConf::read(code, name, &mut files);
    let global = Arc::new(global_layer(code, &mut files));
    let environment = environment_layer(code, &root, &conf, &mut files);
    let mut modules: Vec<(ArcStr, Layer)> = Vec::new();
    let mut module_roots = Vec::new();
    let mut faults = conf.faults;
    let mut directories = vec![root];
    directories.extend(
        conf.modulepath
            .iter()
            .flat_map(|path| path.ancestors().find(|path| path.is_dir()))
            .map(Path::to_path_buf),
    );
    directories.extend(
        code.hiera_config
            .as_deref()
            .and_then(Path::parent)
            .map(Path::to_path_buf),
    );
    for directory in &conf.modulepath {
        let mut names = directories_in(directory).unwrap_or_else(|fault| {
            faults.push(fault);
            Vec::new()
        });
        names.sort();
        for module in names.iter().filter(|name| is_module_name(name)) {
            if !modules.iter().any(|(known, _)| known == module) {
                let root = directory.join(module);
                // A directory before this one may have a module of the same name, which would count instead.
                let layer = unlisted_module(&faults)
                    .unwrap_or_else(|| module_layer(code, &root, module, &mut files));
                modules.push((module.into(), layer));
                module_roots.push(root);
            }
        }
    }
    directories.extend(module_roots.iter().cloned());
    Layers {
        global,
        environment,
        modules,
        files,
        directories,
        module_roots,
        unlisted_module: unlisted_module(&faults),
        faults,
    }
}

/// The layer of a module that may lie in a directory which cannot be listed.
fn unlisted_module(faults: &[Fault]) -> Option<Layer> {
    let fault = faults.first()?;
    Some(Layer::unreadable(&fault.path, &fault.problem))
}

/// The global layer.
pub(crate) fn global_layer(code: &CodeDirectory, files: &mut ConfigFiles) -> Layer {
    match &code.hiera_config {
        // It was there when the server started, and is wanted.
        Some(path) => configured(code, &LayerKind::Global, path, files).unwrap_or_else(|| {
            Layer::unreadable(&path.to_string_lossy(), &"there is no such file")
        }),
        None => Layer::Absent,
    }
}

pub(crate) fn environment_layer(
    code: &CodeDirectory,
    root: &Path,
    conf: &EnvironmentConf,
    files: &mut ConfigFiles,
) -> Layer {
    if let Some(refusal) = &conf.refusal {
        return Layer::Faulty(ConfigFaults::new(vec![refusal.clone()]));
    }
    let layer = configured(
        code,
        &LayerKind::Environment,
        &root.join("hiera.yaml"),
        files,
    );
    with_provider(
        layer,
        conf.data_provider.as_deref(),
        LayerKind::Environment,
        root,
        "environment::data",
    )
}

/// The layer of the module in a directory.
pub(crate) fn module_layer(
    code: &CodeDirectory,
    root: &Path,
    name: &str,
    files: &mut ConfigFiles,
) -> Layer {
    let kind = LayerKind::Module(name.into());
    let layer = configured(code, &kind, &root.join("hiera.yaml"), files);
    let metadata = root.join("metadata.json");
    let provider = match files.read(&metadata, code) {
        Ok(bytes) => {
            let provider = data_provider_of(&bytes);
            if provider.is_some() {
                files.texts.push((metadata, bytes));
            }
            provider
        }
        Err(reason) if reason.is_absence() || overrides_provider(layer.as_ref()) => None,
        Err(reason) => return Layer::unreadable(&metadata.to_string_lossy(), &reason),
    };
    with_provider(
        layer,
        provider.as_deref(),
        kind,
        root,
        &format!("{name}::data"),
    )
}

/// Puppet's older way to say where data comes from, which a `hiera.yaml` of version 5 overrides.
fn with_provider(
    layer: Option<Layer>,
    provider: Option<&str>,
    kind: LayerKind,
    root: &Path,
    function: &str,
) -> Layer {
    match (provider, layer) {
        (_, Some(layer)) if overrides_provider(Some(&layer)) => layer,
        (None, layer) => layer.unwrap_or(Layer::Absent),
        (Some("none"), _) => Layer::Absent,
        (Some("hiera"), Some(layer @ Layer::Configured(_))) => layer,
        (Some("hiera"), _) => Layer::built_in(kind, &root.to_string_lossy()),
        (Some("function"), _) => Layer::of_function(kind, function),
        (Some(other), _) => Layer::unreadable(
            &root.join("hiera.yaml").to_string_lossy(),
            &format_args!("there is no data provider `{other}`"),
        ),
    }
}

/// Is the configuration of a layer one of version 5, good or not?
fn overrides_provider(layer: Option<&Layer>) -> bool {
    match layer {
        Some(Layer::Configured(config)) => config.version() >= 5,
        Some(Layer::Faulty(_)) => true,
        _ => false,
    }
}

/// A layer whose configuration is there; `None` where it is not.
fn configured(
    code: &CodeDirectory,
    kind: &LayerKind,
    path: &Path,
    files: &mut ConfigFiles,
) -> Option<Layer> {
    let shown = path.to_string_lossy();
    Some(match files.read(path, code) {
        Ok(bytes) => {
            let codedir = code.root.to_string_lossy();
            let layer = Layer::parse(kind.clone(), &shown, &codedir, &bytes);
            files.texts.push((path.to_owned(), bytes));
            layer.held_to(kind, code.strictness)
        }
        Err(reason) if reason.is_absence() => return None,
        Err(reason) => Layer::unreadable(&shown, &reason),
    })
}

fn data_provider_of(metadata: &[u8]) -> Option<String> {
    // Most files do not have it; those need not be taken apart.
    metadata
        .windows(13)
        .any(|window| window == b"data_provider")
        .then_some(())?;
    let parsed = hiera_resolver::json::parse(metadata, &mut |text| Value::str(text)).ok()?;
    parsed
        .as_hash()?
        .get("data_provider")?
        .as_str()
        .map(ToOwned::to_owned)
}

/// What `environment.conf` says. Nothing in it is ever run (`config_version`).
pub(crate) struct EnvironmentConf {
    /// The directories with modules, in order.
    pub(crate) modulepath: Vec<PathBuf>,
    pub(crate) data_provider: Option<String>,
    /// The first line that makes no sense, or why it cannot be read: Puppet then refuses the environment.
    refusal: Option<ConfigFault>,
    /// The directories that could hold directories with modules but cannot be listed.
    faults: Vec<Fault>,
}

impl EnvironmentConf {
    /// Reads it; an environment without one has its own modules and those of the code directory.
    pub(crate) fn read(code: &CodeDirectory, name: &str, files: &mut ConfigFiles) -> Self {
        let root = code.environment(name);
        let modulepath = vec![root.join("modules"), code.root.join("modules")];
        let mut conf = EnvironmentConf {
            modulepath,
            data_provider: None,
            refusal: None,
            faults: Vec::new(),
        };
        let path = root.join("environment.conf");
        let refusal = |line, problem| ConfigFault {
            path: path.to_string_lossy().into(),
            line,
            column: 1,
            problem,
        };
        let bytes = match files.read(&path, code) {
            Ok(bytes) => bytes,
            Err(reason) => {
                if !reason.is_absence() {
                    conf.refusal = Some(refusal(1, format!("cannot be read: {reason}")));
                }
                return conf;
            }
        };
        let text = String::from_utf8_lossy(&bytes).into_owned();
        match settings_of(&text) {
            Ok(settings) => {
                for (setting, value) in settings {
                    match setting {
                        "modulepath" => match module_directories(code, name, value) {
                            Ok(found) => (conf.modulepath, conf.faults) = found,
                            Err(error) => {
                                let problem = format!("`modulepath`: {error}");
                                conf.refusal = Some(refusal(1, problem));
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
                conf.refusal = Some(refusal(line, problem));
            }
        }
        files.texts.push((path, bytes));
        conf
    }
}

/// The settings of the section `main`, which is also the one without a heading; or the first line that is none.
fn settings_of(text: &str) -> Result<Vec<(&str, &str)>, (u32, &str)> {
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
        // The first of several counts, as in Puppet.
        if is_main && !settings.iter().any(|(known, _)| *known == name.trim()) {
            settings.push((name.trim(), unquoted(value.trim())));
        }
    }
    Ok(settings)
}

/// A value without a quote at either end; they need not match.
fn unquoted(value: &str) -> &str {
    let value = value.strip_prefix(['"', '\'']).unwrap_or(value);
    value.strip_suffix(['"', '\'']).unwrap_or(value).trim_end()
}

/// The directories that a module path names, and those it goes through that cannot be listed.
fn module_directories(
    code: &CodeDirectory,
    environment: &str,
    value: &str,
) -> Result<(Vec<PathBuf>, Vec<Fault>), GlobError> {
    let root = code.environment(environment);
    let mut directories = Vec::new();
    let listings = Listings::default();
    for element in value.split(':').filter(|element| !element.is_empty()) {
        let filled = fill_settings(element, code, environment);
        let joined = hiera_resolver::path::join(&root.to_string_lossy(), &filled);
        let path = hiera_resolver::path::normalize(&joined).into_owned();
        if path.contains(['*', '?', '[', '{']) {
            directories.extend(expand_directories(&path, &listings)?);
        } else {
            directories.push(PathBuf::from(path));
        }
    }
    Ok((directories, listings.faults()))
}

/// `modulepath = site-*` names directories: the parents of whatever lies in them.
fn expand_directories(pattern: &str, listings: &Listings) -> Result<Vec<PathBuf>, GlobError> {
    let found = glob::expand(&format!("{pattern}/*/"), listings)?;
    let files = glob::expand(&format!("{pattern}/*/*"), listings)?;
    let mut directories: Vec<PathBuf> = Vec::new();
    let parents = found.iter().filter_map(|path| Path::new(path).parent());
    let grandparents = files
        .iter()
        .filter_map(|path| Path::new(path).parent()?.parent());
    for directory in parents.chain(grandparents) {
        if !directories.iter().any(|known| known == directory) {
            directories.push(directory.to_owned());
        }
    }
    Ok(directories)
}

/// Fills in the settings of Puppet that a path may name.
fn fill_settings(text: &str, code: &CodeDirectory, environment: &str) -> String {
    let root = code.root.to_string_lossy();
    let base = format!("{root}/modules");
    let mut filled = text.to_owned();
    for (name, value) in [
        ("basemodulepath", base.as_str()),
        ("codedir", root.as_ref()),
        ("environment", environment),
        ("environmentpath", ""),
    ] {
        let value = if name == "environmentpath" {
            format!("{root}/environments")
        } else {
            value.to_owned()
        };
        filled = filled.replace(&format!("${{{name}}}"), &value);
        filled = replace_word(&filled, &format!("${name}"), &value);
    }
    filled
}

/// Replaces a name where it does not go on.
fn replace_word(text: &str, name: &str, value: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once(name) {
        out.push_str(before);
        let goes_on =
            behind.starts_with(|letter: char| letter.is_ascii_alphanumeric() || letter == '_');
        out.push_str(if goes_on { name } else { value });
        rest = behind;
    }
    out + rest
}

/// The directories in a directory, links to such included, and what may be one but cannot be looked at: what lies in
/// it then says why.
fn directories_in(directory: &Path) -> Result<Vec<String>, Fault> {
    let mut names = Vec::new();
    let listed = read_directory(directory, |entry| {
        if is_directory(&entry.path()).unwrap_or(true) {
            names.extend(entry.file_name().into_string());
        }
    });
    match listed {
        Err(error) if !is_absence(&error) => {
            Err(Fault::at_path(&directory.to_string_lossy(), &error))
        }
        _ => Ok(names),
    }
}

fn read_directory(directory: &Path, mut visit: impl FnMut(DirEntry)) -> io::Result<()> {
    for entry in std::fs::read_dir(directory)? {
        visit(entry?);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn module_names_are_those_that_puppet_accepts() {
        for (name, expected) in [
            ("ntp", true),
            ("ntp2", true),
            ("Ntp", false),
            ("2ntp", false),
            ("a-b", false),
        ] {
            assert_eq!(is_module_name(name), expected, "{name}");
        }
    }

    #[test]
    fn settings_are_read_from_the_main_section() {
        let text = "# a comment\nmodulepath = a:b\n\n[other]\nmodulepath = c\n[main]\nconfig_version = x\n";
        assert_eq!(
            settings_of(text),
            Ok(vec![("modulepath", "a:b"), ("config_version", "x")])
        );
        assert_eq!(
            settings_of("modulepath = \"a:b\""),
            Ok(vec![("modulepath", "a:b")])
        );
        assert_eq!(settings_of("\n; no comment"), Err((2, "; no comment")));
    }

    #[test]
    fn a_module_path_is_relative_to_its_environment() {
        let code = CodeDirectory::for_tests("/code");
        let expected: Vec<PathBuf> = [
            "/code/environments/p/site",
            "/abs",
            "/code/modules",
            "/code/x/p",
        ]
        .map(PathBuf::from)
        .into();
        assert_eq!(
            module_directories(
                &code,
                "p",
                "site:/abs:$basemodulepath:$codedir/x/$environment"
            ),
            Ok((expected, Vec::new()))
        );
    }
}
