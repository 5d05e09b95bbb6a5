//! The codes of errors: what scripts read, and what a command may react to.

use std::fmt;

/// The stable code of an error. A command can only react to one that has a name here; the others, most of which come
/// from the libraries, are only shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Code {
    Ambiguous,
    AmbiguousSession,
    Git,
    InvalidConfig,
    NoProject,
    NoStore,
    NotFound,
    OtherOwner,
    StoreBusy,
    Other(&'static str),
}

impl Code {
    const NAMED: [Self; 9] = [
        Self::Ambiguous,
        Self::AmbiguousSession,
        Self::Git,
        Self::InvalidConfig,
        Self::NoProject,
        Self::NoStore,
        Self::NotFound,
        Self::OtherOwner,
        Self::StoreBusy,
    ];

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Ambiguous => "ambiguous",
            Self::AmbiguousSession => "ambiguous_session",
            Self::Git => "git",
            Self::InvalidConfig => "invalid_config",
            Self::NoProject => "no_project",
            Self::NoStore => "no_store",
            Self::NotFound => "not_found",
            Self::OtherOwner => "other_owner",
            Self::StoreBusy => "store_busy",
            Self::Other(code) => code,
        }
    }
}

impl From<&'static str> for Code {
    fn from(text: &'static str) -> Self {
        let named = Self::NAMED.into_iter().find(|code| code.as_str() == text);
        named.unwrap_or(Self::Other(text))
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use handover_store::{Fault, RecordKind, StoreError};

    use super::*;

    #[test]
    fn a_code_has_one_form() {
        for code in Code::NAMED {
            assert_eq!(Code::from(code.as_str()), code);
            assert_eq!(code.to_string(), code.as_str());
        }
        assert_eq!(Code::from("io"), Code::Other("io"));
    }

    #[test]
    fn codes_of_the_store_have_the_names_that_commands_react_to() {
        let busy = StoreError::Backend { fault: Fault::Busy, source: "locked".into() };
        assert_eq!(Code::from(busy.code()), Code::StoreBusy);
        let missing = StoreError::not_found(RecordKind::Note, "n_1");
        assert_eq!(Code::from(missing.code()), Code::NotFound);
    }
}
