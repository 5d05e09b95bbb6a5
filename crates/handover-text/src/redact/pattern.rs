//! The pattern language for vendors' token formats.
//!
//! A pattern is a literal prefix followed by literals and classes with lengths: `ghp_{w36}`,
//! `SG.{b22}.{b43}`, `xoxb-{x10,}`. The last class is greedy, so that no tail of a longer token is
//! left behind. Suffixes: `!` the token must end there, `?` its body must look random. `<36<` as a
//! prefix: at least 36 bytes of the token precede the literal.
//!
//! | class | bytes |
//! |---|---|
//! | `d` `h` `H` | digits, lower-case hex, hex |
//! | `a` `A` `l` `w` | lower-case letters and digits, upper-case ones, lower-case letters, all |
//! | `b` `B` | base64 for URLs, base64 |
//! | `U` | hex and `-`, as in a UUID |
//! | `x` `p` | any byte used in tokens, the same with `%` escapes |
//! | `C` `c` | crypt's base64, crypt's salt |

use super::bytes::{self, ALNUM, DIGIT, HEX, LOWER, UPPER};

/// The most bytes an open-ended class in the middle of a pattern matches.
const MIDDLE: usize = 256;
/// How far a token may extend to the left of its literal.
const BACK: usize = 256;

/// A pattern, parsed as far as matching needs it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pattern<'p> {
    body: &'p str,
    /// The least number of token bytes before the literal.
    before: usize,
    /// The token must end where the pattern does.
    exact: bool,
    /// The body must look random.
    pub(super) random: bool,
}

impl<'p> Pattern<'p> {
    pub(super) fn new(text: &'p str) -> Self {
        let (text, random) = match text.strip_suffix('?') {
            Some(rest) => (rest, true),
            None => (text, false),
        };
        let (text, exact) = match text.strip_suffix('!') {
            Some(rest) => (rest, true),
            None => (text, false),
        };
        let (body, before) = match text.strip_prefix('<').and_then(|t| t.split_once('<')) {
            Some((n, rest)) => (rest, n.parse().unwrap_or(0)),
            None => (text, 0),
        };
        Self { body, before, exact, random }
    }

    /// The literal prefix of the pattern.
    pub(super) fn literal(&self) -> &'p str {
        self.body.split('{').next().unwrap_or_default()
    }

    /// Matches at `at`; returns the end of the shortest token, before the last class is extended.
    pub(super) fn matches(&self, text: &[u8], at: usize) -> Option<usize> {
        let mut parts = Parts(self.body.as_bytes());
        let mut end = at;
        let mut next = parts.next();
        while let Some(part) = next {
            next = parts.next();
            match part {
                Part::Literal(literal) => {
                    text.get(end..)?.starts_with(literal).then_some(())?;
                    end += literal.len();
                }
                Part::Class { class, min, max } => {
                    let stop = match next {
                        Some(Part::Literal(literal)) => literal.first().copied(),
                        Some(Part::Class { .. }) | None => None,
                    };
                    let cap = if next.is_some() { max.min(MIDDLE) } else { max };
                    let cap = if next.is_none() && !self.exact { min } else { cap };
                    let taken = take(text, end, class, min, cap, stop);
                    (taken >= min).then_some(())?;
                    end += taken;
                }
            }
        }
        let open = self.exact && text.get(end).is_some_and(|b| bytes::is(*b, ALNUM) || *b == b'_');
        (!open).then_some(end)
    }

    /// The whole token of a match that ends at `end`: the last class is extended as far as possible.
    pub(super) fn extend(&self, text: &[u8], at: usize, end: usize) -> Option<(usize, usize)> {
        let back = if self.before == 0 {
            0
        } else {
            bytes::run_back(text, at, BACK, |b| {
                bytes::is(b, ALNUM) || matches!(b, b'_' | b'-' | b'.' | b':')
            })
        };
        (back >= self.before).then_some(())?;
        let more = match Parts(self.body.as_bytes()).last() {
            Some(Part::Class { class, .. }) if !self.exact => {
                bytes::run(text, end, usize::MAX, |b| class_has(class, b))
            }
            Some(Part::Class { .. } | Part::Literal(_)) | None => 0,
        };
        let mut end = end + more;
        // A trailing full stop ends the sentence.
        while end > at && text.get(end - 1) == Some(&b'.') {
            end -= 1;
        }
        Some((at - back, end))
    }
}

#[derive(Debug, Clone, Copy)]
enum Part<'p> {
    Literal(&'p [u8]),
    Class { class: u8, min: usize, max: usize },
}

struct Parts<'p>(&'p [u8]);

impl<'p> Iterator for Parts<'p> {
    type Item = Part<'p>;

    fn next(&mut self) -> Option<Part<'p>> {
        let (&first, rest) = self.0.split_first()?;
        if first != b'{' {
            let len = self.0.iter().take_while(|b| **b != b'{').count();
            let (literal, rest) = self.0.split_at(len);
            self.0 = rest;
            return Some(Part::Literal(literal));
        }
        let (&class, rest) = rest.split_first()?;
        let (min, rest) = number(rest);
        let (max, rest) = match rest.split_first() {
            Some((b',', rest)) => match number(rest) {
                (0, rest) => (usize::MAX, rest),
                (n, rest) => (n, rest),
            },
            Some(_) | None => (min, rest),
        };
        self.0 = rest.strip_prefix(b"}").unwrap_or(rest);
        Some(Part::Class { class, min, max })
    }
}

fn number(text: &[u8]) -> (usize, &[u8]) {
    let len = text.iter().take_while(|b| b.is_ascii_digit()).count();
    let (digits, rest) = text.split_at(len);
    let n = digits.iter().fold(0, |n, d| n * 10 + usize::from(d - b'0'));
    (n, rest)
}

fn take(text: &[u8], at: usize, class: u8, min: usize, max: usize, stop: Option<u8>) -> usize {
    let tail = text.get(at..).unwrap_or_default();
    tail.iter()
        .enumerate()
        .take(max)
        .take_while(|(i, b)| class_has(class, **b) && (*i < min || Some(**b) != stop))
        .count()
}

pub(super) fn class_has(class: u8, b: u8) -> bool {
    match class {
        b'd' => bytes::is(b, DIGIT),
        b'h' => bytes::is(b, HEX) && !bytes::is(b, UPPER),
        b'H' => bytes::is(b, HEX),
        b'a' => bytes::is(b, DIGIT | LOWER),
        b'A' => bytes::is(b, DIGIT | UPPER),
        b'l' => bytes::is(b, LOWER),
        b'w' => bytes::is(b, ALNUM),
        b'b' => bytes::is(b, ALNUM) || matches!(b, b'_' | b'-'),
        b'B' => bytes::is(b, ALNUM) || matches!(b, b'+' | b'/' | b'='),
        b'U' => bytes::is(b, HEX) || b == b'-',
        b'x' => bytes::is(b, ALNUM) || matches!(b, b'_' | b'-' | b'.' | b'=' | b'+' | b'/' | b'~'),
        b'p' => class_has(b'x', b) || b == b'%',
        b'C' => bytes::is(b, ALNUM) || matches!(b, b'.' | b'/'),
        b'c' => bytes::is(b, ALNUM) || matches!(b, b'.' | b'/' | b'='),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token<'t>(pattern: &str, text: &'t str) -> Option<&'t str> {
        let pattern = Pattern::new(pattern);
        let end = pattern.matches(text.as_bytes(), 0)?;
        let (start, end) = pattern.extend(text.as_bytes(), 0, end)?;
        text.get(start..end)
    }

    #[test]
    fn last_class_is_greedy() {
        assert_eq!(token("ab_{d3}", "ab_12345x"), Some("ab_12345"));
        assert_eq!(token("ab_{d3}", "ab_12x"), None);
        assert_eq!(token("ab_{d3}!", "ab_1234"), None);
        assert_eq!(token("ab_{d3}!", "ab_123-"), Some("ab_123"));
        assert_eq!(token("ab{x2,}.{d2}", "abx-y.12"), Some("abx-y.12"));
    }

    #[test]
    fn excludes_a_trailing_full_stop() {
        assert_eq!(token("k-{x3,}", "k-a.b. Then"), Some("k-a.b"));
    }
}
