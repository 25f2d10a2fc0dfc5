//! `lookup_key: eyaml_lookup_key`: YAML files with encrypted values.
//!
//! The keys are read and used by the caller; see [`KeyStore`](crate::data::KeyStore) and
//! [`DataFile::decode_encrypted`](crate::DataFile::decode_encrypted).

use super::{
    DataFunction, FileSource, FunctionKind, LegacyBackend, Source, accept_options, yaml_data,
};

/// YAML files with encrypted values.
pub static EYAML_LOOKUP_KEY: DataFunction = DataFunction {
    name: "eyaml_lookup_key",
    kinds: &[FunctionKind::LookupKey],
    backend: Some(LegacyBackend {
        name: "eyaml",
        extension: ".eyaml",
        in_version_4: false,
    }),
    check_options: accept_options,
    source: Source::Files(FileSource {
        format: "Eyaml",
        key_options: &KEY_OPTIONS,
        decode: yaml_data::decode,
    }),
};

/// The options that name the keys of a level.
pub const KEY_OPTIONS: [&str; 4] = [
    "pkcs7_private_key",
    "pkcs7_public_key",
    "pkcs7_private_key_env_var",
    "pkcs7_public_key_env_var",
];
