//! Byte-pair merging of one piece, to count its tokens.
//!
//! The pair with the lowest rank is merged first, the leftmost among equals, until no pair is in the
//! vocabulary. Three implementations by length: a scan for words, a heap for long pieces, and windows
//! for pieces of any size, so that a hundred megabytes without a space take linear time and little
//! memory.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::vocabulary::{LONGEST, NONE, Vocabulary};

/// Up to this many bytes, scanning for the minimum beats a heap.
const SCAN: usize = 64;

/// How many bytes of a longer piece are merged at once.
const WINDOW: usize = 1024;

/// How many bytes of a window are merged again at the start of the next.
const OVERLAP: usize = 288;

/// The number of tokens in the piece `text[start..end]`.
#[inline]
pub(crate) fn count(vocabulary: &Vocabulary, text: &[u8], start: usize, end: usize) -> u64 {
    match vocabulary.rank(text, start, end) {
        NONE => count_unknown(vocabulary, text, start, end),
        _ => 1,
    }
}

/// Like [`count`], for a piece known not to be a single token.
pub(crate) fn count_unknown(vocabulary: &Vocabulary, text: &[u8], start: usize, end: usize) -> u64 {
    let len = end - start;
    if len <= SCAN {
        scan(vocabulary, text, start, end)
    } else if len <= WINDOW {
        (boundaries(vocabulary, &text[start..end]).len() - 1) as u64
    } else {
        windows(vocabulary, &text[start..end], WINDOW)
    }
}

/// Merges a short piece on the stack.
fn scan(vocabulary: &Vocabulary, text: &[u8], start: usize, end: usize) -> u64 {
    // Parts are `starts[i]..starts[i + 1]`; `ranks[i]` belongs to the pair of part i and the next.
    let mut starts = [0_usize; SCAN + 1];
    let mut ranks = [NONE; SCAN];
    let mut parts = end - start;
    for (i, at) in (start..=end).enumerate() {
        starts[i] = at;
    }
    for (i, rank) in ranks.iter_mut().enumerate().take(parts - 1) {
        *rank = vocabulary.rank(text, start + i, start + i + 2);
    }
    loop {
        let mut best = NONE;
        let mut at = 0;
        for (i, &rank) in ranks[..parts - 1].iter().enumerate() {
            if rank < best {
                best = rank;
                at = i;
            }
        }
        if best == NONE {
            return parts as u64;
        }
        starts.copy_within(at + 2..=parts, at + 1);
        ranks.copy_within(at + 1..parts, at);
        parts -= 1;
        // The last entry of `ranks` belongs to no pair.
        ranks[parts - 1] = NONE;
        if at + 1 < parts {
            ranks[at] = vocabulary.rank(text, starts[at], starts[at + 2]);
        }
        if at > 0 {
            ranks[at - 1] = vocabulary.rank(text, starts[at - 1], starts[at + 1]);
        }
    }
}

/// Merges a piece of any length; returns the starts of its tokens, and its end.
fn boundaries(vocabulary: &Vocabulary, piece: &[u8]) -> Vec<usize> {
    let len = piece.len();
    // A list of parts linked by their starts; `len` terminates it in both directions.
    let mut next: Vec<usize> = (1..=len + 1).collect();
    let mut previous: Vec<usize> = (0..=len).map(|at| at.checked_sub(1).unwrap_or(len)).collect();
    let mut ranks = vec![NONE; len];
    // Rank and offset in one number: the lowest rank first, the leftmost among equals.
    let entry = |rank: u32, at: usize| Reverse((u64::from(rank) << 32) | at as u64);
    let mut entries = Vec::with_capacity(len);
    for (at, rank) in ranks.iter_mut().enumerate().take(len.saturating_sub(1)) {
        *rank = vocabulary.rank(piece, at, at + 2);
        if *rank != NONE {
            entries.push(entry(*rank, at));
        }
    }
    let mut heap = BinaryHeap::from(entries);
    while let Some(Reverse(least)) = heap.pop() {
        let at = (least & u64::from(u32::MAX)) as usize;
        // Entries of pairs that have changed stay in the heap and are skipped here.
        if u64::from(ranks[at]) != least >> 32 {
            continue;
        }
        let gone = next[at];
        next[at] = next[gone];
        previous[next[at]] = at;
        ranks[gone] = NONE;
        let mut update = |left: usize| {
            let middle = next[left];
            ranks[left] = match middle < len {
                true => vocabulary.rank(piece, left, next[middle]),
                false => NONE,
            };
            if ranks[left] != NONE {
                heap.push(entry(ranks[left], left));
            }
        };
        update(at);
        if previous[at] < len {
            update(previous[at]);
        }
    }
    let mut starts = Vec::new();
    let mut at = 0;
    while at < len {
        starts.push(at);
        at = next[at];
    }
    starts.push(len);
    starts
}

/// Counts a piece of any length, window by window.
///
/// A sequence of tokens is the result of merging if and only if that holds for every two neighbours. So
/// where two overlapping windows share a token, what precedes it in the first and what follows it in the
/// second fit together.
fn windows(vocabulary: &Vocabulary, piece: &[u8], window: usize) -> u64 {
    let mut tokens = 0;
    let mut base = 0;
    let mut current = boundaries(vocabulary, &piece[..window.min(piece.len())]);
    // Tokens of the current window that were counted with the previous one.
    let mut counted = 0;
    while base + window < piece.len() {
        let restart = current.partition_point(|&at| at + OVERLAP < window).max(counted + 1);
        let next_base = base + current[restart];
        let following =
            boundaries(vocabulary, &piece[next_base..piece.len().min(next_base + window)]);
        let Some((left, right)) = common_token(&current[restart..], &following) else {
            // Never observed; a wider window resolves it.
            return windows(vocabulary, piece, window * 2);
        };
        tokens += (restart + left - counted) as u64;
        base = next_base;
        current = following;
        counted = right;
    }
    tokens + (current.len() - 1 - counted) as u64
}

/// The first token that both lists of boundaries contain, as its index in each. The second list starts
/// where the first one does.
fn common_token(left: &[usize], right: &[usize]) -> Option<(usize, usize)> {
    let origin = *left.first()?;
    let (mut l, mut r) = (0, 0);
    while l + 1 < left.len() && r + 1 < right.len() {
        let (from, to) = (left[l] - origin, left[l + 1] - origin);
        if (from, to) == (right[r], right[r + 1]) {
            return Some((l, r));
        }
        if to <= right[r + 1] {
            l += 1;
        } else {
            r += 1;
        }
    }
    None
}

const _: () = assert!(OVERLAP > 2 * LONGEST && WINDOW > 2 * OVERLAP);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::vocabulary::O200K;
    use super::*;

    fn whole(piece: &[u8]) -> u64 {
        (boundaries(&O200K, piece).len() - 1) as u64
    }

    #[test]
    fn all_implementations_agree_on_repeated_letters() {
        for len in [1, 2, 63, 64, 65, 1000, 50_000] {
            for letter in [b"a", b" ", b"x", b"="] {
                let piece = letter.repeat(len);
                assert_eq!(count(&O200K, &piece, 0, len), whole(&piece), "{len} {letter:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn scan_heap_and_windows_agree(text in "[a-cA-C]{2,64}|\\PC{2,16}", times in 200_usize..400) {
            let bytes = text.as_bytes();
            if bytes.len() <= SCAN {
                prop_assert_eq!(scan(&O200K, bytes, 0, bytes.len()), whole(bytes));
            }
            let long = text.repeat(times);
            prop_assert_eq!(windows(&O200K, long.as_bytes(), WINDOW), whole(long.as_bytes()));
        }
    }
}
