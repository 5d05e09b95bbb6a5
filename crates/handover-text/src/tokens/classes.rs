//! Character classes of the pre-tokenizers, from a table generated at build time.

static INDEX: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/classes.index"));
static BLOCKS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/classes.blocks"));

const BLOCK: usize = 128;

/// The classes that the patterns of o200k and cl100k distinguish.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// Punctuation, symbols, controls, unassigned.
    Other,
    /// `\p{Lu}`, `\p{Lt}`.
    Upper,
    /// `\p{Ll}`.
    Lower,
    /// `\p{Lm}`, `\p{Lo}`: letters without case.
    Caseless,
    /// `\p{M}`.
    Mark,
    /// `\p{N}`.
    Number,
    /// `\s` except line ends.
    Space,
    /// `\r`, `\n`.
    Newline,
}

impl Class {
    const ALL: [Self; 8] = [
        Self::Other,
        Self::Upper,
        Self::Lower,
        Self::Caseless,
        Self::Mark,
        Self::Number,
        Self::Space,
        Self::Newline,
    ];

    /// The class of a character.
    #[inline]
    pub(crate) fn of(c: char) -> Self {
        let c = c as usize;
        let block = INDEX.get(c / BLOCK).copied().unwrap_or_default();
        let class = BLOCKS.get(usize::from(block) * BLOCK + c % BLOCK);
        Self::ALL[usize::from(class.copied().unwrap_or_default() & 7)]
    }

    /// The class of an ASCII character, from the first block of the table.
    #[inline]
    pub(crate) fn of_ascii(byte: u8) -> Self {
        Self::ALL[usize::from(BLOCKS[usize::from(byte & 0x7f)] & 7)]
    }

    /// `\p{L}`.
    #[inline]
    pub(crate) fn is_letter(self) -> bool {
        matches!(self, Self::Upper | Self::Lower | Self::Caseless)
    }

    /// `\s`.
    #[inline]
    pub(crate) fn is_white(self) -> bool {
        matches!(self, Self::Space | Self::Newline)
    }

    /// `[^\s\p{L}\p{N}]`.
    #[inline]
    pub(crate) fn is_symbol(self) -> bool {
        matches!(self, Self::Other | Self::Mark)
    }

    /// `[^\r\n\p{L}\p{N}]`: what may precede a word as part of it.
    #[inline]
    pub(crate) fn is_lead(self) -> bool {
        matches!(self, Self::Other | Self::Mark | Self::Space)
    }
}
