//! Whether a registered file is still what was registered.

use std::io::Read;

use handover_model::Package;
use serde::Serialize;

use super::{Places, content_hash};

/// What has become of a file since it was registered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FileState {
    /// The same bytes.
    Current,
    /// Other bytes: register it again.
    Changed,
    /// Gone, or no longer inside the project.
    Vanished,
}

/// Looks at the file of a package. The size is compared before the content is read.
pub fn file_state(places: &Places, package: &Package) -> FileState {
    if let Some(checkout) = &places.checkout {
        let there = file_state(checkout, package);
        if there != FileState::Vanished {
            return there;
        }
    }
    let Ok(located) = places.locate(places.root(), &places.absolute(&package.path)) else {
        return FileState::Vanished;
    };
    let Ok(mut file) = places.open(&located) else { return FileState::Vanished };
    match file.metadata() {
        Ok(metadata) if metadata.len() != package.size_bytes => FileState::Changed,
        Ok(_) => {
            let mut bytes = Vec::new();
            match file.read_to_end(&mut bytes) {
                Ok(_) if content_hash(&bytes) == package.content_hash => FileState::Current,
                Ok(_) => FileState::Changed,
                Err(_) => FileState::Vanished,
            }
        }
        Err(_) => FileState::Vanished,
    }
}
