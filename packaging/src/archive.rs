//! Files of a package, and the formats they are written in. The same files always become the same bytes.

use std::io::{Cursor, Write as _};

use anyhow::{Context, Result};
use flate2::{Compression, GzBuilder};
use zip::write::SimpleFileOptions;

/// A file of a package. Paths are relative, with slashes.
#[derive(Debug, Clone)]
pub struct File {
    pub path: String,
    pub bytes: Vec<u8>,
    pub executable: bool,
}

impl File {
    pub fn new(path: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self { path: path.into(), bytes: bytes.into(), executable: false }
    }

    pub fn program(path: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self { executable: true, ..Self::new(path, bytes) }
    }

    /// The same file below a folder.
    pub fn below(&self, folder: &str) -> Self {
        Self { path: format!("{folder}/{}", self.path), ..self.clone() }
    }

    fn mode(&self) -> u32 {
        if self.executable { 0o755 } else { 0o644 }
    }
}

/// A compressed tarball. With `folders`, each folder has an entry of its own, as Debian wants.
pub fn tar_gz(files: &[File], epoch: u64, folders: bool) -> Result<Vec<u8>> {
    let mut tar = tar::Builder::new(gzip_writer());
    let header = |kind, mode, size: usize| {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(kind);
        header.set_mode(mode);
        header.set_mtime(epoch);
        header.set_uid(0);
        header.set_gid(0);
        header.set_size(size as u64);
        header
    };
    let mut known = std::collections::BTreeSet::new();
    for file in files {
        let ends = file.path.match_indices('/').filter(|_| folders).map(|(at, _)| at);
        for folder in ends.map(|end| &file.path[..=end]) {
            if known.insert(folder) {
                let mut header = header(tar::EntryType::Directory, 0o755, 0);
                tar.append_data(&mut header, folder, std::io::empty())?;
            }
        }
        let mut header = header(tar::EntryType::Regular, file.mode(), file.bytes.len());
        tar.append_data(&mut header, &file.path, file.bytes.as_slice())?;
    }
    Ok(tar.into_inner()?.finish()?)
}

fn gzip_writer() -> flate2::write::GzEncoder<Vec<u8>> {
    GzBuilder::new().write(Vec::new(), Compression::best())
}

/// A compressed file, without name and time.
pub fn gzip(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut writer = gzip_writer();
    writer.write_all(bytes)?;
    Ok(writer.finish()?)
}

/// A zip file.
pub fn zip(files: &[File], epoch: u64) -> Result<Vec<u8>> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default()
        .compression_method(zip::CompressionMethod::Deflated)
        .compression_level(Some(9))
        .last_modified_time(dos_time(epoch)?);
    for file in files {
        zip.start_file(&file.path, options.unix_permissions(0o100_000 | file.mode()))?;
        zip.write_all(&file.bytes)?;
    }
    Ok(zip.finish()?.into_inner())
}

/// The first day of the year: zip files have no time zone, and nobody reads it.
fn dos_time(epoch: u64) -> Result<zip::DateTime> {
    let days = epoch / 86_400;
    let year = 1970 + u16::try_from(days * 400 / 146_097)?;
    zip::DateTime::from_date_and_time(year, 1, 1, 0, 0, 0)
        .context("a year that zip files do not know")
}

/// The archive format of Debian packages.
pub fn ar(files: &[File], epoch: u64) -> Result<Vec<u8>> {
    let mut ar = b"!<arch>\n".to_vec();
    for file in files {
        let (name, size) = (&file.path, file.bytes.len());
        writeln!(ar, "{name:<16}{epoch:<12}{:<6}{:<6}{:<8o}{size:<10}`", 0, 0, 0o100_644)?;
        ar.extend(&file.bytes);
        if size % 2 == 1 {
            ar.push(b'\n');
        }
    }
    Ok(ar)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files() -> Vec<File> {
        vec![File::program("bin/x", "#!/bin/sh\n"), File::new("share/doc/x", "odd")]
    }

    #[test]
    fn a_tarball_keeps_permissions_and_depends_on_nothing_else() {
        let tarball = tar_gz(&files(), 1_000_000_000, true).unwrap();
        assert_eq!(tarball, tar_gz(&files(), 1_000_000_000, true).unwrap());
        let mut tar = tar::Archive::new(flate2::read::GzDecoder::new(tarball.as_slice()));
        let entries: Vec<_> = tar
            .entries()
            .unwrap()
            .map(|entry| entry.unwrap())
            .map(|entry| {
                let header = entry.header();
                (
                    entry.path().unwrap().display().to_string(),
                    header.mode().unwrap(),
                    header.mtime().unwrap(),
                )
            })
            .collect();
        let names: Vec<_> = entries.iter().map(|(name, ..)| name.as_str()).collect();
        assert_eq!(names, ["bin/", "bin/x", "share/", "share/doc/", "share/doc/x"]);
        assert_eq!(entries[1].1, 0o755);
        assert!(entries.iter().all(|(.., time)| *time == 1_000_000_000));
    }

    #[test]
    fn a_zip_file_keeps_permissions() {
        let bytes = zip(&files(), 1_763_000_000).unwrap();
        assert_eq!(bytes, zip(&files(), 1_763_000_000).unwrap());
        let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
        let file = archive.by_name("bin/x").unwrap();
        assert_eq!(file.unix_mode(), Some(0o100_755));
        assert_eq!(file.last_modified().unwrap().year(), 2025);
    }

    #[test]
    fn members_of_an_ar_archive_begin_at_even_offsets() {
        let bytes = ar(&[File::new("odd", "abc"), File::new("next", "d")], 0).unwrap();
        let second = bytes.windows(4).position(|window| window == b"next").unwrap();
        assert_eq!(second % 2, 0);
        assert_eq!(second, 8 + 60 + 4);
    }
}
