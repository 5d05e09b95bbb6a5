//! What an earlier run left of a story that it did not finish: its branch, why it failed, and the records of
//! its agents.

use std::path::Path;

use crate::EngineError;
use crate::data::Earlier;
use crate::git::{Repo, ref_part};
use crate::story::{self, Integrity};

/// How much of the records is passed on.
const MOST: usize = 6_000;
const KICKOFF: &str = "Story Kickoff Insights";
/// The records that tell what went wrong, by heading.
const RECORDS: [&str; 3] = ["Code Review Record", "Failure Analysis Record", "Questions Answered"];

/// What is left of a story; none if no earlier run failed at it.
pub(super) fn earlier(
    repo: &Repo,
    id: &str,
    path: &str,
    text: &str,
) -> Result<Option<Earlier>, EngineError> {
    let branch = format!("handover/failed/{}", ref_part(id));
    let Some(commit) = repo.resolve(&format!("refs/heads/{branch}"))? else { return Ok(None) };
    let reason = repo.read_commit(&commit)?.trailer("Reason").unwrap_or_default().to_owned();
    let file = repo.file_of(&commit, &repo.prefix.join(Path::new(path)))?.unwrap_or_default();
    let then = String::from_utf8_lossy(&file).into_owned();
    let is_same = story::verify(text, &then) == Integrity::Kept;
    let last = |heading: &str| story::section(&then, heading).filter(|_| is_same);
    let records: Vec<String> = RECORDS
        .iter()
        .filter_map(|heading| Some(format!("{heading}\n\n{}", last(heading)?)))
        .collect();
    Ok(Some(Earlier {
        branch,
        reason,
        kickoff: last(KICKOFF).map(|text| handover_text::cut::cut(&text, MOST)),
        records: handover_text::cut::cut(&records.join("\n\n"), MOST),
    }))
}
