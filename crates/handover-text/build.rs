//! Writes the vocabularies as tables that the binary maps and reads in place.
//!
//! The ranks come from `tiktoken-rs`, the classes of characters from `regex-syntax`: the same
//! sources that the reference implementation uses, so a count cannot differ by their age.

use std::path::Path;

use regex_syntax::hir::{Class, HirKind};
use tiktoken_rs::CoreBPE;

#[path = "src/tokens/hash.rs"]
mod hash;

use hash::{LONG_SLOT, PLACE_BITS, RANK_BITS, SHORT, SHORT_SLOT};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Character classes, in the order of the numbers in `src/tokens/classes.rs`; a later one wins.
const CLASSES: [(&str, u8); 7] = [
    (r"[\p{Lu}\p{Lt}]", 1),
    (r"\p{Ll}", 2),
    (r"[\p{Lm}\p{Lo}]", 3),
    (r"\p{M}", 4),
    (r"\p{N}", 5),
    (r"\s", 6),
    (r"[\r\n]", 7),
];

/// Characters per block of the two-stage class table.
const BLOCK: usize = 128;

fn main() -> Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/tokens/hash.rs");
    let out = std::env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?;
    let out = Path::new(&out);
    write_vocabulary(&tiktoken_rs::o200k_base()?, &out.join("o200k"))?;
    write_vocabulary(&tiktoken_rs::cl100k_base()?, &out.join("cl100k"))?;
    write_classes(&out.join("classes"))
}

/// Five files: pilots and slots of the short tokens, of the long ones, and the bytes of the long ones.
fn write_vocabulary(bpe: &CoreBPE, path: &Path) -> Result<()> {
    // Ranks are dense from zero; the first gap ends the ordinary tokens.
    let tokens = (0..).map_while(|rank| Some((rank, bpe.decode_bytes(&[rank]).ok()?)));
    let (mut short, mut long, mut bytes) = (Vec::new(), Vec::new(), Vec::new());
    for (rank, token) in tokens {
        let tagged = ((token.len() as u64) << RANK_BITS) | u64::from(rank);
        if token.len() <= SHORT {
            let key = hash::short_key(&token);
            let mut slot = [0; SHORT_SLOT];
            slot[..SHORT].copy_from_slice(&key.to_le_bytes());
            slot[SHORT..].copy_from_slice(&tagged.to_le_bytes()[..SHORT_SLOT - SHORT]);
            short.push((hash::short_hash(key, token.len()), slot));
        } else {
            let packed = (tagged << PLACE_BITS) | bytes.len() as u64;
            let mut slot = [0; LONG_SLOT];
            slot.copy_from_slice(&packed.to_le_bytes()[..LONG_SLOT]);
            long.push((hash::long_hash(&token), slot));
            bytes.extend(token);
        }
    }
    if short.len() + long.len() > 1 << RANK_BITS || bytes.len() > 1 << PLACE_BITS {
        return Err(format!("{} does not fit into its slots", path.display()).into());
    }
    write_table(&short, &path.with_extension("short"))?;
    write_table(&long, &path.with_extension("long"))?;
    fs_err::write(path.with_extension("bytes"), bytes)?;
    Ok(())
}

/// Keys per bucket, on average: more need fewer pilots, but pilots that are found less easily.
const BUCKET: usize = 2;

/// Percent of the slots that are used; the last keys need some choice.
const LOAD: usize = 94;

/// Writes a perfect hash table of hashes and their slots.
fn write_table<const SLOT: usize>(entries: &[(u64, [u8; SLOT])], path: &Path) -> Result<()> {
    let slots = entries.len() * 100 / LOAD + 1;
    let mut pilots = vec![0_u8; entries.len() / BUCKET + 1];
    let mut buckets = vec![Vec::new(); pilots.len()];
    for (at, (hash, _)) in entries.iter().enumerate() {
        buckets[hash::bucket(*hash, pilots.len())].push(at);
    }
    // Large buckets first, while there is room.
    let mut order: Vec<usize> = (0..buckets.len()).collect();
    order.sort_by_key(|bucket| std::cmp::Reverse(buckets[*bucket].len()));
    let mut table = vec![[0_u8; SLOT]; slots];
    let mut taken = vec![false; slots];
    for bucket in order {
        let entries: Vec<_> = buckets[bucket].iter().map(|at| entries[*at]).collect();
        let place = |pilot: u8| {
            let mut places: Vec<usize> = Vec::new();
            for (hash, _) in &entries {
                let place = hash::slot(*hash, pilot, slots);
                if taken[place] || places.contains(&place) {
                    return None;
                }
                places.push(place);
            }
            Some((pilot, places))
        };
        let (pilot, places) = (0..=u8::MAX).find_map(place).ok_or("a bucket has no pilot")?;
        pilots[bucket] = pilot;
        for ((_, entry), place) in entries.iter().zip(places) {
            table[place] = *entry;
            taken[place] = true;
        }
    }
    let path = |kind: &str| format!("{}.{kind}", path.display());
    fs_err::write(path("pilots"), pilots)?;
    fs_err::write(path("slots"), table.concat())?;
    Ok(())
}

/// Two files: the block of each 128 characters, and the distinct blocks.
fn write_classes(path: &Path) -> Result<()> {
    let mut classes = vec![0_u8; 0x11_0000];
    for (pattern, number) in CLASSES {
        let hir = regex_syntax::parse(pattern)?;
        let HirKind::Class(Class::Unicode(class)) = hir.kind() else {
            return Err(format!("{pattern} is not a class of characters").into());
        };
        for range in class.ranges() {
            classes[range.start() as usize..=range.end() as usize].fill(number);
        }
    }
    let mut blocks: Vec<&[u8]> = Vec::new();
    let mut index = Vec::new();
    for block in classes.chunks(BLOCK) {
        let at = blocks.iter().position(|known| *known == block).unwrap_or_else(|| {
            blocks.push(block);
            blocks.len() - 1
        });
        index.push(u8::try_from(at)?);
    }
    fs_err::write(path.with_extension("index"), index)?;
    fs_err::write(path.with_extension("blocks"), blocks.concat())?;
    Ok(())
}
