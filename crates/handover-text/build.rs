//! Writes the vocabularies as tables that the binary maps and reads in place.
//!
//! The ranks come from `tiktoken-rs`, the classes of characters from `regex-syntax`: the same
//! sources that the reference implementation uses, so a count cannot differ by their age.

use std::path::Path;

use regex_syntax::hir::{Class, HirKind};
use tiktoken_rs::CoreBPE;

#[path = "src/tokens/hash.rs"]
mod hash;

use hash::{LONG_SLOT, RANK_BITS, SHORT, SHORT_SLOT};

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

/// Three files: short tokens, long tokens, bytes of the long tokens.
fn write_vocabulary(bpe: &CoreBPE, path: &Path) -> Result<()> {
    // Ranks are dense from zero; the first gap ends the ordinary tokens.
    let tokens: Vec<Vec<u8>> = (0..).map_while(|rank| bpe.decode_bytes(&[rank]).ok()).collect();
    let short = tokens.iter().filter(|token| token.len() <= SHORT).count();
    // Half empty: most look-ups while merging miss, and a miss ends at the first empty slot.
    let mut short_table = Table::new(short * 2, SHORT_SLOT);
    let mut long_table = Table::new((tokens.len() - short) * 2, LONG_SLOT);
    let mut bytes = Vec::new();
    for (rank, token) in tokens.iter().enumerate() {
        let rank = u32::try_from(rank)?;
        let len = u32::try_from(token.len())?;
        let tagged = (len << RANK_BITS) | rank;
        if token.len() <= SHORT {
            let key = hash::short_key(token);
            let home = hash::short_home(key, token.len(), short_table.slots());
            let mut slot = key.to_le_bytes().to_vec();
            slot.extend(tagged.to_le_bytes());
            short_table.insert(home, &slot);
        } else {
            let home = hash::long_home(token, long_table.slots());
            let mut slot = u32::try_from(bytes.len())?.to_le_bytes().to_vec();
            slot.extend(tagged.to_le_bytes());
            long_table.insert(home, &slot);
            bytes.extend(token);
        }
    }
    fs_err::write(path.with_extension("short"), short_table.data)?;
    fs_err::write(path.with_extension("long"), long_table.data)?;
    fs_err::write(path.with_extension("bytes"), bytes)?;
    Ok(())
}

/// An open-addressing hash table as it will lie in the binary; an empty slot ends in zeros.
struct Table {
    data: Vec<u8>,
    slot: usize,
}

impl Table {
    fn new(slots: usize, slot: usize) -> Self {
        Self { data: vec![0; slots * slot], slot }
    }

    fn slots(&self) -> usize {
        self.data.len() / self.slot
    }

    fn insert(&mut self, home: usize, entry: &[u8]) {
        let mut slot = home;
        while self.data[(slot + 1) * self.slot - 4..][..4] != [0; 4] {
            slot = (slot + 1) % self.slots();
        }
        self.data[slot * self.slot..][..self.slot].copy_from_slice(entry);
    }
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
