//! All packages of one platform, and what covers all platforms.

use std::path::PathBuf;

use anyhow::{Result, ensure};

use crate::cargo::{self, root};
use crate::channels::{archives, debian, homebrew, npm, script, wheel};
use crate::contents::Contents;
use crate::target::Target;
use crate::{checksums, sbom};

/// What to make.
#[derive(clap::Args)]
pub struct DistArgs {
    /// Platform to build for [default: this one]
    #[arg(long, value_name = "TRIPLE")]
    target: Option<String>,
    /// Folder to write to
    #[arg(long, value_name = "DIR", default_value = "target/dist")]
    out: PathBuf,
    /// Package this program instead of building one
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
    /// Version of the packages, to try upgrades [default: the program's]
    #[arg(long, value_name = "VERSION")]
    package_version: Option<String>,
}

/// Where packages are.
#[derive(clap::Args)]
pub struct IndexArgs {
    /// Folder with the packages of all platforms
    #[arg(long, value_name = "DIR", default_value = "target/dist")]
    out: PathBuf,
}

/// Builds the program once, and makes every package from it.
pub fn dist(args: &DistArgs) -> Result<()> {
    let target = Target::find(args.target.as_deref())?;
    let own = cargo::manifest("version")?;
    let binary = match &args.binary {
        Some(binary) => binary.clone(),
        None => cargo::build(target)?,
    };
    let version = args.package_version.clone().unwrap_or(own);
    let folder = root().join(&args.out);
    let repository = cargo::manifest("repository")?;
    fs_err::create_dir_all(&folder)?;
    let contents = Contents::of(&binary, target, version, cargo::epoch())?;
    archives::write(&contents, &folder)?;
    wheel::write(&contents, &repository, &folder)?;
    debian::write(&contents, &repository, &folder)?;
    npm::write_platform(&contents, &repository, &folder.join("npm"))?;
    sbom::write(target, &contents.version, &contents.program.bytes, &folder)?;
    index_version(&contents.version, &folder)
}

/// Writes what covers all platforms: the npm package that people name, the formula, the script and the checksums.
pub fn index(args: &IndexArgs) -> Result<()> {
    let folder = root().join(&args.out);
    ensure!(
        folder.is_dir(),
        "there is no folder {}: `cargo xtask dist` makes it",
        folder.display()
    );
    index_version(&cargo::manifest("version")?, &folder)
}

fn index_version(version: &str, folder: &std::path::Path) -> Result<()> {
    let repository = cargo::manifest("repository")?;
    npm::write_main(version, &repository, &folder.join("npm"))?;
    script::write(version, &repository, folder)?;
    homebrew::write(version, &repository, folder)?;
    checksums::write(folder)
}
