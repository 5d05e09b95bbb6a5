//! The screen: text that speaks to the agent that reads it instead of informing it.
//!
//! Such text asks to drop instructions, to run something or to send data somewhere, poses as the system, or hides
//! from people. Rules over words are data (`rules/`), one row each; markup, invisible characters and encodings are
//! in `markers.rs` and `hidden.rs`. A text is read once, in linear time.
//!
//! A strong rule flags a text by itself. A weak one describes what ordinary documentation says, too: it flags a
//! text together with a second one nearby, or in a place that people do not see.

mod hidden;
mod lexicon;
mod markers;
mod pattern;
mod rules;
#[cfg(test)]
mod tests;
mod words;

use std::sync::LazyLock;

use handover_model::ScreenFlag;

use lexicon::Lexicon;

/// Two weak signals at most so many words apart make a finding.
const NEAR_WORDS: usize = 60;

/// How deep encodings inside encodings are followed.
const MAX_DEPTH: usize = 2;

/// The most findings of one text.
const MAX_FINDINGS: usize = 32;

static LEXICON: LazyLock<Lexicon> = LazyLock::new(Lexicon::build);

/// A place where a text speaks to its reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found {
    /// What it does.
    pub flag: ScreenFlag,
    /// The rule that found it.
    pub rule: &'static str,
    /// Where it starts, in bytes.
    pub start: usize,
}

/// What the screen found in a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Screened {
    /// In the order of the text.
    pub found: Vec<Found>,
}

impl Screened {
    /// Whether it found nothing.
    pub fn is_clean(&self) -> bool {
        self.found.is_empty()
    }

    /// What the text does, each flag once.
    pub fn flags(&self) -> Vec<ScreenFlag> {
        let mut flags: Vec<ScreenFlag> = self.found.iter().map(|found| found.flag).collect();
        flags.sort_unstable();
        flags.dedup();
        flags
    }
}

/// A signal on its way to a finding.
#[derive(Debug, Clone, Copy)]
struct Signal {
    found: Found,
    strong: bool,
    /// How many words come before it.
    at: usize,
}

/// Makes the rules ready for use, which the first text would wait for.
pub fn prepare() {
    LazyLock::force(&LEXICON);
}

/// Reads a text once and says where it speaks to its reader.
pub fn screen(text: &str) -> Screened {
    let mut found = screen_within(text, 0);
    found.sort_by_key(|found| found.start);
    found.dedup();
    found.truncate(MAX_FINDINGS);
    Screened { found }
}

fn screen_within(text: &str, depth: usize) -> Vec<Found> {
    let lexicon = &*LEXICON;
    let tokens = words::tokens(text, lexicon);
    let concealed = hidden::concealed(text);
    let mut signals = Vec::new();
    for at in 0..tokens.len() {
        for rule in lexicon.starting_with(tokens[at].word) {
            if rule.pattern.matches(&tokens, at) {
                let found =
                    Found { flag: rule.flag, rule: rule.name, start: tokens[at].start as usize };
                signals.push(Signal { found, strong: rule.strong, at });
            }
        }
    }
    // Nobody encodes a text to be read by people.
    let concealed = if depth > 0 { std::iter::once(0..text.len()).collect() } else { concealed };
    let mut found = decide(&signals, &concealed);
    found.extend(markers::find(text));
    found.extend(markers::images(text));
    found.extend(hidden::characters(text));
    if depth < MAX_DEPTH {
        for (start, decoded) in hidden::encoded(text) {
            let inner = screen_within(&decoded, depth + 1);
            if !inner.is_empty() {
                found.push(Found { flag: ScreenFlag::HiddenText, rule: "encoded", start });
            }
            found.extend(inner.into_iter().map(|inner| Found { start, ..inner }));
        }
    }
    found
}

/// Strong signals count; weak ones count beside another kind, or where people do not look.
fn decide(signals: &[Signal], concealed: &[std::ops::Range<usize>]) -> Vec<Found> {
    let mut found = Vec::new();
    let mut weak: Option<Signal> = None;
    for signal in signals {
        let hides = hidden::is_within(concealed, signal.found.start);
        if hides {
            let rule = "concealed";
            found.push(Found { flag: ScreenFlag::HiddenText, rule, ..signal.found });
        }
        if signal.strong || hides {
            found.push(signal.found);
            continue;
        }
        match weak {
            Some(before) if before.found.rule != signal.found.rule => {
                if signal.at - before.at <= NEAR_WORDS {
                    found.extend([before.found, signal.found]);
                }
                weak = Some(*signal);
            }
            Some(_) | None => weak = Some(*signal),
        }
    }
    found
}

/// The words of a text, for tests.
#[cfg(test)]
fn tokens_of(text: &str) -> Vec<words::Token> {
    words::tokens(text, &LEXICON)
}
