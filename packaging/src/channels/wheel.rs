//! The Python wheel: the program as a script of the environment, and a module that starts it.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Result;
use sha2::{Digest as _, Sha256};

use crate::archive::{File, zip};
use crate::contents::Contents;
use crate::{PACKAGE, SUMMARY};

/// `uvx` and `pipx run` start what is called like the package.
const ENTRY_POINTS: &str = "[console_scripts]\nhandover-cli = handover_cli.__main__:main\n";

/// Writes it.
pub fn write(contents: &Contents, repository: &str, folder: &Path) -> Result<()> {
    let (version, tags) = (pep440(&contents.version), contents.target.wheel);
    let stem = format!("{}-{version}", PACKAGE.replace('-', "_"));
    let (data, info) = (format!("{stem}.data"), format!("{stem}.dist-info"));
    let program = &contents.program;
    let mut files = vec![
        File::new("handover_cli/__init__.py", include_str!("../../python/__init__.py")),
        File::new("handover_cli/__main__.py", include_str!("../../python/__main__.py")),
        File::program(
            format!("{data}/scripts/{}", contents.target.program()),
            program.bytes.clone(),
        ),
    ];
    files.extend(contents.shared.iter().map(|file| file.below(&format!("{data}/data"))));
    let licenses = contents.documents.iter().filter(|file| file.path.starts_with("LICENSE"));
    files.extend(licenses.clone().map(|file| file.below(&format!("{info}/licenses"))));
    let licenses: Vec<&str> = licenses.map(|file| file.path.as_str()).collect();
    let readme = contents.documents.iter().find(|file| file.path == "README.md");
    let mut metadata = metadata(&version, repository, &licenses).into_bytes();
    if let Some(readme) = readme {
        let text = String::from_utf8_lossy(&readme.bytes);
        metadata.extend(with_whole_links(&text, repository, &contents.version).into_bytes());
    }
    files.push(File::new(format!("{info}/METADATA"), metadata));
    files.push(File::new(format!("{info}/WHEEL"), description_of_wheel(tags)));
    files.push(File::new(format!("{info}/entry_points.txt"), ENTRY_POINTS));
    let record = record(&files, &info);
    files.push(File::new(format!("{info}/RECORD"), record));
    let name = format!("{stem}-py3-none-{tags}.whl");
    Ok(fs_err::write(folder.join(name), zip(&files, contents.epoch)?)?)
}

/// Python's form of `1.0.0-rc.1`.
fn pep440(version: &str) -> String {
    version.replace("-rc.", "rc").replace("-beta.", "b").replace("-alpha.", "a")
}

fn metadata(version: &str, repository: &str, licenses: &[&str]) -> String {
    let mut text = format!(
        "Metadata-Version: 2.4\nName: {PACKAGE}\nVersion: {version}\nSummary: {SUMMARY}\n\
         License-Expression: MIT OR Apache-2.0\nRequires-Python: >=3.8\nProject-URL: Repository, {repository}\n\
         Description-Content-Type: text/markdown\n"
    );
    for license in licenses {
        let _ = writeln!(text, "License-File: {license}");
    }
    text.push('\n');
    text
}

/// A text in Markdown whose links into the repository name it: an index shows the text alone.
fn with_whole_links(text: &str, repository: &str, version: &str) -> String {
    let mut whole = String::with_capacity(text.len() * 2);
    let mut is_code = false;
    for line in text.split_inclusive('\n') {
        is_code ^= line.trim_start().starts_with("```");
        let mut rest = line;
        while let Some(at) = rest.find("](").filter(|_| !is_code) {
            let (before, target) = rest.split_at(at + 2);
            let is_image = before.rfind('[').is_some_and(|open| before[..open].ends_with('!'));
            whole.push_str(before);
            if !target.starts_with(['#', '/'])
                && !target.split(')').next().unwrap_or_default().contains(':')
            {
                let kind = if is_image { "raw" } else { "blob" };
                let _ = write!(whole, "{repository}/{kind}/v{version}/");
            }
            rest = target;
        }
        whole.push_str(rest);
    }
    whole
}

fn description_of_wheel(tags: &str) -> String {
    let mut text =
        "Wheel-Version: 1.0\nGenerator: handover packaging\nRoot-Is-Purelib: false\n".to_owned();
    for tag in tags.split('.') {
        let _ = writeln!(text, "Tag: py3-none-{tag}");
    }
    text
}

/// The list that installers verify: every file with its checksum and size, itself without.
fn record(files: &[File], info: &str) -> String {
    let mut text = String::new();
    for file in files {
        let digest = base64_url(&Sha256::digest(&file.bytes));
        let _ = writeln!(text, "{},sha256={digest},{}", file.path, file.bytes.len());
    }
    let _ = writeln!(text, "{info}/RECORD,,");
    text
}

/// Base 64 for URLs, without padding.
fn base64_url(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let digits = bytes.chunks(3).flat_map(|chunk| {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or_default());
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        (0..=chunk.len()).map(move |at| DIGITS[(bits >> (18 - 6 * at) & 63) as usize])
    });
    digits.map(char::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_of_base_64() {
        assert_eq!(base64_url(b""), "");
        assert_eq!(base64_url(b"f"), "Zg");
        assert_eq!(base64_url(b"fo"), "Zm8");
        assert_eq!(base64_url(b"foobar"), "Zm9vYmFy");
        assert_eq!(base64_url(&[0xfb, 0xff]), "-_8");
    }

    #[test]
    fn links_into_the_repository_name_it() {
        let whole = |text| with_whole_links(text, "https://host/us/it", "1.2.0");
        for (text, expected) in [
            (
                "[a](docs/a.md#b), [c](https://c.d/e)",
                "[a](https://host/us/it/blob/v1.2.0/docs/a.md#b), [c](https://c.d/e)",
            ),
            ("![p](docs/p.svg)\n", "![p](https://host/us/it/raw/v1.2.0/docs/p.svg)\n"),
            ("[a](#there) [b](mailto:us@host)", "[a](#there) [b](mailto:us@host)"),
            ("```sh\n[a](b.md)\n```\n", "```sh\n[a](b.md)\n```\n"),
        ] {
            assert_eq!(whole(text), expected);
        }
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../README.md");
        let readme = whole(&fs_err::read_to_string(path).unwrap());
        assert!(readme.contains("](https://host/us/it/blob/v1.2.0/docs/hosts.md)"));
        assert!(!readme.contains("](docs/") && !readme.contains("](CHANGELOG"), "{readme}");
    }

    #[test]
    fn versions_before_a_release_have_pythons_form() {
        assert_eq!(pep440("1.2.0-rc.1"), "1.2.0rc1");
        assert_eq!(pep440("1.2.0"), "1.2.0");
    }
}
