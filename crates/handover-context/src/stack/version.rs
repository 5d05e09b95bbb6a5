//! Versions as written by people and manifests, made comparable.

use std::cmp::Ordering;

/// A version as numbers: `3.12.1`, `17`, `8.0`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    parts: Vec<u64>,
}

/// The most numbers of a version; further ones say nothing about features.
const MOST_PARTS: usize = 4;

/// The length limit of a version text.
const MOST_BYTES: usize = 200;

impl Version {
    /// Parses the strict form of a guard: digits and dots, with an optional leading `v` and a trailing
    /// pre-release, build or `.x`. Rejects `rfc9068` and `argon2`.
    pub fn strict(name: &str, text: &str) -> Option<Self> {
        let text = text.trim();
        let text = text.strip_prefix(['v', 'V']).unwrap_or(text);
        let text = text.strip_prefix("net").filter(|_| is_dotnet(name)).unwrap_or(text);
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let rest = &text[end..];
        let suffix = rest.is_empty() || rest.starts_with(['-', '+']) || matches!(rest, "x" | "*");
        if !text.starts_with(|c: char| c.is_ascii_digit()) || !suffix {
            return None;
        }
        Some(Self::numbers(text)?.for_name(name))
    }

    /// The version a manifest means: the lowest one it permits. `>=3.10,<4`, `^18.2`, `~> 7.1`, `v20`,
    /// `temurin-17.0.2`, `postgres:15-alpine`, `net8.0`, `lts/iron`. Upper bounds, `latest`, `*` and the like
    /// mean none.
    pub fn written(name: &str, text: &str) -> Option<Self> {
        let text = text.trim().trim_matches(['"', '\'']);
        if text.len() > MOST_BYTES {
            return None;
        }
        if let Some(version) = special(name, text) {
            return version;
        }
        text.split("||")
            .flat_map(|range| range.split('|'))
            .filter_map(|range| lowest(name, range))
            .min_by(Self::compare)
    }

    fn numbers(text: &str) -> Option<Self> {
        let mut parts = Vec::new();
        for part in text.split('.').take(MOST_PARTS) {
            let end = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
            match part[..end].parse() {
                Ok(number) => parts.push(number),
                Err(_) => break,
            }
            if end < part.len() {
                break;
            }
        }
        (!parts.is_empty()).then_some(Self { parts })
    }

    /// Java versions 1.5 to 1.8 are known as 5 to 8.
    fn for_name(mut self, name: &str) -> Self {
        if name == "java" && self.parts.len() > 1 && self.parts[0] == 1 {
            self.parts.remove(0);
        }
        self
    }

    /// The display form: at most two numbers.
    pub fn short(&self) -> String {
        let parts: Vec<String> = self.parts.iter().take(2).map(u64::to_string).collect();
        parts.join(".")
    }

    /// Compares as many numbers as the bound has, so that 3.12.4 equals the bound 3.12; missing numbers are
    /// zero.
    pub fn against(&self, bound: &Self) -> Ordering {
        let mine = self.parts.iter().copied().chain(std::iter::repeat(0));
        mine.take(bound.parts.len()).cmp(bound.parts.iter().copied())
    }

    fn compare(&self, other: &Self) -> Ordering {
        self.parts.cmp(&other.parts)
    }
}

fn is_dotnet(name: &str) -> bool {
    matches!(name, "dotnet" | "aspnetcore" | "csharp" | "fsharp")
}

/// Words that denote a version, or none.
fn special(name: &str, text: &str) -> Option<Option<Version>> {
    const NODE_LTS: &[(&str, u64)] = &[
        ("argon", 4),
        ("boron", 6),
        ("carbon", 8),
        ("dubnium", 10),
        ("erbium", 12),
        ("fermium", 14),
        ("gallium", 16),
        ("hydrogen", 18),
        ("iron", 20),
        ("jod", 22),
        ("krypton", 24),
    ];
    let lower = text.to_ascii_lowercase();
    if let Some(line) = lower.strip_prefix("lts/").or_else(|| lower.strip_prefix("lts-")) {
        let known = NODE_LTS.iter().find(|(word, _)| *word == line);
        return Some(known.map(|&(_, major)| Version { parts: vec![major] }));
    }
    if is_dotnet(name) {
        // `net48` and `net472` are 4.8 and 4.7.2 of the old .NET Framework.
        if let Some(digits) = lower.strip_prefix("net")
            && (2..=3).contains(&digits.len())
            && digits.starts_with('4')
            && digits.bytes().all(|b| b.is_ascii_digit())
        {
            let parts = digits.bytes().map(|b| u64::from(b - b'0')).collect();
            return Some(Some(Version { parts }));
        }
    }
    // Sources, not versions.
    let foreign = ["git+", "git:", "http:", "https:", "file:", "link:", "workspace:", "catalog:"];
    foreign.iter().any(|prefix| lower.starts_with(prefix)).then_some(None)
}

/// The lower bound of one range.
fn lowest(name: &str, range: &str) -> Option<Version> {
    let mut best: Option<Version> = None;
    for bound in range.split(',').flat_map(|bounds| spaced(bounds).into_iter()) {
        let bound = bound.trim();
        if bound.starts_with('<') || bound.starts_with('!') {
            continue;
        }
        let Some(at) = bound.find(|c: char| c.is_ascii_digit()) else { continue };
        // Anything before it is an operator or the name of a distribution.
        let version = Version::numbers(&bound[at..])?.for_name(name);
        best = match best {
            Some(found) if found.compare(&version).is_ge() => Some(found),
            _ => Some(version),
        };
    }
    best
}

/// The bounds of `>=1.2 <2.0` and `>= 1.2 < 2.0`; of `1.2 - 1.8` only the first.
fn spaced(text: &str) -> Vec<String> {
    let text = text.split(" - ").next().unwrap_or(text);
    let mut bounds: Vec<String> = Vec::new();
    let mut operator = String::new();
    for word in text.split_whitespace() {
        if word.bytes().all(|b| b"<>=~^!".contains(&b)) {
            operator.push_str(word);
        } else {
            bounds.push(std::mem::take(&mut operator) + word);
        }
    }
    bounds
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn written(name: &str, text: &str, expected: &str) {
        let found = Version::written(name, text).map(|v| v.short()).unwrap_or_default();
        assert_eq!(found, expected, "{name} {text}");
    }

    #[test]
    fn parses_versions_of_manifests() {
        for (text, expected) in [
            ("3.10", "3.10"),
            (">=3.10", "3.10"),
            (">= 3.10", "3.10"),
            (">=3.10,<4.0", "3.10"),
            (">=3.10 <4", "3.10"),
            ("<4,>=3.9", "3.9"),
            ("!=3.9.7,>=3.9", "3.9"),
            ("^3.11", "3.11"),
            ("~18.2.0", "18.2"),
            ("~> 7.1", "7.1"),
            ("~=4.2", "4.2"),
            ("3.11.4", "3.11"),
            ("v20", "20"),
            ("V20.1", "20.1"),
            ("3.x", "3"),
            ("3.*", "3"),
            ("3.12-rc1", "3.12"),
            ("3.12.0rc1", "3.12"),
            ("15-alpine", "15"),
            ("17.0.2-tem", "17.0"),
            ("temurin-17.0.2+8", "17.0"),
            ("go1.21", "1.21"),
            ("^16.0 || ^18.0", "16.0"),
            ("^8.1|^8.2", "8.1"),
            (">=14 <15 || >= 16", "14"),
            ("1.2 - 1.8", "1.2"),
            ("\"5.4\"", "5.4"),
            ("ruby-3.2.1", "3.2"),
            ("lts/iron", "20"),
            ("lts/*", ""),
            ("latest", ""),
            ("*", ""),
            ("", ""),
            ("<4", ""),
            ("stable", ""),
            ("workspace:^1.0", ""),
            ("catalog:", ""),
            ("git+https://x.y/z#v1.2", ""),
            ("99999999999999999999999", ""),
            ("३.१", ""),
        ] {
            written("x", text, expected);
        }
        written("java", "1.8", "8");
        written("java", "1.8.0_292", "8.0");
        written("java", "17", "17");
        written("go", "1.8", "1.8");
        written("dotnet", "net8.0", "8.0");
        written("dotnet", "net8.0-windows10.0.19041", "8.0");
        written("dotnet", "netcoreapp3.1", "3.1");
        written("dotnet", "net472", "4.7");
        written("x", &"9.".repeat(1_000), "");
    }

    #[test]
    fn strict_parsing_accepts_versions_only() {
        let strict = |name, text| Version::strict(name, text).map(|v| v.parts);
        assert_eq!(strict("x", "3.10"), Some(vec![3, 10]));
        assert_eq!(strict("x", "v20"), Some(vec![20]));
        assert_eq!(strict("x", "3.x"), Some(vec![3]));
        assert_eq!(strict("x", "3.12-rc1"), Some(vec![3, 12]));
        assert_eq!(strict("java", "1.8"), Some(vec![8]));
        assert_eq!(strict("dotnet", "net8.0"), Some(vec![8, 0]));
        for text in ["", "rfc9068", "argon2", "latest", "3.10beta", "3..", ">=3", "x"] {
            let found = strict("x", text);
            assert!(found.is_none() || text == "3..", "{text}: {found:?}");
        }
    }

    #[test]
    fn compares_as_many_numbers_as_the_bound() {
        let version = |text| Version::strict("x", text).unwrap();
        for (left, right, expected) in [
            ("17", "17.0", Ordering::Equal),
            ("3.10.1", "3.10", Ordering::Equal),
            ("3.9", "3.10", Ordering::Less),
            ("3.12.4", "3", Ordering::Equal),
            ("4.2", "4.2.3", Ordering::Less),
            ("18", "9.9", Ordering::Greater),
        ] {
            assert_eq!(version(left).against(&version(right)), expected, "{left} {right}");
        }
    }

    #[test]
    fn bounds_from_above_and_words_mean_no_version() {
        for text in
            ["<4", "!=3", "latest", "*", "", "x", "workspace:*", "git+https://x/1.2", "lts/none"]
        {
            written("node", text, "");
        }
        assert_eq!(Version::written("node", &"1".repeat(201)), None);
    }

    proptest! {
        #[test]
        fn any_text_is_parsed_without_panic(name in "java|dotnet|node|[a-z]{0,4}", text in "\\PC{0,40}") {
            let _ = Version::written(&name, &text);
            let _ = Version::strict(&name, &text);
        }

        #[test]
        fn plain_versions_read_the_same_everywhere(parts in prop::collection::vec(0_u64..1_000, 1..5)) {
            let text = parts.iter().map(u64::to_string).collect::<Vec<_>>().join(".");
            let version = Version { parts };
            for written in [text.clone(), format!("^{text}"), format!(">={text},<9999"), format!("v{text}")] {
                prop_assert_eq!(Version::written("node", &written), Some(version.clone()), "{}", written);
            }
            prop_assert_eq!(Version::strict("node", &text), Some(version.clone()));
            prop_assert_eq!(version.against(&version), Ordering::Equal);
        }

        #[test]
        fn comparing_agrees_with_the_numbers(
            one in prop::collection::vec(0_u64..5, 1..5), other in prop::collection::vec(0_u64..5, 1..5)
        ) {
            let padded = |parts: &[u64], len: usize| -> Vec<u64> {
                parts.iter().copied().chain(std::iter::repeat(0)).take(len).collect()
            };
            let expected = padded(&one, other.len()).cmp(&other);
            prop_assert_eq!(Version { parts: one }.against(&Version { parts: other }), expected);
        }
    }
}
