//! What backends share to keep the tallies of use: what judgements change. Backends only read and write rows.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use handover_model::learn::UseTally;
use handover_model::{ItemKind, Timestamp, Use};

use crate::Result;

/// The id under which a store keeps the tally of a whole kind; no record has it.
pub const WHOLE_KIND: &str = "";

/// What a judgement adds to a tally: used and judged. None if it changes nothing.
fn tally_change(before: Option<Use>, now: Use) -> Option<(f64, f64)> {
    let is_used = |used: Use| used != Use::Unused;
    match (before.map(is_used), is_used(now)) {
        (None, now) => Some((f64::from(u8::from(now)), 1.0)),
        (Some(false), true) => Some((1.0, 0.0)),
        (Some(true), false) => Some((-1.0, 0.0)),
        (Some(_), _) => None,
    }
}

/// One judged item of a receipt.
#[derive(Debug, Clone)]
pub struct JudgedItem {
    /// The project of the receipt.
    pub project: String,
    /// What kind of record.
    pub kind: ItemKind,
    /// Its id, as text.
    pub item: String,
    /// What was known about its use before.
    pub before: Option<Use>,
    /// What became of it.
    pub used: Use,
    /// When the receipt was made.
    pub at: Timestamp,
}

/// Tallies by project, kind and item.
#[derive(Debug, Default)]
pub struct Tallies(BTreeMap<(String, ItemKind, String), UseTally>);

impl Tallies {
    /// Counts an item. `stored` has the tally of an item of its kind from before the first change.
    pub fn count(
        &mut self,
        judged: &JudgedItem,
        stored: impl Fn(&str) -> Result<Option<UseTally>>,
    ) -> Result<()> {
        let JudgedItem { project, kind, item, before, used, at } = judged;
        if !UseTally::counts(*kind) {
            return Ok(());
        }
        let Some((used, judged)) = tally_change(*before, *used) else { return Ok(()) };
        for item in [WHOLE_KIND, item] {
            let tally = match self.0.entry((project.clone(), *kind, item.to_owned())) {
                Entry::Occupied(tally) => tally.into_mut(),
                Entry::Vacant(place) => place.insert(stored(item)?.unwrap_or_default()),
            };
            tally.add(used, judged, *at);
        }
        Ok(())
    }

    /// What was counted.
    pub fn iter(&self) -> impl Iterator<Item = (&str, ItemKind, &str, &UseTally)> {
        self.0
            .iter()
            .map(|((project, kind, item), tally)| (project.as_str(), *kind, item.as_str(), tally))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_is_judged_once_however_often_it_is_said() {
        use Use::{Echoed, Opened, Unused};
        assert_eq!(tally_change(None, Unused), Some((0.0, 1.0)));
        assert_eq!(tally_change(None, Opened), Some((1.0, 1.0)));
        assert_eq!(tally_change(Some(Unused), Echoed), Some((1.0, 0.0)));
        assert_eq!(tally_change(Some(Echoed), Opened), None);
        assert_eq!(tally_change(Some(Unused), Unused), None);
        assert_eq!(tally_change(Some(Opened), Unused), Some((-1.0, 0.0)));
    }

    #[test]
    fn a_change_starts_from_what_is_stored_once() {
        let at = Timestamp::from_micros(1_700_000_000_000_000);
        let judged = |item: &str, before, used| JudgedItem {
            project: "p".to_owned(),
            kind: ItemKind::Note,
            item: item.to_owned(),
            before,
            used,
            at,
        };
        let mut tallies = Tallies::default();
        let stored = |item: &str| {
            Ok((item == WHOLE_KIND).then_some(UseTally { used: 2.0, judged: 5.0, at }))
        };
        tallies.count(&judged("a", None, Use::Opened), stored).unwrap();
        tallies.count(&judged("b", Some(Use::Opened), Use::Unused), stored).unwrap();
        let all: Vec<(&str, f64, f64)> =
            tallies.iter().map(|(_, _, item, tally)| (item, tally.used, tally.judged)).collect();
        assert_eq!(all, [("", 2.0, 6.0), ("a", 1.0, 1.0), ("b", 0.0, 0.0)]);
    }
}
