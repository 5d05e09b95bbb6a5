//! `handover import bazinga`

use std::io::Read;
use std::path::{Path, PathBuf};

use handover_context::archive::bazinga::{self, Count, MARK, Source, Table};
use handover_context::package_file::ProjectPaths;
use handover_sqlite::ForeignDatabase;

use crate::app::App;
use crate::commands::Outcome;
use crate::error::{CommandError, Exit, io};

/// So many damaged rows are told one by one.
const TOLD: usize = 20;

/// Bring an existing BAZINGA database over
///
/// Sessions, groups, packages with the text of their files, reasoning, skill outputs, events, error patterns
/// and strategies, of any format of the database. The database is read, never changed. Rows that make no
/// sense are reported, those without a counterpart are counted. Doing it again adds only what is new.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover import bazinga bazinga/bazinga.db\n  handover import bazinga old.db --json | jq .import.damaged"
)]
pub(crate) struct BazingaArgs {
    /// The database, usually `bazinga/bazinga.db`
    #[arg(value_name = "FILE.db")]
    file: PathBuf,
}

pub(crate) fn run(app: &App, args: BazingaArgs) -> Outcome {
    let path = app.folder()?.join(&args.file);
    if !path.is_file() {
        let message = format!("there is no file `{}`", args.file.display());
        return Err(CommandError::invalid(message).hinted("It is usually `bazinga/bazinga.db`."));
    }
    // Reading a database can leave files beside it, so a copy is read, with what its log holds.
    let folder = tempfile::tempdir().map_err(|error| io(&error))?;
    let copy = folder.path().join("bazinga.db");
    fs_err::copy(&path, &copy).map_err(|error| io(&error))?;
    let log = beside(&path, "-wal");
    if log.is_file() {
        fs_err::copy(&log, beside(&copy, "-wal")).map_err(|error| io(&error))?;
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
            ui.line(format_args!("{what:<15}{} new, {} there already", count.added, count.present))
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
                "{} packages have no file any more; their summary stands for their text.",
                report.without_file
            ));
        }
        for (table, count) in &report.left_out {
            ui.note(format_args!("{count} rows of {table} have no counterpart and were left out."));
        }
        for damage in report.damaged.iter().take(TOLD) {
            ui.warn(format_args!("{} {}: {}", damage.table, damage.row, damage.problem));
        }
        if report.damaged.len() > TOLD {
            ui.warn(format_args!("… and {} more damaged rows", report.damaged.len() - TOLD));
        }
        Ok(())
    })?;
    Ok(Exit::Done)
}

fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

/// The folder that the paths in the database are relative to: the one with `bazinga/` in it.
fn root(database: &Path) -> Option<PathBuf> {
    let folder = fs_err::canonicalize(database).ok()?.parent()?.to_owned();
    let inside = folder.file_name().is_some_and(|name| name == "bazinga");
    if inside { folder.parent().map(Path::to_owned) } else { Some(folder) }
}

/// The text of a file inside the folder, unless it is too long or none.
fn text_of(places: &ProjectPaths, path: &str, max: u64) -> Option<String> {
    let located = places.locate(places.root(), &places.absolute(path)).ok()?;
    let file = places.open(&located).ok()?;
    let mut bytes = Vec::new();
    file.take(max + 1).read_to_end(&mut bytes).ok()?;
    if bytes.len() as u64 > max { None } else { String::from_utf8(bytes).ok() }
}
