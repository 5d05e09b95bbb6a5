//! `handover data export`

use std::io::Write;
use std::path::PathBuf;

use handover_context::archive::{ArchiveError, export};
use handover_text::redact_message;
use serde_json::json;

use super::Outcome;
use crate::app::App;
use crate::error::{CommandError, Exit, io};

/// Export all records of the project as JSON lines
///
/// Writes a header, then one record per line. The same records always produce the same bytes. A file is
/// written atomically. Read it back with `handover data import`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover data export project.jsonl\n  handover data export | gzip > project.jsonl.gz"
)]
pub(crate) struct ExportArgs {
    /// File to write, replaced if it exists [default: standard output]
    file: Option<PathBuf>,
}

pub(crate) fn run(app: &App, args: ExportArgs) -> Outcome {
    let (store, project) = (app.existing_store()?, app.project_id()?);
    let Some(path) = args.file.filter(|path| path.as_os_str() != "-") else {
        let mut out = std::io::BufWriter::new(std::io::stdout().lock());
        let written =
            export(store, &project, &mut out).and_then(|_| out.flush().map_err(ArchiveError::Io));
        return match written {
            Err(ArchiveError::Io(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => {
                Err(CommandError::reader_left())
            }
            other => Ok(other.map(|()| Exit::Done)?),
        };
    };
    let path = app.folder()?.join(path);
    let folder = path.parent().unwrap_or(&path);
    let file = tempfile::NamedTempFile::new_in(folder).map_err(|error| io(&error))?;
    let mut out = std::io::BufWriter::new(file);
    let records = export(store, &project, &mut out)?;
    let file = out.into_inner().map_err(|error| io(error.error()))?;
    file.as_file().sync_all().map_err(|error| io(&error))?;
    file.persist(&path).map_err(|error| io(&error.error))?;
    let path = redact_message(&path.display().to_string());
    let answer = json!({"file": path, "records": records});
    app.ui.answer("export", &answer, |ui| {
        ui.line(format_args!("Exported {records} records to {path}"))
    })?;
    Ok(Exit::Done)
}
