//! `handover package import`

use std::path::PathBuf;

use handover_context::package_file::{ImportContext, prepare_import};
use handover_store::PackageFilter;
use serde_json::json;

use crate::app::App;
use crate::commands::Outcome;
use crate::error::Exit;
use crate::input;

/// Import packages from JSON lines, all or nothing
///
/// One object per line: `kind`, `producer`, `priority`, `summary`; optional `group`, `scope`, `consumers`,
/// `created_at`, `files`; and either `path` (an existing file) or `body` (written to the artifacts folder,
/// optionally as `name`).
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover package import findings.jsonl\n  jq -c '.[]' findings.json | handover package import -"
)]
pub(crate) struct ImportArgs {
    /// File to import, or `-` for standard input
    file: PathBuf,
}

pub(crate) fn run(app: &App, args: ImportArgs) -> Outcome {
    let session = app.session()?;
    app.store()?.session(&session)?;
    let groups = app.group_ids(&session)?;
    let setting = app.package_setting(&session, &groups)?;
    let text = input::file(&args.file, &app.stdin, "the import")?;
    let store = app.store()?;
    let registered = |path: &str| {
        let filter = PackageFilter { path: Some(path.to_owned()), ..PackageFilter::default() };
        store.packages(&session, &filter).ok()?.pop().map(|package| package.content_hash)
    };
    let group = app.group()?;
    let import = ImportContext { draft: &setting, group: group.as_ref(), registered: &registered };
    let prepared = prepare_import(&import, &text)?;
    let registered = match app.store()?.register_packages(&prepared.packages) {
        Ok(registered) => registered,
        Err(error) => {
            prepared.undo();
            return Err(error.into());
        }
    };
    let imported = registered.iter().filter(|r| r.created).count();
    let unchanged = registered.len() - imported;
    let ids: Vec<_> = registered.iter().map(|r| r.package.id).collect();
    app.ui.answer_all(json!({"imported": imported, "unchanged": unchanged, "ids": ids}), |ui| {
        ui.line(format_args!("Imported {imported} packages ({unchanged} unchanged)"))
    })?;
    Ok(Exit::Done)
}
