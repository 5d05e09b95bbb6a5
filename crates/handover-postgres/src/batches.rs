//! Which packages are registered together.

use std::collections::HashSet;

use handover_store::{NewPackage, Supersede};

/// Packages per statement. Their texts are in memory twice.
const BATCH: usize = 500;

/// Splits packages into batches that can be registered together: of one session, and none superseding
/// another of the same batch. A package that names what it supersedes is a batch of its own.
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

#[cfg(test)]
mod tests {
    use handover_model::PackageId;
    use handover_store::conformance::fixture::{package, session_id};

    use super::*;

    fn lengths(new: &[NewPackage]) -> Vec<usize> {
        batches(new).map(<[NewPackage]>::len).collect()
    }

    fn of(session: &str, path: &str) -> NewPackage {
        package(&session_id(session), path, "x")
    }

    #[test]
    fn packages_of_one_session_go_together() {
        assert_eq!(lengths(&[]), [0; 0]);
        assert_eq!(lengths(&[of("s1", "a"), of("s1", "b"), of("s2", "a"), of("s2", "b")]), [2, 2]);
        assert_eq!(lengths(&[of("s1", "a"), of("s2", "a"), of("s1", "b")]), [1, 1, 1]);
    }

    #[test]
    fn a_file_and_its_next_version_are_in_different_batches() {
        let new = [of("s1", "a"), of("s1", "b"), of("s1", "a"), of("s1", "b"), of("s1", "c")];
        assert_eq!(lengths(&new), [2, 3]);
        // The same path of another kind or group is another file.
        let mut other = of("s1", "a");
        other.kind = handover_model::PackageKind::Failures;
        assert_eq!(lengths(&[of("s1", "a"), other]), [2]);
    }

    #[test]
    fn a_package_that_names_its_predecessor_is_a_separate_batch() {
        let mut named = of("s1", "b");
        named.supersede = Supersede::Package(PackageId(1));
        assert_eq!(lengths(&[of("s1", "a"), named, of("s1", "c")]), [1, 1, 1]);
    }

    #[test]
    fn batches_are_bounded() {
        let new: Vec<NewPackage> = (0..=BATCH).map(|n| of("s1", &n.to_string())).collect();
        let lengths = lengths(&new);
        assert_eq!(lengths.iter().sum::<usize>(), BATCH + 1);
        assert!(lengths.iter().all(|length| *length <= BATCH), "{lengths:?}");
        assert_eq!(lengths.len(), 2);
    }
}
