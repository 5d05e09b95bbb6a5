//! Ids as newtypes: a session id cannot be passed where a group id is meant.
//!
//! Text ids double as folder names and as terms of the full-text index, so their alphabet is small.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The length limit of text ids.
pub const MAX_ID_CHARS: usize = 64;

/// A text that cannot be an id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{value}` is not a valid {what}: {rule}")]
pub struct InvalidId {
    /// The kind of id, such as "session id".
    pub what: &'static str,
    /// The rejected text, shortened if it is long.
    pub value: String,
    /// The rule it violates.
    pub rule: IdRule,
}

/// The rules an id can violate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum IdRule {
    /// Empty text.
    #[error("it must not be empty")]
    Empty,
    /// More than [`MAX_ID_CHARS`].
    #[error("at most 64 characters are allowed")]
    TooLong,
    /// A character outside the alphabet.
    #[error(
        "only letters, digits, `.`, `_` and `-` are allowed, starting with a letter or a digit"
    )]
    Alphabet,
    /// Roles are lower case.
    #[error("only lower-case letters, digits, `_` and `-` are allowed, starting with a letter")]
    RoleAlphabet,
    /// Ids of records are numbers.
    #[error("a whole number is expected")]
    Number,
    /// A word with a special meaning.
    #[error("the word is reserved; leave the group out to mean the whole session")]
    Reserved,
}

fn check(what: &'static str, text: &str) -> Result<(), InvalidId> {
    let fail =
        |rule| Err(InvalidId { what, value: text.chars().take(MAX_ID_CHARS).collect(), rule });
    let Some(first) = text.bytes().next() else {
        return fail(IdRule::Empty);
    };
    if text.len() > MAX_ID_CHARS {
        return fail(IdRule::TooLong);
    }
    let allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-');
    if !first.is_ascii_alphanumeric() || !text.bytes().all(allowed) {
        return fail(IdRule::Alphabet);
    }
    Ok(())
}

macro_rules! text_id {
    ($(#[$meta:meta])* $name:ident, $what:literal, $check:expr) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            /// Validates the text.
            pub fn new(text: impl Into<String>) -> Result<Self, InvalidId> {
                let text = text.into();
                let check: fn(&'static str, &str) -> Result<(), InvalidId> = $check;
                check($what, &text)?;
                Ok(Self(text))
            }

            /// The id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = InvalidId;
            fn from_str(text: &str) -> Result<Self, InvalidId> {
                Self::new(text)
            }
        }

        impl TryFrom<String> for $name {
            type Error = InvalidId;
            fn try_from(text: String) -> Result<Self, InvalidId> {
                Self::new(text)
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }
    };
}

text_id!(
    /// A project: what error patterns and strategies belong to.
    ProjectId, "project id", check
);
text_id!(
    /// A session: one orchestrated piece of work.
    SessionId, "session id", check
);
text_id!(
    /// A task group inside a session.
    GroupId, "group id", check_group
);
text_id!(
    /// A role: built-in, or any other valid name.
    Role, "role", check_role
);
impl Role {
    /// One of the built-in roles, whose names are valid.
    pub(crate) fn built_in(name: &'static str) -> Self {
        debug_assert!(check_role("role", name).is_ok(), "{name}");
        Self(name.to_owned())
    }
}

text_id!(
    /// One agent process or subagent, as its host names it.
    AgentId, "agent id", check
);
text_id!(
    /// One call of a tool, as the agent program names it.
    ToolUseId, "tool use id", check
);
text_id!(
    /// A conversation of an agent program, as the program names it.
    HostSessionId, "host session id", check
);
text_id!(
    /// A receipt; sorts by the time of its creation.
    ReceiptId, "receipt id", check
);
text_id!(
    /// One execution of a pipeline; sorts by the time of its start.
    RunId, "run id", check
);
text_id!(
    /// An epic, which a run works on.
    EpicId, "epic id", check
);
text_id!(
    /// A persona: an agent with a name and a character.
    PersonaId, "persona", check_role
);
text_id!(
    /// The name of a skill whose output is stored.
    SkillName, "skill name", check
);
text_id!(
    /// The name of a counter of a group, such as `qa_attempts`.
    CounterName, "counter name", check
);
text_id!(
    /// The type of an event, such as `delivery`.
    EventType, "event type", check
);
text_id!(
    /// A note; derived from its origin and content.
    NoteId, "note id", check
);
text_id!(
    /// An entry of the operation log; sorts by the time of its creation.
    OperationId, "operation id", check
);
text_id!(
    /// The public part of a token.
    TokenId, "token id", check
);

impl From<crate::KnownEvent> for EventType {
    fn from(event: crate::KnownEvent) -> Self {
        Self(event.as_str().to_owned())
    }
}

impl EventType {
    /// Whether the event records how an agent's work ended; such events must survive a power failure.
    pub fn is_ending(&self) -> bool {
        use crate::KnownEvent::{Debrief, FailureSolved, Verdict};
        [Debrief, FailureSolved, Verdict].iter().any(|known| known.as_str() == self.as_str())
    }
}

/// Packages without a group are listed under `global`, so no group may have this name.
pub const GLOBAL_GROUP: &str = "global";

fn check_group(what: &'static str, text: &str) -> Result<(), InvalidId> {
    check(what, text)?;
    if text.eq_ignore_ascii_case(GLOBAL_GROUP) {
        return Err(InvalidId { what, value: text.to_owned(), rule: IdRule::Reserved });
    }
    Ok(())
}

fn check_role(what: &'static str, text: &str) -> Result<(), InvalidId> {
    check(what, text)?;
    let allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'_' | b'-');
    if !text.as_bytes()[0].is_ascii_lowercase() || !text.bytes().all(allowed) {
        return Err(InvalidId { what, value: text.to_owned(), rule: IdRule::RoleAlphabet });
    }
    Ok(())
}

macro_rules! number_id {
    ($(#[$meta:meta])* $name:ident, $what:literal) => {
        $(#[$meta])*
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        )]
        #[serde(transparent)]
        pub struct $name(pub i64);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }

        impl FromStr for $name {
            type Err = InvalidId;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                text.parse::<u32>().map(|n| Self(i64::from(n))).map_err(|_| InvalidId {
                    what: $what,
                    value: text.chars().take(MAX_ID_CHARS).collect(),
                    rule: IdRule::Number,
                })
            }
        }
    };
}

number_id!(
    /// A package within a store.
    PackageId, "package id"
);
number_id!(
    /// A piece of reasoning within a store.
    ReasoningId, "reasoning id"
);
number_id!(
    /// A verdict within a store.
    VerdictId, "verdict id"
);
number_id!(
    /// A skill output within a store.
    SkillOutputId, "skill output id"
);
number_id!(
    /// An event within a store.
    EventId, "event id"
);

/// How many characters of an id lists show.
const SHOWN: usize = 6;

/// The end of an id, as lists and briefs show it; enough to name a record.
pub fn short_id(id: &str) -> &str {
    let start = id.char_indices().rev().nth(SHOWN - 1).map_or(0, |(at, _)| at);
    &id[start..]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn rejects_ids_that_could_escape_a_folder() {
        for bad in ["", "a/b", "..", ".hidden", "a b", "ä", "-x", "a\nb", &"x".repeat(65)] {
            assert!(SessionId::new(bad).is_err(), "{bad:?} was accepted");
        }
        for good in ["P1", "1.2-login", "s_019", "a", &"x".repeat(64)] {
            assert!(SessionId::new(good).is_ok(), "{good:?} was refused");
        }
    }

    #[test]
    fn groups_and_roles_have_stricter_rules() {
        assert_eq!(GroupId::new("Global").unwrap_err().rule, IdRule::Reserved);
        assert_eq!(Role::new("QA").unwrap_err().rule, IdRule::RoleAlphabet);
        assert!(Role::new("data-engineer").is_ok());
    }

    #[test]
    fn number_ids_reject_negative_numbers() {
        assert!("-1".parse::<PackageId>().is_err());
        assert_eq!("7".parse::<PackageId>(), Ok(PackageId(7)));
    }

    #[test]
    fn errors_name_the_kind_the_value_and_the_rule() {
        let error = |text: &str| GroupId::new(text).unwrap_err().to_string();
        assert_eq!(error(""), "`` is not a valid group id: it must not be empty");
        assert_eq!(
            error("a/b"),
            "`a/b` is not a valid group id: only letters, digits, `.`, `_` and `-` are allowed, \
             starting with a letter or a digit"
        );
        let long = error(&"x".repeat(65));
        assert!(long.ends_with("at most 64 characters are allowed") && long.len() < 130, "{long}");
        assert!(error("GLOBAL").contains("reserved"));
        assert_eq!(
            "x1".parse::<EventId>().unwrap_err().to_string(),
            "`x1` is not a valid event id: a whole number is expected"
        );
    }

    #[test]
    fn roles_start_with_a_lower_case_letter() {
        for bad in ["Developer", "1st", "_x", "dev.ops", "über", "a b"] {
            assert!(Role::new(bad).is_err(), "{bad}");
            assert!(PersonaId::new(bad).is_err(), "{bad}");
        }
        for good in ["a", "qa_expert", "data-engineer", "r2d2"] {
            assert!(Role::new(good).is_ok(), "{good}");
        }
    }

    #[test]
    fn json_is_validated_like_text() {
        assert_eq!(serde_json::to_string(&SessionId::new("s1").unwrap()).unwrap(), "\"s1\"");
        assert!(serde_json::from_str::<SessionId>("\"../s1\"").is_err());
        assert_eq!(serde_json::from_str::<PackageId>("7").unwrap(), PackageId(7));
        assert_eq!(serde_json::to_string(&PackageId(7)).unwrap(), "7");
    }

    #[test]
    fn number_ids_are_bounded() {
        assert_eq!("4294967295".parse::<PackageId>(), Ok(PackageId(4_294_967_295)));
        for bad in ["4294967296", "", " 1", "1.0", "0x1"] {
            assert!(bad.parse::<PackageId>().is_err(), "{bad}");
        }
    }

    #[test]
    fn known_events_are_valid_event_types() {
        for event in crate::KnownEvent::ALL {
            let kind = EventType::from(*event);
            assert_eq!(EventType::new(kind.as_str()), Ok(kind.clone()), "{kind}");
        }
    }

    proptest! {
        #[test]
        fn valid_ids_are_safe_folder_names(text in "\\PC{0,70}|[A-Za-z0-9._-]{0,70}") {
            if let Ok(id) = SessionId::new(text.clone()) {
                prop_assert_eq!(id.as_str(), &text);
                let parts: Vec<_> = std::path::Path::new(&text).components().collect();
                prop_assert!(matches!(parts[..], [std::path::Component::Normal(_)]));
                prop_assert!(!text.starts_with('.') && text.len() <= MAX_ID_CHARS);
            }
        }
    }

    /// Every kind of id behaves the same.
    macro_rules! check_text_ids {
        ($($name:ident $what:literal),+ $(,)?) => { $({
            let id: $name = "a1".parse().unwrap();
            assert_eq!((id.as_str(), id.to_string().as_str()), ("a1", "a1"));
            assert_eq!($name::try_from("a1".to_owned()), Ok(id.clone()));
            assert_eq!(String::from(id.clone()), "a1");
            assert_eq!(format!("[{id:>4}|{id:<4}]"), "[  a1|a1  ]");
            assert_eq!(serde_json::to_value(&id).unwrap(), "a1");
            assert_eq!(serde_json::from_value::<$name>("a1".into()).unwrap(), id);
            assert!(id < "a2".parse::<$name>().unwrap());
            for bad in ["", "a/b", "-a", "a b", "..", &"x".repeat(65)] {
                let error = bad.parse::<$name>().unwrap_err();
                assert_eq!(error.what, $what);
                assert!(error.value.len() <= MAX_ID_CHARS);
                assert!(serde_json::from_value::<$name>(bad.into()).is_err(), "{bad}");
            }
        })+ };
    }

    #[test]
    fn every_text_id_is_checked() {
        check_text_ids!(
            ProjectId "project id",
            SessionId "session id",
            GroupId "group id",
            Role "role",
            AgentId "agent id",
            ToolUseId "tool use id",
            HostSessionId "host session id",
            ReceiptId "receipt id",
            RunId "run id",
            EpicId "epic id",
            PersonaId "persona",
            SkillName "skill name",
            CounterName "counter name",
            EventType "event type",
            TokenId "token id",
        );
    }

    macro_rules! check_number_ids {
        ($($name:ident $what:literal),+ $(,)?) => { $({
            assert_eq!("12".parse::<$name>(), Ok($name(12)));
            assert_eq!(format!("[{:>4}]", $name(12)), "[  12]");
            assert_eq!(serde_json::to_value($name(12)).unwrap(), 12);
            assert_eq!(serde_json::from_value::<$name>(12.into()).unwrap(), $name(12));
            assert!($name(9) < $name(12));
            let error = "12a".parse::<$name>().unwrap_err();
            assert_eq!((error.what, error.rule), ($what, IdRule::Number));
            let long = "9".repeat(100).parse::<$name>().unwrap_err();
            assert_eq!(long.value.len(), MAX_ID_CHARS);
        })+ };
    }

    #[test]
    fn every_number_id_is_checked() {
        check_number_ids!(
            PackageId "package id",
            ReasoningId "reasoning id",
            SkillOutputId "skill output id",
            EventId "event id",
        );
    }

    #[test]
    fn each_rule_has_its_message() {
        let rule = |text: &str| SessionId::new(text).unwrap_err().rule;
        assert_eq!(rule(""), IdRule::Empty);
        assert_eq!(rule(&"x".repeat(65)), IdRule::TooLong);
        assert_eq!(rule("a/b"), IdRule::Alphabet);
        // Length is checked before the alphabet, and it is counted in bytes, not characters.
        assert_eq!(rule(&"/".repeat(65)), IdRule::TooLong);
        assert_eq!(rule(&"ä".repeat(33)), IdRule::TooLong);
        assert_eq!(GroupId::new("gLoBaL").unwrap_err().rule, IdRule::Reserved);
        assert!(GroupId::new("globally").is_ok());
        assert_eq!(
            Role::new("a.b").unwrap_err().to_string(),
            "`a.b` is not a valid role: only lower-case letters, digits, `_` and `-` are allowed, starting \
             with a letter"
        );
    }
}
