//! `data_hash: yaml_data`.

use psych_yaml::Limits;

use super::{DataFunction, FileSource, FunctionKind, LegacyBackend, Source, refuse_options};
use crate::data::{Contents, FileFault, RawFile, Texts, ValueBuilder};

/// YAML files.
pub static YAML_DATA: DataFunction = DataFunction {
    name: "yaml_data",
    kinds: &[FunctionKind::DataHash],
    backend: Some(LegacyBackend {
        name: "yaml",
        extension: ".yaml",
        in_version_4: true,
    }),
    check_options: refuse_options,
    source: Source::Files(FileSource {
        format: "Yaml",
        key_options: &[],
        decode,
    }),
};

pub(super) fn decode(file: &RawFile<'_>, texts: &mut Texts) -> Result<Contents, FileFault> {
    let mut builder = ValueBuilder::new(texts, file.decrypt);
    let root = psych_yaml::read(file.bytes, &Limits::default(), &mut builder).map_err(|error| {
        FileFault::Unparsable {
            path: file.path.clone(),
            line: error.mark().line,
            column: error.mark().column,
            problem: error.problem().to_string(),
            puppet_text: Some(format!(
                "Unable to parse {}",
                error.puppet_message(file.path)
            )),
            quotes_file: false,
        }
    })?;
    let (notices, undecryptable) = builder.into_notices();
    Ok(Contents::of_yaml_root(file, root, notices, undecryptable))
}
