//! `HANDOVER_LOG`: where the events of the libraries go.
//!
//! Off by default: without the variable no subscriber is installed, and an event costs one load of an
//! atomic. Lines go to standard error, except for the commands whose standard error belongs to an
//! agent program (hooks, MCP over standard input and output): theirs go to a file of the project.
//! Secrets are redacted in either.

#[cfg(feature = "telemetry")]
mod collected;

use std::io::{self, Write};
use std::sync::{Arc, LazyLock};

use handover_files::Folder;
use handover_text::Redactor;
use tracing_subscriber::Layer as _;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt::{MakeWriter, format::Writer, time::FormatTime};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::app::App;
use crate::env;
use crate::project::Project;
#[cfg(feature = "telemetry")]
use collected::LogLayer;
#[cfg(feature = "telemetry")]
pub(crate) use collected::take as take_collected;

/// The file below `.handover/`.
const FILE: &str = "handover.log";

/// What the file is renamed to when it is full, replacing the one before.
const OLD_FILE: &str = "handover.log.old";

/// When the file is full: with its predecessor, a log takes at most twice as much.
const MAX_BYTES: u64 = 1024 * 1024;

/// Our crates, which a directive may name without their prefix.
const CRATES: [&str; 15] = [
    "agents",
    "context",
    "engine",
    "files",
    "handoff",
    "hosts",
    "mcp",
    "model",
    "postgres",
    "remote",
    "serve",
    "sqlite",
    "store",
    "telemetry",
    "web",
];

/// Where a command's log goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Destination {
    Stderr,
    /// `.handover/handover.log`, or nowhere outside of a project.
    File,
}

/// Installs a subscriber if `HANDOVER_LOG` asks for one.
pub(crate) fn init(app: &App, destination: Destination) {
    let Some(text) = env::var(env::LOG) else { return };
    let Directives { targets, invalid } = parse(&text);
    let sink = match destination {
        Destination::Stderr => Sink::Stderr,
        Destination::File => match app.project().map(Project::folder) {
            Ok(folder) => Sink::File(Arc::new(folder)),
            Err(_) => return,
        },
    };
    if let Some(invalid) = invalid {
        let warning = format!(
            "{} ignores `{invalid}`: expected LEVEL or TARGET=LEVEL, where LEVEL is off, error, warn, \
             info, debug or trace",
            env::LOG
        );
        match &sink {
            Sink::Stderr => app.ui.warn(warning),
            Sink::File(folder) => append(folder, format!("{} {warning}\n", env::now()).as_bytes()),
        }
    }
    let Some(targets) = targets else { return };
    let lines =
        tracing_subscriber::fmt::layer().with_ansi(false).with_timer(Clock).with_writer(sink);
    let all = tracing_subscriber::registry().with(lines.with_filter(targets));
    #[cfg(feature = "telemetry")]
    let all = all.with(LogLayer.with_filter(LevelFilter::WARN));
    // A subscriber that is installed already stays.
    let _ = all.try_init();
}

/// Collects warnings and errors for an OpenTelemetry collector, beside whatever `HANDOVER_LOG` asked for.
#[cfg(feature = "telemetry")]
pub(crate) fn collect_warnings() {
    LogLayer::start();
    let layer = LogLayer.with_filter(LevelFilter::WARN);
    let _ = tracing_subscriber::registry().with(layer).try_init();
}

/// Unless `HANDOVER_LOG` asked for something else, prints errors to standard error: a client of `handover mcp`
/// shows it, and the SDK reports a broken connection in no other way. Never the content of messages.
#[cfg_attr(not(feature = "mcp"), expect(dead_code, reason = "only MCP clients see nothing else"))]
pub(crate) fn report_errors() {
    let lines =
        tracing_subscriber::fmt::layer().with_ansi(false).without_time().with_writer(Sink::Stderr);
    let _ = tracing_subscriber::registry().with(lines.with_filter(LevelFilter::ERROR)).try_init();
}

/// What the variable asks for.
struct Directives {
    /// Nothing if no directive is valid.
    targets: Option<Targets>,
    /// The first directive that is not.
    invalid: Option<String>,
}

/// Reads `LEVEL`, which means all of Handover, and `TARGET=LEVEL`, separated by commas.
fn parse(text: &str) -> Directives {
    let mut directives = Directives { targets: None, invalid: None };
    for directive in text.split(',').map(str::trim).filter(|directive| !directive.is_empty()) {
        let (target, level) = match directive.split_once('=') {
            Some((target, level)) => (full_name(target.trim()), level),
            None => ("handover".to_owned(), directive),
        };
        match level.trim().parse::<LevelFilter>() {
            Ok(level) => {
                let targets = directives.targets.take().unwrap_or_default();
                directives.targets = Some(targets.with_target(target, level));
            }
            Err(_) => drop(directives.invalid.get_or_insert_with(|| directive.to_owned())),
        }
    }
    directives
}

/// `engine::runner` is short for `handover_engine::runner`.
fn full_name(target: &str) -> String {
    let first = target.split("::").next().unwrap_or_default();
    if CRATES.contains(&first) { format!("handover_{target}") } else { target.to_owned() }
}

struct Clock;

impl FormatTime for Clock {
    fn format_time(&self, writer: &mut Writer<'_>) -> std::fmt::Result {
        write!(writer, "{}", env::now())
    }
}

/// Takes whole lines.
#[derive(Clone)]
enum Sink {
    Stderr,
    File(Arc<Folder>),
}

impl<'a> MakeWriter<'a> for Sink {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

impl Write for Sink {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        static REDACTOR: LazyLock<Redactor> = LazyLock::new(Redactor::default);
        let clean = REDACTOR.clean(&String::from_utf8_lossy(line));
        match self {
            Self::Stderr => io::stderr().lock().write_all(clean.as_str().as_bytes())?,
            Self::File(folder) => append(folder, clean.as_str().as_bytes()),
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Adds a line to the file in one write, so that lines of several processes do not mix. A log that
/// cannot be written is no reason to fail.
fn append(folder: &Folder, line: &[u8]) {
    if folder.size(FILE).is_some_and(|bytes| bytes >= MAX_BYTES) {
        let _ = folder.rename(FILE, OLD_FILE);
    }
    let _ = folder.append(FILE).map(|mut file| file.write_all(line));
}

#[cfg(test)]
mod tests {
    use tracing::Level;

    use super::*;

    #[test]
    fn a_bare_level_means_all_of_handover_and_nothing_else() {
        let targets = parse("info").targets.unwrap();
        assert!(targets.would_enable("handover_engine::runner", &Level::INFO));
        assert!(targets.would_enable("handover::cli", &Level::INFO));
        assert!(!targets.would_enable("handover_engine::runner", &Level::DEBUG));
        assert!(!targets.would_enable("hyper", &Level::ERROR));
    }

    #[test]
    fn the_longest_target_decides_and_the_prefix_of_our_crates_may_be_left_out() {
        let targets = parse("warn, engine=debug,engine::runner=trace,hyper=info").targets.unwrap();
        assert!(targets.would_enable("handover_store", &Level::WARN));
        assert!(!targets.would_enable("handover_store", &Level::INFO));
        assert!(targets.would_enable("handover_engine::reducer", &Level::DEBUG));
        assert!(targets.would_enable("handover_engine::runner", &Level::TRACE));
        assert!(targets.would_enable("hyper::proto", &Level::INFO));
    }

    #[test]
    fn invalid_directives_are_reported_and_do_not_spoil_the_others() {
        let Directives { targets, invalid } = parse("engine=loud,store=debug,=,x");
        assert_eq!(invalid.as_deref(), Some("engine=loud"));
        assert!(targets.unwrap().would_enable("handover_store", &Level::DEBUG));
        assert!(parse("loud").targets.is_none());
        assert!(parse(" , ").invalid.is_none());
    }

    #[test]
    fn a_full_file_makes_room_for_a_new_one() {
        let folder = tempfile::tempdir().unwrap();
        let line = [b'x'; 64 * 1024];
        for _ in 0..40 {
            append(&Folder::at(folder.path()), &line);
        }
        let size = |name: &str| fs_err::metadata(folder.path().join(name)).unwrap().len();
        assert_eq!(size(OLD_FILE), MAX_BYTES);
        assert_eq!(size(FILE), 40 * line.len() as u64 - 2 * MAX_BYTES);
    }

    #[test]
    fn secrets_are_redacted() {
        let folder = tempfile::tempdir().unwrap();
        let token = concat!("ghp_", "0123456789abcdefghijABCDEFGHIJ012345");
        let line = format!("WARN handover: token={token}\n");
        Sink::File(Arc::new(Folder::at(folder.path()))).write_all(line.as_bytes()).unwrap();
        let written = fs_err::read_to_string(folder.path().join(FILE)).unwrap();
        assert!(written.starts_with("WARN handover: ") && !written.contains(token), "{written}");
    }
}
