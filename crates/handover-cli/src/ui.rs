//! Everything that is printed: data to standard output, messages to standard error.

mod table;
mod words;

use std::cell::RefCell;
use std::io::{self, IsTerminal, Write};

use anstyle::{AnsiColor, Style};
use clap::ValueEnum;
use handover_model::Timestamp;
use handover_text::{redact_message, short};
use serde::Serialize;
use serde_json::Value;
use unicode_width::UnicodeWidthStr;

use crate::error::CommandError;

pub(crate) use words::{count, share};

/// When to use color.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorChoice {
    /// On a terminal, unless NO_COLOR is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Prints for people or, with `--json`, for scripts.
#[derive(Debug, Clone)]
pub(crate) struct Ui {
    json: bool,
    quiet: bool,
    /// With `--json`, warnings are held until the end: if the command fails, the error must be the only
    /// line on standard error.
    warnings: RefCell<Vec<String>>,
    limit: Limit,
    /// Whether times are shown as they are, instead of as seen from now.
    absolute_times: bool,
}

/// How wide lines may be.
#[derive(Debug, Clone, Copy)]
enum Limit {
    /// As wide as they are: a program reads them.
    None,
    /// The width of the terminal, or of COLUMNS.
    Columns(usize),
}

impl Limit {
    /// COLUMNS, else the terminal's width; none if standard output is neither.
    fn here() -> Self {
        let variable = crate::env::var("COLUMNS").and_then(|text| text.parse().ok());
        let terminal =
            || terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| width.0.into());
        variable.or_else(terminal).filter(|width| *width > 0).map_or(Self::None, Self::Columns)
    }

    fn columns(self) -> Option<usize> {
        match self {
            Self::None => None,
            Self::Columns(width) => Some(width),
        }
    }
}

/// Large, because listings can be megabytes.
const OUTPUT_BYTES: usize = 256 * 1024;

const WARN: Style = AnsiColor::Yellow.on_default().bold();
const FAIL: Style = AnsiColor::Red.on_default().bold();
const HINT: Style = AnsiColor::Cyan.on_default();
const DIM: Style = Style::new().dimmed();
const BOLD: Style = Style::new().bold();

impl Ui {
    pub(crate) fn new(json: bool, quiet: bool, color: ColorChoice) -> Self {
        match color {
            ColorChoice::Auto => {}
            ColorChoice::Always => anstream::ColorChoice::Always.write_global(),
            ColorChoice::Never => anstream::ColorChoice::Never.write_global(),
        }
        let limit = Limit::here();
        Self { json, quiet, warnings: RefCell::default(), limit, absolute_times: false }
    }

    /// Shows times as they are.
    pub(crate) fn with_absolute_times(self, absolute_times: bool) -> Self {
        Self { absolute_times, ..self }
    }

    /// A time for people: as seen from now, unless they want it absolute.
    pub(crate) fn time(&self, then: Timestamp) -> String {
        if self.absolute_times { then.to_string() } else { words::ago(then, crate::env::now()) }
    }

    /// Prints `{"schema":1,key:value}` with `--json`, and otherwise whatever `human` prints.
    pub(crate) fn answer<T: Serialize + ?Sized>(
        &self,
        key: &str,
        value: &T,
        human: impl FnOnce(&Self) -> Result<(), CommandError>,
    ) -> Result<(), CommandError> {
        if !self.json {
            return human(self);
        }
        let mut out = io::BufWriter::with_capacity(OUTPUT_BYTES, io::stdout().lock());
        let written = write!(out, "{{\"schema\":1,\"{key}\":")
            .and_then(|()| serde_json::to_writer(&mut out, value).map_err(io::Error::from))
            .and_then(|()| out.write_all(b"}\n"))
            .and_then(|()| out.flush());
        finish(written)
    }

    /// Streams a JSON list without holding it in memory. `produce` calls the closure that it is given once
    /// per item.
    pub(crate) fn answer_each<T: Serialize>(
        &self,
        key: &str,
        produce: impl FnOnce(&mut dyn FnMut(T)) -> Result<(), CommandError>,
    ) -> Result<(), CommandError> {
        let mut out = io::BufWriter::with_capacity(OUTPUT_BYTES, io::stdout().lock());
        let mut written = Ok(());
        // Nothing is written before the first item: an early error must not leave half a document.
        let mut separator = format!("{{\"schema\":1,\"{key}\":[");
        let mut item = |value: T| {
            if written.is_ok() {
                written = out.write_all(separator.as_bytes()).and_then(|()| {
                    serde_json::to_writer(&mut out, &value).map_err(io::Error::from)
                });
                separator.clear();
                separator.push(',');
            }
        };
        let produced = produce(&mut item);
        if produced.is_err() {
            // Drop the buffer without flushing it.
            let _ = out.into_parts();
            return produced;
        }
        if separator != "," {
            written = out.write_all(separator.as_bytes());
        }
        finish(written.and_then(|()| out.write_all(b"]}\n")).and_then(|()| out.flush()))
    }

    /// Whether `--json` was given.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// Like [`Ui::answer`], for a document with several keys.
    pub(crate) fn answer_all(
        &self,
        fields: Value,
        human: impl FnOnce(&Self) -> Result<(), CommandError>,
    ) -> Result<(), CommandError> {
        if !self.json {
            return human(self);
        }
        let mut document = serde_json::Map::new();
        document.insert("schema".to_owned(), 1.into());
        if let Value::Object(fields) = fields {
            document.extend(fields);
        }
        self.document(&document)
    }

    /// A line of data. Stored text is part of it, so nothing in it may steer the terminal.
    pub(crate) fn line(&self, text: impl std::fmt::Display) -> Result<(), CommandError> {
        let text = sanitize(text.to_string());
        let mut out = io::stdout().lock();
        finish(writeln!(out, "{text}").and_then(|()| out.flush()))
    }

    /// A line for people that a narrow terminal breaks between words; what follows is indented.
    pub(crate) fn wrapped(
        &self,
        indent: usize,
        text: impl std::fmt::Display,
    ) -> Result<(), CommandError> {
        match self.limit.columns() {
            Some(width) => self.line(words::wrapped(&text.to_string(), width, indent)),
            None => self.line(text),
        }
    }

    /// A line that stands out on a terminal.
    pub(crate) fn heading(&self, text: impl std::fmt::Display) -> Result<(), CommandError> {
        let text = sanitize(text.to_string());
        let mut out = anstream::stdout().lock();
        finish(writeln!(out, "{BOLD}{text}{BOLD:#}").and_then(|()| out.flush()))
    }

    /// Bytes as they are.
    pub(crate) fn bytes(&self, bytes: &[u8]) -> Result<(), CommandError> {
        let mut out = io::stdout().lock();
        finish(out.write_all(bytes).and_then(|()| out.flush()))
    }

    /// One JSON document on a line of its own.
    pub(crate) fn document(&self, value: &impl Serialize) -> Result<(), CommandError> {
        let mut line =
            serde_json::to_vec(value).map_err(|error| crate::error::io(&error.into()))?;
        line.push(b'\n');
        self.bytes(&line)
    }

    /// Prints a table, or the sentence `empty` if it has no rows. On a terminal, or with COLUMNS, it fits the
    /// width; elsewhere columns fit their content, so that `cut` and `sort` work on the lines.
    pub(crate) fn table(
        &self,
        header: &[&str],
        rows: Vec<Vec<String>>,
        empty: &str,
    ) -> Result<(), CommandError> {
        if rows.is_empty() {
            return self.wrapped(0, empty);
        }
        let width = self.limit.columns();
        finish(table::write(anstream::stdout().lock(), header, rows, width))
    }

    /// Whether lines are limited to the width of a terminal.
    pub(crate) fn is_narrow(&self) -> bool {
        self.limit.columns().is_some()
    }

    /// A text in lines of at most the terminal's width; further ones are indented.
    pub(crate) fn wrap(&self, text: &str) -> String {
        let Some(width) = self.limit.columns() else { return text.to_owned() };
        words::wrapped(&handover_text::cut::one_line(text), width, 2)
    }

    /// A line cut to the terminal's width.
    pub(crate) fn cut(&self, line: &str) -> String {
        self.limit.columns().map_or_else(|| line.to_owned(), |width| table::cut(line, width))
    }

    /// A text as the last cell of a table: cut to `chars` for a person, complete for a program.
    pub(crate) fn last_cell(&self, text: &str, chars: usize) -> String {
        let text = handover_text::cut::one_line(text);
        if self.limit.columns().is_some() { handover_text::cut::cut(&text, chars) } else { text }
    }

    /// Prints a table to standard error.
    pub(crate) fn side_table(&self, header: &[&str], rows: Vec<Vec<String>>) {
        let width = self.limit.columns();
        let _ = table::write(anstream::stderr().lock(), header, rows, width);
    }

    /// Prints a message that is not data, unless `--quiet` or `--json` is set.
    pub(crate) fn note(&self, text: impl std::fmt::Display) {
        if !self.quiet && !self.json {
            let text = message(&text.to_string());
            let _ = writeln!(anstream::stderr(), "{DIM}{text}{DIM:#}");
        }
    }

    /// Whether standard error is a terminal and notes are shown on it.
    pub(crate) fn is_watched(&self) -> bool {
        !self.quiet && io::stderr().is_terminal()
    }

    /// The terminal's columns and rows.
    pub(crate) fn size(&self) -> (usize, usize) {
        let size = terminal_size::terminal_size_of(io::stderr());
        size.map_or((80, 24), |(width, height)| (width.0.into(), height.0.into()))
    }

    /// Replaces the last `over` lines on the terminal with new ones, cut to its width.
    pub(crate) fn redraw(&self, over: usize, lines: &[String], width: usize) {
        let mut text = if over > 0 { format!("\x1b[{over}A\x1b[J") } else { String::new() };
        for line in lines {
            let line = single_line(line.clone());
            let mut room = width.saturating_sub(1);
            text.extend(line.chars().take_while(|c| {
                let wide = unicode_width::UnicodeWidthChar::width(*c).unwrap_or(0);
                let fits = wide <= room;
                room = room.saturating_sub(wide);
                fits
            }));
            text.push('\n');
        }
        let _ = io::stderr().lock().write_all(text.as_bytes());
    }

    /// Prints a warning; with `--json` it is held until [`Ui::close`].
    pub(crate) fn warn(&self, text: impl std::fmt::Display) {
        if self.quiet {
            return;
        }
        if self.json {
            self.warnings.borrow_mut().push(quoting(&text.to_string()));
        } else {
            let text = message(&text.to_string());
            let _ = writeln!(anstream::stderr(), "{WARN}warning:{WARN:#} {text}");
        }
    }

    /// Ends a successful command: with `--json`, prints the held warnings, one document per line.
    pub(crate) fn close(&self) {
        for message in self.warnings.take() {
            let warning = serde_json::json!({"schema": 1, "warning": {"message": message}});
            let _ = writeln!(anstream::stderr(), "{warning}");
        }
    }

    /// Prints the error that ends the command.
    pub(crate) fn error(&self, error: &CommandError) {
        let mut out = anstream::stderr();
        if self.json {
            let mut document = error.to_json();
            document["error"]["message"] = quoting(&error.message).into();
            document["error"]["hint"] = error.hint.as_deref().map(quoting).into();
            let _ = writeln!(out, "{document}");
            return;
        }
        let _ = writeln!(out, "{FAIL}error:{FAIL:#} {}", message(&error.message));
        if let Some(hint) = error.hint.as_deref().map(message) {
            let _ = writeln!(out, "{HINT}hint:{HINT:#} {hint}");
        }
    }

    /// Asks for confirmation. Without a terminal the answer is no.
    pub(crate) fn confirm(&self, question: &str) -> bool {
        if !io::stdin().is_terminal() || self.json {
            return false;
        }
        let _ = write!(anstream::stderr(), "{question} [y/N] ");
        let mut answer = String::new();
        io::stdin().read_line(&mut answer).is_ok() && matches!(answer.trim(), "y" | "Y" | "yes")
    }
}

/// A message for a terminal.
fn message(text: &str) -> String {
    sanitize(quoting(text))
}

/// A message without secrets, and with only a little of what it quotes.
fn quoting(text: &str) -> String {
    short(&redact_message(text)).into_owned()
}

fn width_of(cell: &str) -> usize {
    if cell.is_ascii() { cell.len() } else { cell.width() }
}

/// Text that stays on its line and cannot steer the terminal.
pub(crate) fn single_line(text: String) -> String {
    printable(text, |c| c.is_control() || is_direction(c))
}

/// Replaces everything that could control a terminal: control characters except line ends and tabs, and
/// bidirectional marks.
fn sanitize(text: String) -> String {
    printable(text, |c| c.is_control() && !matches!(c, '\n' | '\t') || is_direction(c))
}

fn is_direction(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn printable(text: String, bad: impl Fn(char) -> bool) -> String {
    if !text.contains(&bad) {
        return text;
    }
    text.chars().map(|c| if bad(c) { ' ' } else { c }).collect()
}

fn finish(written: io::Result<()>) -> Result<(), CommandError> {
    match written {
        // The reader closed the pipe, as in `handover package list | head`.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(CommandError::reader_left()),
        Err(error) => Err(crate::error::io(&error)),
        Ok(()) => Ok(()),
    }
}
