//! What backends share to keep the tallies of use: what a judgement changes, and all tallies of a store anew.

use std::collections::BTreeMap;

use handover_model::learn::UseTally;
use handover_model::{ItemKind, Timestamp, Use};

/// The id under which a store keeps the tally of a whole kind; no record has it.
pub const WHOLE_KIND: &str = "";

/// What a judgement adds to a tally: used and judged. None if it changes nothing.
pub fn tally_change(before: Option<Use>, now: Use) -> Option<(f64, f64)> {
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
    /// What became of it.
    pub used: Use,
    /// When the receipt was made.
    pub at: Timestamp,
}

/// All tallies of a store, by project, kind and item.
#[derive(Debug, Default)]
pub struct AllTallies(BTreeMap<(String, ItemKind, String), UseTally>);

impl AllTallies {
    /// Counts an item.
    pub fn count(&mut self, judged: JudgedItem) {
        let JudgedItem { project, kind, item, used, at } = judged;
        if !UseTally::counts(kind) {
            return;
        }
        let Some((used, judged)) = tally_change(None, used) else { return };
        for item in [WHOLE_KIND.to_owned(), item] {
            let tally = self.0.entry((project.clone(), kind, item)).or_default();
            tally.add(used, judged, at);
        }
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
}
