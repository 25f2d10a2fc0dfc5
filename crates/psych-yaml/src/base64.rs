//! Base64 as Ruby reads and writes it: `pack('m')`, `unpack('m')` and what its library `base64` makes of them.
//!
//! Not a part of YAML but of its `!!binary`; whoever else needs what Ruby does uses this one.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Text without line breaks.
pub fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |index: usize| u32::from(chunk.get(index).copied().unwrap_or(0));
        let word = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4usize {
            let letter = (word >> (18 - 6 * place)) as usize & 63;
            match ALPHABET.get(letter) {
                Some(letter) if place <= chunk.len() => text.push(char::from(*letter)),
                _ => text.push('='),
            }
        }
    }
    text
}

/// Text in lines of 60 letters, each with a line break.
pub fn encode_lines(bytes: &[u8]) -> String {
    bytes.chunks(45).map(|line| encode(line) + "\n").collect()
}

/// Text with `-` and `_`.
pub fn encode_urlsafe(bytes: &[u8]) -> String {
    encode(bytes).replace('+', "-").replace('/', "_")
}

/// Bytes of the letters up to the first `=` at the end of a group, whatever else is in the text. It never fails.
pub fn decode(text: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3 + 2);
    // Digits of the group so far, and how many.
    let (mut group, mut filled) = (0_u32, 0_u32);
    for &byte in text {
        let Some(digit) = digit(byte) else {
            // At the start of a group it is skipped like anything else.
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

/// Bytes of text without a stray letter or bit.
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
    let letters = text.get(..text.len() - padding)?;
    if letters.iter().any(|byte| digit(*byte).is_none()) {
        return None;
    }
    let bytes = decode(text);
    // Stray bits would not come back.
    (encode(&bytes).as_bytes() == text).then_some(bytes)
}

/// Bytes of text with `-` and `_`, padded or not.
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
    fn text_and_bytes_correspond() {
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
    fn bytes_go_there_and_back() {
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
    fn decoding_skips_what_it_does_not_know() {
        assert_eq!(decode(b"aG Vs\nbG8=ignored"), b"hello");
        assert_eq!(decode(b"=a=GVs"), b"hel");
        assert_eq!(decode(b"aGVsb"), b"hel");
        assert_eq!(decode("\u{e9}".as_bytes()), b"");
    }

    #[test]
    fn strict_text_has_no_stray_letter_or_bit() {
        for text in ["YWJj\n", "YWI", "YWK=", "Y===", "=", "YW=j"] {
            assert_eq!(decode_strict(text.as_bytes()), None, "{text}");
        }
    }

    /// What Ruby's `unpack1('m')`, `unpack1('m0')` and `Base64.urlsafe_decode64` make of texts, each made by the
    /// letters of a small alphabet.
    #[test]
    fn texts_are_read_as_ruby_reads_them() {
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

    /// Bytes in hexadecimal with an `x` before them; `-` stands for a failure.
    fn unhex(text: &str) -> Option<Vec<u8>> {
        let digits = text.strip_prefix('x')?;
        let byte = |at| u8::from_str_radix(digits.get(at..at + 2).unwrap(), 16).unwrap();
        Some((0..digits.len()).step_by(2).map(byte).collect())
    }
}
