//! The arms of an experiment: what an agent is given besides its task.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What the agents of one arm are given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Arm {
    /// The prompt alone.
    Bare,
    /// A brief of the same size that was chosen for another task: more text, but not the right one.
    Placebo,
    /// The brief.
    Brief,
    /// The brief without one of its sections.
    Without(BriefSection),
}

macro_rules! sections {
    ($($(#[$doc:meta])+ $name:ident $word:literal;)+) => {
        /// A section that a brief can do without.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum BriefSection {
            $($(#[$doc])+ $name,)+
        }

        impl BriefSection {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// Its name in `brief-without-NAME`.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $word,)+
                }
            }
        }
    };
}

sections! {
    /// Everything that was chosen for the task.
    Context "context";
    /// Guidance for the technology.
    Specialization "specialization";
    /// What is already known: documents, commits, conversations.
    Notes "notes";
    /// Where to look.
    Places "places";
    /// Packages.
    Packages "packages";
    /// What earlier agents thought.
    Reasoning "reasoning";
    /// Known errors and their solutions.
    Errors "errors";
    /// Lessons.
    Strategies "strategies";
}

/// The beginning of the name of an arm without a section.
const WITHOUT: &str = "brief-without-";

/// A name that is no arm.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{name}` is no arm; arms are bare, placebo, brief and brief-without-SECTION, where SECTION is {}",
    BriefSection::ALL.iter().map(|section| section.as_str()).collect::<Vec<_>>().join(", ")
)]
pub struct UnknownArm {
    /// The name.
    pub name: String,
}

impl Arm {
    /// The arms of an experiment unless others are asked for.
    pub const USUAL: [Self; 3] = [Self::Bare, Self::Placebo, Self::Brief];

    /// Whether its agents get what was chosen for their task, or a part of it.
    pub fn is_treated(self) -> bool {
        match self {
            Self::Brief | Self::Without(_) => true,
            Self::Bare | Self::Placebo => false,
        }
    }

    /// Reads a list such as `bare,brief`: each arm once, at least two.
    pub fn list(text: &str) -> Result<Vec<Self>, ArmsError> {
        let mut arms = Vec::new();
        for name in text.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            let arm: Self = name.parse()?;
            if arms.contains(&arm) {
                return Err(ArmsError::Twice(arm));
            }
            arms.push(arm);
        }
        if arms.len() < 2 {
            return Err(ArmsError::TooFew);
        }
        Ok(arms)
    }
}

/// Why a list of arms is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ArmsError {
    /// A name that is no arm.
    #[error(transparent)]
    Unknown(#[from] UnknownArm),
    /// One arm is named twice.
    #[error("arm `{0}` is named twice")]
    Twice(Arm),
    /// There is nothing to compare.
    #[error("an experiment compares at least two arms, such as `bare,placebo,brief`")]
    TooFew,
}

impl fmt::Display for Arm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bare => f.pad("bare"),
            Self::Placebo => f.pad("placebo"),
            Self::Brief => f.pad("brief"),
            Self::Without(section) => f.pad(&format!("{WITHOUT}{}", section.as_str())),
        }
    }
}

impl FromStr for Arm {
    type Err = UnknownArm;

    fn from_str(name: &str) -> Result<Self, UnknownArm> {
        let section =
            |word: &str| BriefSection::ALL.iter().copied().find(|section| section.as_str() == word);
        match name {
            "bare" => Some(Self::Bare),
            "placebo" => Some(Self::Placebo),
            "brief" => Some(Self::Brief),
            _ => name.strip_prefix(WITHOUT).and_then(section).map(Self::Without),
        }
        .ok_or_else(|| UnknownArm { name: name.to_owned() })
    }
}

impl From<Arm> for String {
    fn from(arm: Arm) -> Self {
        arm.to_string()
    }
}

impl TryFrom<String> for Arm {
    type Error = UnknownArm;

    fn try_from(name: String) -> Result<Self, UnknownArm> {
        name.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        let sections = BriefSection::ALL.iter().map(|section| Arm::Without(*section));
        for arm in Arm::USUAL.into_iter().chain(sections) {
            assert_eq!(arm.to_string().parse(), Ok(arm));
        }
        let error = "brief-without-luck".parse::<Arm>().unwrap_err().to_string();
        assert!(error.contains("`brief-without-luck`") && error.contains("places"), "{error}");
    }

    #[test]
    fn a_list_has_each_arm_once_and_something_to_compare() {
        assert_eq!(Arm::list("bare, brief").unwrap(), [Arm::Bare, Arm::Brief]);
        assert_eq!(Arm::list("bare,bare"), Err(ArmsError::Twice(Arm::Bare)));
        assert_eq!(Arm::list("brief,"), Err(ArmsError::TooFew));
        assert!(matches!(Arm::list("bare,x"), Err(ArmsError::Unknown(_))));
    }
}
