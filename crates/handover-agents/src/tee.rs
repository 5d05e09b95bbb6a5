//! The output of a run on disk: filtered, and limited in size.

use std::fs::File;
use std::io::{self, Write as _};

/// The input of a [`Filter`].
#[derive(Debug, Clone, Copy)]
pub enum Piece<'a> {
    /// The next bytes of the stream, split anywhere.
    Bytes(&'a [u8]),
    /// No output for a while: release whatever can be decided by now.
    Pause,
    /// The end: release everything.
    End,
}

/// Redacts secrets from one stream. It returns what can be written now and may hold back the rest, because
/// a secret can span many lines.
pub type Filter<'a> = Box<dyn FnMut(Piece<'_>) -> Vec<u8> + 'a>;

/// The longest incomplete line that is held back.
const LONGEST_LINE: usize = 64 << 10;

/// Writes the output of a run to a file, line by line.
pub struct Tee<'a> {
    file: io::BufWriter<File>,
    left: u64,
    streams: [TeeStream<'a>; 2],
    error: Option<String>,
    full: bool,
}

/// One of the two streams. Each has its own filter: lines of both are interleaved, secrets are not.
struct TeeStream<'a> {
    filter: Filter<'a>,
    /// The beginning of a line whose end has not been released.
    line: Vec<u8>,
    /// Whether there was output since the last pause.
    is_open: bool,
}

impl<'a> Tee<'a> {
    /// Writes to an open file, which never grows beyond `cap` bytes except for one line that says so.
    /// `filter` is called once per stream.
    pub fn new(file: File, cap: u64, mut filter: impl FnMut() -> Filter<'a>) -> Self {
        let mut stream = || TeeStream { filter: filter(), line: Vec::new(), is_open: false };
        let streams = [stream(), stream()];
        Self { file: io::BufWriter::new(file), left: cap, streams, error: None, full: false }
    }

    /// Accepts the next bytes of standard output (0) or standard error (1).
    pub(crate) fn push(&mut self, stream: usize, bytes: &[u8]) {
        self.streams[stream].is_open = true;
        self.pass(stream, Piece::Bytes(bytes));
        self.flush();
    }

    /// Called when there was no output for a while.
    pub(crate) fn pause(&mut self) {
        for stream in 0..self.streams.len() {
            if std::mem::take(&mut self.streams[stream].is_open) {
                self.pass(stream, Piece::Pause);
                self.flush();
            }
        }
    }

    /// Writes everything that is still held back.
    pub(crate) fn finish(&mut self) {
        for stream in 0..self.streams.len() {
            self.pass(stream, Piece::End);
            let rest = std::mem::take(&mut self.streams[stream].line);
            if !rest.is_empty() {
                self.line(&rest);
            }
        }
        self.flush();
    }

    fn pass(&mut self, stream: usize, piece: Piece<'_>) {
        if self.full || self.error.is_some() {
            return;
        }
        let released = (self.streams[stream].filter)(piece);
        let mut rest = released.as_slice();
        while let Some(end) = memchr::memchr(b'\n', rest) {
            let mut line = std::mem::take(&mut self.streams[stream].line);
            line.extend_from_slice(&rest[..end]);
            self.line(line.strip_suffix(b"\r").unwrap_or(&line));
            rest = &rest[end + 1..];
        }
        let line = &mut self.streams[stream].line;
        line.extend_from_slice(rest);
        if line.len() > LONGEST_LINE {
            let long = std::mem::take(line);
            self.write(&long, b"");
        }
    }

    fn line(&mut self, line: &[u8]) {
        self.write(line, b"\n");
    }

    /// A full disk must not end a run: the first error is kept and nothing more is written.
    fn write(&mut self, text: &[u8], end: &[u8]) {
        if self.full || self.error.is_some() {
            return;
        }
        let size = (text.len() + end.len()) as u64;
        let written = if size > self.left {
            self.full = true;
            self.file.write_all("[… the rest was dropped …]\n".as_bytes())
        } else {
            self.left -= size;
            self.file.write_all(text).and_then(|()| self.file.write_all(end))
        };
        self.error = written.err().map(|error| error.to_string());
    }

    /// Flushes buffered lines: after a crash, the last ones are the most interesting.
    fn flush(&mut self) {
        if let Err(error) = self.file.flush() {
            self.error.get_or_insert_with(|| error.to_string());
        }
    }

    pub(crate) fn error(&self) -> Option<String> {
        self.error.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unfiltered() -> Filter<'static> {
        Box::new(|piece| match piece {
            Piece::Bytes(bytes) => bytes.to_vec(),
            Piece::Pause | Piece::End => Vec::new(),
        })
    }

    fn written(cap: u64, pieces: &[(usize, &str)]) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("raw.log");
        let mut tee = Tee::new(File::create(&path).unwrap(), cap, unfiltered);
        pieces.iter().for_each(|(stream, piece)| tee.push(*stream, piece.as_bytes()));
        tee.finish();
        assert_eq!(tee.error(), None);
        fs_err::read_to_string(path).unwrap()
    }

    #[test]
    fn writes_whole_lines_up_to_the_cap() {
        assert_eq!(written(99, &[(0, "one\n\ntwo")]), "one\n\ntwo\n");
        assert_eq!(written(8, &[(0, "one\ntwo\n")]), "one\ntwo\n");
        let full = "one\n[… the rest was dropped …]\n";
        assert_eq!(written(7, &[(0, "one\ntwo\n3\n")]), full, "nothing follows, however short");
    }

    #[test]
    fn lines_of_both_streams_are_interleaved_but_never_split() {
        let pieces = [(0, "on"), (1, "err"), (0, "e\r\ntw"), (1, "or\n"), (0, "o")];
        assert_eq!(written(99, &pieces), "one\nerror\ntwo\n");
    }

    #[test]
    fn an_endless_line_is_eventually_released() {
        let long = "x".repeat(LONGEST_LINE * 3);
        assert_eq!(written(1 << 20, &[(0, &long)]).len(), long.len());
    }

    #[test]
    fn the_cap_counts_filtered_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("raw.log");
        let filter = || -> Filter<'static> {
            Box::new(|piece| match piece {
                Piece::Bytes(_) => b"***\n".to_vec(),
                Piece::Pause | Piece::End => Vec::new(),
            })
        };
        let mut tee = Tee::new(File::create(&path).unwrap(), 5, filter);
        tee.push(0, b"a very long secret\n");
        tee.finish();
        assert_eq!(fs_err::read_to_string(path).unwrap(), "***\n");
    }

    #[test]
    fn a_filter_may_hold_back_until_a_pause_or_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("raw.log");
        let filter = || -> Filter<'static> {
            let mut held = Vec::new();
            Box::new(move |piece| match piece {
                Piece::Bytes(bytes) => {
                    held.extend_from_slice(bytes);
                    Vec::new()
                }
                Piece::Pause | Piece::End => std::mem::take(&mut held),
            })
        };
        let mut tee = Tee::new(File::create(&path).unwrap(), 99, filter);
        tee.push(0, b"one\n");
        assert_eq!(fs_err::read_to_string(&path).unwrap(), "");
        tee.pause();
        assert_eq!(fs_err::read_to_string(&path).unwrap(), "one\n");
        tee.push(1, b"two");
        tee.finish();
        assert_eq!(fs_err::read_to_string(&path).unwrap(), "one\ntwo\n");
    }

    #[test]
    fn writing_stops_at_the_first_error() {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let mut tee = Tee::new(full, 1 << 20, unfiltered);
        tee.push(0, b"one\n");
        let error = tee.error().unwrap();
        assert!(error.contains("No space left"), "{error}");
        tee.push(0, b"two\n");
        assert_eq!(tee.error(), Some(error));
    }
}
