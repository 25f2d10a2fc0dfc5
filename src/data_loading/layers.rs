//! The layers of an environment: its `hiera.yaml`, those of its modules, and the global one.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arcstr::ArcStr;
use hiera_resolver::hierarchy::ConfigFaults;
use hiera_resolver::{Fault, Layer, LayerKind, Value};

use super::environment_conf::EnvironmentConf;
use super::environment_names::subdirectories;
use super::read::{ReadError, read_file};
use crate::config::CodeDirectory;

/// The layers of an environment, as configured.
pub(super) struct Layers {
    pub(super) global: Arc<Layer>,
    pub(super) environment: Layer,
    pub(super) modules: Vec<(ArcStr, Layer)>,
    /// The contents of the configuration files.
    pub(super) files: ConfigFiles,
    /// The directories that were searched for them.
    pub(super) directories: Vec<PathBuf>,
    /// The directories of the modules.
    pub(super) module_roots: Vec<PathBuf>,
    /// Directories that may contain modules and cannot be listed.
    pub(super) faults: Vec<Fault>,
    /// The layer of every other module name, if there may be more modules than could be listed.
    pub(super) unlisted_module: Option<Layer>,
}

impl Layers {
    /// All layers, from the global one down.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Layer> {
        [&*self.global, &self.environment]
            .into_iter()
            .chain(self.modules.iter().map(|(_, layer)| layer))
    }
}

/// The configuration files that were read.
#[derive(Debug, Default)]
pub(crate) struct ConfigFiles {
    /// Their contents.
    pub(super) texts: Vec<(PathBuf, Vec<u8>)>,
    /// The system failed to read one that may exist.
    pub(super) has_unread: bool,
}

impl ConfigFiles {
    /// Reads a file, without adding it to the texts.
    pub(super) fn read(&mut self, path: &Path, code: &CodeDirectory) -> Result<Vec<u8>, ReadError> {
        let bytes = read_file(path, code.max_file_size);
        let failed = |reason: &ReadError| reason.is_temporary() && !reason.is_absence();
        self.has_unread |= bytes.as_ref().is_err_and(failed);
        bytes
    }
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
        let mut names = subdirectories(directory).unwrap_or_else(|fault| {
            faults.push(fault);
            Vec::new()
        });
        names.sort();
        for module in names.iter().filter(|name| is_module_name(name)) {
            if !modules.iter().any(|(name, _)| name == module) {
                let root = directory.join(module);
                // An earlier directory that cannot be listed may contain a module of the same name, which would win.
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

/// The layer of a module that may be in a directory that cannot be listed.
fn unlisted_module(faults: &[Fault]) -> Option<Layer> {
    let fault = faults.first()?;
    Some(Layer::unreadable(&fault.path, &fault.problem))
}

/// The global layer.
pub(crate) fn global_layer(code: &CodeDirectory, files: &mut ConfigFiles) -> Layer {
    match &code.hiera_config {
        // It existed when the server started, so its absence is a fault.
        Some(path) => configured(code, &LayerKind::Global, path, files).unwrap_or_else(|| {
            Layer::unreadable(&path.to_string_lossy(), &"there is no such file")
        }),
        None => Layer::Absent,
    }
}

/// The layer of the environment in a directory.
pub(crate) fn environment_layer(
    code: &CodeDirectory,
    root: &Path,
    conf: &EnvironmentConf,
    files: &mut ConfigFiles,
) -> Layer {
    if let Some(error) = &conf.error {
        return Layer::Faulty(ConfigFaults::new(vec![error.clone()]));
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

/// Applies a data provider, Puppet's older way to configure data. A `hiera.yaml` of version 5 overrides it.
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

/// Is the configuration of a layer of version 5, valid or not?
fn overrides_provider(layer: Option<&Layer>) -> bool {
    match layer {
        Some(Layer::Configured(config)) => config.version() >= 5,
        Some(Layer::Faulty(_)) => true,
        _ => false,
    }
}

/// A layer with its configuration; `None` if there is no such file.
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

/// The data provider that a module's `metadata.json` names.
fn data_provider_of(metadata: &[u8]) -> Option<String> {
    // Most files do not have it and need not be parsed.
    metadata
        .windows(13)
        .any(|window| window == b"data_provider")
        .then_some(())?;
    let parsed = hiera_resolver::data::json::parse(metadata, &mut |text| Value::str(text)).ok()?;
    parsed
        .as_hash()?
        .get("data_provider")?
        .as_str()
        .map(ToOwned::to_owned)
}

/// May a directory of this name be a module?
pub(crate) fn is_module_name(name: &str) -> bool {
    name.starts_with(|letter: char| letter.is_ascii_lowercase())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
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
}
