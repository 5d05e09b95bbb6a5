//! How many tokens a text costs.

/// An estimate that does not undercount ordinary text: a token is about three and a half
/// characters of Latin text, and at least one per character of denser scripts.
pub fn estimate(text: &str) -> u64 {
    let ascii = text.bytes().filter(u8::is_ascii).count() as u64;
    let other = text.chars().filter(|c| !c.is_ascii()).count() as u64;
    (ascii * 2).div_ceil(7) + other
}
