//! The ranks of a vocabulary, read in place from tables that `build.rs` made.
//!
//! Nothing is decoded or copied at start: the tables lie in the read-only part of the binary and
//! only the pages that a text touches are loaded.

use super::hash::{LONG_SLOT, RANK_BITS, SHORT, SHORT_SLOT, long_home, short_home, short_key};

/// No token: greater than every rank, so that a minimum passes it over.
pub(crate) const NONE: u32 = u32::MAX;

/// A vocabulary of byte pairs.
#[derive(Debug)]
pub(crate) struct Vocabulary {
    short: &'static [u8],
    long: &'static [u8],
    bytes: &'static [u8],
}

macro_rules! vocabulary {
    ($name:literal) => {
        Vocabulary {
            short: include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".short")),
            long: include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".long")),
            bytes: include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".bytes")),
        }
    };
}

/// GPT-4o and later.
pub(crate) static O200K: Vocabulary = vocabulary!("o200k");

/// GPT-3.5 and GPT-4.
pub(crate) static CL100K: Vocabulary = vocabulary!("cl100k");

/// The longest token of either vocabulary, in bytes.
pub(crate) const LONGEST: usize = 128;

impl Vocabulary {
    /// The rank of `text[start..end]`, or [`NONE`]. The bytes behind `end` are not looked at, but
    /// their presence allows one wide load instead of a loop.
    #[inline]
    pub(crate) fn rank(&self, text: &[u8], start: usize, end: usize) -> u32 {
        let len = end - start;
        if len > SHORT {
            return self.long_rank(&text[start..end]);
        }
        let key = match text[start..].first_chunk::<SHORT>() {
            Some(chunk) => u64::from_le_bytes(*chunk) & (u64::MAX >> (64 - 8 * len)),
            None => short_key(&text[start..end]),
        };
        self.short_rank(key, len)
    }

    #[inline]
    fn short_rank(&self, key: u64, len: usize) -> u32 {
        let (slots, _) = self.short.as_chunks::<SHORT_SLOT>();
        let mut at = short_home(key, len, slots.len());
        loop {
            let slot = &slots[at];
            let [k0, k1, k2, k3, k4, k5, k6, k7, t0, t1, t2, t3] = *slot;
            let tagged = u32::from_le_bytes([t0, t1, t2, t3]);
            if u64::from_le_bytes([k0, k1, k2, k3, k4, k5, k6, k7]) == key
                && tagged >> RANK_BITS == len as u32
            {
                return tagged & ((1 << RANK_BITS) - 1);
            }
            if tagged == 0 {
                return NONE;
            }
            at += 1;
            if at == slots.len() {
                at = 0;
            }
        }
    }

    fn long_rank(&self, token: &[u8]) -> u32 {
        if token.len() > LONGEST {
            return NONE;
        }
        let (slots, _) = self.long.as_chunks::<LONG_SLOT>();
        let mut at = long_home(token, slots.len());
        loop {
            let [b0, b1, b2, b3, t0, t1, t2, t3] = slots[at];
            let tagged = u32::from_le_bytes([t0, t1, t2, t3]);
            if tagged >> RANK_BITS == token.len() as u32 {
                let from = u32::from_le_bytes([b0, b1, b2, b3]) as usize;
                if self.bytes.get(from..from + token.len()) == Some(token) {
                    return tagged & ((1 << RANK_BITS) - 1);
                }
            }
            if tagged == 0 {
                return NONE;
            }
            at += 1;
            if at == slots.len() {
                at = 0;
            }
        }
    }
}
