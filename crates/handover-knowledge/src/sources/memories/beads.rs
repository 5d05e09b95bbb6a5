//! beads: `.beads/issues.jsonl`, an issue or a memory a line.

use std::path::{Path, PathBuf};

use handover_model::{Timestamp, Trust};
use serde::Deserialize;

use super::{MAX_BYTES, Maker, Memory, Record, changed, joined, shown};
use crate::transcripts::{each_line, head};
use crate::{Draft, SkipReason, SourceContext};

pub(super) struct Beads;

/// The names under which versions have kept it.
const FILES: &[&str] = &["issues.jsonl", "beads.jsonl"];

impl Memory for Beads {
    fn name(&self) -> &'static str {
        "beads"
    }

    fn find(&self, context: &SourceContext<'_>) -> Vec<(String, PathBuf)> {
        let folder = context.root.join(".beads");
        // A folder of the checkout: nothing in it leads elsewhere.
        let is_plain =
            |path: &PathBuf| fs_err::symlink_metadata(path).is_ok_and(|data| data.is_file());
        if !fs_err::symlink_metadata(&folder).is_ok_and(|data| data.is_dir()) {
            return Vec::new();
        }
        let files = FILES.iter().map(|name| folder.join(name)).filter(is_plain);
        files.map(|path| (shown(&path), path)).collect()
    }

    fn recognizes(&self, path: &Path, _: &SourceContext<'_>) -> Option<String> {
        let head = head(path, 64 << 10).ok()?;
        let first = head.split(|byte| *byte == b'\n').next()?;
        let issue: Issue = serde_json::from_slice(first).ok()?;
        (issue.is_memory() || issue.id.is_some() && issue.title.is_some()).then(|| shown(path))
    }

    fn read(&self, maker: &Maker<'_>, path: &Path) -> Result<Vec<Draft>, SkipReason> {
        if fs_err::metadata(path).is_ok_and(|data| data.len() > MAX_BYTES) {
            return Err(SkipReason::TooLarge);
        }
        let mut drafts = Vec::new();
        let now = changed(path);
        each_line(path, &mut |line| {
            if let Ok(issue) = serde_json::from_slice::<Issue>(line) {
                drafts.extend(issue.drafts(maker, now));
            }
        })?;
        Ok(drafts)
    }
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Issue {
    #[serde(rename = "_type")]
    kind: Option<String>,
    id: Option<String>,
    title: Option<String>,
    description: Option<String>,
    design: Option<String>,
    acceptance_criteria: Option<String>,
    notes: Option<String>,
    close_reason: Option<String>,
    status: Option<String>,
    updated_at: Option<String>,
    key: Option<String>,
    value: Option<String>,
}

impl Issue {
    fn is_memory(&self) -> bool {
        self.kind.as_deref() == Some("memory")
    }

    fn drafts(&self, maker: &Maker<'_>, now: Timestamp) -> Vec<Draft> {
        let field = |field: &Option<String>| field.clone().unwrap_or_default();
        let time = self.updated_at.as_deref().and_then(|time| time.parse().ok()).unwrap_or(now);
        if self.is_memory() {
            let (key, value) = (field(&self.key), field(&self.value));
            let record = Record { id: &key, title: &key, text: &value, trust: Trust::Agent, time };
            return maker.drafts(&record);
        }
        let (id, title) = (field(&self.id), field(&self.title));
        let (description, design, notes) =
            (field(&self.description), field(&self.design), field(&self.notes));
        let criteria = field(&self.acceptance_criteria);
        let reason = match field(&self.close_reason) {
            reason if reason.is_empty() || reason == "Closed" => String::new(),
            reason => format!("Closed: {reason}"),
        };
        let says_more =
            [&description, &design, &notes, &reason].iter().any(|text| !text.is_empty());
        if !says_more || id.is_empty() || self.status.as_deref() == Some("tombstone") {
            return Vec::new();
        }
        let text = joined([title.as_str(), &description, &design, &criteria, &notes, &reason]);
        let record = Record { id: &id, title: &title, text: &text, trust: Trust::Agent, time };
        maker.drafts(&record)
    }
}
