//! Estimates Claude's tokens from the pieces and ranks of o200k.
//!
//! Claude's vocabularies are not published, but counts can be measured. What a piece of text costs
//! depends on its kind: a common word is one token in both, a rare one is several in a smaller
//! vocabulary; capitals, symbols and each script cost differently. So every o200k piece is priced by its
//! kind and by the rarity of its token (the rank of a token is the order in which it was learned). The
//! prices were fitted to true counts, with undercounts weighted slightly more than overcounts;
//! docs/tokens.md documents their accuracy and how to measure it.

use super::classes::Class;
use super::vocabulary::{NONE, O200K};
use super::{Measure, merge, split};

/// Prices are in hundredths of a token.
const UNIT: u64 = 100;

/// Rarity classes: ranks in ranges of doubling size, starting at 256.
const RARITIES: usize = 11;

/// Kinds whose single tokens are priced by rarity; the first ones of [`Kind`].
const RANKED: usize = 6;

/// The kind of a piece, in the order of the price lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Lower,
    Title,
    Mixed,
    Newline,
    Space,
    Symbol,
    Accented,
    Vietnamese,
    Greek,
    Cyrillic,
    CyrillicExtended,
    Kana,
    Han,
    Hangul,
    Semitic,
    Indic,
    Gurmukhi,
    SouthEastAsian,
    Astral,
    OtherScript,
    Number,
    OtherSymbol,
}

const KINDS: usize = Kind::OtherSymbol as usize + 1;

/// The prices of one model family, in hundredths of a token.
#[derive(Debug)]
pub(super) struct Prices {
    /// A piece that is one o200k token, by kind and rarity.
    single: [[u16; RARITIES]; RANKED],
    /// Each further character of such a piece.
    longer: [u16; RANKED],
    /// Any other piece, per token …
    token: [u16; KINDS],
    /// … and per character.
    character: [u16; KINDS],
    /// A symbol that o200k keeps with the following word.
    lead: u16,
    /// Each repetition of a character after the third, unless it forms a common ruler.
    run: u16,
}

/// Claude up to 4.6.
pub(super) static CLAUDE: Prices = Prices {
    single: [
        [101, 92, 110, 110, 104, 97, 105, 102, 121, 165, 168],
        [118, 118, 88, 102, 118, 112, 129, 141, 173, 181, 259],
        [111, 101, 94, 206, 98, 89, 98, 132, 175, 235, 196],
        [92, 40, 190, 83, 49, 126, 100, 111, 269, 122, 113],
        [105, 103, 44, 82, 114, 40, 80, 112, 136, 114, 120],
        [100, 125, 99, 60, 55, 107, 55, 83, 169, 154, 92],
    ],
    longer: [0, 0, 0, 2, 6, 25],
    token: [
        106, 122, 128, 100, 113, 89, 47, 132, 72, 49, 85, 0, 86, 84, 64, 98, 176, 47, 94, 100, 100,
        85,
    ],
    character: [1, 5, 5, 1, 0, 6, 34, 28, 44, 24, 45, 72, 37, 54, 47, 49, 117, 66, 32, 37, 0, 43],
    lead: 56,
    run: 3,
};

/// Claude from 4.7 on.
pub(super) static CLAUDE_NEW: Prices = Prices {
    single: [
        [117, 92, 114, 115, 129, 137, 210, 228, 238, 261, 282],
        [149, 149, 56, 118, 124, 131, 182, 190, 241, 222, 255],
        [66, 51, 108, 171, 110, 81, 111, 170, 200, 203, 178],
        [101, 40, 241, 169, 53, 155, 110, 139, 265, 155, 148],
        [106, 104, 118, 98, 108, 40, 156, 189, 151, 143, 148],
        [101, 111, 103, 44, 61, 150, 129, 135, 198, 189, 99],
    ],
    longer: [0, 19, 57, 2, 5, 31],
    token: [
        94, 83, 68, 92, 150, 96, 54, 131, 75, 44, 93, 0, 88, 102, 58, 89, 201, 54, 93, 102, 93, 75,
    ],
    character: [
        19, 33, 57, 0, 0, 14, 36, 28, 42, 25, 42, 71, 34, 43, 47, 52, 105, 63, 34, 36, 2, 68,
    ],
    lead: 22,
    run: 36,
};

/// The most tokens per byte of any estimate, and of Claude's own counts: a byte is at most one token, and
/// the marks around a word add at most three.
pub(super) const MOST_PER_BYTE: u64 = 4;

/// The estimate for a text, rounded up, computed up to the limit.
pub(super) fn measure(prices: &Prices, text: &str, limit: u64) -> Measure {
    let (cost, measure) = priced(prices, text, limit.saturating_mul(UNIT));
    Measure { tokens: tokens(cost), ..measure }
}

/// The tokens that a cost stands for.
pub(super) fn tokens(cost: u64) -> u64 {
    cost.div_ceil(UNIT)
}

/// What a text costs, in hundredths of a token.
pub(super) fn cost(prices: &Prices, text: &str) -> u64 {
    priced(prices, text, u64::MAX).0
}

/// What a text costs, up to the limit, and where that is.
fn priced(prices: &Prices, text: &str, enough: u64) -> (u64, Measure) {
    let bytes = text.as_bytes();
    let mut cost = 0;
    let mut measure = Measure::default();
    while measure.end < text.len() && cost <= enough {
        let start = measure.end;
        let end = split::o200k(text, start);
        let rank = O200K.rank(bytes, start, end);
        let tokens = match rank {
            NONE => merge::count_unknown(&O200K, bytes, start, end),
            _ => 1,
        };
        cost += prices.of(&text[start..end], rank, tokens);
        measure.fitting = start;
        measure.end = end;
    }
    (cost, measure)
}

impl Prices {
    fn of(&self, piece: &str, rank: u32, tokens: u64) -> u64 {
        let body = without_lead(piece);
        let kind = Kind::of(body);
        let at = kind as usize;
        let characters = match piece.is_ascii() {
            true => piece.len(),
            false => piece.chars().count(),
        } as u64;
        let mut cost = match (self.single.get(at), self.longer.get(at)) {
            (Some(single), Some(&longer)) if rank != NONE => {
                let rarity = (u32::BITS - (rank / 256).leading_zeros()) as usize;
                u64::from(single[rarity.min(RARITIES - 1)]) + u64::from(longer) * (characters - 1)
            }
            _ => u64::from(self.token[at]) * tokens + u64::from(self.character[at]) * characters,
        };
        if body.len() < piece.len() && !piece.starts_with(' ') {
            cost += u64::from(self.lead);
        }
        cost + u64::from(self.run) * repetitions(piece.as_bytes())
    }
}

/// A word without the leading character that o200k attaches to it.
fn without_lead(piece: &str) -> &str {
    let mut rest = piece.chars();
    match (rest.next(), rest.clone().next()) {
        (Some(lead), Some(first)) if Class::of(lead).is_lead() && is_word(Class::of(first)) => {
            rest.as_str()
        }
        _ => piece,
    }
}

fn is_word(class: Class) -> bool {
    class.is_letter() || class == Class::Mark
}

impl Kind {
    fn of(body: &str) -> Self {
        let class = body.chars().next().map_or(Class::Other, Class::of);
        match class {
            Class::Upper | Class::Lower | Class::Caseless | Class::Mark => Self::of_word(body),
            Class::Number => Self::Number,
            Class::Newline | Class::Space if body.trim().is_empty() => {
                match body.contains(['\n', '\r']) {
                    true => Self::Newline,
                    false => Self::Space,
                }
            }
            Class::Other | Class::Newline | Class::Space => match body.is_ascii() {
                true => Self::Symbol,
                false => Self::OtherSymbol,
            },
        }
    }

    fn of_word(body: &str) -> Self {
        let Some(foreign) = body.chars().find(|c| !c.is_ascii()) else {
            let capitals = body.bytes().filter(u8::is_ascii_uppercase).count();
            return match capitals {
                0 => Self::Lower,
                1 if body.len() > 1 && body.starts_with(|c: char| c.is_ascii_uppercase()) => {
                    Self::Title
                }
                _ => Self::Mixed,
            };
        };
        let vietnamese =
            |c| matches!(c, '\u{1ea0}'..='\u{1ef9}' | 'đ' | 'Đ' | 'ơ' | 'Ơ' | 'ư' | 'Ư');
        match foreign {
            _ if body.contains(vietnamese) => Self::Vietnamese,
            '\u{80}'..='\u{24f}' => Self::Accented,
            '\u{370}'..='\u{3ff}' | '\u{1f00}'..='\u{1fff}' => Self::Greek,
            '\u{400}'..='\u{52f}' => {
                match body.contains(|c| ('\u{48a}'..='\u{52f}').contains(&c)) {
                    true => Self::CyrillicExtended,
                    false => Self::Cyrillic,
                }
            }
            '\u{590}'..='\u{8ff}' => Self::Semitic,
            '\u{a00}'..='\u{a7f}' => Self::Gurmukhi,
            '\u{900}'..='\u{dff}' => Self::Indic,
            '\u{1100}'..='\u{11ff}' | '\u{ac00}'..='\u{d7a3}' => Self::Hangul,
            '\u{e00}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' => Self::SouthEastAsian,
            '\u{3040}'..='\u{30ff}' => Self::Kana,
            '\u{2e80}'..='\u{303f}'
            | '\u{3400}'..='\u{4dbf}'
            | '\u{4e00}'..='\u{9fff}'
            | '\u{f900}'..='\u{faff}' => Self::Han,
            '\u{10000}'.. => Self::Astral,
            _ => Self::OtherScript,
        }
    }
}

/// How many bytes repeat the three before them. Rulers of common characters are single tokens.
fn repetitions(piece: &[u8]) -> u64 {
    if piece.len() <= 3 {
        return 0;
    }
    let repeats = piece.windows(4).filter(|window| {
        window.iter().all(|byte| *byte == window[3])
            && window[3].is_ascii_graphic()
            && !window[3].is_ascii_digit()
            && !b"#*-./=_?".contains(&window[3])
    });
    repeats.count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_price_exceeds_the_bound() {
        let within = |price: u16| u64::from(price) <= MOST_PER_BYTE * UNIT;
        for prices in [&CLAUDE, &CLAUDE_NEW] {
            // The first byte of a single-token piece, and every further one.
            assert!(prices.single.iter().flatten().all(|&price| within(price)));
            for longer in prices.longer {
                assert!(within(longer + prices.lead + prices.run));
            }
            // Every byte of any other piece; a lead implies at least two bytes.
            for (token, character) in prices.token.iter().zip(prices.character) {
                assert!(within(token + character + prices.lead.div_ceil(2) + prices.run));
            }
        }
    }

    #[test]
    fn classifies_pieces() {
        for (piece, kind) in [
            (" word", Kind::Lower),
            ("(Word", Kind::Title),
            ("_ID", Kind::Mixed),
            ("A", Kind::Mixed),
            ("\n\n", Kind::Newline),
            ("\u{a0}", Kind::Space),
            (" ==", Kind::Symbol),
            ("123", Kind::Number),
            (" naïve", Kind::Accented),
            ("世界", Kind::Han),
            ("한국", Kind::Hangul),
            ("👍", Kind::OtherSymbol),
        ] {
            assert_eq!(Kind::of(without_lead(piece)), kind, "{piece:?}");
        }
    }

    #[test]
    fn repetitions_count_from_the_fourth() {
        assert_eq!(repetitions(b"~~~"), 0);
        assert_eq!(repetitions(b"~~~~~"), 2);
        assert_eq!(repetitions(b"-----"), 0);
    }
}
