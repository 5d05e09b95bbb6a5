//! Packages as rows: what reading, registering and reindexing share.

use handover_model::{Package, PackageId};
use handover_store::rows::{self, Columns, PACKAGE};
use handover_store::{RecordKind, Result, StoreError};
use rusqlite::Connection;

use crate::{query, sums};

/// Reads [`PACKAGE`] and consumers: one record for each package. A consumer that does not match its
/// checksum is no text, and so no consumer list.
pub(crate) fn select(rest: &str) -> String {
    let (package, consumer) = (sums::intact("package", "p"), sums::intact("package_consumer", "c"));
    format!(
        "SELECT {PACKAGE},
            (SELECT json_group_array(iif({consumer}, role, 0)) FROM package_consumer c
                WHERE c.package = p.id),
            {package}
         FROM package p JOIN session s ON s.key = p.session {rest}"
    )
}

pub(crate) fn get(connection: &Connection, id: PackageId) -> Result<Package> {
    query::record(connection, &select("WHERE p.id = ?1"), [id.0], rows::package)?
        .ok_or_else(|| StoreError::not_found(RecordKind::Package, id))
}

pub(crate) fn body(connection: &Connection, id: PackageId) -> Result<String> {
    let intact = sums::intact("package_body", "package_body");
    let sql = format!("SELECT body, {intact} FROM package_body WHERE package = ?1");
    query::record(connection, &sql, [id.0], |row| Columns::of(row).text())?
        .ok_or_else(|| StoreError::not_found(RecordKind::Package, id))
}
