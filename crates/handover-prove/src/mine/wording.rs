//! Words of messages: references, sentences, and what tells that something is wrong.

/// Words that tell that something is wrong.
const PROBLEMS: &str = "abort aborts bad break breaks broke broken bug bugs can't cannot confusing corrupt \
    corrupted corrupts couldn't crash crashed crashes currently deadlock didn't doesn't \
    duplicate duplicated duplicates empty error errors even exception exceptions fail failed \
    failing fails failure forever hang hangs however ignored impossible inconsistency \
    inconsistent incorrect incorrectly infinite invalid isn't lack lacks leak leaks lose \
    loses lost mangled missing never overflow overflows oversight panic panics pollute \
    pollutes previously problem problems race raised raises regression reports spurious \
    stale swallowed swallows too traceback truncated twice unable unavailable undesirable \
    unexpected unexpectedly unfortunately unhandled unreadable unusable wasn't weren't won't \
    worse wrong wrongly";

/// Likewise, in two words.
const PROBLEM_PHRASES: &str = "are not|did not|do not|does not|has no|have no|is no|is not|no longer|no way|side effect|side effects|\
    used to|was not|were not|would not";

/// Whether a list of words has a word.
pub(super) fn among(list: &str, word: &str) -> bool {
    list.split(' ').any(|one| one == word)
}

/// A text in lower case, without punctuation around its words, and with a blank at each end.
pub(super) fn plain(text: &str) -> String {
    let around = |c: char| {
        matches!(c, ',' | '.' | ';' | ':' | '!' | '?' | '(' | ')' | '*' | '"' | '-' | '>')
    };
    let words = text
        .split_whitespace()
        .map(|word| word.trim_matches(around))
        .filter(|word| !word.is_empty());
    format!(" {} ", words.collect::<Vec<_>>().join(" ").to_lowercase())
}

/// Whether a plain text has one of the phrases, divided by `|`.
pub(super) fn has_phrase(plain: &str, phrases: &str) -> bool {
    phrases.split('|').any(|phrase| plain.contains(&format!(" {phrase} ")))
}

/// Whether a plain text says that something is wrong.
pub(super) fn has_problem(plain: &str) -> bool {
    let mut words = plain.split(|c: char| !c.is_alphanumeric() && !matches!(c, '\'' | '-' | '_'));
    words.any(|word| among(PROBLEMS, word) || word.len() > 5 && word.ends_with("error"))
        || has_phrase(plain, PROBLEM_PHRASES)
}

/// Whether a word is a verb, or a form of it: `use`, `uses`, `used`, `using`.
pub(super) fn is_form_of(word: &str, verb: &str) -> bool {
    let stem = verb.strip_suffix('e').unwrap_or(verb);
    let Some(end) = word.strip_prefix(stem) else { return false };
    // `dropped`
    let last = stem.chars().last().unwrap_or_default();
    let end = end.strip_prefix(last).filter(|rest| matches!(*rest, "ed" | "ing")).unwrap_or(end);
    match verb.len() == stem.len() {
        true => matches!(end, "" | "s" | "es" | "ed" | "ing"),
        false => matches!(end, "e" | "es" | "ed" | "ing"),
    }
}

/// Whether a word is `#12`, `owner/name#12` or `GH-12`, with whatever is around it.
pub(super) fn is_reference(word: &str) -> bool {
    let inner = word.trim_matches(['(', ')', '[', ']', ',', '.', ':', ';', '*']);
    let number = inner
        .rsplit_once('#')
        .map(|(_, number)| number)
        .or_else(|| inner.strip_prefix("GH-"))
        .or_else(|| inner.strip_prefix("gh-"));
    number.is_some_and(|number| !number.is_empty() && number.chars().all(|c| c.is_ascii_digit()))
}

/// Whether a word is the beginning of a hash of a commit.
fn is_hash(word: &str) -> bool {
    let inner = word.trim_matches(['(', ')', ',', '.']);
    (7..=40).contains(&inner.len())
        && inner.chars().all(|c| matches!(c, '0'..='9' | 'a'..='f'))
        && inner.contains(|c: char| c.is_ascii_digit())
}

/// What leads to a reference, and nowhere without it.
const LEADS: &str = "and by closes fix fixes for from in issue refs see this";

/// A text without `#12`, and without brackets that hold nothing but where something was said or done. A colon after a
/// reference stays.
pub(super) fn without_references(text: &str) -> String {
    let mut kept: Vec<String> = Vec::new();
    for word in without_brackets(text).split_whitespace() {
        if !is_reference(word) {
            kept.push(word.to_owned());
        } else if word.ends_with([':', ';'])
            && let Some(last) = kept.last_mut()
        {
            last.push(':');
        }
    }
    while kept.len() > 1
        && kept.last().is_some_and(|word| {
            among(LEADS, &word.trim_end_matches([':', '.', ',']).to_lowercase())
        })
    {
        kept.pop();
    }
    kept.join(" ")
}

/// Without `(#12)`, `(fixes #12)` and `(0f71fe7, #3403)`.
fn without_brackets(text: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('(') {
        let Some((inside, behind)) = after.split_once(')') else { break };
        let is_origin = inside.split_whitespace().any(|word| is_reference(word) || is_hash(word));
        kept.push_str(before);
        if !is_origin {
            kept.push('(');
            kept.push_str(inside);
            kept.push(')');
        } else if !before.ends_with(|c: char| c.is_whitespace()) && !before.is_empty() {
            kept.push(' ');
        }
        rest = match is_origin && kept.ends_with(' ') && behind.starts_with(['.', ',', ';', ':']) {
            true => {
                kept.truncate(kept.trim_end().len());
                behind
            }
            false => behind,
        };
    }
    kept.push_str(rest);
    kept
}

/// The sentences of a text.
pub(super) fn sentences(text: &str) -> Vec<&str> {
    let (mut all, mut start) = (Vec::new(), 0);
    let bytes = text.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        let ends = matches!(byte, b'.' | b'!' | b'?')
            && bytes.get(at + 1).is_none_or(u8::is_ascii_whitespace)
            && !text[..=at].ends_with("i.e.")
            && !text[..=at].ends_with("e.g.");
        if ends {
            all.push(text[start..=at].trim());
            start = at + 1;
        }
    }
    all.push(text[start..].trim());
    all.retain(|sentence| !sentence.is_empty());
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_verbs() {
        for (word, verb) in [
            ("uses", "use"),
            ("using", "use"),
            ("dropped", "drop"),
            ("fixes", "fix"),
            ("add", "add"),
        ] {
            assert!(is_form_of(word, verb), "{word}");
        }
        for (word, verb) in
            [("user", "use"), ("address", "add"), ("document", "do"), ("settings", "set")]
        {
            assert!(!is_form_of(word, verb), "{word}");
        }
    }

    #[test]
    fn references_leave_nothing_behind() {
        for (text, without) in [
            ("Fix empty default (#123)", "Fix empty default"),
            ("Retain order (fixes #69)", "Retain order"),
            ("Added support for tuples.  This fixes #239", "Added support for tuples."),
            ("Make `BOOL` accept \"on\".  Closes #1629.", "Make `BOOL` accept \"on\"."),
            (
                "deferred (0f71fe7, #3403), so it is None (really)",
                "deferred, so it is None (really)",
            ),
            ("Fix #930: Raise an error", "Fix: Raise an error"),
            ("Update progress (fix #651)", "Update progress"),
        ] {
            assert_eq!(without_references(text), without);
        }
    }
}
