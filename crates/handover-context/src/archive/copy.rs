//! Copies one store into another.

use handover_store::archive::{Digest, DigestSums};
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
    let mut outcome = None;
    from.consistently(&mut |from| {
        to.exclusively(&mut |to| {
            let mut sums = DigestSums::default();
            let added = to.put_records(&mut |sink| {
                from.each_record(&mut |kept| {
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
    use handover_sqlite::SqliteStore;
    use handover_store::{PackageFilter, Packages};

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
