//! Unicode blocks, as in `\p{InBasic_Latin}`.

use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

/// The first and last code point and the name of every block of Unicode 13.0, as in Ruby 3.1.
const BLOCKS: &str = include_str!("blocks.txt");

/// Blocks of code points that are not characters.
const SURROGATES: [&str; 3] = [
    "highsurrogates",
    "highprivateusesurrogates",
    "lowsurrogates",
];

/// The block with a name in lower case, without spaces, `-` and `_`.
pub(super) fn block(name: &str) -> Option<ClassUnicode> {
    let range = |line: &str| -> Option<ClassUnicodeRange> {
        let mut words = line.split(' ');
        let mut end = || char::from_u32(u32::from_str_radix(words.next()?, 16).ok()?);
        Some(ClassUnicodeRange::new(end()?, end()?))
    };
    if name == "noblock" {
        let mut set = ClassUnicode::new(BLOCKS.lines().filter_map(range));
        set.negate();
        return Some(set);
    }
    if SURROGATES.contains(&name) {
        return Some(ClassUnicode::empty());
    }
    let mut lines = BLOCKS.lines();
    let line = lines.find(|line| line.rsplit(' ').next() == Some(name))?;
    Some(ClassUnicode::new(range(line)))
}
