//! Base64 as in Ruby: `Array#pack('m')`, `String#unpack('m')` and the standard library's `Base64`.
//!
//! `!!binary` uses it. It is public for other code that must encode or decode exactly as Ruby does. It is written by hand
//! because the usual crates refuse what `unpack('m')` accepts: any other characters in between, `=` early in a group,
//! and a last group that is incomplete or has stray bits.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Encodes without line breaks, as `Base64.strict_encode64` does.
pub fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |index: usize| u32::from(chunk.get(index).copied().unwrap_or(0));
        let word = byte(0) << 16 | byte(1) << 8 | byte(2);
        for position in 0..4usize {
            let digit = (word >> (18 - 6 * position)) as usize & 63;
            match ALPHABET.get(digit) {
                Some(character) if position <= chunk.len() => text.push(char::from(*character)),
                _ => text.push('='),
            }
        }
    }
    text
}

/// Encodes in lines of 60 characters, each with a line break, as `Base64.encode64` does.
pub fn encode_lines(bytes: &[u8]) -> String {
    bytes.chunks(45).map(|line| encode(line) + "\n").collect()
}

/// Encodes with `-` and `_` instead of `+` and `/`, as `Base64.urlsafe_encode64` does.
pub fn encode_urlsafe(bytes: &[u8]) -> String {
    encode(bytes).replace('+', "-").replace('/', "_")
}

/// Decodes up to the first `=` that ends a group and skips characters that are not base64, as `Base64.decode64` does.
/// It never fails.
pub fn decode(text: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3 + 2);
    // The digits of the current group, and how many there are.
    let (mut group, mut filled) = (0_u32, 0_u32);
    for &byte in text {
        let Some(digit) = digit(byte) else {
            // Earlier in a group, `=` is skipped like any other character.
            if byte == b'=' && filled >= 2 {
                break;
            }
            continue;
        };
        group = group << 6 | u32::from(digit);
        filled += 1;
        if filled == 4 {
            let [_, three @ ..] = group.to_be_bytes();
            bytes.extend(three);
            (group, filled) = (0, 0);
        }
    }
    let [_, first, second, _] = (group << (6 * (4 - filled))).to_be_bytes();
    match filled {
        2 => bytes.push(first),
        3 => bytes.extend([first, second]),
        _ => {}
    }
    bytes
}

/// Decodes text without stray characters or bits, as `Base64.strict_decode64` does; `None` if Ruby raises.
pub fn decode_strict(text: &[u8]) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(4) {
        return None;
    }
    let padding = text
        .iter()
        .rev()
        .take(2)
        .take_while(|byte| **byte == b'=')
        .count();
    let digits = text.get(..text.len() - padding)?;
    if digits.iter().any(|byte| digit(*byte).is_none()) {
        return None;
    }
    let bytes = decode(text);
    // Encoding the bytes again does not reproduce stray bits.
    (encode(&bytes).as_bytes() == text).then_some(bytes)
}

/// Decodes text with `-` and `_`, padded or not, as `Base64.urlsafe_decode64` does; `None` if Ruby raises.
pub fn decode_urlsafe(text: &[u8]) -> Option<Vec<u8>> {
    let mut text: Vec<u8> = text
        .iter()
        .map(|byte| match byte {
            b'-' => b'+',
            b'_' => b'/',
            byte => *byte,
        })
        .collect();
    if !text.ends_with(b"=") {
        while !text.len().is_multiple_of(4) {
            text.push(b'=');
        }
    }
    decode_strict(&text)
}

fn digit(byte: u8) -> Option<u8> {
    match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encoding_and_decoding_match() {
        for (bytes, text) in [
            ("", ""),
            ("h", "aA=="),
            ("he", "aGU="),
            ("hel", "aGVs"),
            ("hello", "aGVsbG8="),
        ] {
            assert_eq!(encode(bytes.as_bytes()), text);
            assert_eq!(decode(text.as_bytes()), bytes.as_bytes());
        }
    }

    #[test]
    fn bytes_survive_a_round_trip() {
        for length in 0..70u8 {
            let bytes: Vec<u8> = (0..length).map(|byte| byte.wrapping_mul(37)).collect();
            assert_eq!(decode_strict(encode(&bytes).as_bytes()).unwrap(), bytes);
            assert_eq!(decode(encode_lines(&bytes).as_bytes()), bytes);
            assert_eq!(
                decode_urlsafe(encode_urlsafe(&bytes).as_bytes()).unwrap(),
                bytes
            );
        }
    }

    #[test]
    fn lenient_decoding_skips_other_characters() {
        assert_eq!(decode(b"aG Vs\nbG8=ignored"), b"hello");
        assert_eq!(decode(b"=a=GVs"), b"hel");
        assert_eq!(decode(b"aGVsb"), b"hel");
        assert_eq!(decode("\u{e9}".as_bytes()), b"");
    }

    #[test]
    fn strict_decoding_refuses_stray_characters_and_bits() {
        for text in ["YWJj\n", "YWI", "YWK=", "Y===", "=", "YW=j"] {
            assert_eq!(decode_strict(text.as_bytes()), None, "{text}");
        }
    }

    /// The results of Ruby's `unpack1('m')`, `unpack1('m0')` and `Base64.urlsafe_decode64` for strings over a small
    /// alphabet.
    #[test]
    fn decoding_matches_ruby() {
        for line in include_str!("../tests/cases/base64.txt").lines() {
            let parts: Vec<&str> = line.split(' ').collect();
            let [text, lenient, strict, urlsafe] = parts[..] else {
                panic!("{line}");
            };
            let text = unhex(text).unwrap();
            assert_eq!(Some(decode(&text)), unhex(lenient), "{line}");
            assert_eq!(decode_strict(&text), unhex(strict), "{line}");
            assert_eq!(decode_urlsafe(&text), unhex(urlsafe), "{line}");
        }
    }

    /// Bytes in hexadecimal after an `x`; `-` stands for an exception.
    fn unhex(text: &str) -> Option<Vec<u8>> {
        let digits = text.strip_prefix('x')?;
        let byte = |at| u8::from_str_radix(digits.get(at..at + 2).unwrap(), 16).unwrap();
        Some((0..digits.len()).step_by(2).map(byte).collect())
    }
}
