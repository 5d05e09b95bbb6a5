//! Which packages are registered together.

use std::collections::HashSet;

use handover_store::{NewPackage, Supersede};

/// Packages per statement. Their texts are in memory twice.
const BATCH: usize = 500;

/// Splits packages into batches that can be registered together: of one session, and none superseding
/// another one of the batch. A package that names what it supersedes is a batch by itself.
pub(crate) fn batches(new: &[NewPackage]) -> impl Iterator<Item = &[NewPackage]> {
    let mut places = HashSet::new();
    new.chunk_by(move |one, next| {
        let place = |new: &NewPackage| (new.group.clone(), new.kind, new.path.clone());
        places.insert(place(one));
        let alone = [one, next].iter().any(|new| new.supersede != Supersede::SamePath);
        let together = !alone
            && one.session == next.session
            && places.len() < BATCH
            && !places.contains(&place(next));
        if !together {
            places.clear();
        }
        together
    })
}
