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

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::target::TARGETS;

    /// What cargo-binstall makes of a template in the manifest of the command line.
    fn filled_in(template: &Value, repository: &str, version: &str, target: &Target) -> String {
        let ending = if target.is_windows() { ".exe" } else { "" };
        let values = [
            ("repo", repository),
            ("name", crate::PACKAGE),
            ("version", version),
            ("target", target.triple),
            ("bin", "handover"),
            ("binary-ext", ending),
        ];
        let mut text = template.as_str().unwrap().to_owned();
        for (name, value) in values {
            text = text.replace(&format!("{{ {name} }}"), value);
        }
        assert!(!text.contains('{'), "{text}");
        text
    }

    #[test]
    fn cargo_binstall_finds_every_archive() {
        let metadata =
            crate::cargo::text_of("cargo", &["metadata", "--format-version=1", "--no-deps"]);
        let metadata: Value = serde_json::from_str(&metadata.unwrap()).unwrap();
        let packages = metadata["packages"].as_array().unwrap();
        let own = packages.iter().find(|package| package["name"] == crate::PACKAGE).unwrap();
        let (repository, version) =
            (own["repository"].as_str().unwrap(), own["version"].as_str().unwrap());
        let binstall = &own["metadata"]["binstall"];
        let overrides = binstall["overrides"].as_object().unwrap();
        let check = |triple: &str, target: &Target| {
            let of = |key: &str| {
                overrides.get(triple).map(|own| &own[key]).filter(|value| !value.is_null())
            };
            let value = |key: &str| of(key).unwrap_or(&binstall[key]);
            let archive = name(target, version);
            assert_eq!(
                filled_in(value("pkg-url"), repository, version, target),
                format!("{repository}/releases/download/v{version}/{archive}"),
                "{triple}"
            );
            assert_eq!(
                filled_in(value("bin-dir"), repository, version, target),
                format!("{}/bin/{}", target.archive(version), target.program()),
                "{triple}"
            );
            let format = if archive.ends_with(".zip") { "zip" } else { "tgz" };
            assert_eq!(value("pkg-fmt"), format, "{triple}");
        };
        for target in TARGETS {
            check(target.triple, target);
        }
        // The static program serves other C libraries, too; nothing else is overridden.
        for triple in overrides.keys() {
            let gnu = triple.replace("-musl", "-gnu");
            check(triple, Target::find(Some(&gnu)).unwrap());
        }
        assert_eq!(overrides.len(), 3, "{overrides:?}");
    }
}
