//! Base64 as Ruby's library reads and writes it.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Text without line breaks.
pub(super) fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |index: usize| u32::from(chunk.get(index).copied().unwrap_or(0));
        let word = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4usize {
            let letter = usize::try_from(word >> (18 - 6 * place) & 63).unwrap_or(0);
            match ALPHABET.get(letter) {
                Some(letter) if place <= chunk.len() => text.push(char::from(*letter)),
                _ => text.push('='),
            }
        }
    }
    text
}

/// Text in lines of 60 letters, each with a line break.
pub(super) fn encode_lines(bytes: &[u8]) -> String {
    bytes.chunks(45).map(|line| encode(line) + "\n").collect()
}

/// Text with `-` and `_`.
pub(super) fn encode_urlsafe(bytes: &[u8]) -> String {
    encode(bytes).replace('+', "-").replace('/', "_")
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

/// Bytes of text without a stray letter or bit.
pub(super) fn decode_strict(text: &[u8]) -> Option<Vec<u8>> {
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
    let digits = letters
        .iter()
        .map(|byte| digit(*byte))
        .collect::<Option<Vec<u8>>>()?;
    let mut bytes = Vec::with_capacity(digits.len() * 3 / 4);
    for chunk in digits.chunks(4) {
        push_chunk(chunk, &mut bytes);
        let stray = match chunk {
            [_, last] => last & 15,
            [_, _, last] => last & 3,
            _ => 0,
        };
        if stray != 0 {
            return None;
        }
    }
    Some(bytes)
}

/// Bytes of text with `-` and `_`, padded or not.
pub(super) fn decode_urlsafe(text: &[u8]) -> Option<Vec<u8>> {
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

/// Bytes of the letters up to the first `=` at the end of a group, whatever else is in the text.
pub(super) fn decode_lenient(text: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut group = Vec::with_capacity(4);
    for byte in text {
        match digit(*byte) {
            Some(digit) => {
                group.push(digit);
                if group.len() == 4 {
                    push_chunk(&group, &mut bytes);
                    group.clear();
                }
            }
            None if *byte == b'=' && group.len() >= 2 => break,
            None => {}
        }
    }
    push_chunk(&group, &mut bytes);
    bytes
}

fn push_chunk(chunk: &[u8], bytes: &mut Vec<u8>) {
    match *chunk {
        [a, b] => bytes.push(a << 2 | b >> 4),
        [a, b, c] => bytes.extend([a << 2 | b >> 4, b << 4 | c >> 2]),
        [a, b, c, d] => bytes.extend([a << 2 | b >> 4, b << 4 | c >> 2, c << 6 | d]),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_go_there_and_back() {
        for length in 0..70u8 {
            let bytes: Vec<u8> = (0..length).map(|byte| byte.wrapping_mul(37)).collect();
            assert_eq!(decode_strict(encode(&bytes).as_bytes()).unwrap(), bytes);
            assert_eq!(decode_lenient(encode_lines(&bytes).as_bytes()), bytes);
            assert_eq!(
                decode_urlsafe(encode_urlsafe(&bytes).as_bytes()).unwrap(),
                bytes
            );
        }
    }

    #[test]
    fn strict_text_has_no_stray_letter_or_bit() {
        for text in ["YWJj\n", "YWI", "YWK=", "Y===", "=", "YW=j"] {
            assert_eq!(decode_strict(text.as_bytes()), None, "{text}");
        }
    }
}
