//! Reads standard input and files named on the command line.

use std::io::{BufRead, BufReader, IsTerminal, Read};
use std::path::{Path, PathBuf};

use handover_model::Timestamp;
use serde::Deserialize;

use crate::error::{CommandError, Exit, io};
use crate::typos::nearest;

/// The largest text that a command accepts.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// A point in time: a date such as `2026-01-31`, which means its beginning in UTC, or a time in RFC 3339.
pub(crate) fn date(text: &str) -> Result<Timestamp, String> {
    let time = if text.len() == 10 { format!("{text}T00:00:00Z") } else { text.to_owned() };
    time.parse()
        .map_err(|_| format!("`{text}` is not a date; use 2026-01-31 or 2026-01-31T12:00:00Z"))
}

/// The help of an option that names an agent program.
pub(crate) fn agent_programs(rest: &str) -> String {
    let mut names: Vec<String> =
        handover_agents::Registry::built_in().hosts().iter().map(ToString::to_string).collect();
    let last = names.pop().unwrap_or_default();
    format!("Agent program: {} or {last}{rest}", names.join(", "))
}

/// One line of `--jsonl` input.
#[derive(Debug, Deserialize)]
struct TextLine {
    text: String,
}

/// The command's standard input.
#[derive(Debug, Clone)]
pub(crate) enum Stdin {
    /// The real standard input of this process.
    Process,
    /// Fixed text, used by the demo to run commands in process.
    Text(String),
}

impl Stdin {
    /// Reads everything as text. `what` names the expected input in error messages.
    pub(crate) fn read(&self, what: &str) -> Result<String, CommandError> {
        text(self.open(what)?, what)
    }

    /// Whether the user would have to type the input.
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
                format!("expected {what} on standard input"),
            )
            .hinted("Name a file, pipe it in, or use `< /dev/null` for empty input.")),
            Self::Process => Ok(Box::new(std::io::stdin().lock())),
        }
    }
}

/// Reads a file, or standard input for `-`, as text.
pub(crate) fn file(path: &Path, stdin: &Stdin, what: &str) -> Result<String, CommandError> {
    text(open(path, stdin, what)?, what)
}

/// A text that was given as an argument, else in a file, else on standard input.
pub(crate) fn given(
    argument: Option<String>,
    path: Option<&Path>,
    stdin: &Stdin,
    what: &str,
) -> Result<String, CommandError> {
    match argument {
        Some(text) => Ok(text),
        None => file(path.unwrap_or_else(|| Path::new("-")), stdin, what),
    }
}

/// Reads a file, or standard input for `-`, as raw bytes, without a size limit.
pub(crate) fn bytes(path: &Path, stdin: &Stdin, what: &str) -> Result<Vec<u8>, CommandError> {
    let mut bytes = Vec::new();
    open(path, stdin, what)?.read_to_end(&mut bytes).map_err(|error| io(&error))?;
    Ok(bytes)
}

/// Calls `visit` with the `text` of each JSON line of a file, or of standard input for `-`; blank lines are skipped.
pub(crate) fn each_text_line(
    path: &Path,
    stdin: &Stdin,
    what: &str,
    mut visit: impl FnMut(&str) -> Result<(), CommandError>,
) -> Result<(), CommandError> {
    for (index, line) in BufReader::new(open(path, stdin, what)?).split(b'\n').enumerate() {
        let line = line.map_err(|error| io(&error))?;
        if line.trim_ascii().is_empty() {
            continue;
        }
        let line: TextLine = serde_json::from_slice(&line).map_err(|error| {
            CommandError::invalid(format!("line {} is invalid: {error}", index + 1))
                .hinted("Each line must be a JSON object such as {\"text\": \"…\"}.")
        })?;
        visit(&line.text)?;
    }
    Ok(())
}

fn open<'a>(path: &Path, stdin: &'a Stdin, what: &str) -> Result<Box<dyn Read + 'a>, CommandError> {
    if path.as_os_str() == "-" {
        return stdin.open(what);
    }
    let open = || -> std::io::Result<fs_err::File> {
        // Opening a named pipe would block until a writer appears.
        if !std::fs::metadata(path)?.is_file() {
            return Err(std::io::Error::other(format!("`{}` is not a file", path.display())));
        }
        fs_err::File::open(path)
    };
    match open() {
        Ok(file) => Ok(Box::new(file)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(no_file(path)),
        Err(error) => Err(CommandError::invalid(error).hinted("Check the path.")),
    }
}

/// A file that does not exist, with the one that was probably meant.
pub(crate) fn no_file(path: &Path) -> CommandError {
    let error = CommandError::invalid(format!("there is no file `{}`", path.display()));
    match file_like(path) {
        Some(meant) => error.hinted(format!("Did you mean `{}`?", meant.display())),
        None => error.hinted("Check the path; it is relative to the current folder."),
    }
}

/// The most files of a folder that are compared with a name.
const COMPARED: usize = 2_000;

/// The file beside a path that does not exist whose name is most like it.
pub(crate) fn file_like(path: &Path) -> Option<PathBuf> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let beside = std::fs::read_dir(folder.unwrap_or_else(|| Path::new("."))).ok()?;
    let names = beside.take(COMPARED).filter_map(|entry| {
        let entry = entry.ok()?;
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        entry.file_name().into_string().ok().filter(|_| is_file)
    });
    let mut names: Vec<String> = names.collect();
    names.sort_unstable();
    let meant = nearest(path.file_name()?.to_str()?, names.iter().map(String::as_str))?;
    Some(path.with_file_name(meant))
}

/// Parses free text that may start with `-`, as lists and logs do, but rejects anything that looks like a
/// misspelled option.
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
        return Err("this looks like an option, but the command has no such option".to_owned());
    }
    Ok(text.to_owned())
}

fn text(reader: impl Read, what: &str) -> Result<String, CommandError> {
    let mut bytes = Vec::new();
    reader.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|error| io(&error))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(CommandError::invalid(format!(
            "{what} exceeds the limit of {MAX_BYTES} bytes"
        ))
        .hinted("Split it into several parts."));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        CommandError::invalid(format!("{what} is not UTF-8 text (byte {at})"))
    })
}
