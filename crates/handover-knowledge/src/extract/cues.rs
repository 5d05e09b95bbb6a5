//! The words by which decisions, reasons, corrections and solutions are known.

use std::collections::HashMap;
use std::sync::LazyLock;

/// What a sentence does, by its words.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Cues {
    /// It decides, or says how things are done here.
    pub(super) decision: u32,
    /// It requires, forbids or limits.
    pub(super) rule: u32,
    /// It says why.
    pub(super) reason: u32,
    /// It corrects or rejects.
    pub(super) correction: u32,
    /// It says what was wrong, or what solved it.
    pub(super) solution: u32,
    /// It names something exactly: numbers, symbols, paths.
    pub(super) exact: u32,
}

impl Cues {
    /// How much a sentence is worth keeping.
    pub(super) fn score(self) -> u32 {
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
pub(super) const TELLING: u32 = 4;

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
pub(super) fn cues(sentence: &str) -> Cues {
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

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '\''
}

/// The sum of what the sentences of a text are worth.
pub(super) fn worth(text: &str) -> u32 {
    super::sentences::sentences(text).into_iter().map(|sentence| cues(sentence).score()).sum()
}

/// Whether a text offers something to decide.
pub(super) fn proposes(text: &str) -> bool {
    const OFFERS: &[&str] = &[
        "alternatively",
        "approach",
        "do you want",
        "i can",
        "i could",
        "i'd",
        "i propose",
        "i recommend",
        "i suggest",
        "i would",
        "my plan",
        "option",
        "options",
        "or should",
        "plan",
        "proposal",
        "recommend",
        "recommendation",
        "shall i",
        "shall we",
        "should i",
        "should we",
        "suggestion",
        "two ways",
        "we could",
        "which",
        "would you",
    ];
    let text = plain(text);
    text.contains('?') || OFFERS.iter().any(|cue| contains(&text, cue))
}

/// Whether a short reply accepts what was offered.
pub(super) fn accepts(reply: &str) -> bool {
    const WORDS: &[&str] = &[
        "agree",
        "agreed",
        "approved",
        "both",
        "confirmed",
        "correct",
        "do it",
        "do that",
        "do this",
        "exactly",
        "fine",
        "first one",
        "go ahead",
        "go for it",
        "good",
        "great",
        "i agree",
        "lgtm",
        "makes sense",
        "ok",
        "okay",
        "option",
        "perfect",
        "please do",
        "proceed",
        "right",
        "second one",
        "ship it",
        "sounds good",
        "sounds right",
        "sure",
        "that works",
        "the first",
        "the former",
        "the latter",
        "the second",
        "the third",
        "works for me",
        "yep",
        "yes",
        "yup",
    ];
    let text = plain(reply);
    let single = reply.trim().trim_end_matches(['.', ')', '!']);
    let item = single.len() == 1 && single.starts_with(|c: char| c.is_ascii_alphanumeric());
    item || WORDS.iter().any(|cue| contains(&text, cue))
}

/// Whether a reply points to what was offered, so that it means nothing without it.
pub(super) fn refers(reply: &str) -> bool {
    const WORDS: &[&str] = &[
        "as you suggested",
        "as proposed",
        "first one",
        "last one",
        "option",
        "second one",
        "that one",
        "the first",
        "the former",
        "the latter",
        "the second",
        "the third",
        "third one",
        "your proposal",
        "your suggestion",
    ];
    let text = plain(reply);
    let start = text[..text.floor_char_boundary(120)].trim();
    let letter = start.split([' ', ',', '.', ')']).next().is_some_and(|word| {
        word.len() == 1
            && word.starts_with(|c: char| c.is_ascii_digit() || ('b'..='e').contains(&c))
    });
    letter || WORDS.iter().any(|cue| contains(start, cue))
}

/// Whether a reply begins as an answer: `yes, but …`, `no, rather …`.
pub(super) fn answers(reply: &str) -> bool {
    const WORDS: &[&str] = &[
        "agreed", "correct", "exactly", "fine", "no", "nope", "not", "ok", "okay", "right", "sure",
        "yep", "yes", "yup",
    ];
    let text = plain(reply);
    let first = text.trim_start().split(|c| !is_of_word(c)).next().unwrap_or_default();
    WORDS.contains(&first)
}

/// Whether a sentence only keeps a conversation going.
pub(super) fn is_chatter(sentence: &str) -> bool {
    const ALONE: &[&str] = &[
        "all done",
        "all tests pass",
        "awesome",
        "bye",
        "commit",
        "commit it",
        "commit this",
        "continue",
        "cool",
        "done",
        "go on",
        "good morning",
        "great",
        "great work",
        "hello",
        "hey",
        "hi",
        "keep going",
        "looks good",
        "nice",
        "nice work",
        "ok",
        "okay",
        "perfect",
        "please continue",
        "push",
        "push it",
        "resume",
        "run the tests",
        "run the tests again",
        "thank you",
        "thanks",
        "thanks a lot",
        "try again",
        "you're welcome",
    ];
    const STARTS: &[&str] = &[
        "anything else",
        "done!",
        "feel free to",
        "happy to",
        "i hope this",
        "i'll start by",
        "i will start by",
        "i'm ready",
        "is there anything",
        "let me check",
        "let me know",
        "let me look",
        "let me read",
        "let me run",
        "let me see",
        "let me start",
        "let me take a look",
        "let me try",
        "let me verify",
        "now let me",
        "now i'll",
        "now i need to",
        "perfect!",
        "would you like me",
        "you're absolutely right",
        "you're right",
        "great question",
    ];
    let text = plain(sentence);
    let text = text.trim().trim_matches(|c: char| !c.is_alphanumeric());
    // `Now I'll use a queue instead, because …` begins like chatter and decides something.
    ALONE.contains(&text)
        || STARTS.iter().any(|start| text.starts_with(start)) && cues(sentence).score() < TELLING
}

/// In lower case, with plain apostrophes and single spaces around words.
fn plain(text: &str) -> String {
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
fn contains(text: &str, words: &str) -> bool {
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
    fn replies_are_understood() {
        for reply in ["yes", "Yep, do that", "ok", "option B", "2", "the second one please", "LGTM"]
        {
            assert!(accepts(reply), "{reply}");
        }
        assert!(!accepts("nope"));
        assert!(refers("option 3 please, we had deadlocks") && refers("b, because of the tests"));
        assert!(!refers("a table is fine") && !refers("use the file"));
        assert!(
            proposes("Should I add an index?") && proposes("Option A: a table. Option B: a file.")
        );
        assert!(!proposes("I added the index."));
        for chatter in ["Thanks!", "hi", "Let me check the file.", "continue"] {
            assert!(is_chatter(chatter), "{chatter}");
        }
        assert!(!is_chatter("Hi, use WAL"));
        assert!(!is_chatter("Now I'll use a queue instead, because the API is slow."));
        assert!(!accepts("add a test for it") && accepts("a") && accepts("B."));
        assert!(
            answers("Yes, but log it")
                && answers("no – rather a file")
                && !answers("nothing works")
        );
    }
}
