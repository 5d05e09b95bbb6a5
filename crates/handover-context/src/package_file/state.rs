//! Whether a registered file is still what was registered.

use std::io::Read;

use handover_model::Package;
use serde::Serialize;

use super::{ProjectPaths, content_hash};

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
    /// Not on this machine, but the store is shared: the registered text is to be had there.
    Elsewhere,
}

/// Looks at the file of a package. The size is compared before the content is read.
pub fn file_state(places: &ProjectPaths, package: &Package) -> FileState {
    if let Some(checkout) = &places.checkout {
        let there = file_state(checkout, package);
        if there != FileState::Vanished {
            return there;
        }
    }
    let absent = if places.is_shared() { FileState::Elsewhere } else { FileState::Vanished };
    let Ok(located) = places.locate(places.root(), &places.absolute(&package.path)) else {
        return absent;
    };
    let Ok(mut file) = places.open(&located) else { return absent };
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
