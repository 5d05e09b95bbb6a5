//! Reading what comes on standard input or from a file named on the command line.

use std::io::{BufRead, BufReader, IsTerminal, Read};
use std::path::Path;

use serde::Deserialize;

use crate::error::{CommandError, Exit, io};

/// The largest text that a command takes.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// A line of JSON lines that carries a text.
#[derive(Debug, Deserialize)]
struct TextLine {
    text: String,
}

/// Where standard input comes from.
#[derive(Debug, Clone)]
pub(crate) enum Stdin {
    /// The process's own.
    Process,
    /// A given text: the demo plays its commands this way.
    Text(String),
}

impl Stdin {
    /// All of it as text. `what` says what is expected, for the error when nobody is there to give it.
    pub(crate) fn read(&self, what: &str) -> Result<String, CommandError> {
        text(self.open(what)?, what)
    }

    /// All of it, as it is and however much.
    pub(crate) fn bytes(&self, what: &str) -> Result<Vec<u8>, CommandError> {
        let mut bytes = Vec::new();
        self.open(what)?.read_to_end(&mut bytes).map_err(|error| io(&error))?;
        Ok(bytes)
    }

    /// Reads one JSON object a line and hands its text on; blank lines are skipped.
    pub(crate) fn each_text_line(
        &self,
        what: &str,
        mut visit: impl FnMut(&str) -> Result<(), CommandError>,
    ) -> Result<(), CommandError> {
        for (index, line) in BufReader::new(self.open(what)?).split(b'\n').enumerate() {
            let line = line.map_err(|error| io(&error))?;
            if line.trim_ascii().is_empty() {
                continue;
            }
            let line: TextLine = serde_json::from_slice(&line).map_err(|error| {
                CommandError::invalid(format!("line {} is not valid: {error}", index + 1))
                    .hinted("Each line is one JSON object such as {\"text\": \"…\"}.")
            })?;
            visit(&line.text)?;
        }
        Ok(())
    }

    /// Whether a person would have to type it.
    pub(crate) fn is_terminal(&self) -> bool {
        match self {
            Self::Text(_) => false,
            Self::Process => std::io::stdin().is_terminal(),
        }
    }

    fn open(&self, what: &str) -> Result<Box<dyn Read + '_>, CommandError> {
        match self {
            Self::Text(text) => Ok(Box::new(text.as_bytes())),
            Self::Process if self.is_terminal() => Err(CommandError::new(
                Exit::Usage,
                "usage",
                format!("{what} is expected on standard input"),
            )
            .hinted("Pipe it in; `< /dev/null` means nothing.")),
            Self::Process => Ok(Box::new(std::io::stdin().lock())),
        }
    }
}

/// A file as text, or standard input for `-`.
pub(crate) fn file(path: &Path, stdin: &Stdin, what: &str) -> Result<String, CommandError> {
    if path.as_os_str() == "-" {
        return stdin.read(what);
    }
    let open = || -> std::io::Result<fs_err::File> {
        // Opening a pipe would wait for its other end.
        if !fs_err::metadata(path)?.is_file() {
            return Err(std::io::Error::other(format!("`{}` is not a file", path.display())));
        }
        fs_err::File::open(path)
    };
    let file = open().map_err(|error| CommandError::invalid(error).hinted("Check the path."))?;
    text(file, what)
}

/// Text as an argument may start with `-`, as lists and logs do; a misspelt option may not pass for
/// one.
pub(crate) fn argument(text: &str) -> Result<String, String> {
    let name = text.strip_prefix("--").or_else(|| text.strip_prefix('-')).unwrap_or_default();
    let option = !name.is_empty()
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name
            .split('=')
            .next()
            .unwrap_or(name)
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b == b'-');
    if option {
        return Err("it looks like an option; there is none of that name here".to_owned());
    }
    Ok(text.to_owned())
}

fn text(reader: impl Read, what: &str) -> Result<String, CommandError> {
    let mut bytes = Vec::new();
    reader.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|error| io(&error))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(CommandError::invalid(format!("{what} has more than {MAX_BYTES} bytes")));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        CommandError::invalid(format!("{what} is not UTF-8 text (byte {at})"))
    })
}
