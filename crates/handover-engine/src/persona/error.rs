//! Why a persona cannot be used.

use std::fmt;
use std::path::PathBuf;

use handover_model::InvalidId;

/// Why a persona cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PersonaError {
    /// A file does not describe a persona.
    #[error("{}:{line}: {rule}: {message}", file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// The line in it.
        line: usize,
        /// The rule it violates.
        rule: PersonaRule,
        /// Details for people.
        message: String,
    },
    /// No persona has this name.
    #[error("there is no persona `{name}`; there are {}", known.join(", "))]
    Unknown {
        /// The name.
        name: String,
        /// The existing names.
        known: Vec<String>,
    },
    /// A persona that only the configuration mentions lacks a field.
    #[error("party.personas.{name}: {field} is missing, and no file describes `{name}`")]
    Incomplete {
        /// The persona.
        name: String,
        /// The missing field.
        field: &'static str,
    },
    /// An invalid name.
    #[error(transparent)]
    Id(#[from] InvalidId),
    /// A persona is listed twice, or there are too many.
    #[error("{0}")]
    Party(String),
}

/// The rules for persona files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PersonaRule {
    /// Unreadable or too large.
    File,
    /// Not TOML.
    Syntax,
    /// An unknown key, or a value of the wrong type.
    Field,
    /// A required key is missing.
    Required,
    /// A value is empty or too long.
    Size,
    /// The file name is not a valid persona name.
    Name,
}

impl PersonaRule {
    /// The rule's name in JSON output.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Syntax => "syntax",
            Self::Field => "field",
            Self::Required => "required",
            Self::Size => "size",
            Self::Name => "name",
        }
    }
}

impl fmt::Display for PersonaRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
