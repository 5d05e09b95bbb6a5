//! The Homebrew formula: where each archive is and what its checksum must be.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use anyhow::Result;

use super::archives;
use crate::SUMMARY;
use crate::checksums::sha256;
use crate::target::TARGETS;

/// Writes the formula for the archives that are in the folder.
pub fn write(version: &str, repository: &str, folder: &Path) -> Result<()> {
    let mut systems: BTreeMap<&str, String> = BTreeMap::new();
    for target in TARGETS {
        let (Some((system, processor)), name) = (target.homebrew, archives::name(target, version))
        else {
            continue;
        };
        let path = folder.join(&name);
        if !path.exists() {
            continue;
        }
        let sum = sha256(&fs_err::read(path)?);
        let url = format!("{repository}/releases/download/v{version}/{name}");
        let block =
            format!("    {processor} do\n      url \"{url}\"\n      sha256 \"{sum}\"\n    end\n");
        systems.entry(system).or_default().push_str(&block);
    }
    let mut downloads = String::new();
    for (system, blocks) in systems {
        let _ = writeln!(downloads, "  {system} do\n{blocks}  end\n");
    }
    let formula = include_str!("../../homebrew.rb")
        .replace("@SUMMARY@", SUMMARY)
        .replace("@REPOSITORY@", repository)
        .replace("@VERSION@", version)
        .replace("@DOWNLOADS@\n", &downloads);
    Ok(fs_err::write(folder.join("handover-cli.rb"), formula)?)
}
