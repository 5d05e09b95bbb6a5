//! Which commits of an index were taken back: what messages say is kept, and resolved whenever the history changed.

use std::collections::{HashMap, HashSet};

use super::codec::{Reader, put_bytes};
use super::history;
use super::model::{Model, range};
use super::tables::RevertedRow;
use crate::reverts::{Reverts, Target};

/// What a commit says it takes back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Claim {
    pub(super) by: [u8; 20],
    pub(super) target: Target,
}

pub(super) fn encode(claims: &[Claim]) -> Vec<u8> {
    let mut out = Vec::new();
    for Claim { by, target } in claims {
        out.extend_from_slice(by);
        let (kind, text) = match target {
            Target::Id(id) => (0, id),
            Target::Subject(subject) => (1, subject),
            Target::Number(number) => (2, number),
        };
        out.push(kind);
        put_bytes(&mut out, text.as_bytes());
    }
    out
}

pub(super) fn decode(bytes: &[u8]) -> Option<Vec<Claim>> {
    let (mut reader, mut claims) = (Reader::new(bytes), Vec::new());
    while !reader.is_empty() {
        let by = reader.take(20)?.try_into().ok()?;
        let kind = reader.byte()?;
        let text = reader.text()?.to_owned();
        let target = match kind {
            0 => Target::Id(text),
            1 => Target::Subject(text),
            2 => Target::Number(text),
            _ => return None,
        };
        claims.push(Claim { by, target });
    }
    Some(claims)
}

/// Drops what commits say that are not part of the history any more, and resolves the rest.
pub(super) fn resolve(model: &mut Model) {
    let live = |at: &usize| model.commits[*at].length > 0;
    let mut order: Vec<usize> = (0..model.commits.len()).filter(live).collect();
    let known: HashSet<[u8; 20]> = order.iter().map(|at| model.commit_ids[*at]).collect();
    model.claims.retain(|claim| known.contains(&claim.by));
    model.reverted.clear();
    if model.claims.is_empty() {
        return;
    }
    let mut claims: HashMap<[u8; 20], Vec<Target>> = HashMap::new();
    for claim in &model.claims {
        claims.entry(claim.by).or_default().push(claim.target.clone());
    }
    // Newest first; those of one second are in the order in which git listed them.
    order.sort_by_key(|at| std::cmp::Reverse(model.commits[*at].time));
    let mut reverts = Reverts::default();
    for at in order {
        let subject = range(at, |at| model.commits[at].subject_end);
        let subject = String::from_utf8_lossy(model.subjects.get(subject).unwrap_or_default());
        let id = &model.commit_ids[at];
        reverts.see(hex(id), &subject, claims.remove(id).unwrap_or_default());
    }
    let id = |id: String| history::id(id.as_bytes());
    let rows = reverts.resolve().into_iter();
    let rows =
        rows.filter_map(|(commit, by)| Some(RevertedRow { commit: id(commit)?, by: id(by)? }));
    let mut rows: Vec<RevertedRow> = rows.collect();
    rows.sort_unstable();
    model.reverted = rows;
}

/// The digits of an id.
pub(super) fn hex(id: &[u8]) -> String {
    let digit = |value: u8| char::from_digit(u32::from(value), 16).unwrap_or('0');
    id.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn claims_are_read_as_written() {
        let claims = [
            Claim { by: [1; 20], target: Target::Id("1a2b3c4".to_owned()) },
            Claim { by: [2; 20], target: Target::Subject("Add “it”".to_owned()) },
            Claim { by: [3; 20], target: Target::Number("12".to_owned()) },
        ];
        let bytes = encode(&claims);
        assert_eq!(decode(&bytes), Some(claims.to_vec()));
        assert_eq!(decode(&bytes[..bytes.len() - 1]), None);
        assert_eq!(hex(&[0x1a, 0x0f]), "1a0f");
    }

    proptest! {
        #[test]
        fn any_bytes_can_be_decoded(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = decode(&bytes);
        }
    }
}
