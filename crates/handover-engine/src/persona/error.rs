//! Why a persona cannot take part.

use std::fmt;
use std::path::PathBuf;

use handover_model::InvalidId;

/// Why a persona cannot take part.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PersonaError {
    /// A file that is no persona.
    #[error("{}:{line}: {rule}: {message}", file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// Where in it.
        line: usize,
        /// What it breaks.
        rule: Rule,
        /// In words.
        message: String,
    },
    /// Nobody is called that.
    #[error("there is no persona `{name}`; there are {}", known.join(", "))]
    Unknown {
        /// What was asked for.
        name: String,
        /// Who there is.
        known: Vec<String>,
    },
    /// A new persona that the configuration does not describe whole.
    #[error("party.personas.{name}: {field} is missing, and no file describes `{name}`")]
    Incomplete {
        /// The persona.
        name: String,
        /// What is missing.
        field: &'static str,
    },
    /// A name that cannot be one.
    #[error(transparent)]
    Id(#[from] InvalidId),
    /// The same persona twice, or more of them than can be heard.
    #[error("{0}")]
    Party(String),
}

/// The rules that a file of a persona can break.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// It cannot be read, or is too large.
    File,
    /// It is not TOML.
    Syntax,
    /// A key that personas do not have, or a value of the wrong type.
    Field,
    /// Something that every persona needs is missing.
    Required,
    /// A text is empty or too long.
    Size,
    /// The name of the file cannot be that of a persona.
    Name,
}

impl Rule {
    /// A word for scripts.
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

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
