//! Bounded memory for unbounded output: both ends of a stream, and its lines.

use std::collections::VecDeque;

use memchr::memchr;

/// The part of a stream that is kept: all of it, or its beginning and its end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Captured {
    /// The beginning, or everything.
    pub head: String,
    /// The end, if the middle was dropped.
    pub tail: Option<String>,
    /// How many bytes the stream had.
    pub total: u64,
}

impl Captured {
    /// Everything that was kept, with a line stating how much is missing.
    pub fn text(&self) -> String {
        match &self.tail {
            None => self.head.clone(),
            Some(tail) => {
                let missing = self.left_out();
                format!("{}\n[… {missing} bytes left out …]\n{tail}", self.head)
            }
        }
    }

    /// How many bytes are missing; approximate if the stream was not UTF-8.
    pub fn left_out(&self) -> u64 {
        let kept = self.head.len() + self.tail.as_ref().map_or(0, String::len);
        if self.tail.is_some() { self.total.saturating_sub(kept as u64) } else { 0 }
    }
}

/// Collects both ends of a stream.
pub(crate) struct Capture {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    half: usize,
    total: u64,
}

impl Capture {
    pub(crate) fn new(cap: usize) -> Self {
        Self { head: Vec::new(), tail: VecDeque::new(), half: cap / 2, total: 0 }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let room = self.half.saturating_sub(self.head.len()).min(bytes.len());
        let (first, rest) = bytes.split_at(room);
        self.head.extend_from_slice(first);
        let rest = &rest[rest.len().saturating_sub(self.half)..];
        let overflow = (self.tail.len() + rest.len()).saturating_sub(self.half);
        self.tail.drain(..overflow);
        self.tail.extend(rest);
    }

    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    pub(crate) fn finish(self) -> Captured {
        let tail: Vec<u8> = self.tail.into();
        let complete = self.total == (self.head.len() + tail.len()) as u64;
        if complete {
            let all = [self.head, tail].concat();
            return Captured { head: lossy(&all), tail: None, total: self.total };
        }
        Captured { head: lossy(&self.head), tail: Some(lossy(&tail)), total: self.total }
    }
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Splits a stream into lines of bounded length; the rest of a longer line is dropped.
pub(crate) struct Lines {
    line: Vec<u8>,
    cap: usize,
}

impl Lines {
    /// The longest line. A program prints its final message, with everything in it, on a single line.
    pub(crate) const CAP: usize = 8 << 20;

    pub(crate) fn new(cap: usize) -> Self {
        Self { line: Vec::new(), cap }
    }

    /// Emits every line that is now complete, without its terminator.
    pub(crate) fn push(&mut self, mut bytes: &[u8], each: &mut dyn FnMut(&[u8])) {
        while let Some(end) = memchr(b'\n', bytes) {
            self.extend(&bytes[..end]);
            self.emit(each);
            bytes = &bytes[end + 1..];
        }
        self.extend(bytes);
    }

    /// Emits the last line if it has no terminator.
    pub(crate) fn finish(&mut self, each: &mut dyn FnMut(&[u8])) {
        if !self.line.is_empty() {
            self.emit(each);
        }
    }

    fn emit(&mut self, each: &mut dyn FnMut(&[u8])) {
        each(self.line.strip_suffix(b"\r").unwrap_or(&self.line));
        self.line.clear();
        // Release the memory of a huge line.
        self.line.shrink_to(64 << 10);
    }

    fn extend(&mut self, bytes: &[u8]) {
        let room = self.cap.saturating_sub(self.line.len()).min(bytes.len());
        self.line.extend_from_slice(&bytes[..room]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn captured(cap: usize, pieces: &[&[u8]]) -> Captured {
        let mut capture = Capture::new(cap);
        pieces.iter().for_each(|piece| capture.push(piece));
        capture.finish()
    }

    #[test]
    fn a_short_stream_is_kept_whole() {
        let all = captured(8, &[b"abc", b"defgh"]);
        assert_eq!((all.text().as_str(), all.left_out()), ("abcdefgh", 0));
    }

    #[test]
    fn a_long_stream_keeps_both_ends() {
        let all = captured(8, &[b"abcdefghij", b"k", b"lmnopqrstuvwxyz"]);
        assert_eq!((all.head.as_str(), all.tail.as_deref()), ("abcd", Some("wxyz")));
        assert_eq!((all.total, all.left_out()), (26, 18));
        assert_eq!(all.text(), "abcd\n[… 18 bytes left out …]\nwxyz");
    }

    #[test]
    fn a_character_split_between_chunks_does_not_panic() {
        let all = captured(6, &["äöüäöüäöü".as_bytes()]);
        assert_eq!((all.head.as_str(), all.tail.as_deref()), ("ä\u{fffd}", Some("\u{fffd}ü")));
    }

    fn lines(cap: usize, pieces: &[&str]) -> Vec<String> {
        let mut out = Vec::new();
        let mut each = |line: &[u8]| out.push(lossy(line));
        let mut lines = Lines::new(cap);
        pieces.iter().for_each(|piece| lines.push(piece.as_bytes(), &mut each));
        lines.finish(&mut each);
        out
    }

    #[test]
    fn lines_are_complete_however_they_arrive() {
        assert_eq!(lines(99, &["a", "b\nc", "\r\n", "\n", "half"]), ["ab", "c", "", "half"]);
    }

    #[test]
    fn only_the_line_that_is_too_long_is_cut() {
        assert_eq!(lines(3, &["abcd", "efg\nhi\n"]), ["abc", "hi"]);
    }
}
