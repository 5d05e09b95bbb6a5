//! The Debian package. The program is static, so it depends on nothing and installs on every release.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Result;

use crate::archive::{File, ar, gzip, tar_gz};
use crate::contents::Contents;
use crate::{DESCRIPTION, PACKAGE, SUMMARY};

/// Writes it, if there is one for the platform.
pub fn write(contents: &Contents, repository: &str, folder: &Path) -> Result<()> {
    let Some(architecture) = contents.target.debian else { return Ok(()) };
    let (version, epoch) = (&contents.version, contents.epoch);
    let data = data(contents)?;
    let control = control(version, architecture, repository, &data);
    let members = [
        File::new("debian-binary", "2.0\n"),
        File::new("control.tar.gz", tar_gz(&[File::new("./control", control)], epoch, false)?),
        File::new("data.tar.gz", tar_gz(&data, epoch, true)?),
    ];
    let name = format!("{PACKAGE}_{}_{architecture}.deb", debian_version(version));
    Ok(fs_err::write(folder.join(name), ar(&members, epoch)?)?)
}

/// `1.0.0-rc.1` comes before `1.0.0`, which Debian writes with a tilde.
fn debian_version(version: &str) -> String {
    version.replacen('-', "~", 1)
}

/// The tree below `/usr`, as Debian's policy wants it: compressed pages, the licenses in one file.
fn data(contents: &Contents) -> Result<Vec<File>> {
    let mut files = vec![contents.program.below("./usr")];
    let text = |name: &str| {
        let file = contents.documents.iter().find(|file| file.path == name);
        file.map(|file| file.bytes.clone()).unwrap_or_default()
    };
    let doc = format!("./usr/share/doc/{PACKAGE}");
    files.push(File::new(format!("{doc}/changelog.gz"), gzip(&text("CHANGELOG.md"))?));
    files.push(File::new(
        format!("{doc}/copyright"),
        [text("LICENSE"), text("LICENSE-MIT"), text("LICENSE-APACHE")].join(&b"\n"[..]),
    ));
    for file in &contents.shared {
        let zsh = "share/zsh/site-functions/";
        files.push(if file.path.starts_with("share/man/") {
            File::new(format!("./usr/{}.gz", file.path), gzip(&file.bytes)?)
        } else if let Some(name) = file.path.strip_prefix(zsh) {
            File::new(format!("./usr/share/zsh/vendor-completions/{name}"), file.bytes.clone())
        } else {
            file.below("./usr")
        });
    }
    Ok(files)
}

fn control(version: &str, architecture: &str, repository: &str, data: &[File]) -> String {
    let size: usize = data.iter().map(|file| file.bytes.len().div_ceil(1024)).sum();
    let mut text = format!(
        "Package: {PACKAGE}\nVersion: {}\nArchitecture: {architecture}\nMaintainer: The Handover developers <handover-cli@users.noreply.github.com>\n\
         Installed-Size: {size}\nRecommends: git\nSection: devel\nPriority: optional\nHomepage: {repository}\n\
         Description: {SUMMARY}\n",
        debian_version(version)
    );
    for line in DESCRIPTION.lines() {
        let _ = writeln!(text, " {line}");
    }
    text
}
