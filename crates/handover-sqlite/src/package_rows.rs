//! Packages as rows: what reading, registering and reindexing share.

use handover_model::{Package, PackageId};
use handover_store::rows::{self, Columns, PACKAGE};
use handover_store::{RecordKind, Result, StoreError};
use rusqlite::Connection;

use crate::query;

/// Reads [`PACKAGE`] and consumers: one row for each package.
pub(crate) fn select(rest: &str) -> String {
    format!(
        "SELECT {PACKAGE},
            (SELECT json_group_array(role) FROM package_consumer c WHERE c.package = p.id)
         FROM package p JOIN session s ON s.key = p.session {rest}"
    )
}

pub(crate) fn get(connection: &Connection, id: PackageId) -> Result<Package> {
    query::first(connection, &select("WHERE p.id = ?1"), [id.0], rows::package)?
        .ok_or_else(|| StoreError::not_found(RecordKind::Package, id))
}

pub(crate) fn body(connection: &Connection, id: PackageId) -> Result<String> {
    let sql = "SELECT body FROM package_body WHERE package = ?1";
    query::first(connection, sql, [id.0], |row| Columns::of(row).text())?
        .ok_or_else(|| StoreError::not_found(RecordKind::Package, id))
}
