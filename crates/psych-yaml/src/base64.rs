//! Base64 as Ruby's `pack` and `unpack` do it.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Decodes leniently: characters outside the alphabet are skipped, and a `=` after two characters of a group ends the
/// text.
pub(crate) fn decode(text: &str) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(text.len() / 4 * 3);
    // Digits of the group so far, and how many.
    let (mut group, mut filled) = (0_u32, 0_u32);
    for byte in text.bytes() {
        let digit = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            b'=' if filled >= 2 => break,
            _ => continue,
        };
        group = group << 6 | u32::from(digit);
        filled += 1;
        if filled == 4 {
            let [_, bytes @ ..] = group.to_be_bytes();
            decoded.extend(bytes);
            (group, filled) = (0, 0);
        }
    }
    if filled >= 2 {
        let [_, bytes @ ..] = (group << (6 * (4 - filled))).to_be_bytes();
        decoded.extend(bytes.iter().take(if filled == 2 { 1 } else { 2 }));
    }
    decoded
}

/// Encodes in one line.
pub(crate) fn encode(bytes: &[u8]) -> String {
    let mut encoded = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let group = chunk
            .iter()
            .fold(0_u32, |group, &byte| group << 8 | u32::from(byte))
            << (8 * (3 - chunk.len()));
        for place in 0..4 {
            let digit = (group >> (18 - 6 * place)) as usize & 63;
            encoded.push(match ALPHABET.get(digit) {
                Some(&character) if place <= chunk.len() => char::from(character),
                _ => '=',
            });
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_bytes_correspond() {
        for (bytes, text) in [
            ("", ""),
            ("h", "aA=="),
            ("he", "aGU="),
            ("hel", "aGVs"),
            ("hello", "aGVsbG8="),
        ] {
            assert_eq!(encode(bytes.as_bytes()), text);
            assert_eq!(decode(text), bytes.as_bytes());
        }
    }

    #[test]
    fn decoding_skips_what_it_does_not_know() {
        assert_eq!(decode("aG Vs\nbG8=ignored"), b"hello");
        assert_eq!(decode("=a=GVs"), b"hel");
        assert_eq!(decode("aGVsb"), b"hel");
        assert_eq!(decode("é"), b"");
    }
}
