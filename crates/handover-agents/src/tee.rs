//! Raw output on disk, capped and redacted line by line before it is written.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Write as _};

type Redact<'a> = Box<dyn FnMut(&[u8]) -> Cow<'_, [u8]> + 'a>;

/// Writes the raw output of a run to a file.
pub struct Tee<'a> {
    file: io::LineWriter<File>,
    left: u64,
    redact: Redact<'a>,
    error: Option<String>,
    full: bool,
}

impl<'a> Tee<'a> {
    /// Writes to an open file, which never grows beyond `cap` bytes, but for one line that says so.
    /// `redact` sees one line at a time, without its end.
    pub fn new(file: File, cap: u64, redact: impl FnMut(&[u8]) -> Cow<'_, [u8]> + 'a) -> Self {
        // Lines are visible as soon as they are printed.
        let file = io::LineWriter::new(file);
        Self { file, left: cap, redact: Box::new(redact), error: None, full: false }
    }

    /// A full disk must not end a run: the first error is kept and nothing more is written.
    pub(crate) fn line(&mut self, line: &[u8]) {
        if self.full || self.error.is_some() {
            return;
        }
        let clean = (self.redact)(line);
        let size = clean.len() as u64 + 1;
        let written = if size > self.left {
            self.full = true;
            self.file.write_all("[… the rest is left out …]\n".as_bytes())
        } else {
            self.left -= size;
            self.file.write_all(&clean).and_then(|()| self.file.write_all(b"\n"))
        };
        self.error = written.err().map(|error| error.to_string());
    }

    /// Writes buffered lines.
    pub(crate) fn flush(&mut self) {
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

    fn written(cap: u64, lines: &[&str]) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("raw.log");
        let mut tee = Tee::new(File::create(&path).unwrap(), cap, |line| Cow::Borrowed(line));
        lines.iter().for_each(|line| tee.line(line.as_bytes()));
        tee.flush();
        assert_eq!(tee.error(), None);
        fs_err::read_to_string(path).unwrap()
    }

    #[test]
    fn writes_whole_lines_up_to_the_cap() {
        assert_eq!(written(99, &["one", "", "two"]), "one\n\ntwo\n");
        assert_eq!(written(8, &["one", "two"]), "one\ntwo\n");
        let full = "one\n[… the rest is left out …]\n";
        assert_eq!(written(7, &["one", "two", "3"]), full, "nothing follows, however short");
    }

    #[test]
    fn the_cap_counts_redacted_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("raw.log");
        let mut tee = Tee::new(File::create(&path).unwrap(), 5, |_| Cow::Borrowed(b"***"));
        tee.line(b"a very long secret");
        drop(tee);
        assert_eq!(fs_err::read_to_string(path).unwrap(), "***\n");
    }

    #[test]
    fn the_first_error_is_kept_and_ends_the_writing() {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let mut tee = Tee::new(full, 1 << 20, |line| Cow::Borrowed(line));
        tee.line(b"one");
        tee.flush();
        let error = tee.error().unwrap();
        assert!(error.contains("No space left"), "{error}");
        tee.line(b"two");
        assert_eq!(tee.error(), Some(error));
    }
}
