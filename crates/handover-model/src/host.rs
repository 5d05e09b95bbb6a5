//! The name of an agent program, such as `claude`.
//!
//! An open set: a program is known by being in the registry of handover-agents (programs that are
//! started) or of handover-hosts (programs whose hooks call us), not by being listed here. Records
//! keep the name, so a store can be read by a version that does not know the program.

use std::fmt;
use std::str::FromStr;

/// A text that cannot name a host.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{value}` is not a host name: 1 to 16 lower-case letters, digits, `_` and `-` are allowed, starting with a letter"
)]
pub struct InvalidHost {
    /// The text, shortened if it is long.
    pub value: String,
}

/// The name of an agent program. `Copy` like an enum: the text is stored inline.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Host {
    // Unused bytes are zero, so that the derived order is that of the text.
    bytes: [u8; Self::MAX_LEN],
}

impl Host {
    /// The longest name, in bytes.
    pub const MAX_LEN: usize = 16;

    /// Claude Code.
    pub const CLAUDE: Self = Self::from_static("claude");
    /// Codex.
    pub const CODEX: Self = Self::from_static("codex");
    /// Gemini CLI.
    pub const GEMINI: Self = Self::from_static("gemini");
    /// Any program that reads its prompt from standard input.
    pub const COMMAND: Self = Self::from_static("command");

    /// A name known at compile time.
    ///
    /// # Panics
    ///
    /// If the text is not a valid name; in a constant that is a compile error.
    pub const fn from_static(text: &'static str) -> Self {
        match Self::checked(text.as_bytes()) {
            Some(host) => host,
            None => panic!("not a valid host name"),
        }
    }

    /// Validates the text.
    pub fn new(text: &str) -> Result<Self, InvalidHost> {
        Self::checked(text.as_bytes())
            .ok_or_else(|| InvalidHost { value: text.chars().take(2 * Self::MAX_LEN).collect() })
    }

    /// The name as it appears on the command line, in JSON and in the store.
    pub fn as_str(&self) -> &str {
        let len = self.bytes.iter().position(|byte| *byte == 0).unwrap_or(Self::MAX_LEN);
        // `checked` admits ASCII only.
        std::str::from_utf8(&self.bytes[..len]).unwrap_or_default()
    }

    const fn checked(text: &[u8]) -> Option<Self> {
        if text.is_empty() || text.len() > Self::MAX_LEN || !text[0].is_ascii_lowercase() {
            return None;
        }
        let mut bytes = [0; Self::MAX_LEN];
        let mut at = 0;
        while at < text.len() {
            let byte = text[at];
            if !byte.is_ascii_lowercase() && !byte.is_ascii_digit() && byte != b'_' && byte != b'-'
            {
                return None;
            }
            bytes[at] = byte;
            at += 1;
        }
        Some(Self { bytes })
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Host({})", self.as_str())
    }
}

impl FromStr for Host {
    type Err = InvalidHost;

    fn from_str(text: &str) -> Result<Self, InvalidHost> {
        Self::new(text)
    }
}

impl serde::Serialize for Host {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> serde::Deserialize<'de> for Host {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        Self::new(&text).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_survive_text_and_json() {
        for name in ["claude", "a", "qwen-code_2", "sixteen-letters-"] {
            let host: Host = name.parse().unwrap();
            assert_eq!((host.as_str(), host.to_string().as_str()), (name, name));
            let json = serde_json::to_string(&host).unwrap();
            assert_eq!(json, format!("\"{name}\""));
            assert_eq!(serde_json::from_str::<Host>(&json).unwrap(), host);
        }
        assert_eq!(Host::new("claude").unwrap(), Host::CLAUDE);
        assert_eq!(format!("{:>8}|{:?}", Host::CODEX, Host::CODEX), "   codex|Host(codex)");
    }

    #[test]
    fn rejects_invalid_names() {
        for text in
            ["", "Claude", "2fast", "-x", "a b", "a/b", "ümlaut", "seventeen-letters", "a\0"]
        {
            let error = Host::new(text).unwrap_err();
            assert_eq!(error.value, text);
            assert!(serde_json::from_str::<Host>(&format!("{text:?}")).is_err(), "{text}");
        }
        let long = Host::new(&"x".repeat(5_000)).unwrap_err();
        assert_eq!(long.value.len(), 32);
    }

    #[test]
    fn sorts_like_text() {
        let mut hosts = [Host::GEMINI, Host::COMMAND, Host::CODEX, Host::CLAUDE];
        hosts.sort();
        assert_eq!(hosts.map(|host| host.to_string()), ["claude", "codex", "command", "gemini"]);
    }

    #[test]
    fn the_error_states_value_and_rule() {
        assert_eq!(
            Host::new("My Host").unwrap_err().to_string(),
            "`My Host` is not a host name: 1 to 16 lower-case letters, digits, `_` and `-` are allowed, \
             starting with a letter"
        );
    }

    proptest! {
        #[test]
        fn valid_names_are_kept_and_sorted_like_text(
            one in "[a-z][a-z0-9_-]{0,15}", other in "[a-z][a-z0-9_-]{0,15}"
        ) {
            let (first, second) = (Host::new(&one).unwrap(), Host::new(&other).unwrap());
            prop_assert_eq!(first.as_str(), &one);
            prop_assert_eq!(first.cmp(&second), one.cmp(&other));
            prop_assert_eq!(first == second, one == other);
        }

        #[test]
        fn any_text_is_a_name_or_an_error(text in "\\PC{0,20}") {
            let valid = text.len() <= Host::MAX_LEN
                && text.starts_with(|c: char| c.is_ascii_lowercase())
                && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_' || b == b'-');
            prop_assert_eq!(Host::new(&text).is_ok(), valid);
        }
    }
}
