//! Keys, hashes and slots of the embedded vocabulary, shared by the generator (`build.rs`) and the
//! reader.
//!
//! A table that was written with one hash and read with another would count nonsense, so both
//! sides compile this one file.
//!
//! The tables are perfect hash tables: a key's bucket has a *pilot*, a number that sends every key of
//! the bucket to a slot which no other key has. A look-up reads one pilot and one slot, whether the
//! token exists or not, and hardly any slot is empty.

/// Tokens up to this length are compared as one integer, without a second memory access.
pub(crate) const SHORT: usize = 8;

/// Bytes of a slot in the table of short tokens: the key, then rank and length.
pub(crate) const SHORT_SLOT: usize = 11;

/// Bytes of a slot in the table of long tokens: where its bytes are, rank and length.
pub(crate) const LONG_SLOT: usize = 6;

/// Bits of a rank inside a slot; the length is above them.
pub(crate) const RANK_BITS: u32 = 18;

/// Bits of a place in the bytes of the long tokens; rank and length are above them.
pub(crate) const PLACE_BITS: u32 = 20;

const ODD: u64 = 0x9e37_79b9_7f4a_7c15;

/// Spreads a pilot over all bits of a hash.
const SPREAD: u64 = 0xd6e8_feb8_6659_fd93;

/// Up to eight bytes as an integer, the rest zero.
pub(crate) fn short_key(bytes: &[u8]) -> u64 {
    let mut key = [0; SHORT];
    key[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(key)
}

/// The hash of a short token.
#[inline]
pub(crate) fn short_hash(key: u64, len: usize) -> u64 {
    (key ^ (len as u64).rotate_right(8)).wrapping_mul(ODD)
}

/// The hash of a token longer than [`SHORT`].
#[inline]
pub(crate) fn long_hash(bytes: &[u8]) -> u64 {
    let mut hash = bytes.len() as u64;
    let (words, rest) = bytes.as_chunks::<SHORT>();
    for word in words {
        hash = mix(hash ^ u64::from_le_bytes(*word));
    }
    mix(hash ^ short_key(rest))
}

/// The bucket of a hash, whose pilot leads to the slot.
#[inline]
pub(crate) fn bucket(hash: u64, buckets: usize) -> usize {
    reduce(hash, buckets)
}

/// The slot of a hash in a bucket with this pilot.
#[inline]
pub(crate) fn slot(hash: u64, pilot: u8, slots: usize) -> usize {
    reduce(mix(hash ^ u64::from(pilot).wrapping_mul(SPREAD)), slots)
}

#[inline]
fn mix(word: u64) -> u64 {
    let product = word.wrapping_mul(ODD);
    product ^ (product >> 29)
}

/// Maps the high bits of a hash evenly to `0..slots`.
#[inline]
fn reduce(hash: u64, slots: usize) -> usize {
    (((hash >> 32) * slots as u64) >> 32) as usize
}
