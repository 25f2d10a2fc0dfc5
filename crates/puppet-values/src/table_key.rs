//! Hash tables that share one hash function, so that a key is hashed once and searched for in many tables.
//!
//! A Hiera lookup searches dozens of files and indexes for the same key. With the types of this module, `hiera-resolver`
//! computes the hash of the key once ([`TableKey`]), searches every [`struct@Hash`](crate::Hash) and every table with
//! [`TableState`] by it, and skips most tables that do not have the key without touching them ([`KeyFilter`]).

use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;

use arcstr::ArcStr;
use foldhash::fast::{FixedState, FoldHasher};

/// The hash function of all tables of the process.
///
/// Its seed is random, so that clients cannot construct keys that collide.
#[derive(Clone, Copy, Debug, Default)]
pub struct TableState;

static STATE: LazyLock<FixedState> =
    LazyLock::new(|| FixedState::with_seed(RandomState::new().hash_one(0)));

impl BuildHasher for TableState {
    type Hasher = FoldHasher<'static>;

    #[inline]
    fn build_hasher(&self) -> Self::Hasher {
        STATE.build_hasher()
    }
}

/// A string and its hash.
#[derive(Clone)]
pub struct TableKey {
    text: ArcStr,
    hash: u64,
}

impl TableKey {
    /// Hashes a string.
    pub fn new(text: ArcStr) -> Self {
        let hash = hash_of(&text);
        TableKey { text, hash }
    }

    /// The string.
    #[inline]
    pub fn text(&self) -> &ArcStr {
        &self.text
    }

    /// Its hash in any table with [`TableState`].
    #[inline]
    pub fn hash(&self) -> u64 {
        self.hash
    }
}

/// The hash of a string in any table with [`TableState`].
#[inline]
pub fn hash_of(text: &str) -> u64 {
    TableState.hash_one(text)
}

/// A small Bloom filter with one hash: it recognizes most keys that are not in a table without accessing the table.
#[derive(Clone, Copy, Debug, Default)]
pub struct KeyFilter {
    /// One bit for all hashes with the same first eight bits.
    bits: [u64; 4],
}

impl KeyFilter {
    /// Adds the hash of a key.
    #[inline]
    pub fn add(&mut self, hash: u64) {
        let (word, bit) = KeyFilter::position(hash);
        if let Some(word) = self.bits.get_mut(word) {
            *word |= bit;
        }
    }

    /// May a key with this hash be in the table?
    #[inline]
    pub fn may_have(&self, hash: u64) -> bool {
        let (word, bit) = KeyFilter::position(hash);
        self.bits.get(word).is_some_and(|word| word & bit != 0)
    }

    /// The word, from the first two bits of a hash, and the bit in it, from the next six.
    fn position(hash: u64) -> (usize, u64) {
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

    #[inline]
    fn deref(&self) -> &str {
        &self.text
    }
}
