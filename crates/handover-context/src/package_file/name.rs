//! File name conventions: `research-P1-oauth.md`, `failures-P1-iter2.md`,
//! `handoff-developer-qa_expert-P1.md`, `qa_failures_group_P1.md`.

use handover_model::{GroupId, PackageKind, Role};

/// What a name says; empty if it follows no convention.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct NameFacts {
    pub(super) kind: Option<PackageKind>,
    pub(super) group: Option<NamedGroup>,
    pub(super) producer: Option<Role>,
    pub(super) consumer: Option<Role>,
    pub(super) iteration: Option<u32>,
}

/// The part of a name that contains the group. Ids may contain `-`, so its end is only known for a known
/// group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NamedGroup {
    /// Exactly the group.
    Exact(String),
    /// The group, `-`, and a topic.
    Leading(String),
    /// The group, or the group, `_`, and a topic.
    Underscored(String),
}

impl NamedGroup {
    /// Whether the name may refer to this group.
    pub(super) fn can_be(&self, group: &str) -> bool {
        match self {
            Self::Exact(text) => text == group,
            Self::Leading(text) => {
                text.strip_prefix(group).is_some_and(|rest| rest.starts_with('-'))
            }
            Self::Underscored(text) => {
                let rest = text.strip_prefix(group);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
            }
        }
    }

    /// The most likely group: the longest known one that matches, else the part before the first `-`, or
    /// all of an underscored name.
    pub(super) fn guess(&self, known: &[GroupId]) -> String {
        let fits = known.iter().map(GroupId::as_str).filter(|group| self.can_be(group));
        match (fits.max_by_key(|group| group.len()), self) {
            (Some(group), _) => group.to_owned(),
            (None, Self::Exact(text) | Self::Underscored(text)) => text.clone(),
            (None, Self::Leading(text)) => text.split('-').next().unwrap_or(text).to_owned(),
        }
    }
}

/// Parses a file name.
pub(super) fn read(file_name: &str) -> NameFacts {
    let Some(stem) = file_name.strip_suffix(".md") else {
        return NameFacts::default();
    };
    underscored(stem).or_else(|| hyphenated(stem)).unwrap_or_default()
}

/// `qa_failures_group_P1`, `investigation_group_P1`, `research_group_P1_topic`.
fn underscored(stem: &str) -> Option<NameFacts> {
    let (head, group) = stem.split_once("_group_")?;
    let (kind, producer) = match head {
        "qa_failures" => (PackageKind::Failures, Role::new("qa_expert").ok()),
        "investigation" => (PackageKind::Investigation, Role::new("investigator").ok()),
        other => (other.parse().ok()?, None),
    };
    // These names separate group and topic with `_`, which ids may contain too.
    let group = match head {
        "qa_failures" => NamedGroup::Exact(group.to_owned()),
        _ => NamedGroup::Underscored(group.to_owned()),
    };
    Some(NameFacts { kind: Some(kind), group: Some(group), producer, ..NameFacts::default() })
}

fn hyphenated(stem: &str) -> Option<NameFacts> {
    let (head, rest) = stem.split_once('-')?;
    let kind: PackageKind = head.parse().ok()?;
    // A single word after the kind is a topic (`research-notes.md`), not a group.
    let (first, _) = rest.split_once('-')?;
    let mut facts = NameFacts { kind: Some(kind), ..NameFacts::default() };
    match kind {
        PackageKind::Failures => {
            let numbered = rest.rsplit_once("-iter").map(|(group, n)| (group, n.parse().ok()));
            facts.group = Some(match numbered {
                Some((group, Some(iteration))) => {
                    facts.iteration = Some(iteration);
                    NamedGroup::Exact(group.to_owned())
                }
                Some((_, None)) | None => NamedGroup::Leading(rest.to_owned()),
            });
        }
        PackageKind::Handoff => {
            let (from, rest) = (first, &rest[first.len() + 1..]);
            let (to, group) = rest.split_once('-')?;
            facts.producer = Some(Role::new(from).ok()?);
            facts.consumer = Some(Role::new(to).ok()?);
            facts.group = Some(NamedGroup::Exact(group.to_owned()));
        }
        PackageKind::Research | PackageKind::Decisions | PackageKind::Investigation => {
            facts.group = Some(NamedGroup::Leading(rest.to_owned()));
        }
    }
    Some(facts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_conventional_names() {
        let facts = read("research-P1-hin-oauth2.md");
        assert_eq!(facts.kind, Some(PackageKind::Research));
        let group = facts.group.unwrap();
        assert_eq!(group.guess(&[]), "P1");
        assert_eq!(
            group.guess(&[GroupId::new("P1-hin").unwrap(), GroupId::new("P1").unwrap()]),
            "P1-hin"
        );
        assert!(group.can_be("P1") && group.can_be("P1-hin") && !group.can_be("P2"));

        let facts = read("failures-user-auth-iter3.md");
        assert_eq!(
            (facts.iteration, facts.group.unwrap().guess(&[])),
            (Some(3), "user-auth".into())
        );

        let facts = read("failures-P1-iterX.md");
        assert_eq!((facts.iteration, facts.group.unwrap().guess(&[])), (None, "P1".into()));

        let facts = read("handoff-developer-qa_expert-P-1.md");
        assert_eq!(facts.producer.unwrap().as_str(), "developer");
        assert_eq!(facts.consumer.unwrap().as_str(), "qa_expert");
        assert_eq!(facts.group.unwrap().guess(&[]), "P-1");

        let facts = read("qa_failures_group_A_1.md");
        assert_eq!(facts.kind, Some(PackageKind::Failures));
        assert_eq!(facts.group.unwrap().guess(&[]), "A_1");
        let group = read("research_group_P1_R1_HIN.md").group.unwrap();
        assert_eq!(group.guess(&[]), "P1_R1_HIN");
        assert_eq!(group.guess(&[GroupId::new("P1").unwrap()]), "P1");
        let known = ["P1", "P1_R1", "R1"].map(|id| GroupId::new(id).unwrap());
        assert_eq!(group.guess(&known), "P1_R1");
        assert!(group.can_be("P1_R1_HIN") && group.can_be("P1") && !group.can_be("P1_R"));
    }

    #[test]
    fn ignores_other_names() {
        for name in [
            "notes.md",
            "research.md",
            "research-notes.md",
            "research-P1-x.txt",
            "handoff-P1.md",
            "re-search-P1.md",
        ] {
            assert_eq!(read(name), NameFacts::default(), "{name}");
        }
    }
}
