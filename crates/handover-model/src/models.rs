//! What a model's name implies: its tokenizer, context window and tier.
//!
//! Names come from hosts, environment variables and people, so dated, suffixed and prefixed forms are
//! accepted, and an unknown name yields a sensible default, never an error.

use std::cmp::Reverse;

words! {
    /// A method of counting tokens, one per model family.
    Tokenizer, "tokenizer" {
        /// GPT-4o, GPT-4.1, GPT-5, the o series, Codex.
        O200k => "o200k",
        /// GPT-3.5 and GPT-4.
        Cl100k => "cl100k",
        /// Claude up to 4.6: an estimate.
        Claude => "claude",
        /// Claude from Opus 4.7 and Sonnet 5 on, which need about a third more: an estimate.
        ClaudeNew => "claude-4.7",
        /// All other models: o200k as an estimate.
        Nearest => "nearest",
    }
}

impl Tokenizer {
    /// Whether counts equal the vendor's own.
    pub const fn exact(self) -> bool {
        match self {
            Self::O200k | Self::Cl100k => true,
            Self::Claude | Self::ClaudeNew | Self::Nearest => false,
        }
    }
}

words! {
    /// The capability of a model, in three steps.
    Tier, "tier" {
        /// Haiku, mini, nano, flash.
        Small => "small",
        /// Sonnet, and any model whose name says nothing else.
        Medium => "medium",
        /// Opus, pro.
        Large => "large",
    }
}

/// The properties of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Model {
    /// The tokenizer of its family.
    pub tokenizer: Tokenizer,
    /// The size of its context window in tokens.
    pub window: u64,
    /// Its capability.
    pub tier: Tier,
}

/// The window of an unknown model.
pub const DEFAULT_WINDOW: u64 = 200_000;

/// The window of variants named `1m`.
const WIDE_WINDOW: u64 = 1_000_000;

/// Name stems with tokenizer and window. The stem that occurs first in a name wins, the longest if
/// several start there.
const STEMS: &[(&str, Tokenizer, u64)] = &[
    ("gpt-3.5", Tokenizer::Cl100k, 16_385),
    ("gpt-35", Tokenizer::Cl100k, 16_385),
    ("gpt-4", Tokenizer::Cl100k, 8_192),
    ("gpt-4-32k", Tokenizer::Cl100k, 32_768),
    ("gpt-4-turbo", Tokenizer::Cl100k, 128_000),
    ("gpt-4o", Tokenizer::O200k, 128_000),
    ("chatgpt-4o", Tokenizer::O200k, 128_000),
    ("gpt-4.1", Tokenizer::O200k, 1_047_576),
    ("gpt-4.5", Tokenizer::O200k, 128_000),
    ("gpt-5", Tokenizer::O200k, 400_000),
    ("gpt-oss", Tokenizer::O200k, 131_072),
    ("gpt", Tokenizer::O200k, 400_000),
    ("o1", Tokenizer::O200k, 200_000),
    ("o3", Tokenizer::O200k, 200_000),
    ("o4", Tokenizer::O200k, 200_000),
    ("codex", Tokenizer::O200k, 400_000),
    ("codex-mini", Tokenizer::O200k, 200_000),
    ("gemini", Tokenizer::Nearest, 1_000_000),
];

/// Words in names that determine the tier; the first row that matches wins.
const TIERS: &[(&str, Tier)] = &[
    ("haiku", Tier::Small),
    ("mini", Tier::Small),
    ("nano", Tier::Small),
    ("flash", Tier::Small),
    ("lite", Tier::Small),
    ("instant", Tier::Small),
    ("sonnet", Tier::Medium),
    ("opus", Tier::Large),
    ("pro", Tier::Large),
];

/// Words that identify Claude; the aliases of hosts lack `claude`.
const CLAUDE: &[&str] = &["claude", "opus", "sonnet", "haiku"];

/// The families by the words that only names of models have: what completions offer, and typos are compared with.
pub const FAMILIES: &[&str] = &["claude", "opus", "sonnet", "haiku", "gpt", "codex", "gemini"];

impl Model {
    /// The properties implied by a name. No name means the host's default: assume the family that needs the
    /// most tokens, because a budget that holds for it holds for every other.
    pub fn named(name: Option<&str>) -> Self {
        let name = name.unwrap_or_default().trim().to_ascii_lowercase();
        let words: Vec<&str> = name
            .split(|c: char| !c.is_ascii_alphanumeric())
            .filter(|word| !word.is_empty())
            .collect();
        let (tokenizer, window) = if words.is_empty() {
            (Tokenizer::ClaudeNew, DEFAULT_WINDOW)
        } else if words.iter().any(|word| CLAUDE.contains(word)) {
            (claude(&words), DEFAULT_WINDOW)
        } else {
            STEMS
                .iter()
                .filter_map(|row| Some((find_stem(&name, row.0)?, Reverse(row.0.len()), row)))
                .min_by_key(|&(at, length, _)| (at, length))
                .map_or((Tokenizer::Nearest, DEFAULT_WINDOW), |(_, _, &(_, tokenizer, window))| {
                    (tokenizer, window)
                })
        };
        Self {
            tokenizer,
            window: match words.contains(&"1m") {
                true => WIDE_WINDOW,
                false => window,
            },
            tier: TIERS
                .iter()
                .find(|(word, _)| words.contains(word))
                .map_or(Tier::Medium, |&(_, tier)| tier),
        }
    }
}

/// The tokenizer of a Claude model by its version: `opus-4-7`, `3-5-haiku`, `sonnet-5`, `4.6`. Dates and
/// revisions (`20260416`, `v1:0`) are not versions. An alias without a version means the newest model.
fn claude(words: &[&str]) -> Tokenizer {
    let version = |word: &&str| word.parse::<u32>().ok().filter(|_| word.len() <= 2);
    let Some(at) = words.iter().position(|word| version(word).is_some()) else {
        // `claude-v2`, `claude-instant-v1`: the only names with the version in this form.
        return match words.iter().any(|word| matches!(*word, "v1" | "v2")) {
            true => Tokenizer::Claude,
            false => Tokenizer::ClaudeNew,
        };
    };
    let major = words.get(at).and_then(version).unwrap_or_default();
    let minor = words.get(at + 1).and_then(version).unwrap_or_default();
    match (major, minor) >= (4, 7) {
        true => Tokenizer::ClaudeNew,
        false => Tokenizer::Claude,
    }
}

/// The position of a stem in a name, as whole words.
fn find_stem(name: &str, stem: &str) -> Option<usize> {
    let outside = |c: Option<char>| c.is_none_or(|c| !c.is_ascii_alphanumeric());
    let mut matches = name.match_indices(stem).map(|(at, _)| at);
    matches.find(|&at| {
        outside(name[..at].chars().next_back()) && outside(name[at + stem.len()..].chars().next())
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(name: &str, tokenizer: Tokenizer, window: u64, tier: Tier) {
        let expected = Model { tokenizer, window, tier };
        assert_eq!(Model::named(Some(name)), expected, "{name}");
    }

    #[test]
    fn recognizes_claude_models() {
        use Tokenizer::{Claude, ClaudeNew};
        check("opus", ClaudeNew, 200_000, Tier::Large);
        check("sonnet", ClaudeNew, 200_000, Tier::Medium);
        check("haiku", ClaudeNew, 200_000, Tier::Small);
        check("sonnet[1m]", ClaudeNew, 1_000_000, Tier::Medium);
        check("claude-opus-4-7-20260416", ClaudeNew, 200_000, Tier::Large);
        check("claude-opus-4-10", ClaudeNew, 200_000, Tier::Large);
        check("claude-sonnet-5", ClaudeNew, 200_000, Tier::Medium);
        check("claude-fable-5", ClaudeNew, 200_000, Tier::Medium);
        check("Claude-Sonnet-5[1m]", ClaudeNew, 1_000_000, Tier::Medium);
        check("claude-opus-4-6", Claude, 200_000, Tier::Large);
        check("claude-opus-4.1", Claude, 200_000, Tier::Large);
        check("claude-opus-4-1@20250805", Claude, 200_000, Tier::Large);
        check("claude-sonnet-4-20250514", Claude, 200_000, Tier::Medium);
        check("claude-3-5-haiku-latest", Claude, 200_000, Tier::Small);
        check("claude-haiku-4-5", Claude, 200_000, Tier::Small);
        check("claude-3-opus-20240229", Claude, 200_000, Tier::Large);
        check("claude-instant-v1", Claude, 200_000, Tier::Small);
        check("anthropic/claude-sonnet-4.5", Claude, 200_000, Tier::Medium);
        check("anthropic.claude-3-5-sonnet-20241022-v2:0", Claude, 200_000, Tier::Medium);
        check("us.anthropic.claude-opus-4-7-v1:0", ClaudeNew, 200_000, Tier::Large);
    }

    #[test]
    fn recognizes_other_models() {
        use Tokenizer::{Cl100k, Nearest, O200k};
        check("gpt-3.5-turbo", Cl100k, 16_385, Tier::Medium);
        check("gpt-4", Cl100k, 8_192, Tier::Medium);
        check("gpt-4-0613", Cl100k, 8_192, Tier::Medium);
        check("gpt-4-turbo-2024-04-09", Cl100k, 128_000, Tier::Medium);
        check("gpt-4o", O200k, 128_000, Tier::Medium);
        check("chatgpt-4o-latest", O200k, 128_000, Tier::Medium);
        check("gpt-4o-mini-2024-07-18", O200k, 128_000, Tier::Small);
        check("openai/gpt-4.1-nano", O200k, 1_047_576, Tier::Small);
        check("gpt-5", O200k, 400_000, Tier::Medium);
        check("gpt-5.1-codex-mini", O200k, 400_000, Tier::Small);
        check("gpt-5-pro", O200k, 400_000, Tier::Large);
        check("gpt-6", O200k, 400_000, Tier::Medium);
        check("o3", O200k, 200_000, Tier::Medium);
        check("o4-mini", O200k, 200_000, Tier::Small);
        check("gemini-2.5-pro", Nearest, 1_000_000, Tier::Large);
        check("models/gemini-3-flash", Nearest, 1_000_000, Tier::Small);
        check("llama-4-maverick", Nearest, 200_000, Tier::Medium);
        check("größer", Nearest, 200_000, Tier::Medium);
    }

    #[test]
    fn no_name_means_the_default_model() {
        for name in [None, Some(""), Some("  ")] {
            let model = Model::named(name);
            assert_eq!(model.tokenizer, Tokenizer::ClaudeNew);
            assert_eq!((model.window, model.tier), (DEFAULT_WINDOW, Tier::Medium));
        }
    }

    #[test]
    fn stems_match_whole_words_only() {
        use Tokenizer::{Nearest, O200k};
        check("foo1", Nearest, 200_000, Tier::Medium);
        check("pro3-model", Nearest, 200_000, Tier::Medium);
        check("my-o3", O200k, 200_000, Tier::Medium);
        check("codex-mini-latest", O200k, 200_000, Tier::Small);
        check("azure/gpt-4o/codex", O200k, 128_000, Tier::Medium);
    }

    #[test]
    fn only_openai_counts_are_exact() {
        let exact: Vec<_> = Tokenizer::ALL.iter().filter(|t| t.exact()).collect();
        assert_eq!(exact, [&Tokenizer::O200k, &Tokenizer::Cl100k]);
    }

    proptest! {
        #[test]
        fn any_name_yields_a_model(name in "\\PC{0,40}|[a-z0-9.@:/-]{0,40}") {
            let model = Model::named(Some(&name));
            prop_assert!(model.window >= 8_192);
            prop_assert_eq!(Model::named(Some(&name.to_ascii_uppercase())), model);
        }
    }

    #[test]
    fn claude_models_are_known_by_their_version() {
        use Tokenizer::{Claude, ClaudeNew};
        let tokenizer = |name: &str| Model::named(Some(name)).tokenizer;
        for new in
            ["claude-4.7", "claude-opus-4-8", "claude-opus-5", "claude-10", "haiku-5", "claude"]
        {
            assert_eq!(tokenizer(new), ClaudeNew, "{new}");
        }
        for old in [
            "claude-4.6",
            "claude-3",
            "claude-2.1",
            "claude-v1",
            "claude-v2",
            "sonnet-4",
            "opus-4-0",
        ] {
            assert_eq!(tokenizer(old), Claude, "{old}");
        }
        // A date is not a version: numbers of three or more digits do not count.
        assert_eq!(tokenizer("claude-opus-20260101"), ClaudeNew);
        assert_eq!(tokenizer("claude-3-20260101"), Claude);
    }

    #[test]
    fn the_first_stem_wins_and_then_the_longest() {
        use Tokenizer::{Cl100k, O200k};
        check("gpt-4-32k", Cl100k, 32_768, Tier::Medium);
        check("gpt-4-32k-0613", Cl100k, 32_768, Tier::Medium);
        check("gpt-35-turbo", Cl100k, 16_385, Tier::Medium);
        check("gpt-4.5-preview", O200k, 128_000, Tier::Medium);
        check("gpt-oss-120b", O200k, 131_072, Tier::Medium);
        check("o1-pro", O200k, 200_000, Tier::Large);
        check("codex/gpt-4", O200k, 400_000, Tier::Medium);
        check("gpt-4/codex", Cl100k, 8_192, Tier::Medium);
    }

    #[test]
    fn tiers_are_whole_words() {
        let tier = |name: &str| Model::named(Some(name)).tier;
        for small in ["x-mini", "nano", "gemini-flash-lite", "claude-instant"] {
            assert_eq!(tier(small), Tier::Small, "{small}");
        }
        for medium in ["minimal", "nanotube", "flashy", "improper", "gemini-2.5", "elite"] {
            assert_eq!(tier(medium), Tier::Medium, "{medium}");
        }
        assert_eq!(tier("opus-mini"), Tier::Small, "the first row of the table wins");
    }

    proptest! {
        /// Providers, regions and dates do not change what a model is.
        #[test]
        fn providers_regions_and_dates_do_not_matter(
            name in prop::sample::select(vec![
                "claude-opus-4-7", "claude-3-5-haiku", "sonnet", "gpt-4o-mini", "gpt-4", "o3", "gemini-2.5-pro",
            ]),
            prefix in prop::sample::select(vec!["", "openai/", "us.anthropic.", "azure/", "models/"]),
            suffix in prop::sample::select(vec!["", "-latest", "@20250805", "-20250514", ":free"]),
        ) {
            let plain = Model::named(Some(name));
            let decorated = Model::named(Some(&format!("{prefix}{name}{suffix}")));
            prop_assert_eq!((decorated.window, decorated.tier), (plain.window, plain.tier));
            prop_assert_eq!(decorated.tokenizer, plain.tokenizer);
        }

        #[test]
        fn wide_variants_are_wide(name in "[a-z]{1,8}") {
            let wide = Model::named(Some(&format!("{name}[1m]")));
            prop_assert_eq!(wide.window, WIDE_WINDOW);
        }
    }
}
