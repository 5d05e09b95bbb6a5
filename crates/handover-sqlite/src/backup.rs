//! The last good copy of a store.

use fs_err::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use handover_store::rows::Columns;
use handover_store::{Fault, Result, StoreError};
use rusqlite::Connection;

use crate::error::backend;
use crate::file::{create_private, sync_folder};
use crate::salvage::open_copy;
use crate::{SqliteStore, query, sums};

impl SqliteStore {
    /// Writes a verified copy of the store to a file. Afterwards that file is complete; if the store is
    /// damaged or the disk is full, it is what it was before.
    pub fn back_up(&self, to: &Path) -> Result<()> {
        verify(&self.connection)?;
        let mut name = to.as_os_str().to_owned();
        name.push(".new");
        let new = PathBuf::from(name);
        match fs_err::remove_file(&new) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(io(error)),
            Ok(()) | Err(_) => {}
        }
        let copied = self.copy_to(&new);
        if copied.is_err() {
            let _ = fs_err::remove_file(&new);
        }
        copied?;
        fs_err::rename(&new, to).and_then(|()| sync_folder(to)).map_err(io)
    }

    fn copy_to(&self, new: &Path) -> Result<()> {
        let path = new.to_str().ok_or_else(|| io(ErrorKind::InvalidFilename.into()))?;
        create_private(new).map_err(io)?;
        self.connection.execute("VACUUM INTO ?1", [path]).map_err(backend)?;
        verify(&open_copy(new)?)?;
        File::open(new).and_then(|file| file.sync_all()).map_err(io)
    }
}

/// Copies a store as it is before it gets another format; its lock must be held.
pub(crate) fn keep_former(path: &Path, format: i64) -> Result<PathBuf> {
    let with = |end: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".format-{format}{end}"));
        PathBuf::from(name)
    };
    let (copy, new) = (with(""), with(".new"));
    match fs_err::remove_file(&new) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(io(error)),
        Ok(()) | Err(_) => {}
    }
    let name = new.to_str().ok_or_else(|| io(ErrorKind::InvalidFilename.into()))?;
    create_private(&new).map_err(io)?;
    let written = open_copy(path)
        .and_then(|store| store.execute("VACUUM INTO ?1", [name]).map_err(backend))
        .and_then(|_| File::open(&new).and_then(|file| file.sync_all()).map_err(io));
    if written.is_err() {
        let _ = fs_err::remove_file(&new);
    }
    written?;
    fs_err::rename(&new, &copy).and_then(|()| sync_folder(&copy)).map_err(io)?;
    Ok(copy)
}

/// Refuses a store that is damaged.
fn verify(connection: &Connection) -> Result<()> {
    let sql = "PRAGMA integrity_check(1)";
    let structure = query::first(connection, sql, [], |row| Columns::of(row).text())?;
    let (records, _) = sums::problems(connection)?;
    match structure.as_deref() == Some("ok") && records.is_empty() {
        true => Ok(()),
        false => Err(StoreError::damaged("it does not pass its checks, so it is not copied")),
    }
}

fn io(error: std::io::Error) -> StoreError {
    let read_only = [ErrorKind::ReadOnlyFilesystem, ErrorKind::PermissionDenied];
    let fault = if error.kind() == ErrorKind::StorageFull {
        Fault::Full
    } else if read_only.contains(&error.kind()) {
        Fault::ReadOnly
    } else {
        Fault::Io
    };
    StoreError::Backend { fault, source: Box::new(error) }
}
