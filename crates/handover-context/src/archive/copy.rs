//! From one store into another.

use handover_store::archive::{Digest, DigestSums, Index};
use handover_store::{Store, StoreError};

/// What was moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Copied {
    /// How many records are new.
    pub added: u64,
    /// How many were there already, the same in every value.
    pub present: u64,
    /// The hash over the records of each kind, the same on both sides.
    pub digest: Digest,
}

/// Why nothing was moved.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// A store failed or refused.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The other store has records of its own.
    #[error("the store to copy to has other records than the one to copy from, first in `{kind}`")]
    Other {
        /// The first kind of record that differs.
        kind: &'static str,
    },
}

/// Makes one store hold exactly what another one does, text index included. All or nothing: it is
/// undone unless every record, read back, has the hash that it had. What is there already may stay if
/// it is the same; two projects are not mixed, since their numbers mean different records.
pub fn copy(from: &dyn Store, to: &dyn Store) -> Result<Copied, CopyError> {
    let mut outcome = None;
    from.consistently(&mut |from| {
        to.exclusively(&mut |to| {
            let mut sums = DigestSums::default();
            let added = to.put_records(Index::Included, &mut |sink| {
                from.each_record(Index::Included, &mut |kept| {
                    sums.add(kept.record());
                    sink(kept)
                })
            })?;
            let (wanted, found) =
                (std::mem::take(&mut sums).finish(), Digest::of(to, Index::Included)?);
            match wanted.difference(&found) {
                None => {
                    let (added, present) = (added.added, added.present);
                    outcome = Some(Ok(Copied { added, present, digest: found }));
                    Ok(())
                }
                Some(kind) => {
                    outcome = Some(Err(CopyError::Other { kind }));
                    // An error is what undoes it.
                    Err(StoreError::Differs { record: kind.to_owned() })
                }
            }
        })
    })
    .or_else(|error| {
        if outcome.as_ref().is_some_and(Result::is_err) { Ok(()) } else { Err(error) }
    })?;
    outcome.unwrap_or_else(|| Err(StoreError::not_found("outcome", "of a copy").into()))
}
