//! The files that opencode kept before it had a database.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::{HOST, Reading};
use crate::transcripts::find::{is_ours, stem, walk};
use crate::transcripts::lines::whole;
use crate::transcripts::{Conversation, Transcript};
use crate::{SkipReason, SourceContext};

/// The largest file of a message or a part.
const MAX_BYTES: u64 = 8 << 20;

#[derive(Deserialize, Default)]
#[serde(default)]
struct Session {
    id: Option<String>,
    directory: Option<PathBuf>,
    version: Option<String>,
    #[serde(rename = "parentID")]
    parent: Option<String>,
}

/// The conversations of this project below `storage/`.
pub(super) fn find(storage: &Path, context: &SourceContext<'_>) -> Vec<Transcript> {
    let mut files = Vec::new();
    walk(&storage.join("session"), 2, &mut files);
    let ours = |file: PathBuf| {
        let session = session(&file).ok()?;
        let folder = session.directory?;
        // The file of the session changes with every message.
        is_ours(&folder, context).then(|| Transcript::in_file(HOST, session.id?, file))?
    };
    files.into_iter().filter_map(ours).collect()
}

/// Reads a conversation, given the file of its session.
pub(super) fn read(file: &Path) -> Result<Conversation, SkipReason> {
    let session = session(file)?;
    let id = session.id.ok_or(SkipReason::Foreign)?;
    // storage/session/<project>/<session>.json
    let storage = file.ancestors().nth(3).ok_or(SkipReason::Foreign)?;
    let mut reading = Reading::default();
    reading.conversation.folder = session.directory;
    reading.conversation.version = session.version;
    reading.conversation.is_subagent = session.parent.is_some();
    for message in below(&storage.join("message").join(&id)) {
        let Some(id) = stem(&message) else { continue };
        reading.message(&id, &text(&message));
        for part in below(&storage.join("part").join(&id)) {
            reading.part(&id, &text(&part));
        }
    }
    Ok(reading.done(&id))
}

fn session(file: &Path) -> Result<Session, SkipReason> {
    serde_json::from_slice(&whole(file, MAX_BYTES)?).map_err(|_| SkipReason::Foreign)
}

fn below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    walk(folder, 0, &mut files);
    files
}

/// The text of a file; empty, which is damaged, if it cannot be read.
fn text(file: &Path) -> String {
    let bytes = whole(file, MAX_BYTES).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}
