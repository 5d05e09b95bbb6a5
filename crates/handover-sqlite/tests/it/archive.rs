//! The list of everything that moves, held against the tables.

use std::collections::{BTreeMap, BTreeSet};

use handover_sqlite::SqliteStore;
use handover_store::archive::KINDS;

#[test]
fn the_list_is_that_of_the_tables() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    drop(SqliteStore::open(&path).unwrap());
    #[expect(clippy::disallowed_methods, reason = "the test looks from outside")]
    let connection = rusqlite::Connection::open(&path).unwrap();
    let mut statement = connection
        .prepare(
            "SELECT t.name, c.name, c.\"notnull\" = 0 AND c.pk = 0 FROM sqlite_schema t, pragma_table_info(t.name) c
             WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%'",
        )
        .unwrap();
    let mut tables: BTreeMap<String, BTreeSet<(String, bool)>> = BTreeMap::new();
    let rows = statement
        .query_map([], |r| {
            Ok((r.get::<_, String>(0)?, r.get::<_, String>(1)?, r.get::<_, bool>(2)?))
        })
        .unwrap();
    for row in rows {
        let (table, column, optional) = row.unwrap();
        tables.entry(table).or_default().insert((column, optional));
    }
    let index = [
        "candidate_sheet",
        "package_terms",
        "posting_page",
        "fresh_package",
        "note_page",
        "note_index",
        "item_use",
    ];
    for not_moved in ["run_helper", "run_job", "change", "token"].iter().chain(&index) {
        assert!(tables.remove(*not_moved).is_some());
    }
    let listed = KINDS.iter().map(|kind| {
        let columns = kind.columns.iter().map(|c| (c.name.to_owned(), c.optional)).collect();
        (kind.name.to_owned(), columns)
    });
    assert_eq!(tables, listed.collect());
}
