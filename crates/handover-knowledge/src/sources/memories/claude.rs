//! What Claude Code keeps in mind about a project: `MEMORY.md` and the files beside it. Claude loads the first lines
//! of `MEMORY.md` by itself; `origin` tells which notes those are.

use std::path::{Path, PathBuf};

use handover_files::read_text_bounded;
use handover_model::Trust;

use super::{Maker, Memory, Record, changed, shown};
use crate::sources::docs::markdown_passages;
use crate::transcripts::claude_folder;
use crate::{Draft, SkipReason, SourceContext};

pub(super) struct ClaudeMemory;

const MAX_BYTES: u64 = 1 << 20;

impl Memory for ClaudeMemory {
    fn name(&self) -> &'static str {
        "claude-memory"
    }

    fn find(&self, context: &SourceContext<'_>) -> Vec<(String, PathBuf)> {
        let Some(home) = &context.homes.claude else { return Vec::new() };
        let mut files = Vec::new();
        for checkout in context.checkouts {
            let folder = home.join("projects").join(claude_folder(checkout)).join("memory");
            let Ok(entries) = fs_err::read_dir(folder) else { continue };
            let mut here: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
            here.sort();
            files.extend(here.into_iter().filter(|path| is_markdown(path)));
        }
        files.into_iter().map(|path| (shown(&path), path)).collect()
    }

    fn recognizes(&self, path: &Path, _: &SourceContext<'_>) -> Option<String> {
        is_markdown(path).then(|| shown(path))
    }

    fn read(&self, maker: &Maker<'_>, path: &Path) -> Result<Vec<Draft>, SkipReason> {
        let text = read_text_bounded(path, MAX_BYTES)
            .map_err(|error| crate::sources::docs::reason(&error))?;
        let (time, name) = (changed(path), shown(path));
        let mut drafts = Vec::new();
        for (headings, passage) in markdown_passages(&text.unwrap_or_default()) {
            let title =
                headings.rsplit(" > ").next().filter(|title| !title.is_empty()).unwrap_or(&name);
            let record = Record { id: &headings, title, text: &passage, trust: Trust::Agent, time };
            drafts.extend(maker.drafts(&record));
        }
        Ok(drafts)
    }
}

fn is_markdown(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "md")
}
