//! What is learned from: conversations of agent programs and documents.

use std::path::{Path, PathBuf};

use handover_knowledge::{Homes, MAX_TEXT_CHARS, SourceContext, source, transcripts};
use handover_model::SourceName;

/// A conversation, whatever program wrote it.
pub(super) fn conversation(data: &[u8]) {
    in_folder(|folder| {
        for name in ["conversation.jsonl", "conversation.json"] {
            let path = folder.join(name);
            fs_err::write(&path, data).expect("a file");
            let _ = transcripts::read_file(&path);
        }
    });
}

/// A document, down to the passages that become notes.
pub(super) fn document(data: &[u8]) {
    in_folder(|folder| {
        fs_err::write(folder.join("NOTES.md"), data).expect("a file");
        let checkouts = [PathBuf::from(folder)];
        let context = SourceContext {
            root: folder,
            git: None,
            checkouts: &checkouts,
            homes: &Homes::default(),
            paths: &[],
            since: None,
            tables: None,
            stop: &|| false,
        };
        let docs = source(SourceName::Docs).expect("a source");
        let Ok(found) = docs.discover(&context) else { return };
        let _ = docs.read(&context, &found.units, &mut |learned| {
            for draft in learned.drafts {
                assert!(draft.text.chars().count() <= MAX_TEXT_CHARS, "{} characters", draft.text.len());
            }
        });
    });
}

/// With an empty folder, the same for every input.
fn in_folder(work: impl FnOnce(&Path)) {
    thread_local! {
        static FOLDER: tempfile::TempDir = tempfile::tempdir().expect("a temporary folder");
    }
    FOLDER.with(|folder| work(folder.path()));
}
