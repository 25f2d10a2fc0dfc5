//! Options of a level → where its keys come from.

use std::path::Path;

use hiera_resolver::{Hash, Value};

use super::KeysError;

/// Where the keys of a level come from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct KeySource {
    pub(super) private: KeyLocation,
    /// Optional: the private key is enough to decrypt.
    pub(super) public: Option<KeyLocation>,
}

/// A key in an environment variable or in a file. The variable wins if it is set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct KeyLocation {
    pub(super) variable: Option<String>,
    pub(super) file: Option<String>,
}

/// Reads a file, or returns why it cannot.
type ReadFile<'a> = dyn FnMut(&Path) -> Result<Vec<u8>, String> + 'a;

/// The value of an environment variable.
type Variable<'a> = dyn Fn(&str) -> Option<Vec<u8>> + 'a;

impl KeySource {
    /// Reads the options of a level.
    pub(crate) fn from_options(options: &Hash) -> Result<KeySource, KeysError> {
        let location = |file: &'static str, variable: &'static str| {
            let location = KeyLocation {
                variable: text(options, variable)?,
                file: text(options, file)?,
            };
            Ok(Some(location).filter(|location| *location != KeyLocation::default()))
        };
        let public = location("pkcs7_public_key", "pkcs7_public_key_env_var")?;
        let private = location("pkcs7_private_key", "pkcs7_private_key_env_var")?;
        match private {
            Some(private) => Ok(KeySource { private, public }),
            None => Err(KeysError::Missing {
                has_public: public.is_some(),
            }),
        }
    }

    /// The PEM texts of the private key, and of the public one if it is set.
    pub(super) fn read(
        &self,
        read_file: &mut ReadFile<'_>,
        variable: &Variable<'_>,
    ) -> Result<(Vec<u8>, Option<Vec<u8>>), KeysError> {
        let private = self.private.read(read_file, variable)?;
        let public = self.public.as_ref();
        let public = public.map(|public| public.read(read_file, variable));
        Ok((private, public.transpose()?))
    }
}

impl KeyLocation {
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

/// The text of an option. Null and false count as unset.
fn text(options: &Hash, option: &'static str) -> Result<Option<String>, KeysError> {
    match options.get(option) {
        None | Some(Value::Null | Value::Bool(false)) => Ok(None),
        Some(Value::Str(text)) => Ok(Some(text.to_string())),
        Some(_) => Err(KeysError::NotText(option)),
    }
}
