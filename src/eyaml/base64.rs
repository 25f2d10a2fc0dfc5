//! Base64 as Ruby's `unpack('m')` reads it: what does not belong is skipped, and `=` ends it.

/// The bytes of a text. It never fails.
pub(super) fn decode(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3 + 3);
    let mut group = 0u32;
    let mut digits = 0;
    for &byte in text {
        let Some(digit) = digit(byte) else {
            // At the start of a group it is skipped like anything else.
            if byte == b'=' && digits >= 2 {
                break;
            }
            continue;
        };
        group = group << 6 | u32::from(digit);
        digits += 1;
        if digits == 4 {
            let [_, bytes @ ..] = group.to_be_bytes();
            out.extend(bytes);
            (group, digits) = (0, 0);
        }
    }
    let [_, first, second, _] = (group << (6 * (4 - digits))).to_be_bytes();
    match digits {
        2 => out.push(first),
        3 => out.extend([first, second]),
        _ => {}
    }
    out
}

fn digit(byte: u8) -> Option<u8> {
    Some(match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    })
}
