//! Checksums in the form that `sha256sum --check` reads.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Result;
use sha2::{Digest as _, Sha256};

/// The file with all of them.
pub const FILE: &str = "SHA256SUMS";

/// A checksum in hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Writes the checksums of every file in a folder.
pub fn write(folder: &Path) -> Result<()> {
    let mut lines = Vec::new();
    for entry in fs_err::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.file_type()?.is_file() && name != FILE {
            lines.push(format!("{}  {name}\n", sha256(&fs_err::read(entry.path())?)));
        }
    }
    lines.sort_by(|a, b| a[64..].cmp(&b[64..]));
    Ok(fs_err::write(folder.join(FILE), lines.concat())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_but_the_list_itself_is_listed() {
        let folder = tempfile::tempdir().unwrap();
        fs_err::write(folder.path().join("b"), "").unwrap();
        fs_err::write(folder.path().join("a"), "abc").unwrap();
        fs_err::create_dir(folder.path().join("folder")).unwrap();
        for _ in 0..2 {
            write(folder.path()).unwrap();
            assert_eq!(
                fs_err::read_to_string(folder.path().join(FILE)).unwrap(),
                "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  a\n\
                 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  b\n"
            );
        }
    }
}
