//! What a reply does: offer, accept, refer to something, or only keep the conversation going.

use handover_text::statement::{TELLING, contains, cues, is_of_word, plain};

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

#[cfg(test)]
mod tests {
    use super::*;

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
