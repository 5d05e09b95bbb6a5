//! Closed sets of words: statuses, kinds, phases, priorities, zones. One file per subject.
//!
//! The text form is the interface (command line, JSON, database), so it is defined once, here.

macro_rules! words {
    ($(#[$meta:meta])* $name:ident, $what:literal {
        $($(#[$vmeta:meta])* $variant:ident => $text:literal),+ $(,)?
    }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[$vmeta])* $variant,)+
        }

        impl $name {
            /// Every value, in order.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];
            /// The text of every value, in the same order.
            pub const WORDS: &'static [&'static str] = &[$($text),+];

            /// The text form used on the command line, in JSON and in the store.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)+
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::UnknownWord;

            fn from_str(text: &str) -> Result<Self, $crate::UnknownWord> {
                match text {
                    $($text => Ok(Self::$variant),)+
                    other => Err($crate::UnknownWord {
                        what: $what,
                        value: other.to_owned(),
                        allowed: Self::WORDS,
                    }),
                }
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

mod acceptance;
mod access;
mod agent;
mod forget;
mod handoff;
mod note;
mod package;
mod run;
mod session;
mod trust;

pub use acceptance::*;
pub use access::*;
pub use agent::*;
pub use forget::*;
pub use handoff::*;
pub use note::*;
pub use package::*;
pub use run::*;
pub use session::*;
pub use trust::*;

/// A text that is not one of an enum's values.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{value}` is not a {what}; use {}", either(allowed))]
pub struct UnknownWord {
    /// The name of the enum in messages, such as "package kind".
    pub what: &'static str,
    /// The text that was given.
    pub value: String,
    /// The texts that would have been accepted.
    pub allowed: &'static [&'static str],
}

/// `low, medium or high`.
fn either(words: &[&str]) -> String {
    match words {
        [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        _ => words.concat(),
    }
}

#[cfg(test)]
mod word_tests;

#[cfg(test)]
mod tests {
    use std::fmt::{Debug, Display};
    use std::str::FromStr;

    use serde::Serialize;
    use serde::de::DeserializeOwned;

    use super::*;
    use crate::{Tier, Tokenizer};

    /// Every value survives text and JSON, no two share a text, and nothing else is accepted.
    fn check<T>(all: &[T], words: &[&str])
    where
        T: Copy + Debug + Display + PartialEq + FromStr + Serialize + DeserializeOwned,
        T::Err: Debug,
    {
        assert_eq!(all.len(), words.len());
        for (value, word) in all.iter().zip(words) {
            assert_eq!(value.to_string(), *word);
            assert_eq!(word.parse::<T>().unwrap(), *value);
            assert_eq!(serde_json::to_value(value).unwrap(), *word);
            assert_eq!(serde_json::from_value::<T>((*word).into()).unwrap(), *value);
            assert_eq!(words.iter().filter(|other| other == &word).count(), 1, "{word}");
            for other in [format!("{word} "), format!("x{word}"), swap_case(word)] {
                assert!(other.parse::<T>().is_err(), "{other}");
            }
        }
        assert!("".parse::<T>().is_err());
    }

    fn swap_case(word: &str) -> String {
        let swap = |c: char| {
            if c.is_ascii_lowercase() { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() }
        };
        word.chars().map(swap).collect()
    }

    macro_rules! check_all {
        ($($name:ident)+) => { $(check($name::ALL, $name::WORDS);)+ };
    }

    #[test]
    fn every_value_survives_text_and_json() {
        check_all!(
            Action Category Cause ChangeKind Confidence Consensus Coverage FailureClass Fate FindingKind Form
            GateFormat GroupStatus GuardMode ItemKind JournalKind KnownEvent NoteKind NoteState OnMissing PackageKind
            PartyPhase Phase PipelineName Priority Profile ReasoningLevel ReceiptState RecordState RedactionMode
            Routing RunPhase RunState ScenarioKind ScenarioOutcome Scope SessionStatus Severity SignalKind SourceName
            StoryState TeamStatus TestingMode BriefDelivery Tier TokenKind Tokenizer TokenScope Topic Trust
            UatGate Use UseLearning Verdict Zone
        );
    }

    #[test]
    fn an_unknown_word_lists_the_allowed_ones() {
        let error = "urgent".parse::<Priority>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "`urgent` is not a priority; use low, medium, high or critical"
        );
        let error = serde_json::from_str::<Verdict>("\"done\"").unwrap_err();
        assert!(error.to_string().starts_with("`done` is not a verdict; use complete, "));
    }

    #[test]
    fn text_is_padded_like_a_string() {
        assert_eq!(format!("[{:>6}|{:<8}]", Priority::Low, Zone::Normal), "[   low|normal  ]");
    }

    #[test]
    fn ordered_sets_are_ordered() {
        fn ascending<T: PartialOrd>(values: &[T]) -> bool {
            values.is_sorted()
        }
        assert!(ascending(&[Priority::Low, Priority::Medium, Priority::High, Priority::Critical]));
        assert!(ascending(&[Severity::Low, Severity::Medium, Severity::High]));
        assert!(ascending(&[Profile::ReadOnly, Profile::Edit, Profile::Full]));
        assert!(ascending(&[TokenScope::Read, TokenScope::Write, TokenScope::Admin]));
        assert!(ascending(&[
            Zone::Normal,
            Zone::SoftWarning,
            Zone::Conservative,
            Zone::WrapUp,
            Zone::Emergency
        ]));
    }

    #[test]
    fn defaults_are_the_strict_ones() {
        assert_eq!(GuardMode::default(), GuardMode::Strict);
        assert_eq!(OnMissing::default(), OnMissing::BriefLate);
        assert_eq!(RedactionMode::default(), RedactionMode::PatternAndEntropy);
        assert_eq!(Routing::default(), Routing::Strict);
        assert_eq!(TestingMode::default(), TestingMode::Full);
        assert_eq!(PipelineName::default(), PipelineName::Story);
        assert_eq!(ReasoningLevel::default().tokens(), 800);
    }

    #[test]
    fn only_server_side_failures_are_transient() {
        let transient: Vec<_> =
            FailureClass::ALL.iter().filter(|class| class.is_transient()).collect();
        assert_eq!(
            transient,
            [
                &FailureClass::RateLimit,
                &FailureClass::Overloaded,
                &FailureClass::Server,
                &FailureClass::Network
            ]
        );
    }

    #[test]
    fn stopped_runs_can_be_resumed() {
        let resumable: Vec<_> = RunState::ALL.iter().filter(|state| !state.is_final()).collect();
        assert_eq!(
            resumable,
            [&RunState::Running, &RunState::Interrupted, &RunState::Budget, &RunState::Environment]
        );
    }
}
