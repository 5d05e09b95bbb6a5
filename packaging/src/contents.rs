//! What is installed: one tree of files below a prefix, from which every channel makes its package.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::archive::File;
use crate::cargo::root;
use crate::target::Target;

/// Where each shell looks for completions.
const COMPLETIONS: &[(&str, &str)] = &[
    ("bash", "share/bash-completion/completions/handover"),
    ("zsh", "share/zsh/site-functions/_handover"),
    ("fish", "share/fish/vendor_completions.d/handover.fish"),
    ("powershell", "share/handover/handover.ps1"),
];

/// Documents of the sources that every package has.
pub const DOCUMENTS: &[&str] =
    &["README.md", "CHANGELOG.md", "LICENSE", "LICENSE-APACHE", "LICENSE-MIT"];

/// The files of a release.
#[derive(Debug)]
pub struct Contents {
    pub target: &'static Target,
    pub version: String,
    pub epoch: u64,
    /// `bin/handover`.
    pub program: File,
    /// Below `share/`: manual pages and completions.
    pub shared: Vec<File>,
    /// Licenses and documents, without a folder.
    pub documents: Vec<File>,
}

impl Contents {
    /// Asks a built program for its manual pages and completions. They are the same on every platform, so a
    /// program that cannot run here needs another one to ask.
    pub fn of(binary: &Path, target: &'static Target, version: String, epoch: u64) -> Result<Self> {
        let pages = Scratch::new()?;
        ask(binary, &["man", "--to", &pages.0.to_string_lossy()])?;
        let mut shared = Vec::new();
        for entry in fs_err::read_dir(&pages.0)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            shared.push(File::new(format!("share/man/man1/{name}"), fs_err::read(entry.path())?));
        }
        for (shell, path) in COMPLETIONS {
            shared.push(File::new(*path, ask(binary, &["completions", shell])?));
        }
        shared.sort_by(|a, b| a.path.cmp(&b.path));
        let documents = DOCUMENTS
            .iter()
            .map(|name| Ok(File::new(*name, fs_err::read(root().join(name))?)))
            .collect::<Result<_>>()?;
        let program = File::program(format!("bin/{}", target.program()), fs_err::read(binary)?);
        Ok(Self { target, version, epoch, program, shared, documents })
    }

    /// Everything below the prefix.
    pub fn tree(&self) -> Vec<File> {
        let documents = self.documents.iter().map(|file| file.below("share/doc/handover-cli"));
        std::iter::once(self.program.clone()).chain(documents).chain(self.shared.clone()).collect()
    }
}

fn ask(binary: &Path, args: &[&str]) -> Result<Vec<u8>> {
    let output = Command::new(binary)
        .args(args)
        .output()
        .with_context(|| format!("running {}", binary.display()))?;
    ensure!(
        output.status.success(),
        "`handover {}` failed: {}",
        args.join(" "),
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(output.stdout)
}

/// A folder that is deleted afterwards.
struct Scratch(std::path::PathBuf);

impl Scratch {
    fn new() -> Result<Self> {
        let path = std::env::temp_dir().join(format!("handover-man-{}", std::process::id()));
        fs_err::create_dir_all(&path)?;
        Ok(Self(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs_err::remove_dir_all(&self.0);
    }
}
