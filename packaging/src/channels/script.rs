//! The shell script that installs an archive.

use std::path::Path;

use anyhow::Result;

/// Writes the script of a version.
pub fn write(version: &str, repository: &str, folder: &Path) -> Result<()> {
    let script = include_str!("../../install.sh")
        .replace("@VERSION@", version)
        .replace("@REPOSITORY@", repository);
    Ok(fs_err::write(folder.join("install.sh"), script)?)
}
