//! `data_hash: hocon_data`.

use super::{DataFunction, FileSource, FunctionKind, LegacyBackend, Source, refuse_options};
use crate::data::{Contents, FileFault, RawFile, Texts, hocon};

/// HOCON files.
pub static HOCON_DATA: DataFunction = DataFunction {
    name: "hocon_data",
    kinds: &[FunctionKind::DataHash],
    backend: Some(LegacyBackend {
        name: "hocon",
        extension: ".conf",
        in_version_4: true,
    }),
    check_options: refuse_options,
    source: Source::Files(FileSource {
        format: "Hocon",
        key_options: &[],
        decode,
    }),
};

fn decode(file: &RawFile<'_>, texts: &mut Texts) -> Result<Contents, FileFault> {
    let root = hocon::parse(file.bytes, &mut |text| texts.value(text)).map_err(|error| {
        let position = (error.line, error.column);
        let message = error.ruby_message.as_deref();
        FileFault::unparsable(file.path, position, &error.problem, message)
    })?;
    Contents::of_root(file, root)
}
