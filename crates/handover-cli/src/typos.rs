//! What was probably meant by a name that is not known.

use handover_agents::AgentError;
use handover_model::models::{self, Model};
use handover_model::{Tokenizer, UnknownWord};

/// How alike two names must be before one is suggested for the other.
const ALIKE: f64 = 0.8;

/// Names up to this length are alike by chance, unless a single letter tells them apart.
const SHORT: usize = 3;

/// The shortest name that can be a slip of another one.
const SHORTEST: usize = 3;

/// The known name most like this one, if any is.
pub(crate) fn nearest<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let near = |known: &&str| {
        known.len().min(name.len()) > SHORT || strsim::osa_distance(known, name) <= 1
    };
    let scored = known.into_iter().filter(near);
    let scored = scored.map(|known| (strsim::jaro_winkler(known, name), known));
    let best = scored.max_by(|(a, _), (b, _)| a.total_cmp(b));
    best.filter(|(score, _)| *score > ALIKE).map(|(_, known)| known)
}

/// The known name that this one misses by a single typo: a letter too many, too few, wrong or swapped with the
/// next. Numbers tell versions and copies apart, so they are never typos.
pub(crate) fn slip<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let letters = |text: &str| text.replace(|c: char| c.is_ascii_digit(), "");
    known.into_iter().find(|known| {
        known.len().min(name.len()) >= SHORTEST
            && strsim::osa_distance(name, known) == 1
            && letters(name) != letters(known)
    })
}

/// What an error about an argument was probably about.
pub(crate) fn meant(error: &(dyn std::error::Error + 'static)) -> Option<String> {
    if let Some(error) = error.downcast_ref::<UnknownWord>() {
        return nearest(&error.value, error.allowed.iter().copied()).map(str::to_owned);
    }
    let Some(AgentError::UnknownHost { host, known }) = error.downcast_ref() else { return None };
    nearest(host, known.iter().map(|host| host.as_str())).map(str::to_owned)
}

/// The family that another model is called like by accident: `coder` is no typo of `codex`.
const MISTAKABLE: &str = "codex";

/// What a model's name says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ModelName {
    Known,
    /// A typo away from this one.
    Slip(String),
    /// No family that we know, or a version that does not exist yet.
    Unknown,
}

impl ModelName {
    pub(crate) fn of(name: &str) -> Self {
        let name = name.trim().to_ascii_lowercase();
        let model = Model::named(Some(&name));
        let is_family =
            model.tokenizer != Tokenizer::Nearest || model.window != models::DEFAULT_WINDOW;
        if is_family && gpt_version(&name).is_none_or(|version| (3..=9).contains(&version)) {
            return Self::Known;
        }
        // `gpt5` for `gpt-5`: without the hyphen no program accepts it.
        if let Some(version) = name.strip_prefix("gpt")
            && version.starts_with(|c: char| c.is_ascii_digit())
        {
            return Self::Slip(format!("gpt-{version}"));
        }
        let words = name.split(|c: char| !c.is_ascii_alphabetic());
        let families = || models::FAMILIES.iter().copied().filter(|name| *name != MISTAKABLE);
        let slip = words.filter_map(|word| Some((word, slip(word, families())?))).next();
        match slip {
            Some((word, family)) if !is_family => Self::Slip(name.replacen(word, family, 1)),
            Some(_) | None => Self::Unknown,
        }
    }
}

/// The version in `gpt-5.1`.
fn gpt_version(name: &str) -> Option<u32> {
    let digits = name.split("gpt-").nth(1)?;
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    // `gpt-35` is how one vendor writes 3.5.
    digits[..end].parse().ok().map(|version| if version == 35 { 3 } else { version })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROLES: &[&str] = handover_model::roles::BUILT_IN;

    #[test]
    fn one_wrong_missing_extra_or_swapped_letter_is_a_slip() {
        for name in ["devloper", "develloper", "deweloper", "devleoper"] {
            assert_eq!(slip(name, ROLES.iter().copied()), Some("developer"), "{name}");
        }
        assert_eq!(slip("qa-expert", ROLES.iter().copied()), Some("qa_expert"));
        for name in ["developer", "developer2", "gardener", "dev", "tech"] {
            assert_eq!(slip(name, ROLES.iter().copied()), None, "{name}");
        }
    }

    #[test]
    fn the_nearest_name_is_suggested_and_a_far_one_is_not() {
        assert_eq!(nearest("reserch", ["research", "failures"]), Some("research"));
        assert_eq!(nearest("zzz", ["research", "failures"]), None);
    }

    #[test]
    fn models_are_known_by_family_and_version() {
        for name in [
            "opus",
            "sonnet[1m]",
            "claude-opus-4-7",
            "gpt-5.1-codex-mini",
            "gpt-35-turbo",
            "gpt-oss-120b",
            "gpt-6",
            "o3",
            "gemini-3-flash",
            "chatgpt-4o-latest",
        ] {
            assert_eq!(ModelName::of(name), ModelName::Known, "{name}");
        }
        for (name, meant) in [
            ("sonet", "sonnet"),
            ("cluade-fable-5", "claude-fable-5"),
            ("gtp-5", "gpt-5"),
            ("Opsu", "opus"),
            ("gpt5", "gpt-5"),
        ] {
            assert_eq!(ModelName::of(name), ModelName::Slip(meant.to_owned()), "{name}");
        }
        for name in ["gpt-99", "llama-4-maverick", "qwen3-coder", "my-model"] {
            assert_eq!(ModelName::of(name), ModelName::Unknown, "{name}");
        }
    }
}
