//! The platforms that releases are made for, and what each channel calls them.

use std::process::Command;

use anyhow::{Context, Result};

/// One platform.
#[derive(Debug)]
pub struct Target {
    /// Rust's name, which is also in the names of archives.
    pub triple: &'static str,
    /// Node's `process.platform` and `process.arch`.
    pub npm: (&'static str, &'static str),
    /// Platform tags of wheels. A static program runs with every C library.
    pub wheel: &'static str,
    /// Debian's architecture, if there is a Debian package.
    pub debian: Option<&'static str>,
    /// Homebrew's blocks around a download, if it is offered there.
    pub homebrew: Option<(&'static str, &'static str)>,
}

/// All of them.
pub const TARGETS: &[Target] = &[
    Target {
        triple: "x86_64-unknown-linux-gnu",
        npm: ("linux", "x64"),
        wheel: "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64",
        debian: Some("amd64"),
        homebrew: Some(("on_linux", "on_intel")),
    },
    Target {
        triple: "aarch64-unknown-linux-gnu",
        npm: ("linux", "arm64"),
        wheel: "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
        debian: Some("arm64"),
        homebrew: Some(("on_linux", "on_arm")),
    },
    Target {
        triple: "x86_64-apple-darwin",
        npm: ("darwin", "x64"),
        wheel: "macosx_10_12_x86_64",
        debian: None,
        homebrew: Some(("on_macos", "on_intel")),
    },
    Target {
        triple: "aarch64-apple-darwin",
        npm: ("darwin", "arm64"),
        wheel: "macosx_11_0_arm64",
        debian: None,
        homebrew: Some(("on_macos", "on_arm")),
    },
    Target {
        triple: "x86_64-pc-windows-msvc",
        npm: ("win32", "x64"),
        wheel: "win_amd64",
        debian: None,
        homebrew: None,
    },
];

impl Target {
    /// The platform with this name, or the one that this program was compiled for.
    pub fn find(triple: Option<&str>) -> Result<&'static Self> {
        let triple = match triple {
            Some(triple) => triple.to_owned(),
            None => host()?,
        };
        TARGETS.iter().find(|target| target.triple == triple).with_context(|| {
            let known: Vec<_> = TARGETS.iter().map(|target| target.triple).collect();
            format!("no release is made for {triple}; known are {}", known.join(", "))
        })
    }

    /// Whether the C library is linked statically. Elsewhere it belongs to the system.
    pub fn is_static(&self) -> bool {
        self.npm.0 == "linux"
    }

    /// The program's file name.
    pub fn program(&self) -> &'static str {
        if self.is_windows() { "handover.exe" } else { "handover" }
    }

    /// Windows unpacks zip files, everything else tarballs.
    pub fn is_windows(&self) -> bool {
        self.npm.0 == "win32"
    }

    /// The npm package with this platform's program.
    pub fn npm_package(&self) -> String {
        format!("{}-{}-{}", crate::PACKAGE, self.npm.0, self.npm.1)
    }

    /// The name of an archive without its ending, which is also its only folder.
    pub fn archive(&self, version: &str) -> String {
        format!("{}-{version}-{}", crate::PACKAGE, self.triple)
    }
}

fn host() -> Result<String> {
    let output = Command::new("rustc").arg("-vV").output().context("running rustc -vV")?;
    let text = String::from_utf8(output.stdout)?;
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("rustc names no host")?.to_owned())
}
