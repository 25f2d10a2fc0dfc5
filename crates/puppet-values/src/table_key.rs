//! [`TableKey`]: a text and its hash. A lookup searches many tables for the same key and hashes it once.

use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;

use arcstr::ArcStr;
use foldhash::fast::{FixedState, FoldHasher};

/// The hash function of all tables of one process. Its seed is drawn at the start: requests cannot be made to
/// collide.
#[derive(Clone, Copy, Debug, Default)]
pub struct TableState;

static STATE: LazyLock<FixedState> =
    LazyLock::new(|| FixedState::with_seed(RandomState::new().hash_one(0)));

impl BuildHasher for TableState {
    type Hasher = FoldHasher<'static>;

    fn build_hasher(&self) -> Self::Hasher {
        STATE.build_hasher()
    }
}

/// A text and its hash.
#[derive(Clone)]
pub struct TableKey {
    text: ArcStr,
    hash: u64,
}

impl TableKey {
    /// Hashes a text.
    pub fn new(text: ArcStr) -> Self {
        let hash = hash_of(&text);
        TableKey { text, hash }
    }

    /// The text.
    pub fn text(&self) -> &ArcStr {
        &self.text
    }

    /// Its hash in any table with [`TableState`].
    pub fn hash(&self) -> u64 {
        self.hash
    }
}

/// The hash of a text in any table with [`TableState`].
pub fn hash_of(text: &str) -> u64 {
    TableState.hash_one(text)
}

/// Tells that a key is not in a table, most of the time, without a look at the table.
#[derive(Clone, Copy, Debug, Default)]
pub struct KeyFilter {
    /// One bit for the hashes of all keys that start alike.
    bits: [u64; 4],
}

impl KeyFilter {
    /// Adds the hash of a key.
    pub fn add(&mut self, hash: u64) {
        let (word, bit) = KeyFilter::place(hash);
        if let Some(word) = self.bits.get_mut(word) {
            *word |= bit;
        }
    }

    /// May the key with this hash be there?
    pub fn may_have(&self, hash: u64) -> bool {
        let (word, bit) = KeyFilter::place(hash);
        self.bits.get(word).is_some_and(|word| word & bit != 0)
    }

    /// The first two bits of a hash tell the word, and the next six the bit in it.
    fn place(hash: u64) -> (usize, u64) {
        ((hash >> 62) as usize, 1 << (hash >> 56 & 63))
    }
}

impl PartialEq for TableKey {
    fn eq(&self, other: &Self) -> bool {
        self.hash == other.hash && self.text == other.text
    }
}

impl Eq for TableKey {}

impl std::fmt::Debug for TableKey {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.text.fmt(out)
    }
}

impl std::ops::Deref for TableKey {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}
