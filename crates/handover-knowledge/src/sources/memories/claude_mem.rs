//! claude-mem: `claude-mem.db` with `observations` and `session_summaries`, which a model wrote. A project is known
//! there by the name of its folder alone.

use std::path::{Path, PathBuf};

use handover_model::{Timestamp, Trust};
use serde_json::Value;

use super::{MAX_NOTES, Maker, Memory, Record, joined};
use crate::{Draft, ForeignValue, SkipReason, SourceContext};

pub(super) struct ClaudeMem;

impl Memory for ClaudeMem {
    fn name(&self) -> &'static str {
        "claude-mem"
    }

    fn find(&self, context: &SourceContext<'_>) -> Vec<(String, PathBuf)> {
        let database = context.homes.claude_mem.as_ref().map(|home| home.join("claude-mem.db"));
        let Some(database) = database.filter(|database| database.is_file()) else {
            return Vec::new();
        };
        project(context).map(|project| (project, database)).into_iter().collect()
    }

    fn recognizes(&self, path: &Path, context: &SourceContext<'_>) -> Option<String> {
        let is_database = path.extension().is_some_and(|extension| extension == "db");
        project(context).filter(|_| is_database)
    }

    fn read(&self, maker: &Maker<'_>, path: &Path) -> Result<Vec<Draft>, SkipReason> {
        let tables = maker.context.tables.ok_or(SkipReason::Unreadable)?;
        let project = project(maker.context).ok_or(SkipReason::Unreadable)?;
        let of_project = Some(("project", project.as_str()));
        let mut drafts = Vec::new();
        let columns = [
            "id",
            "title",
            "subtitle",
            "narrative",
            "facts",
            "text",
            "files_modified",
            "created_at_epoch",
        ];
        let read = tables.rows(path, "observations", &columns, of_project, &mut |row| {
            if let [id, title, subtitle, narrative, facts, text, files, time] = row {
                let facts = listed(facts.text()).join("\n- ");
                let facts = if facts.is_empty() { facts } else { format!("- {facts}") };
                let said =
                    joined([title.text(), subtitle.text(), narrative.text(), text.text(), &facts]);
                let number = format!("observation-{}", id.integer().unwrap_or_default());
                let made = maker.drafts(&record(&number, title.text(), &said, time));
                drafts
                    .extend(made.into_iter().map(|draft| with_paths(draft, listed(files.text()))));
            }
        });
        read.map_err(|_| SkipReason::Foreign)?;
        let columns = [
            "id",
            "request",
            "learned",
            "completed",
            "next_steps",
            "files_edited",
            "created_at_epoch",
        ];
        // Older versions have no summaries.
        let _ = tables.rows(path, "session_summaries", &columns, of_project, &mut |row| {
            if let [id, request, learned, completed, next, files, time] = row {
                let said = joined([request.text(), learned.text(), completed.text(), next.text()]);
                let number = format!("summary-{}", id.integer().unwrap_or_default());
                let made = maker.drafts(&record(&number, request.text(), &said, time));
                drafts
                    .extend(made.into_iter().map(|draft| with_paths(draft, listed(files.text()))));
            }
        });
        drafts.sort_by_key(|draft| draft.created_at);
        drafts.drain(..drafts.len().saturating_sub(MAX_NOTES));
        Ok(drafts)
    }
}

fn record<'a>(id: &'a str, title: &'a str, text: &'a str, time: &ForeignValue) -> Record<'a> {
    let millis = time.integer().unwrap_or_default();
    let time = Timestamp::from_micros(millis.saturating_mul(1_000));
    Record { id, title, text, trust: Trust::Outside, time }
}

/// The name of the project's folder.
fn project(context: &SourceContext<'_>) -> Option<String> {
    let root = context.checkouts.first().map_or(context.root, PathBuf::as_path);
    root.file_name()?.to_str().map(ToOwned::to_owned)
}

/// The texts of a list in JSON.
fn listed(json: &str) -> Vec<String> {
    let Ok(Value::Array(items)) = serde_json::from_str(json) else { return Vec::new() };
    items.iter().filter_map(|item| item.as_str().map(ToOwned::to_owned)).collect()
}

fn with_paths(mut draft: Draft, paths: Vec<String>) -> Draft {
    let relative = paths.into_iter().filter(|path| !Path::new(path).is_absolute());
    for path in relative.take(16) {
        if !draft.paths.contains(&path) {
            draft.paths.push(path);
        }
    }
    draft
}
