//! Strings with encrypted blocks → plain text.

use super::{DecryptError, Keys};

const OPENING: &str = "ENC[";

/// Decrypts every block, and drops one line break at the end, as hiera-eyaml does.
pub(crate) fn decrypt_text(text: &str, keys: &Keys) -> Result<String, DecryptError> {
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(OPENING) {
        plain.extend_from_slice(before.as_bytes());
        match Block::parse(after) {
            Some((block, after_block)) => {
                plain.extend(block.decrypt(keys)?);
                rest = after_block;
            }
            None => {
                plain.extend_from_slice(OPENING.as_bytes());
                rest = after;
            }
        }
    }
    plain.extend_from_slice(rest.as_bytes());
    if plain.ends_with(b"\r\n") {
        plain.truncate(plain.len() - 2);
    } else if plain.ends_with(b"\n") || plain.ends_with(b"\r") {
        plain.truncate(plain.len() - 1);
    }
    String::from_utf8(plain).map_err(|_| DecryptError::NotText)
}

/// The inside of `ENC[...]`.
struct Block<'a> {
    encryptor: Option<&'a str>,
    base64: &'a str,
}

impl<'a> Block<'a> {
    /// Parses a block after its opening, and returns it with the rest of the text; `None` if it is not a block but text.
    fn parse(after_opening: &'a str) -> Option<(Block<'a>, &'a str)> {
        let (inside, after_block) = after_opening.split_once(']')?;
        let (encryptor, base64) = match inside.split_once(',') {
            Some((encryptor, base64)) => (Some(encryptor), base64),
            None => (None, inside),
        };
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        let is_base64 = |byte: u8| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b' ' | b'=' | b'\n')
        };
        let is_block = encryptor.is_none_or(|name| !name.is_empty() && name.bytes().all(is_word))
            && !base64.is_empty()
            && base64.bytes().all(is_base64);
        is_block.then_some((Block { encryptor, base64 }, after_block))
    }

    fn decrypt(&self, keys: &Keys) -> Result<Vec<u8>, DecryptError> {
        if self.base64.bytes().all(|byte| byte.is_ascii_whitespace()) {
            return Err(DecryptError::EmptyBlock);
        }
        match self.encryptor {
            Some(name) if !name.eq_ignore_ascii_case("pkcs7") => {
                Err(DecryptError::Encryptor(name.to_owned()))
            }
            _ => keys.decrypt(self.base64),
        }
    }
}
