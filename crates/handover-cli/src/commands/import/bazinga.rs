//! `handover data import bazinga`

use std::io::Read;
use std::path::{Path, PathBuf};

use handover_context::archive::bazinga::{self, Count, MARK, Source, Table};
use handover_context::package_file::ProjectPaths;
use handover_sqlite::ForeignDatabase;

use crate::app::App;
use crate::commands::Outcome;
use crate::error::{CommandError, Exit, io};

/// How many damaged rows are reported individually.
const MAX_DAMAGED_SHOWN: usize = 20;

/// Import a BAZINGA database
///
/// Imports sessions, groups, packages with the text of their files, reasoning, skill outputs, events, error
/// patterns and strategies, from any version of the database format. The database is never changed. Invalid
/// rows are reported, and rows without an equivalent are counted. Importing again adds only what is new.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover data import bazinga bazinga/bazinga.db\n  handover data import bazinga old.db --json | jq .import.damaged"
)]
pub(crate) struct BazingaArgs {
    /// Database file, usually `bazinga/bazinga.db`
    #[arg(value_name = "FILE.db")]
    file: PathBuf,
}

pub(crate) fn run(app: &App, args: BazingaArgs) -> Outcome {
    let path = app.folder()?.join(&args.file);
    if !path.is_file() {
        let message = format!("file `{}` does not exist", args.file.display());
        return Err(
            CommandError::invalid(message).hinted("The database is usually `bazinga/bazinga.db`.")
        );
    }
    // SQLite can create files next to a database that it reads, so read a copy, including the log.
    let folder = tempfile::tempdir().map_err(|error| io(&error))?;
    let copy = folder.path().join("bazinga.db");
    fs_err::copy(&path, &copy).map_err(|error| io(&error))?;
    let log = with_suffix(&path, "-wal");
    if log.is_file() {
        fs_err::copy(&log, with_suffix(&copy, "-wal")).map_err(|error| io(&error))?;
    }
    let database = ForeignDatabase::open(&copy, MARK).map_err(|_| {
        CommandError::invalid(format!("`{}` is not a BAZINGA database", args.file.display()))
            .hinted("It must be a SQLite file with a table `sessions`.")
    })?;
    let places = root(&path).and_then(|root| ProjectPaths::new(&root, &[]).ok());
    let max = app.config()?.packages.max_bytes;
    let project = app.project_id()?;
    let report = bazinga::import(
        app.store()?,
        &Source {
            table: &|name| {
                let table = database.table(name);
                Table { rows: table.rows, broken: table.broken }
            },
            file: &|path| text_of(places.as_ref()?, path, max),
            project: &project,
            redactor: app.redactor()?,
            now: app.now(),
        },
    )?;
    app.ui.answer("import", &report, |ui| {
        let line = |what: &str, count: Count| {
            ui.line(format_args!(
                "{what:<15}{} new, {} already present",
                count.added, count.present
            ))
        };
        line("Sessions", report.sessions)?;
        line("Groups", report.groups)?;
        line("Packages", report.packages)?;
        line("Reasoning", report.reasoning)?;
        line("Skill outputs", report.skill_outputs)?;
        line("Events", report.events)?;
        line("Errors", report.errors)?;
        line("Strategies", report.strategies)?;
        if report.without_file > 0 {
            ui.note(format_args!(
                "{} without a file; the summary is used as the text.",
                crate::ui::count(report.without_file, "package")
            ));
        }
        for (table, count) in &report.left_out {
            ui.note(format_args!(
                "{} of {table} without an equivalent, skipped.",
                crate::ui::count(*count, "row")
            ));
        }
        for damage in report.damaged.iter().take(MAX_DAMAGED_SHOWN) {
            ui.warn(format_args!("{} {}: {}", damage.table, damage.row, damage.problem));
        }
        if report.damaged.len() > MAX_DAMAGED_SHOWN {
            ui.warn(format_args!(
                "… and {} more invalid rows",
                report.damaged.len() - MAX_DAMAGED_SHOWN
            ));
        }
        Ok(())
    })?;
    Ok(Exit::Done)
}

fn with_suffix(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

/// The folder that paths in the database are relative to: the parent of `bazinga/`.
fn root(database: &Path) -> Option<PathBuf> {
    let folder = fs_err::canonicalize(database).ok()?.parent()?.to_owned();
    let inside = folder.file_name().is_some_and(|name| name == "bazinga");
    if inside { folder.parent().map(Path::to_owned) } else { Some(folder) }
}

/// The text of a file inside the folder, if it exists, is UTF-8 and is not too large.
fn text_of(places: &ProjectPaths, path: &str, max: u64) -> Option<String> {
    let located = places.locate(places.root(), &places.absolute(path)).ok()?;
    let file = places.open(&located).ok()?;
    let mut bytes = Vec::new();
    file.take(max + 1).read_to_end(&mut bytes).ok()?;
    if bytes.len() as u64 > max { None } else { String::from_utf8(bytes).ok() }
}
