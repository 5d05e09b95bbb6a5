//! Redacts what agents print, before it is written to a log and before it is shown.

use handover_agents::{Filter, Piece};
use handover_text::{RedactionStream, Redactor};

/// A filter for one stream of a [`Tee`](handover_agents::Tee).
pub fn log_filter(redactor: &Redactor) -> Filter<'static> {
    let mut stream = Some(RedactionStream::new(redactor.clone()));
    Box::new(move |piece| match (piece, &mut stream) {
        (Piece::Bytes(bytes), Some(stream)) => stream.push(bytes),
        (Piece::Pause, Some(stream)) => stream.settle(),
        (Piece::End, _) => stream.take().map(RedactionStream::finish).unwrap_or_default(),
        (_, None) => Vec::new(),
    })
}

/// How much preceding text decides how a line is redacted.
const CONTEXT: usize = 8 << 10;

/// Redacts lines that are shown immediately. There is no waiting for more text, so each line is judged by
/// what came before it: as part of a private key, for example.
#[derive(Debug)]
pub struct ShownLines<'a> {
    redactor: &'a Redactor,
    context: String,
}

impl<'a> ShownLines<'a> {
    /// No lines so far.
    pub fn new(redactor: &'a Redactor) -> Self {
        Self { redactor, context: String::new() }
    }

    /// Adds the next text, whether or not it will be shown.
    pub fn push(&mut self, text: &str) {
        let text = &text[text.ceil_char_boundary(text.len().saturating_sub(CONTEXT))..];
        self.context.push_str(text);
        if !text.ends_with('\n') {
            self.context.push('\n');
        }
        let over = self.context.len().saturating_sub(2 * CONTEXT);
        if over > 0 {
            let from = self.context.ceil_char_boundary(over + CONTEXT / 2);
            let line = self.context[from..].find('\n').map_or(from, |at| from + at + 1);
            self.context.drain(..line);
        }
    }

    /// The last line of the last text, redacted.
    pub fn last(&self) -> String {
        let clean = self.redactor.clean(self.context.trim_end());
        clean.as_str().lines().next_back().unwrap_or_default().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: [&str; 5] = [
        "-----BEGIN RSA PRIVATE KEY-----",
        "MIIEpAIBAAKCAQEA0Zx7vK3mQpR8sT1uWnYb5cDfGhJkLqXoZeViNtMaBwSd",
        "Pq9Lk2Jh7Gf4Ds1Az8Xc5Vb3Nm6Qw0Er9Ty2Ui7Op4As1Df8Gh5Jk3Lz6Xc0",
        "Vb9Nm2Qw7Er4Ty1Ui8Op5As3Df6Gh0Jk9Lz2Xc7Vb4Nm1Qw8Er5Ty3Ui6Op0",
        "-----END RSA PRIVATE KEY-----",
    ];

    #[test]
    fn a_key_is_recognized_over_many_pieces() {
        let redactor = Redactor::default();
        let mut filter = log_filter(&redactor);
        let mut out = Vec::new();
        for line in ["before"].iter().chain(&KEY).chain(&["after"]) {
            out.extend(filter(Piece::Bytes(line.as_bytes())));
            out.extend(filter(Piece::Bytes(b"\n")));
            out.extend(filter(Piece::Pause));
        }
        out.extend(filter(Piece::End));
        assert_eq!(filter(Piece::End), b"", "it can end only once");
        let text = String::from_utf8(out).unwrap();
        assert!(text.starts_with("before\n") && text.ends_with("after\n"), "{text}");
        assert!(KEY[1..4].iter().all(|line| !text.contains(line)), "{text}");
    }

    #[test]
    fn shown_lines_of_a_key_are_recognized_by_what_came_before() {
        let redactor = Redactor::default();
        let mut shown = ShownLines::new(&redactor);
        let mut all = Vec::new();
        for line in ["before"].iter().chain(&KEY).chain(&["after"]) {
            shown.push(line);
            all.push(shown.last());
        }
        assert_eq!((all[0].as_str(), all[6].as_str()), ("before", "after"));
        assert!(KEY[1..4].iter().all(|line| !all.iter().any(|one| one.contains(line))), "{all:?}");
    }

    #[test]
    fn the_context_is_bounded() {
        let redactor = Redactor::default();
        let mut shown = ShownLines::new(&redactor);
        for n in 0..5_000 {
            shown.push(&format!("line ä {n}"));
        }
        shown.push(&"ü".repeat(100_000));
        shown.push("end");
        assert!(shown.context.len() <= 3 * CONTEXT, "{}", shown.context.len());
        assert_eq!(shown.last(), "end");
    }
}
