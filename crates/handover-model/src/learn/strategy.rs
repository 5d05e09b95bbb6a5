//! What becomes a strategy.

use crate::{Phase, ProjectId, Topic};

/// The longest insight that is stored.
pub const MAX_INSIGHT_CHARS: usize = 500;

/// The phases that strategies are extracted from.
pub const PHASES: [Phase; 3] = [Phase::Completion, Phase::Decisions, Phase::Approach];

/// The topic of strategies learned from a phase, if any.
pub fn topic_of(phase: Phase) -> Option<Topic> {
    match phase {
        Phase::Completion => Some(Topic::Implementation),
        Phase::Decisions => Some(Topic::Architecture),
        Phase::Approach => Some(Topic::Methodology),
        Phase::Understanding | Phase::Risks | Phase::Blockers | Phase::Pivot => None,
    }
}

/// The id of an insight: the same for the same words in the same project and topic, regardless of
/// spacing and capitalization.
pub fn strategy_id(project: &ProjectId, topic: Topic, insight: &str) -> String {
    let words: Vec<String> = insight.split_whitespace().map(str::to_lowercase).collect();
    let text = format!("{project}\n{topic}\n{}", words.join(" "));
    format!("st_{}", &blake3::hash(text.as_bytes()).to_hex()[..16])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_three_phases_have_a_topic() {
        for phase in Phase::ALL {
            assert_eq!(topic_of(*phase).is_some(), PHASES.contains(phase), "{phase}");
        }
    }

    #[test]
    fn ids_depend_on_project_topic_and_words() {
        let project = ProjectId::new("shop").unwrap();
        let id = |topic, text| strategy_id(&project, topic, text);
        let base = id(Topic::Architecture, "Use adapters per canton.");
        assert_eq!(base, id(Topic::Architecture, "use  adapters\nper canton."));
        assert_ne!(base, id(Topic::Implementation, "Use adapters per canton."));
        assert_ne!(
            base,
            strategy_id(
                &ProjectId::new("x").unwrap(),
                Topic::Architecture,
                "Use adapters per canton."
            )
        );
    }

    #[test]
    fn topics_follow_from_phases() {
        for (phase, topic) in [
            (Phase::Completion, Topic::Implementation),
            (Phase::Decisions, Topic::Architecture),
            (Phase::Approach, Topic::Methodology),
        ] {
            assert_eq!(topic_of(phase), Some(topic));
        }
    }

    #[test]
    fn ids_are_short_hexadecimal_and_stable() {
        let project = ProjectId::new("shop").unwrap();
        let id = strategy_id(&project, Topic::Architecture, "Use adapters.");
        let digits = id.strip_prefix("st_").unwrap();
        assert!(digits.len() == 16 && digits.bytes().all(|b| b.is_ascii_hexdigit()), "{id}");
        // Ids are stored: a change would make every project learn everything again.
        assert_eq!(id, STORED_ID);
        assert_ne!(id, strategy_id(&project, Topic::Architecture, "Use adapters!"));
        assert_ne!(
            strategy_id(&project, Topic::Architecture, "ab c"),
            strategy_id(&project, Topic::Architecture, "a bc")
        );
    }

    const STORED_ID: &str = "st_4cd63979390e72e0";
}
