//! Names in a text that are no longer what they were when it was written.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

/// A path, symbol or commit that a text names, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum StaleName {
    /// A file that has another name today.
    Renamed {
        /// As the text spells it.
        name: String,
        /// Relative to the root of the project.
        to: String,
    },
    /// A file or symbol that existed once.
    Gone {
        /// As the text spells it.
        name: String,
    },
    /// A commit that was taken back.
    Reverted {
        /// As the text spells it.
        name: String,
        /// The first digits of the commit that did it.
        by: String,
    },
}

impl StaleName {
    /// The name as the text spells it.
    pub fn name(&self) -> &str {
        match self {
            Self::Renamed { name, .. } | Self::Gone { name } | Self::Reverted { name, .. } => name,
        }
    }

    /// Whether nothing is left that the name stands for.
    pub fn is_gone(&self) -> bool {
        match self {
            Self::Renamed { .. } => false,
            Self::Gone { .. } | Self::Reverted { .. } => true,
        }
    }
}

/// What became of everything that a text names, in one word: the worst of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum Alive {
    Ok,
    Renamed,
    Reverted,
    Gone,
}

impl Alive {
    /// The worst of what became of these names.
    pub fn of(stale: &[StaleName]) -> Self {
        let each = stale.iter().map(|name| match name {
            StaleName::Renamed { .. } => Self::Renamed,
            StaleName::Reverted { .. } => Self::Reverted,
            StaleName::Gone { .. } => Self::Gone,
        });
        each.max().unwrap_or(Self::Ok)
    }
}

/// What became of it, as it stands beside the name.
impl std::fmt::Display for StaleName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Renamed { to, .. } => write!(f, "renamed to {to}"),
            Self::Gone { .. } => f.write_str("no longer exists"),
            Self::Reverted { by, .. } => write!(f, "reverted by commit {by}"),
        }
    }
}

/// What a check of the names in a text found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NameCheck {
    /// How many things the text names, by their form.
    pub named: usize,
    /// Those that are not what they were: files first, then symbols, then commits.
    pub stale: Vec<StaleName>,
}

impl NameCheck {
    /// Which share of what the text names is gone, from 0 to 1.
    pub fn gone(&self) -> f64 {
        let gone = self.stale.iter().filter(|name| name.is_gone()).count();
        if gone == 0 { 0.0 } else { gone as f64 / self.named.max(gone) as f64 }
    }

    /// The text with what became of each name beside its first appearance.
    pub fn annotate(&self, text: &str) -> String {
        let mut marks: Vec<(usize, &StaleName)> = Vec::new();
        for stale in &self.stale {
            if let Some(at) = find_word(text, stale.name()) {
                marks.push((at + stale.name().len(), stale));
            }
        }
        marks.sort_by_key(|(at, _)| *at);
        let (mut out, mut copied) = (String::with_capacity(text.len() + 32 * marks.len()), 0);
        for (at, stale) in marks {
            let at = at + tail(&text[at..]);
            if at >= copied {
                out.push_str(&text[copied..at]);
                let _ = write!(out, " ({stale})");
                copied = at;
            }
        }
        out.push_str(&text[copied..]);
        out
    }
}

/// How much of what follows a name belongs to it: a line, parentheses, a backtick.
fn tail(rest: &str) -> usize {
    let mut left = rest;
    while let Some(line) = left.strip_prefix(':')
        && line.starts_with(|c: char| c.is_ascii_digit())
    {
        left = line.trim_start_matches(|c: char| c.is_ascii_digit());
    }
    left = left.strip_prefix("()").unwrap_or(left);
    left = left.strip_prefix('`').unwrap_or(left);
    rest.len() - left.len()
}

/// Where a name stands alone in a text: `a.rs` is not in `data.rs`.
fn find_word(text: &str, name: &str) -> Option<usize> {
    let part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '/' | '-');
    text.match_indices(name).map(|(at, _)| at).find(|at| {
        let (before, after) = (&text[..*at], &text[at + name.len()..]);
        let before = before.strip_suffix("./").unwrap_or(before);
        let mut next = after.chars();
        let follows = match next.next() {
            // The end of a sentence, or more of a name.
            Some('.') => next.next().is_some_and(part),
            Some(c) => part(c),
            None => false,
        };
        !before.ends_with(part) && !follows
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gone(name: &str) -> StaleName {
        StaleName::Gone { name: name.to_owned() }
    }

    fn renamed(name: &str, to: &str) -> StaleName {
        StaleName::Renamed { name: name.to_owned(), to: to.to_owned() }
    }

    fn annotate(text: &str, stale: &[StaleName]) -> String {
        NameCheck { named: stale.len(), stale: stale.to_vec() }.annotate(text)
    }

    #[test]
    fn the_mark_stands_beside_the_name() {
        let text = "See src/a.rs:12 and `b.rs`; lib/b.rs, b.rs.bak are others. open_all() too.";
        assert_eq!(
            annotate(text, &[renamed("src/a.rs", "src/c.rs"), gone("b.rs"), gone("open_all")]),
            "See src/a.rs:12 (renamed to src/c.rs) and `b.rs` (no longer exists); lib/b.rs, b.rs.bak are \
             others. open_all() (no longer exists) too."
        );
        assert_eq!(annotate("data.rs", &[gone("a.rs")]), "data.rs");
        assert_eq!(annotate("./a.rs.", &[gone("a.rs")]), "./a.rs (no longer exists).");
        let reverted = StaleName::Reverted { name: "1a2b3c4".to_owned(), by: "99aa".to_owned() };
        assert_eq!(annotate("In 1a2b3c4", &[reverted]), "In 1a2b3c4 (reverted by commit 99aa)");
    }

    #[test]
    fn renamed_names_are_not_gone() {
        let check = |named, stale: &[StaleName]| NameCheck { named, stale: stale.to_vec() }.gone();
        assert_eq!(check(0, &[]), 0.0);
        assert_eq!(check(3, &[renamed("a", "b")]), 0.0);
        assert_eq!(check(2, &[renamed("a", "b"), gone("c")]), 0.5);
        assert_eq!(check(0, &[gone("c")]), 1.0);
    }

    #[test]
    fn the_json_form_names_the_state() {
        let json = serde_json::to_string(&[renamed("a", "b"), gone("c")]).unwrap();
        assert_eq!(
            json,
            r#"[{"state":"renamed","name":"a","to":"b"},{"state":"gone","name":"c"}]"#
        );
        let read: Vec<StaleName> = serde_json::from_str(&json).unwrap();
        assert_eq!(read, [renamed("a", "b"), gone("c")]);
    }
}
