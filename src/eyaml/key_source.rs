//! Options of a level → where its keys come from.

use std::path::Path;

use hiera_resolver::{Hash, Value};

use super::KeysError;

/// Where the two keys of a level come from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct KeySource {
    pub(super) private: Place,
    pub(super) public: Place,
}

/// A key in an environment variable, which wins where it is set, or in a file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Place {
    pub(super) variable: Option<String>,
    pub(super) file: Option<String>,
}

/// Reads a file, or says why not.
type ReadFile<'a> = dyn FnMut(&Path) -> Result<Vec<u8>, String> + 'a;

/// The value of an environment variable.
type Variable<'a> = dyn Fn(&str) -> Option<Vec<u8>> + 'a;

impl KeySource {
    /// Reads the options of a level.
    pub(crate) fn from_options(options: &Hash) -> Result<KeySource, KeysError> {
        let place = |file: &'static str, variable: &'static str| {
            let place = Place {
                variable: text(options, variable)?,
                file: text(options, file)?,
            };
            match place {
                Place {
                    variable: None,
                    file: None,
                } => Err(KeysError::Missing(file)),
                place => Ok(place),
            }
        };
        Ok(KeySource {
            public: place("pkcs7_public_key", "pkcs7_public_key_env_var")?,
            private: place("pkcs7_private_key", "pkcs7_private_key_env_var")?,
        })
    }

    /// The PEM texts of the private and the public key.
    pub(super) fn read(
        &self,
        read_file: &mut ReadFile<'_>,
        variable: &Variable<'_>,
    ) -> Result<(Vec<u8>, Vec<u8>), KeysError> {
        Ok((
            self.private.read(read_file, variable)?,
            self.public.read(read_file, variable)?,
        ))
    }
}

impl Place {
    fn read(
        &self,
        read_file: &mut ReadFile<'_>,
        variable: &Variable<'_>,
    ) -> Result<Vec<u8>, KeysError> {
        if let Some(text) = self.variable.as_deref().and_then(variable) {
            return Ok(text);
        }
        let Some(path) = &self.file else {
            let name = self.variable.clone().unwrap_or_default();
            return Err(KeysError::Variable(name));
        };
        read_file(Path::new(path)).map_err(|cause| KeysError::File {
            path: path.clone(),
            cause,
        })
    }
}

/// The text of an option. Null and false are as good as none.
fn text(options: &Hash, option: &'static str) -> Result<Option<String>, KeysError> {
    match options.get(option) {
        None | Some(Value::Null | Value::Bool(false)) => Ok(None),
        Some(Value::Str(text)) => Ok(Some(text.to_string())),
        Some(_) => Err(KeysError::NotText(option)),
    }
}
