//! Compares a registered file with what was registered.

use std::io::Read;

use handover_model::Package;
use serde::Serialize;

use super::{ProjectPaths, content_hash};

/// The state of a registered file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FileState {
    /// Unchanged.
    Current,
    /// Modified since: it should be registered again.
    Changed,
    /// Missing, or no longer inside the project.
    Vanished,
    /// Not on this machine, but the store is shared and has the registered text.
    Elsewhere,
}

/// The state of a package's file. Sizes are compared before the content is read.
pub fn file_state(paths: &ProjectPaths, package: &Package) -> FileState {
    if let Some(checkout) = &paths.checkout {
        let there = file_state(checkout, package);
        if there != FileState::Vanished {
            return there;
        }
    }
    let absent = if paths.is_shared() { FileState::Elsewhere } else { FileState::Vanished };
    let Ok(located) = paths.locate(paths.root(), &paths.absolute(&package.path)) else {
        return absent;
    };
    let Ok(mut file) = paths.open(&located) else { return absent };
    match file.metadata() {
        Ok(metadata) if metadata.len() != package.size_bytes => FileState::Changed,
        Ok(_) => {
            let mut bytes = Vec::new();
            match file.read_to_end(&mut bytes) {
                Ok(_) if content_hash(&bytes) == package.content_hash => FileState::Current,
                Ok(_) => FileState::Changed,
                Err(_) => absent,
            }
        }
        Err(_) => absent,
    }
}
