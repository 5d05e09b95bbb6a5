//! Copies one store into another.

use std::collections::HashSet;

use handover_store::archive::{CleanRecord, Digest, DigestSums};
use handover_store::{Store, StoreError};

/// The result of a copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Copied {
    /// How many records were added.
    pub added: u64,
    /// How many identical records already existed.
    pub present: u64,
    /// A hash over the records of each kind, equal on both sides.
    pub digest: Digest,
}

/// Why nothing was copied.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// A store failed or refused.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The target contains other records.
    #[error("the target store contains other records than the source, first in `{kind}`")]
    Other {
        /// The first kind of record that differs.
        kind: &'static str,
    },
}

/// Makes the target equal to the source; the text index is rebuilt. All or nothing: it is rolled back unless
/// every record, read back, has its original hash. Identical records may exist already; two projects are
/// never mixed, because their ids refer to different records.
pub fn copy(from: &dyn Store, to: &dyn Store) -> Result<Copied, CopyError> {
    copy_some(from, to, Some)
}

/// The same without the private notes, which go to a store of their own: the target is shared. Texts that show
/// them stay in the source.
pub fn copy_to_shared(
    from: &dyn Store,
    to: &dyn Store,
    private: &dyn Store,
) -> Result<Copied, CopyError> {
    let showing = receipts_with_private_notes(from)?;
    let copied = copy_some(from, to, |kept| {
        let record = kept.record();
        match record.kind.name {
            _ if record.is_private() => None,
            "receipt" if record.text("id").is_some_and(|id| showing.contains(id)) => {
                Some(kept.withheld())
            }
            // The names in a note are its words.
            "receipt_item" if record.text("receipt").is_some_and(|id| showing.contains(id)) => {
                Some(kept.withheld())
            }
            _ => Some(kept),
        }
    })?;
    private.put_records(&mut |sink| {
        from.each_record(&mut |kept| if kept.record().is_private() { sink(kept) } else { Ok(()) })
    })?;
    Ok(copied)
}

/// The ids of receipts that show a private note.
fn receipts_with_private_notes(from: &dyn Store) -> Result<HashSet<String>, StoreError> {
    let (mut private, mut shown) = (HashSet::new(), Vec::new());
    from.each_record(&mut |kept| {
        let record = kept.record();
        let text = |column: &str| record.text(column).unwrap_or_default().to_owned();
        if record.kind.name == "note" && record.is_private() {
            private.insert(text("id"));
        } else if record.kind.name == "receipt_item" && record.text("kind") == Some("note") {
            shown.push((text("receipt"), text("item")));
        }
        Ok(())
    })?;
    let showing = shown.into_iter().filter(|(_, note)| private.contains(note));
    Ok(showing.map(|(receipt, _)| receipt).collect())
}

/// Copies what is left of each record.
fn copy_some(
    from: &dyn Store,
    to: &dyn Store,
    part: impl Fn(CleanRecord) -> Option<CleanRecord>,
) -> Result<Copied, CopyError> {
    let mut outcome = None;
    from.consistently(&mut |from| {
        to.exclusively(&mut |to| {
            let mut sums = DigestSums::default();
            let added = to.put_records(&mut |sink| {
                from.each_record(&mut |kept| {
                    let Some(kept) = part(kept) else { return Ok(()) };
                    sums.add(kept.record());
                    sink(kept)
                })
            })?;
            let (wanted, found) = (std::mem::take(&mut sums).finish(), Digest::of(to)?);
            match wanted.difference(&found) {
                None => {
                    let (added, present) = (added.added, added.present);
                    outcome = Some(Ok(Copied { added, present, digest: found }));
                    Ok(())
                }
                Some(kind) => {
                    outcome = Some(Err(CopyError::Other { kind }));
                    // The error rolls the transaction back.
                    Err(StoreError::Differs { record: kind.to_owned() })
                }
            }
        })
    })
    .or_else(|error| {
        if outcome.as_ref().is_some_and(Result::is_err) { Ok(()) } else { Err(error) }
    })?;
    outcome.unwrap_or_else(|| Err(StoreError::Aborted.into()))
}

#[cfg(test)]
mod tests {
    use handover_model::{
        Form, ItemKind, NoteId, NoteKind, NoteState, ProjectId, Provided, ReceiptId, ReceiptItem,
        Role, Trust, Zone,
    };
    use handover_sqlite::SqliteStore;
    use handover_store::{
        NewNote, NewReceipt, NewUnit, NoteFilter, Notes, PackageFilter, Packages, Receipts,
        WITHHELD,
    };

    use super::*;
    use crate::search::{Query, search};
    use crate::testing::{TestProject, at};

    fn filled() -> TestProject {
        let project = TestProject::new();
        project.register(project.package("a.md", "about dragons", "dragons"));
        project.register(project.package("a.md", "about unicorns", "unicorns"));
        project
    }

    fn empty(project: &TestProject) -> SqliteStore {
        SqliteStore::open(&project.outside("copy.db")).unwrap()
    }

    #[test]
    fn a_copy_has_the_same_records_and_index() {
        let project = filled();
        let target = empty(&project);
        let copied = copy(&project.store, &target).unwrap();
        assert!(copied.added > 2 && copied.present == 0);
        assert_eq!(copied.digest, Digest::of(&project.store).unwrap());
        let config = handover_model::config::AssemblyConfig::default();
        let (session, now) = (&project.session, at(0));
        let query =
            Query { session, group: None, text: "unicorns", limit: 9, config: &config, now };
        assert_eq!(search(&target, &query).unwrap(), search(&project.store, &query).unwrap());
        assert_eq!(search(&target, &query).unwrap().len(), 1);
    }

    #[test]
    fn private_notes_do_not_go_to_a_shared_store() {
        let project = filled();
        let name = ProjectId::new("p").unwrap();
        let units =
            [(NoteKind::Doc, "public"), (NoteKind::Conversation, "secret")].map(|(kind, text)| {
                NewUnit {
                    kind,
                    source: text.to_owned(),
                    fingerprint: Some("1".to_owned()),
                    notes: vec![NewNote {
                        id: NoteId::new(format!("n_{text}")).unwrap(),
                        origin: project.redactor.clean(text),
                        title: project.redactor.clean(text),
                        text: project.redactor.clean(text),
                        trust: Trust::Person,
                        paths: Vec::new(),
                        symbols: Vec::new(),
                        state: NoteState::Live,
                        reason: None,
                        hash: text.to_owned(),
                        created_at: at(0),
                    }],
                }
            });
        project.store.learn_notes(&name, &units, at(0)).unwrap();
        let show = |receipt: &str, note: &str| {
            let items = vec![ReceiptItem {
                kind: ItemKind::Note,
                id: note.to_owned(),
                version: 1,
                form: Form::Full,
                score: 1.0,
                terms: std::collections::BTreeMap::new(),
                tokens: 1,
                read_at: None,
                outdated: None,
                used: None,
                trust: Trust::Agent,
                flags: Vec::new(),
                stale: Vec::new(),
            }];
            let text = Some(project.redactor.clean(&format!("it shows {note}")));
            let new = NewReceipt {
                id: ReceiptId::new(receipt).unwrap(),
                session: project.session.clone(),
                group: None,
                role: Role::new("developer").unwrap(),
                iteration: 0,
                model: None,
                tokenizer: "estimate".to_owned(),
                zone: Zone::Normal,
                tokens: 1,
                prompt_hash: "hash".to_owned(),
                sections: Vec::new(),
                items,
                left_out: Vec::new(),
                left_out_counts: std::collections::BTreeMap::new(),
                redactions: std::collections::BTreeMap::new(),
                trimmed: Vec::new(),
                provided: Provided::default(),
                task: None,
                text,
                claim: false,
                now: at(1),
            };
            project.store.put_receipt(&new).unwrap();
        };
        show("r_open", "n_public");
        show("r_private", "n_secret");
        let target = empty(&project);
        let private = SqliteStore::open(&project.outside("private.db")).unwrap();
        copy_to_shared(&project.store, &target, &private).unwrap();
        let texts = |store: &SqliteStore| -> Vec<String> {
            let notes = store.notes(&name, &NoteFilter::default()).unwrap();
            notes.into_iter().map(|note| note.text).collect()
        };
        assert_eq!(
            (texts(&target), texts(&private)),
            (vec!["public".to_owned()], vec!["secret".to_owned()])
        );
        assert!(target.note_units(&name, NoteKind::Conversation).unwrap().is_empty());
        let text = |id: &str| target.receipt(&ReceiptId::new(id).unwrap()).unwrap().text.unwrap();
        assert_eq!(
            (text("r_open").as_str(), text("r_private").as_str()),
            ("it shows n_public", WITHHELD)
        );
        assert_eq!(private.note_units(&name, NoteKind::Conversation).unwrap().len(), 1);
    }

    #[test]
    fn copying_again_adds_nothing() {
        let project = filled();
        let target = empty(&project);
        let first = copy(&project.store, &target).unwrap();
        let second = copy(&project.store, &target).unwrap();
        assert_eq!((second.added, second.present), (0, first.added));
        assert_eq!(second.digest, first.digest);
    }

    #[test]
    fn other_records_in_the_target_prevent_a_copy() {
        let (project, other) = (filled(), TestProject::new());
        other.register(other.package("b.md", "mine", "mine"));
        assert!(copy(&project.store, &other.store).is_err());
        let left = other.store.packages(&other.session, &PackageFilter::default()).unwrap();
        assert_eq!(left.len(), 1);
        assert_eq!(left[0].path, "b.md");
    }
}
