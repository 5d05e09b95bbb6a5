//! Redaction of a stream, such as the output of an agent: text goes in as it arrives and comes out
//! redacted, as soon as nothing that follows can change how it is read.
//!
//! A window over the stream is examined like any other text. Its front has been released and serves as
//! context; of the rest, the last few lines stay back, and so does everything from the start of a
//! structure that is not complete: a private key, a base64 block, the data of what may be a Kubernetes
//! Secret. The window is bounded: when it is full, what it holds is decided as if the stream ended.

use std::ops::Range;

use handover_model::RedactionMode;

use super::marks::Marks;
use super::{Hit, Redactor, bytes, kubernetes, lines, pem};

/// Sizes in bytes.
#[derive(Debug, Clone, Copy)]
struct Limits {
    /// The window is examined after this much new text, or half of its size, if that is more.
    step: usize,
    /// No detector looks further ahead, except into a structure.
    ahead: usize,
    /// No detector looks further back, except to the start of a structure.
    behind: usize,
    /// The most text that is held back.
    most: usize,
}

const LIMITS: Limits =
    Limits { step: 4096, ahead: 1024, behind: 4096, most: RedactionStream::LONGEST };

/// How much of a secret that continues past the window is kept, to recognise its continuation.
const HEAD: usize = 256;

/// A redactor for text that arrives in pieces.
///
/// The output does not depend on where the pieces end, and for streams shorter than
/// [`LONGEST`](Self::LONGEST) it is what [`Redactor::redact_bytes`] returns for the whole.
/// Numbers of marks that the stream already contains are not reserved before they arrive.
#[derive(Debug)]
pub struct RedactionStream {
    redactor: Redactor,
    marks: Marks,
    limits: Limits,
    window: Vec<u8>,
    /// The window up to here has been released.
    released: usize,
    /// The window is examined when it is this long.
    due: usize,
    /// What was released last ends inside a secret.
    inside: bool,
    /// How many bytes were examined in all.
    #[cfg(test)]
    examined: usize,
}

impl RedactionStream {
    /// The most bytes that are held back: a secret is never split unless it is longer.
    pub const LONGEST: usize = 256 * 1024;

    /// A stream that hides what this redactor hides.
    pub fn new(redactor: Redactor) -> Self {
        Self::with_limits(redactor, LIMITS)
    }

    fn with_limits(redactor: Redactor, limits: Limits) -> Self {
        Self {
            redactor,
            marks: Marks::default(),
            limits,
            window: Vec::new(),
            released: 0,
            due: limits.step,
            inside: false,
            #[cfg(test)]
            examined: 0,
        }
    }

    /// Takes the next piece; returns what can be released, redacted. Pieces may end anywhere, also inside
    /// a character.
    pub fn push(&mut self, mut piece: &[u8]) -> Vec<u8> {
        if self.redactor.mode == RedactionMode::Off {
            return piece.to_vec();
        }
        let mut out = Vec::new();
        while !piece.is_empty() {
            let room = self.due.saturating_sub(self.window.len()).max(1);
            let (now, later) = piece.split_at(room.min(piece.len()));
            self.window.extend_from_slice(now);
            piece = later;
            if self.window.len() >= self.due {
                self.release(&mut out);
            }
        }
        out
    }

    /// Releases what can be decided now, for a reader who waits. Costs as much as a step: call it when
    /// the stream pauses, not for every line.
    pub fn settle(&mut self) -> Vec<u8> {
        let mut out = Vec::new();
        if self.window.len() > self.released {
            self.release(&mut out);
        }
        out
    }

    /// Ends the stream; returns the rest.
    pub fn finish(mut self) -> Vec<u8> {
        let mut out = Vec::new();
        let window = std::mem::take(&mut self.window);
        let text = bytes::as_text(&window);
        let redactor = self.redactor.clone();
        let (hits, _) = redactor.examine(&text);
        self.emit(&window, &text, &hits, window.len(), &mut out);
        out
    }

    fn release(&mut self, out: &mut Vec<u8>) {
        let window = std::mem::take(&mut self.window);
        let text = bytes::as_text(&window);
        let redactor = self.redactor.clone();
        let (hits, structures) = redactor.examine(&text);
        #[cfg(test)]
        {
            self.examined += text.len();
        }
        let raw = text.as_bytes();
        let end = raw.len().saturating_sub(self.limits.ahead).max(self.released);
        let mut cut = self.line_before(raw, &hits, end.min(self.complete(raw)));
        let full = raw.len() - self.released >= self.limits.most;
        let mut split = None;
        if full && cut - self.released < self.limits.most / 2 {
            (cut, split) = self.decide(raw, &hits, end);
        }
        self.emit(&window, &text, &hits, cut, out);
        let from = match split {
            Some(hit) => return self.split(&window, &hit),
            None if self.inside => 0,
            None => self.context(raw, cut, &structures),
        };
        self.released = cut - from;
        self.window = window;
        self.window.drain(..from);
        self.schedule();
    }

    fn schedule(&mut self) {
        let len = self.window.len();
        let full = self.released + self.limits.most;
        self.due = (len + self.limits.step.max(len / 2)).min(full).max(len + 1);
    }

    /// The end of what does not belong to an incomplete structure.
    fn complete(&self, text: &[u8]) -> usize {
        let open = [
            pem::open(text, self.released),
            kubernetes::open(text, self.released),
            lines::open_block(text, self.released),
        ];
        open.into_iter().flatten().min().unwrap_or(text.len())
    }

    /// The last start of a line up to `end` that is not inside a secret.
    fn line_before(&self, text: &[u8], hits: &[Hit<'_>], end: usize) -> usize {
        let mut cut = end;
        loop {
            let back = bytes::run_back(text, cut, cut - self.released.min(cut), |b| b != b'\n');
            cut = (cut - back).max(self.released);
            match around(hits, cut) {
                Some(hit) if cut > self.released => cut = hit.start.max(self.released),
                Some(_) | None => return cut,
            }
        }
    }

    /// Where to cut a window that is full: before the secret that reaches its end, or inside that, or
    /// between words.
    fn decide(&self, text: &[u8], hits: &[Hit<'_>], end: usize) -> (usize, Option<Range<usize>>) {
        let line = self.line_before(text, hits, end);
        if line - self.released >= self.limits.most / 2 {
            return (line, None);
        }
        match around(hits, end) {
            Some(hit) if hit.start > self.released => (hit.start, None),
            Some(hit) if hit.end >= text.len() => (text.len(), Some(hit.start..hit.end)),
            Some(hit) => (hit.end, None),
            None => {
                let word = |b: u8| bytes::is(b, bytes::RUN) || !b.is_ascii();
                let back = bytes::run_back(text, end, self.limits.most / 4, word);
                let cut = if back < self.limits.most / 4 { end - back } else { end };
                let cut = around(hits, cut).map_or(cut, |hit| hit.start.max(self.released));
                (if cut > self.released { cut } else { end }, None)
            }
        }
    }

    /// Writes the window up to `cut`, with marks for its secrets.
    fn emit(&mut self, window: &[u8], text: &str, hits: &[Hit<'_>], cut: usize, out: &mut Vec<u8>) {
        self.marks.reserve(text);
        let mut at = self.released;
        for hit in hits.iter().filter(|hit| hit.end > self.released && hit.start < cut) {
            out.extend_from_slice(&window[at..hit.start.max(at)]);
            // The mark of a secret that was split has been written.
            if !(self.inside && hit.start < self.released) {
                let start = hit.start.max(self.released);
                out.extend_from_slice(self.marks.mark(hit.rule, &text[start..hit.end]).as_bytes());
            }
            at = hit.end.min(cut);
        }
        out.extend_from_slice(&window[at..cut.max(at)]);
        self.inside &= cut == self.released;
    }

    /// Where the context of a cut begins: some lines before it, or the start of a structure around it.
    fn context(&self, text: &[u8], cut: usize, structures: &[Range<usize>]) -> usize {
        let mut from = cut.saturating_sub(self.limits.behind);
        if from > 0 {
            let rest = bytes::run(text, from, cut - from, |b| b != b'\n');
            from = if rest < cut - from { from + rest + 1 } else { from };
        }
        let around = structures.iter().filter(|s| s.start < cut && cut <= s.end);
        let start = around.map(|s| bytes::line_start(text, s.start, 256)).min().unwrap_or(from);
        let start = if cut - start.min(cut) > self.limits.most { from } else { start.min(from) };
        (start..=cut).find(|at| !(0x80..0xc0).contains(text.get(*at).unwrap_or(&0))).unwrap_or(cut)
    }

    /// Continues inside a secret: its beginning stays, so that what follows is read as part of it.
    fn split(&mut self, window: &[u8], hit: &Range<usize>) {
        let from = hit.start - bytes::run_back(window, hit.start, 64, |b| b != b'\n');
        let mut to = (hit.start + HEAD).min(hit.end);
        to += bytes::run(window, to, HEAD.min(hit.end - to), |b| b != b'\n');
        self.window = window[from..to].to_vec();
        self.released = self.window.len();
        self.inside = true;
        self.schedule();
    }
}

/// The secret that contains the offset, not at its start.
fn around<'h, 'r>(hits: &'h [Hit<'r>], at: usize) -> Option<&'h Hit<'r>> {
    let next = hits.partition_point(|hit| hit.end <= at);
    hits.get(next).filter(|hit| hit.start < at)
}

#[cfg(test)]
mod tests;
