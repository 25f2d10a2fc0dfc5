//! `data_hash: json_data`.

use super::{DataFunction, FileSource, FunctionKind, LegacyBackend, Source, refuse_options};
use crate::data::{Contents, FileFault, RawFile, Texts, json};

/// JSON files.
pub static JSON_DATA: DataFunction = DataFunction {
    name: "json_data",
    kinds: &[FunctionKind::DataHash],
    backend: Some(LegacyBackend {
        name: "json",
        extension: ".json",
        in_version_4: true,
    }),
    check_options: refuse_options,
    source: Source::Files(FileSource {
        format: "Json",
        key_options: &[],
        decode,
    }),
};

fn decode(file: &RawFile<'_>, texts: &mut Texts) -> Result<Contents, FileFault> {
    let root = json::parse(file.bytes, &mut |text| texts.value(text)).map_err(|error| {
        let position = (error.line, error.column);
        let message = Some(error.ruby_message.as_str());
        FileFault::unparsable(file.path, position, &error.problem, message)
    })?;
    Contents::of_root(file, root)
}
