//! Which commits were reverted, and by which.

use std::collections::HashMap;

/// The words that git writes into the message of a revert.
const WORDS: &str = "This reverts commit ";

/// Abbreviated ids have at least so many characters.
const LEAST: usize = 7;

/// The reverts among the commits that were seen, which are newer than what comes.
#[derive(Debug, Default)]
pub(super) struct Reverts {
    /// By the first characters of the reverted commit: what is known of its id, and who reverted it.
    seen: HashMap<String, Vec<(String, String)>>,
}

impl Reverts {
    /// Takes the next older commit; returns who reverted it. A revert that was reverted itself does not count.
    pub(super) fn see(&mut self, id: &str, message: &str) -> Option<String> {
        let by = self.of(id);
        if by.is_none() {
            for reverted in message.split(WORDS).skip(1) {
                let hex =
                    reverted.split(|c: char| !c.is_ascii_hexdigit()).next().unwrap_or_default();
                if let Some(key) = hex.get(..LEAST) {
                    let entry = self.seen.entry(key.to_owned()).or_default();
                    entry.push((hex.to_owned(), id.to_owned()));
                }
            }
        }
        by
    }

    fn of(&self, id: &str) -> Option<String> {
        let candidates = self.seen.get(id.get(..LEAST)?)?;
        candidates.iter().find(|(start, _)| id.starts_with(start)).map(|(_, by)| by.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reverted_revert_does_not_count() {
        let (first, second, third) = ("a".repeat(40), "b".repeat(40), "c".repeat(40));
        let mut reverts = Reverts::default();
        assert_eq!(reverts.see(&third, &format!("Reapply\n\nThis reverts commit {second}.")), None);
        assert_eq!(reverts.see(&second, "Revert\n\nThis reverts commit aaaaaaaa."), Some(third));
        assert_eq!(reverts.see(&first, "Add it"), None);
        let mut reverts = Reverts::default();
        reverts.see(&second, "Revert\n\nThis reverts commit aaaaaaaa, too slow");
        assert_eq!(reverts.see(&first, "Add it"), Some(second));
        assert_eq!(reverts.see("odd", "This reverts commit é."), None);
    }
}
