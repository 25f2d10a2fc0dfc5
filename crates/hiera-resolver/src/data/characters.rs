//! Positions and characters in the bytes of a document, for the readers of JSON and HOCON.

/// The line and the character in it, both counted from 1, of the byte at an offset.
pub(super) fn line_and_column(text: &[u8], offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line_start = memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1);
    let line = memchr::memchr_iter(b'\n', before).count() + 1;
    let is_character_start = |byte: &&u8| **byte & 0xC0 != 0x80;
    let in_line = before.iter().skip(line_start);
    (line, in_line.filter(is_character_start).count() + 1)
}

/// Writes a code point as UTF-8. A lone surrogate is written as well, and leaves the string broken, as in Ruby.
pub(super) fn push_code_point(out: &mut Vec<u8>, code: u32) {
    match char::from_u32(code) {
        Some(character) => {
            out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        }
        None => out.extend([
            0xE0 | (code >> 12) as u8,
            0x80 | (code >> 6 & 0x3F) as u8,
            0x80 | (code & 0x3F) as u8,
        ]),
    }
}
