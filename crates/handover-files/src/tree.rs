//! Deletes a folder with everything in it, without ever leaving it.

use std::os::fd::AsFd;
use std::path::Path;

use rustix::fs::{AtFlags, Dir, Mode, OFlags, openat, unlinkat};
use rustix::io::Errno;

/// Deletes a folder inside an open one.
pub(crate) fn remove(above: impl AsFd, name: &Path) -> Result<(), Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = openat(&above, name, flags, Mode::empty())?;
    for entry in Dir::read_from(&folder)? {
        let entry = entry?;
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        match unlinkat(&folder, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            // Linux says ISDIR, others PERM.
            Err(Errno::ISDIR | Errno::PERM) => {
                use std::os::unix::ffi::OsStrExt;
                remove(&folder, Path::new(std::ffi::OsStr::from_bytes(name.to_bytes())))?;
            }
            Err(error) => return Err(error),
        }
    }
    match unlinkat(above, name, AtFlags::REMOVEDIR) {
        Err(Errno::NOENT) => Ok(()),
        other => other,
    }
}
