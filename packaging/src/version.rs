//! Versions of releases: how they are written, and which is greater.

use std::fmt;
use std::str::FromStr;

use anyhow::{Context, Error, Result};

/// Three numbers, and what a pre-release adds. They compare as semantic versioning says.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    numbers: [u64; 3],
    stage: Stage,
}

/// A pre-release comes before its release.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Before(Vec<Identifier>),
    Released,
}

/// A part of a pre-release. Numbers come before words.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Identifier {
    Number(u64),
    Word(String),
}

impl Version {
    /// What comes next: the release, after its pre-release, else the next minor version.
    pub fn next(&self) -> Self {
        let [major, minor, _] = self.numbers;
        let numbers = match self.stage {
            Stage::Before(_) => self.numbers,
            Stage::Released => [major, minor + 1, 0],
        };
        Self { numbers, stage: Stage::Released }
    }
}

impl FromStr for Version {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        parse(text).with_context(|| {
            format!("`{text}` is no version: three numbers such as 1.2.3, or 1.2.3-rc.1")
        })
    }
}

fn parse(text: &str) -> Option<Version> {
    let (release, before) = match text.split_once('-') {
        Some((release, before)) => (release, Some(before)),
        None => (text, None),
    };
    let numbers: Vec<u64> = release.split('.').map(number).collect::<Option<_>>()?;
    let stage = match before {
        Some(before) => Stage::Before(before.split('.').map(identifier).collect::<Option<_>>()?),
        None => Stage::Released,
    };
    Some(Version { numbers: numbers.try_into().ok()?, stage })
}

fn number(text: &str) -> Option<u64> {
    let is_plain = text == "0" || !text.starts_with(['0', '+']);
    text.parse().ok().filter(|_| is_plain)
}

fn identifier(text: &str) -> Option<Identifier> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        return number(text).map(Identifier::Number);
    }
    let is_word = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    is_word.then(|| Identifier::Word(text.to_owned()))
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, patch] = self.numbers;
        write!(f, "{major}.{minor}.{patch}")?;
        let Stage::Before(identifiers) = &self.stage else { return Ok(()) };
        for (nth, identifier) in identifiers.iter().enumerate() {
            f.write_str(if nth == 0 { "-" } else { "." })?;
            match identifier {
                Identifier::Number(number) => write!(f, "{number}")?,
                Identifier::Word(word) => f.write_str(word)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_ordered_as_semantic_versioning_says() {
        let ascending = [
            "0.1.9",
            "0.2.0",
            "1.0.0-alpha",
            "1.0.0-alpha.1",
            "1.0.0-alpha.beta",
            "1.0.0-beta",
            "1.0.0-beta.2",
            "1.0.0-beta.11",
            "1.0.0-rc.1",
            "1.0.0",
            "1.0.1",
            "1.10.0",
        ];
        let parsed: Vec<Version> = ascending.iter().map(|text| text.parse().unwrap()).collect();
        assert!(parsed.is_sorted() && parsed.windows(2).all(|pair| pair[0] != pair[1]));
        for (text, version) in ascending.iter().zip(&parsed) {
            assert_eq!(version.to_string(), *text);
        }
    }

    #[test]
    fn what_is_no_version_is_refused() {
        for wrong in [
            "1.0",
            "next",
            "1.0.x",
            "1.0.0.0",
            "01.0.0",
            "1.0.0-",
            "1.0.0-a..b",
            "1.0.0-rc.01",
            "1.0.0+x",
        ] {
            let error = wrong.parse::<Version>().unwrap_err().to_string();
            assert!(error.contains(&format!("`{wrong}` is no version")), "{error}");
        }
    }

    #[test]
    fn the_next_version_is_the_release_of_a_candidate() {
        let next = |text: &str| text.parse::<Version>().unwrap().next().to_string();
        assert_eq!(next("0.1.9"), "0.2.0");
        assert_eq!(next("1.0.0-rc.1"), "1.0.0");
    }
}
