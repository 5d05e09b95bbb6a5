//! Whether the ignore files of a folder can be read. The walker reads them whole and without a limit, so a link to
//! an endless device must not get there.

use std::path::Path;

/// Ignore files that the walker reads.
const NAMES: [&str; 3] = [".gitignore", ".ignore", ".git/info/exclude"];

/// The largest one that is read.
const MAX_BYTES: u64 = 1024 * 1024;

/// Whether every ignore file of a folder is missing or a file of bearable size.
pub(crate) fn are_readable(folder: &Path) -> bool {
    NAMES.iter().all(|name| match fs_err::metadata(folder.join(name)) {
        Ok(data) => data.is_file() && data.len() <= MAX_BYTES,
        // A missing one, or a link that leads nowhere, is not read.
        Err(_) => true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_bearable_size_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(".gitignore");
        assert!(are_readable(folder.path()));
        fs_err::write(&file, "target\n").unwrap();
        assert!(are_readable(folder.path()));
        fs_err::write(&file, vec![b'x'; 2 * 1024 * 1024]).unwrap();
        assert!(!are_readable(folder.path()));
        fs_err::remove_file(&file).unwrap();
        std::os::unix::fs::symlink("/dev/zero", &file).unwrap();
        assert!(!are_readable(folder.path()));
    }
}
