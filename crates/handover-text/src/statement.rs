//! What a sentence does: decide, require, explain, correct, solve or ask; known by its words.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::sentences::{sentences, words};

/// What a sentence does, by its words.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cues {
    /// It decides, or says how things are done here.
    pub decision: u32,
    /// It requires, forbids or limits.
    pub rule: u32,
    /// It says why.
    pub reason: u32,
    /// It corrects or rejects.
    pub correction: u32,
    /// It says what was wrong, or what solved it.
    pub solution: u32,
    /// It names something exactly: numbers, symbols, paths.
    pub exact: u32,
}

impl Cues {
    /// How much a sentence is worth keeping.
    pub fn score(self) -> u32 {
        2 * self.decision.min(2)
            + 2 * self.rule.min(2)
            + 2 * self.reason.min(1)
            + 2 * self.correction.min(2)
            + 3 * self.solution.min(1)
            + self.exact.min(2)
    }
}

const DECISION: &[&str] = &[
    "agreed",
    "by default",
    "choose",
    "chose",
    "chosen",
    "convention",
    "decide",
    "decided",
    "decision",
    "from now on",
    "go for",
    "go with",
    "going forward",
    "going with",
    "i'll go with",
    "i'll use",
    "keep it",
    "keep the",
    "let us",
    "let's",
    "lets",
    "opt for",
    "opted for",
    "our standard",
    "picked",
    "policy",
    "settle on",
    "settled on",
    "stay with",
    "stick to",
    "stick with",
    "switch to",
    "switched to",
    "the plan is",
    "to be consistent",
    "use",
    "we agreed",
    "we are using",
    "we use",
    "we want",
    "we will",
    "we'll",
    "went with",
];

const RULE: &[&str] = &[
    "always",
    "at least",
    "at most",
    "avoid",
    "can't",
    "cannot",
    "do not",
    "does not",
    "don't",
    "ensure",
    "exactly",
    "except",
    "forbid",
    "forbidden",
    "has to",
    "have to",
    "important",
    "instead",
    "limit",
    "make sure",
    "may not",
    "must",
    "mustn't",
    "need to",
    "needs to",
    "never",
    "no longer",
    "no more than",
    "not allowed",
    "only",
    "ought to",
    "prefer",
    "rather",
    "require",
    "required",
    "requirement",
    "should",
    "shouldn't",
    "unless",
    "without",
];

/// Rules that leave no choice.
const STRICT: &[&str] = &["always", "do not", "don't", "must", "never"];

const REASON: &[&str] = &[
    "because",
    "due to",
    "given that",
    "in order to",
    "otherwise",
    "reason",
    "since",
    "so that",
    "that way",
    "that's why",
    "the point is",
    "therefore",
    "which means",
];

const CORRECTION: &[&str] = &[
    "actually",
    "back out",
    "i meant",
    "incorrect",
    "misunderstood",
    "mistake",
    "no need",
    "nope",
    "not what",
    "on second thought",
    "revert",
    "roll back",
    "scrap",
    "scratch that",
    "stop",
    "that's not",
    "undo",
    "wait",
    "wrong",
];

const SOLUTION: &[&str] = &[
    "caused by",
    "culprit",
    "failed because",
    "fails because",
    "fix is",
    "fix was",
    "fixed",
    "fixes",
    "found it",
    "found the",
    "happened because",
    "happens because",
    "is missing",
    "issue is",
    "issue was",
    "no longer fails",
    "problem is",
    "problem was",
    "resolved",
    "root cause",
    "solved",
    "the bug",
    "the cause",
    "the culprit",
    "the fix",
    "turned out",
    "turns out",
    "was caused",
    "was missing",
    "was that",
    "were missing",
    "without a failure",
    "workaround",
    "works now",
];

/// From this score on, a sentence says something whatever it begins with.
pub const TELLING: u32 = 4;

/// From this score on, a sentence clearly decides something.
const CLEAR: u32 = 6;

/// Numbers, symbols and paths beyond say no more.
const MAX_NAMED: u32 = 3;

/// The share of what is said in the substance of a text; the rest is what it names.
const SAID: f64 = 2.0 / 3.0;

/// A reply of so many words says all it has to.
const FULL_WORDS: usize = 20;

/// What a question loses.
const ASKING: f64 = 0.7;

/// A conclusion has at least so many words, and what announces it at most so many characters.
const CONCLUDING_WORDS: usize = 6;
const HEAD_CHARS: usize = 25;

/// A list of cues.
#[derive(Debug, Clone, Copy)]
enum Group {
    Decision,
    Rule,
    Strict,
    Reason,
    Correction,
    Solution,
}

/// Every cue, by its first word.
static CUES: LazyLock<HashMap<&'static str, Vec<(&'static str, Group)>>> = LazyLock::new(|| {
    let mut cues: HashMap<_, Vec<_>> = HashMap::new();
    for (list, group) in [
        (DECISION, Group::Decision),
        (RULE, Group::Rule),
        (STRICT, Group::Strict),
        (REASON, Group::Reason),
        (CORRECTION, Group::Correction),
        (SOLUTION, Group::Solution),
    ] {
        for cue in list {
            let first = cue.split(' ').next().unwrap_or(cue);
            cues.entry(first).or_default().push((*cue, group));
        }
    }
    cues
});

/// What a sentence does.
pub fn cues(sentence: &str) -> Cues {
    let text = plain(sentence);
    let mut cues = Cues { exact: exact(sentence), ..Cues::default() };
    let refusal = ["no ", "no, ", "not "].iter().any(|start| text.trim_start().starts_with(start));
    cues.correction += u32::from(refusal);
    let mut rest = text.as_str();
    while let Some(start) = rest.find(is_of_word) {
        rest = &rest[start..];
        let word = &rest[..rest.find(|c| !is_of_word(c)).unwrap_or(rest.len())];
        for (cue, group) in CUES.get(word).into_iter().flatten() {
            let after = rest.strip_prefix(cue).map(|after| after.chars().next());
            if after.is_some_and(|next| next.is_none_or(|next| !is_of_word(next))) {
                match group {
                    Group::Decision => cues.decision += 1,
                    Group::Rule | Group::Strict => cues.rule += 1,
                    Group::Reason => cues.reason += 1,
                    Group::Correction => cues.correction += 1,
                    Group::Solution => cues.solution += 1,
                }
            }
        }
        rest = &rest[word.len()..];
    }
    cues
}

/// Whether a character belongs to a word.
pub fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '\''
}

/// The sum of what the sentences of a text are worth.
pub fn worth(text: &str) -> u32 {
    sentences(text).into_iter().map(|sentence| cues(sentence).score()).sum()
}

/// How much a text says that can be followed, from 0 to 1: by the best of its sentences, and what it names exactly.
pub fn substance(text: &str) -> f64 {
    let best = sentences(text).into_iter().map(|one| cues(one).score()).max().unwrap_or_default();
    let said = f64::from(best.min(CLEAR)) / f64::from(CLEAR);
    let exact = f64::from(exact(text).min(MAX_NAMED)) / f64::from(MAX_NAMED);
    SAID * said + (1.0 - SAID) * exact
}

/// How completely a reply says something, from 0 to 1; a question may have less.
pub fn fullness(reply: &str) -> f64 {
    let words = words(reply).min(FULL_WORDS) as f64 / FULL_WORDS as f64;
    if asks(reply) { words - ASKING } else { words }
}

/// Whether a reply begins as the end of a discussion: `ok, then …`, `so: …`, `new rule: …`. From 0 to 1.
pub fn conclusion(reply: &str) -> f64 {
    const STARTS: &[&str] = &[
        "agreed", "decided", "decision", "do that", "fine", "hm", "hmm", "let's", "lets", "nah",
        "new rule", "no", "ok", "okay", "right", "rule", "so", "then", "well", "yep", "yes",
    ];
    if words(reply) < CONCLUDING_WORDS {
        return 0.0;
    }
    let text = plain(reply);
    let text = text.trim_start();
    let starts = STARTS
        .iter()
        .any(|start| text.strip_prefix(start).is_some_and(|rest| !rest.starts_with(is_of_word)));
    let head = text.find(": ").map_or("", |end| &text[..end]);
    let announces =
        !head.is_empty() && head.chars().count() <= HEAD_CHARS && !head.contains(['.', '!', '?']);
    (f64::from(u8::from(starts)) + f64::from(u8::from(announces))) / 2.0
}

/// Whether a text is a question.
pub fn asks(text: &str) -> bool {
    const STARTS: &[&str] = &[
        "any", "are", "can", "could", "did", "do", "does", "how", "how's", "is", "shall", "should",
        "what", "what's", "when", "where", "which", "who", "why", "will", "would",
    ];
    // `ok, and how does it …`
    const BEFORE: &[&str] = &[
        "ah", "also", "and", "btw", "good", "hello", "hey", "hi", "hm", "hmm", "morning", "no",
        "oh", "ok", "okay", "one", "more", "right", "so", "thanks", "then", "well", "yes",
    ];
    let text = plain(text);
    if text.trim_end().ends_with('?') {
        return true;
    }
    let mut words = text.split(|c: char| !is_of_word(c)).filter(|word| !word.is_empty());
    words.find(|word| !BEFORE.contains(word)).is_some_and(|word| STARTS.contains(&word))
}

/// In lower case, with plain apostrophes and single spaces around words.
pub fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len() + 2);
    for c in text.chars() {
        match c {
            '’' | '‘' => plain.push('\''),
            '`' | '*' | '_' | '"' => plain.push(' '),
            c if c.is_whitespace() => plain.push(' '),
            c => plain.extend(c.to_lowercase()),
        }
    }
    plain
}

/// Whether words occur in a plain text as words.
pub fn contains(text: &str, words: &str) -> bool {
    let boundary = |c: Option<char>| c.is_none_or(|c| !is_of_word(c));
    text.match_indices(words).any(|(at, _)| {
        boundary(text[..at].chars().next_back())
            && boundary(text[at + words.len()..].chars().next())
    })
}

/// How many exact things a sentence names.
fn exact(sentence: &str) -> u32 {
    let named = sentence.split_whitespace().filter(|word| {
        let inner = word.trim_matches(|c: char| c.is_ascii_punctuation() && c != '`' && c != '/');
        let digit = inner.starts_with(|c: char| c.is_ascii_digit());
        let code = inner.contains(['`', '_', '/']) && inner.len() > 2 || inner.contains("::");
        let mut lower = false;
        let hump = inner.chars().any(|c| {
            let hump = lower && c.is_uppercase();
            lower = c.is_lowercase();
            hump
        });
        digit || code || hump
    });
    u32::try_from(named.count()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decisions_and_reasons_are_worth_more_than_reports() {
        let score = |text: &str| cues(text).score();
        for text in [
            "Let's go with Postgres advisory locks rather than Redis",
            "No – rather keep the 15 minute TTL, because mobile clients poll.",
            "Never write to the settings table outside of `SettingsStore`.",
            "The root cause was a missing index on tenant_id.",
            "Actually that's wrong, revert it.",
        ] {
            assert!(score(text) >= 4, "{text}: {:?}", cues(text));
        }
        for text in [
            "I ran the tests.",
            "Here is the summary of the work:",
            "hello there",
            "used users user",
        ] {
            assert!(score(text) <= 1, "{text}: {:?}", cues(text));
        }
    }

    #[test]
    fn words_count_only_as_words() {
        assert_eq!(cues("because").reason, 1);
        assert_eq!(cues("becauses mustard reused").score(), 0);
        assert_eq!(cues("Don’t").rule, 2);
    }

    #[test]
    fn a_decision_says_more_than_a_question_or_a_remark() {
        let decides = |text: &str| substance(text) + fullness(text) + conclusion(text);
        let decided = [
            "exit code 3 for \"some items failed\", and list the failed ids on stderr one per line",
            "keep it at 250 ms, that's what the old desktop tool had and nobody complained",
            "Never write to the settings table outside of `SettingsStore`.",
            "so: no department, no doctor, no link in the text",
        ];
        let other =
            ["how does the header thing work", "ok that's for later", "does it scale to 3 nodes?"];
        for decision in decided {
            for text in other {
                assert!(decides(decision) > decides(text), "{decision} / {text}");
            }
        }
        assert!(decides("") == 0.0 && fullness("how does it work") < 0.0);
        assert!(
            asks("and how does it work") && asks("Is it on?") && !asks("use the one that is on")
        );
    }

    #[test]
    fn conclusions_are_known_by_how_they_begin() {
        assert_eq!(conclusion("ok: the text has date, time and number, nothing else"), 1.0);
        assert_eq!(conclusion("then hard error in all editions, right now"), 0.5);
        assert_eq!(conclusion("New rule: custom scheme only for the watch app"), 1.0);
        assert_eq!(conclusion("okayish results with the other library we tried"), 0.0);
        assert_eq!(conclusion("so: no"), 0.0);
        assert_eq!(conclusion("the old one failed. why? see here: it is slow today"), 0.0);
    }
}
