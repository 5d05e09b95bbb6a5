//! An export of another project: its strategies, solved errors and the summaries of its packages. It is learned only
//! when it is asked for.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use handover_model::{Timestamp, Trust};
use serde::Deserialize;

use super::{MAX_BYTES, Maker, Memory, Record, joined};
use crate::transcripts::{each_line, head};
use crate::{Draft, SkipReason, SourceContext};

pub(super) struct Export;

#[derive(Deserialize)]
struct Header {
    handover: String,
    project: String,
}

/// A record of any kind; columns that are not needed are skipped.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Line {
    kind: String,
    id: Option<serde_json::Value>,
    hash: Option<String>,
    title: Option<String>,
    summary: Option<String>,
    insight: Option<String>,
    message: Option<String>,
    solution: Option<String>,
    text: Option<String>,
    created_at: Option<i64>,
    last_seen: Option<i64>,
    last_used: Option<i64>,
}

impl Memory for Export {
    fn name(&self) -> &'static str {
        "export"
    }

    fn find(&self, _: &SourceContext<'_>) -> Vec<(String, PathBuf)> {
        Vec::new()
    }

    fn recognizes(&self, path: &Path, _: &SourceContext<'_>) -> Option<String> {
        let head = head(path, 4 << 10).ok()?;
        let first = head.split(|byte| *byte == b'\n').next()?;
        let header: Header = serde_json::from_slice(first).ok()?;
        (header.handover == "export").then_some(header.project)
    }

    fn read(&self, maker: &Maker<'_>, path: &Path) -> Result<Vec<Draft>, SkipReason> {
        if fs_err::metadata(path).is_ok_and(|data| data.len() > MAX_BYTES) {
            return Err(SkipReason::TooLarge);
        }
        let mut drafts = Vec::new();
        // A solution follows the error that it solves.
        let mut errors: HashMap<String, String> = HashMap::new();
        each_line(path, &mut |line| {
            let Ok(line) = serde_json::from_slice::<Line>(line) else { return };
            if let ("error_pattern", Some(hash), Some(message)) =
                (line.kind.as_str(), &line.hash, &line.message)
            {
                errors.insert(hash.clone(), message.clone());
            }
            let Some((title, text)) = line.says(&errors) else { return };
            let time = line.last_used.or(line.last_seen).or(line.created_at).unwrap_or_default();
            let number =
                line.id.as_ref().map(ToString::to_string).or(line.hash).unwrap_or_default();
            let id = format!("{}-{}", line.kind, number.trim_matches('"'));
            let time = Timestamp::from_micros(time);
            let record =
                Record { id: &id, title: &title, text: &text, trust: Trust::Outside, time };
            drafts.extend(maker.drafts(&record));
        })?;
        Ok(drafts)
    }
}

impl Line {
    /// The title and the text of what a record says.
    fn says(&self, errors: &HashMap<String, String>) -> Option<(String, String)> {
        let field = |field: &Option<String>| field.clone().unwrap_or_default();
        match self.kind.as_str() {
            "strategy" => Some((field(&self.insight), field(&self.insight))),
            "package" => {
                let (title, summary) = (field(&self.title), field(&self.summary));
                Some((title.clone(), joined([title.as_str(), &summary])))
            }
            "error_solution" => {
                let message = errors.get(self.hash.as_deref()?)?.clone();
                let text = format!("Error: {message}\nSolution: {}", field(&self.solution));
                Some((message, text))
            }
            "note" => Some((field(&self.title), field(&self.text))),
            _ => None,
        }
    }
}
