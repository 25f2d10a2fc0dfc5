//! New inputs from old ones: flips, splices, tokens of a dictionary, repeated and nested structure.

use fastrand::Rng;

use super::arguments::Arguments;

/// Bytes that mean something in most formats.
const BYTES: &[u8] = b" \n\t\r\"'\\{}[]()<>,:;.=+-*/%#&!?|^$@`~_0179aAzZ\0\x1f\x7f\x80\xff";
/// Inputs that are kept beside the seeds, so that changes add up.
const MAX_POOL: usize = 256;
/// One of so many inputs is kept.
const KEPT: u32 = 24;

/// Makes inputs.
pub(super) struct Mutator {
    rng: Rng,
    // Invariant: never empty, and the seeds come first.
    pool: Vec<Vec<u8>>,
    seeds: usize,
    dictionary: &'static [&'static str],
    max_length: usize,
    input: Vec<u8>,
}

impl Mutator {
    pub(super) fn new(
        mut seeds: Vec<Vec<u8>>,
        dictionary: &'static [&'static str],
        arguments: &Arguments,
    ) -> Self {
        if seeds.is_empty() {
            seeds.push(Vec::new());
        }
        Mutator {
            rng: Rng::with_seed(arguments.seed),
            seeds: seeds.len(),
            pool: seeds,
            dictionary,
            max_length: arguments.max_length,
            input: Vec::new(),
        }
    }

    /// The next input.
    pub(super) fn next(&mut self) -> &[u8] {
        self.input = self.other();
        // Mostly a few changes, sometimes many.
        let most = 1 << self.rng.u32(0..5);
        for _ in 0..=self.rng.usize(0..most) {
            self.change();
        }
        self.input.truncate(self.max_length);
        if self.rng.u32(0..KEPT) == 0 {
            self.keep();
        }
        &self.input
    }

    fn keep(&mut self) {
        let input = self.input.clone();
        if self.pool.len() < self.seeds + MAX_POOL {
            self.pool.push(input);
            return;
        }
        let index = self.rng.usize(self.seeds..self.pool.len());
        if let Some(slot) = self.pool.get_mut(index) {
            *slot = input;
        }
    }

    /// Any input of the pool.
    fn other(&mut self) -> Vec<u8> {
        let other = self.rng.choice(&self.pool);
        other.cloned().unwrap_or_default()
    }

    fn change(&mut self) {
        match self.rng.u32(0..13) {
            0 => self.flip_bit(),
            1 => self.set_byte(),
            2 => self.remove(),
            3 => self.repeat_range(),
            4..=6 => self.insert_token(),
            7 => self.overwrite_with_token(),
            8 => self.splice(),
            9 => self.insert_repeated_token(),
            10 => self.wrap(),
            11 => self.change_number(),
            _ => self.swap(),
        }
    }

    fn flip_bit(&mut self) {
        let bit = 1 << self.rng.u32(0..8);
        if let Some(byte) = self.rng.choice(&mut self.input) {
            *byte ^= bit;
        }
    }

    fn set_byte(&mut self) {
        let new = self.rng.choice(BYTES).copied().unwrap_or_default();
        if let Some(byte) = self.rng.choice(&mut self.input) {
            *byte = new;
        }
    }

    /// A range of the input, mostly a short one.
    fn range(&mut self) -> std::ops::Range<usize> {
        let length = self.input.len();
        let start = self.rng.usize(0..=length);
        let longest = (length - start).min(1 << self.rng.u32(0..8));
        start..start + self.rng.usize(0..=longest)
    }

    fn offset(&mut self) -> usize {
        self.rng.usize(0..=self.input.len())
    }

    fn token(&mut self) -> &'static [u8] {
        let token = self.rng.choice(self.dictionary);
        token.map_or(&[], |token| token.as_bytes())
    }

    fn insert(&mut self, offset: usize, bytes: &[u8]) {
        self.input.splice(offset..offset, bytes.iter().copied());
    }

    fn remove(&mut self) {
        let range = self.range();
        self.input.drain(range);
    }

    fn repeat_range(&mut self) {
        let range = self.range();
        let offset = self.offset();
        let bytes = self.input.get(range).map(<[u8]>::to_vec);
        self.insert(offset, &bytes.unwrap_or_default());
    }

    fn insert_token(&mut self) {
        let (offset, token) = (self.offset(), self.token());
        self.insert(offset, token);
    }

    fn overwrite_with_token(&mut self) {
        let (offset, token) = (self.offset(), self.token());
        let end = (offset + token.len()).min(self.input.len());
        self.input.splice(offset..end, token.iter().copied());
    }

    /// The start of this input and the end of another.
    fn splice(&mut self) {
        let offset = self.offset();
        let other = self.other();
        let from = self.rng.usize(0..=other.len());
        self.input.truncate(offset);
        self.input.extend(other.iter().skip(from));
    }

    /// Depth and length, which bounds are about.
    fn insert_repeated_token(&mut self) {
        let (offset, token) = (self.offset(), self.token());
        let most = 1 << self.rng.u32(0..9);
        let times = self.rng.usize(0..most);
        self.insert(offset, &token.repeat(times));
    }

    /// Puts brackets or quotes around a range.
    fn wrap(&mut self) {
        const PAIRS: &[(&[u8], &[u8])] = &[
            (b"(", b")"),
            (b"[", b"]"),
            (b"{", b"}"),
            (b"\"", b"\""),
            (b"'", b"'"),
            (b"%{", b"}"),
        ];
        let range = self.range();
        if let Some((before, after)) = self.rng.choice(PAIRS) {
            self.insert(range.end, after);
            self.insert(range.start, before);
        }
    }

    /// Numbers have ends that code must not fall off.
    fn change_number(&mut self) {
        const NUMBERS: &[&str] = &[
            "0",
            "1",
            "-1",
            "2",
            "7",
            "10",
            "63",
            "64",
            "100",
            "127",
            "128",
            "255",
            "256",
            "1000",
            "65535",
            "2147483648",
            "4294967296",
            "9223372036854775807",
            "-9223372036854775808",
            "18446744073709551616",
            "00",
            "1e308",
            "1e-400",
            "99999999999999999999999999999999999999999",
        ];
        let offset = self.offset();
        let digits = |bytes: &[u8]| bytes.iter().position(u8::is_ascii_digit);
        let behind = self.input.get(offset..).unwrap_or_default();
        let start = offset + digits(behind).unwrap_or_default();
        let behind = self.input.get(start..).unwrap_or_default();
        let length = behind
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        if let Some(number) = self.rng.choice(NUMBERS) {
            self.input.splice(start..start + length, number.bytes());
        }
    }

    fn swap(&mut self) {
        if self.input.is_empty() {
            return;
        }
        let end = self.input.len();
        let (one, other) = (self.rng.usize(0..end), self.rng.usize(0..end));
        self.input.swap(one, other);
    }
}
