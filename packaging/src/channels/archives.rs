//! The archive that the shell script, Homebrew, cargo-binstall and the container image use.

use std::path::Path;

use anyhow::Result;

use crate::archive::{File, tar_gz, zip};
use crate::contents::Contents;
use crate::target::Target;

/// The archive's file name.
pub fn name(target: &Target, version: &str) -> String {
    let ending = if target.is_windows() { "zip" } else { "tar.gz" };
    format!("{}.{ending}", target.archive(version))
}

/// Writes it.
pub fn write(contents: &Contents, folder: &Path) -> Result<()> {
    let Contents { target, version, epoch, .. } = contents;
    let top = target.archive(version);
    let files: Vec<File> = contents.tree().iter().map(|file| file.below(&top)).collect();
    let bytes =
        if target.is_windows() { zip(&files, *epoch)? } else { tar_gz(&files, *epoch, false)? };
    Ok(fs_err::write(folder.join(name(target, version)), bytes)?)
}
