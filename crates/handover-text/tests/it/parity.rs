//! Token counts against the reference implementation, over strings of every script.

use handover_text::tokens::{Tokenizer, count};
use tiktoken_rs::CoreBPE;

const STRINGS: usize = 100_000;

/// Fragments that the patterns treat specially, and the beginnings and ends of classes.
const FRAGMENTS: &[&str] = &[
    " ",
    "  ",
    "   ",
    "\t",
    "\n",
    "\r\n",
    "\r",
    "\n\n",
    " \n",
    "\n ",
    "\u{b}",
    "\u{85}",
    "\u{a0}",
    "\u{2003}",
    "\u{2028}",
    "\u{3000}",
    "'s",
    "'S",
    "'ſ",
    "'re",
    "'RE",
    "'Ve",
    "'lL",
    "'ll",
    "'d",
    "'m",
    "'T",
    "'",
    "''",
    "’s",
    "'x",
    "/",
    "//",
    "/\n",
    "\n/",
    ";\r\n",
    "()",
    "{\n",
    "0",
    "12",
    "2024",
    "1234567",
    "½",
    "Ⅻ",
    "٣",
    "हिन्दी",
    "e\u{301}",
    "\u{301}",
    "\u{301}\u{302}",
    "ǅ",
    "ʰ",
    "ª",
    "İ",
    "ß",
    "Straße",
    "ΑΒΓ",
    "Ωμέγα",
    "Привет",
    "МИР",
    "שלום",
    "مرحبا",
    "你好世界",
    "こんにちは",
    "カタカナ",
    "안녕하세요",
    "ไทย",
    "ქართული",
    "Հայերեն",
    "தமிழ்",
    "ᏣᎳᎩ",
    "👍🏽",
    "👩‍👩‍👧‍👦",
    "🇩🇪",
    "\u{200d}",
    "\u{200b}",
    "\u{feff}",
    "\u{e000}",
    "\u{10ffff}",
    "\0",
    "\u{7f}",
    "the",
    " the",
    "The",
    "THE",
    "HTTPServer",
    "camelCase",
    "snake_case",
    "<|endoftext|>",
    "aaaaaaaaaaaaaaaa",
    "=======",
    "--------",
    "\u{1d400}",
    "𝔸𝔹",
    "𐐀𐐨",
    "---",
    "...",
    "https://",
    "€100",
    "x²",
    "#include",
    "fn main() {\n    ",
    "\t\treturn ",
    "==",
    "=> ",
];

/// A small generator: the same strings in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % end
    }

    fn character(&mut self) -> char {
        let end = match self.below(8) {
            0 | 1 => 0x80,
            2 => 0x250,
            3 => 0x3000,
            4 => 0x1_0000,
            5 => 0x2_0000,
            _ => 0x11_0000,
        };
        loop {
            if let Some(c) = char::from_u32(self.below(end) as u32) {
                return c;
            }
        }
    }

    /// Neighbours in one block, so that words of rare scripts arise.
    fn word(&mut self) -> String {
        let origin = self.character() as u32;
        (0..1 + self.below(8))
            .filter_map(|_| char::from_u32(origin + self.below(24) as u32))
            .collect()
    }

    fn fragment(&mut self) -> &'static str {
        FRAGMENTS[self.below(FRAGMENTS.len())]
    }

    fn string(&mut self) -> String {
        let mut text = String::new();
        for _ in 0..1 + self.below(10) {
            match self.below(5) {
                0 => text.push(self.character()),
                1 => text.push_str(&self.word()),
                2 => text.push_str(&self.fragment().repeat(3)),
                _ => text.push_str(self.fragment()),
            }
        }
        text
    }
}

#[track_caller]
fn check(tokenizer: Tokenizer, reference: &CoreBPE, text: &str) {
    let expected = reference.encode_ordinary(text).len() as u64;
    assert_eq!(count(tokenizer, text), expected, "{tokenizer:?} {text:?}");
}

fn check_all(tokenizer: Tokenizer, reference: &CoreBPE) {
    let mut random = Random(0x5eed);
    for _ in 0..STRINGS {
        check(tokenizer, reference, &random.string());
    }
    // Every character once, alone and inside a word: all general categories.
    for block in 0..0x11_0000 / 64 {
        let block = (block * 64..block * 64 + 64).filter_map(char::from_u32);
        let text: String = block.flat_map(|c| [c, 'a', c, 'B', ' ', c, c, '1', c]).collect();
        check(tokenizer, reference, &text);
    }
    // One huge piece of each kind.
    for unit in ["a", "A", " ", "\n", "=", "ab", "你", "abcdefghijklmnop", "\u{301}", "é"] {
        check(tokenizer, reference, &unit.repeat(20_000 / unit.len()));
    }
}

#[test]
fn o200k_matches_the_reference() {
    check_all(Tokenizer::O200k, tiktoken_rs::o200k_base_singleton());
}

#[test]
fn cl100k_matches_the_reference() {
    check_all(Tokenizer::Cl100k, tiktoken_rs::cl100k_base_singleton());
}
