//! Keys and hashes of the embedded vocabulary, shared by the generator (`build.rs`) and the reader.
//!
//! A table that was written with one hash and read with another would count nonsense, so both
//! sides compile this one file.

/// Tokens up to this length are compared as one integer, without a second memory access.
pub(crate) const SHORT: usize = 8;

/// Bytes of a slot in the table of short tokens: the key, then rank and length.
pub(crate) const SHORT_SLOT: usize = 12;

/// Bytes of a slot in the table of long tokens: length, rank and place of its bytes.
pub(crate) const LONG_SLOT: usize = 8;

/// Bits of the rank inside a slot.
pub(crate) const RANK_BITS: u32 = 24;

const ODD: u64 = 0x9e37_79b9_7f4a_7c15;

/// Up to eight bytes as an integer, the rest zero.
pub(crate) fn short_key(bytes: &[u8]) -> u64 {
    let mut key = [0; SHORT];
    key[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(key)
}

/// The home slot of a short token in a table of `slots` slots.
#[inline]
pub(crate) fn short_home(key: u64, len: usize, slots: usize) -> usize {
    reduce((key ^ (len as u64).rotate_right(8)).wrapping_mul(ODD), slots)
}

/// The home slot of a token longer than [`SHORT`] in a table of `slots` slots.
#[inline]
pub(crate) fn long_home(bytes: &[u8], slots: usize) -> usize {
    let mut hash = bytes.len() as u64;
    let (words, rest) = bytes.as_chunks::<SHORT>();
    for word in words {
        hash = mix(hash ^ u64::from_le_bytes(*word));
    }
    reduce(mix(hash ^ short_key(rest)), slots)
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
