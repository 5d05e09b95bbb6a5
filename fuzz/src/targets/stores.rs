//! What stores read: the packed index, archives, calls of a client, addresses.

use handover_context::archive;
use handover_model::{GroupId, PackageId, Role};
use handover_sqlite::SqliteStore;
use handover_store::packed::{
    Blocks, Postings, merge_postings, read_candidates, unpack_terms, without_candidate,
    without_posting,
};
use handover_store::wire::Call;
use handover_text::Redactor;

use super::{halves, lossy};

pub(super) fn packed_index(data: &[u8]) {
    let (one, other) = halves(data);
    if let Ok(terms) = unpack_terms(data) {
        let _: Vec<_> = terms.map(|term| term.is_ok()).collect();
    }
    let mut postings = Postings::default();
    if postings.push_page(PackageId(1), data).is_ok() {
        assert_eq!(postings.list().len(), postings.count());
    }
    let _ = merge_postings(one, other);
    let _ = without_posting(data, PackageId(3), Blocks::pages(256));
    let _ = without_candidate(data, PackageId(3), Blocks::sheets(32));
    let (group, role) = (GroupId::new("P1").expect("an id"), Role::new("developer").expect("a role"));
    let mut found = Vec::new();
    let _ = read_candidates(PackageId(1), data, Some(&group), Some(&role), &mut found);
}

/// JSON lines, which are all imported or none.
pub(super) fn archive(data: &[u8]) {
    thread_local! {
        static STORE: (tempfile::TempDir, SqliteStore) = {
            let folder = tempfile::tempdir().expect("a temporary folder");
            let store = SqliteStore::open(&folder.path().join("store.db")).expect("a store");
            (folder, store)
        };
    }
    let text = format!("{}\n{}", r#"{"handover":"export","version":1,"project":"p"}"#, lossy(data));
    STORE.with(|(_, store)| {
        let _ = archive::import(store, &mut text.as_bytes(), &Redactor::default());
        let _ = archive::import(store, &mut &data[..], &Redactor::default());
    });
}

/// What a service reads from a client, redacted on its way in.
pub(super) fn store_call(data: &[u8]) {
    let _ = Redactor::default().reading(|| serde_json::from_slice::<Call>(data).is_ok());
}

pub(super) fn address(data: &[u8]) {
    let text = lossy(data);
    if let Ok(address) = text.parse::<handover_remote::Address>() {
        let _ = (address.host(), address.is_private());
    }
    if let Ok(location) = text.parse::<handover_postgres::Location>() {
        let _ = location.to_string();
    }
}
