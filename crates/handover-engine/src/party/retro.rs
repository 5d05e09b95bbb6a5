//! Settles the retrospectives of several voices into one, independent of their order.

use std::collections::BTreeMap;

use crate::data::{Lesson, Retro};

/// Merges lessons: those that more voices share come first, and those with almost the same words are
/// merged.
pub fn settle_retro(voices: &[Retro]) -> Retro {
    if let [one] = voices {
        return one.clone();
    }
    let list = |of: fn(&Retro) -> &Vec<Lesson>| lessons(voices.iter().map(of));
    let mut summaries: Vec<&str> = voices
        .iter()
        .map(|voice| voice.summary.as_str())
        .filter(|summary| !summary.is_empty())
        .collect();
    summaries.sort_unstable();
    summaries.dedup();
    Retro {
        summary: summaries.join("\n\n"),
        went_well: list(|voice| &voice.went_well),
        went_badly: list(|voice| &voice.went_badly),
        actions: list(|voice| &voice.actions),
        patterns: list(|voice| &voice.patterns),
        decisions: list(|voice| &voice.decisions),
        gotchas: list(|voice| &voice.gotchas),
        files: list(|voice| &voice.files),
        test_conventions: list(|voice| &voice.test_conventions),
    }
}

/// One lesson and how often it was mentioned.
struct Mention {
    voices: usize,
    /// The earliest position in any voice's list.
    place: usize,
    lesson: Lesson,
}

fn lessons<'a>(voices: impl Iterator<Item = &'a Vec<Lesson>>) -> Vec<Lesson> {
    let mut said: BTreeMap<String, Mention> = BTreeMap::new();
    for voice in voices {
        let mut own: BTreeMap<String, (usize, &Lesson)> = BTreeMap::new();
        for (place, lesson) in voice.iter().enumerate() {
            own.entry(key(&lesson.text)).or_insert((place, lesson));
        }
        for (key, (place, lesson)) in own {
            match said.get_mut(&key) {
                None => {
                    said.insert(key, Mention { voices: 1, place, lesson: lesson.clone() });
                }
                Some(said) => {
                    said.voices += 1;
                    said.place = said.place.min(place);
                    if better(lesson, &said.lesson) {
                        said.lesson = lesson.clone();
                    }
                }
            }
        }
    }
    let mut said: Vec<(String, Mention)> = said.into_iter().collect();
    said.sort_by(|(a_key, a), (b_key, b)| {
        b.voices.cmp(&a.voices).then(a.place.cmp(&b.place)).then_with(|| a_key.cmp(b_key))
    });
    said.into_iter().map(|(_, said)| said.lesson).collect()
}

/// The longer wording wins; the rest only breaks ties.
fn better(one: &Lesson, other: &Lesson) -> bool {
    let rank = |lesson: &Lesson| {
        (
            lesson.why.len() + lesson.file.len(),
            lesson.text.clone(),
            lesson.why.clone(),
            lesson.file.clone(),
        )
    };
    rank(one) > rank(other)
}

/// A text reduced to its lowercase words.
fn key(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn voice(gotchas: &[(&str, &str)]) -> Retro {
        let lesson = |(text, why): &(&str, &str)| Lesson {
            text: (*text).to_owned(),
            why: (*why).to_owned(),
            file: String::new(),
        };
        Retro {
            summary: gotchas[0].0.to_owned(),
            gotchas: gotchas.iter().map(lesson).collect(),
            ..Retro::default()
        }
    }

    #[test]
    fn the_order_of_voices_does_not_matter() {
        let voices = [
            voice(&[("Times are UTC.", ""), ("Use the lock", "or lose rows")]),
            voice(&[("times are utc", "everywhere"), ("Alone", "")]),
            voice(&[("First of me", ""), ("Times are UTC", "x"), ("use the lock", "")]),
        ];
        let first = settle_retro(&voices);
        assert_eq!(
            first.gotchas[0],
            Lesson { text: "times are utc".into(), why: "everywhere".into(), file: String::new() }
        );
        assert_eq!(first.gotchas[1].why, "or lose rows");
        assert_eq!(first.gotchas.len(), 4);
        for order in [[0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            let voices = order.map(|n: usize| voices[n].clone());
            assert_eq!(settle_retro(&voices), first, "{order:?}");
        }
    }

    #[test]
    fn one_voice_is_unchanged_and_none_is_empty() {
        let one = voice(&[("b", ""), ("a", ""), ("B", "")]);
        assert_eq!(settle_retro(std::slice::from_ref(&one)), one);
        assert!(settle_retro(&[]).is_empty());
    }

    #[test]
    fn each_list_is_merged_by_itself() {
        let lesson = |text: &str| vec![Lesson::new(text)];
        let one = Retro {
            summary: "b".into(),
            went_well: lesson("w"),
            went_badly: lesson("x"),
            actions: lesson("a"),
            patterns: lesson("p"),
            decisions: lesson("d"),
            gotchas: lesson("g"),
            files: lesson("f"),
            test_conventions: lesson("t"),
        };
        let other = Retro { summary: "a".into(), ..one.clone() };
        let merged = settle_retro(&[one.clone(), other.clone(), one.clone()]);
        assert_eq!(merged, Retro { summary: "a\n\nb".into(), ..one });
        assert_eq!(settle_retro(&[other.clone(), Retro::default()]), other);
    }

    #[test]
    fn the_wording_with_more_reasons_wins() {
        let lesson = |text: &str, why: &str, file: &str| Lesson {
            text: text.into(),
            why: why.into(),
            file: file.into(),
        };
        assert!(better(&lesson("a", "why", ""), &lesson("a", "", "")));
        assert!(better(&lesson("a", "", "f.rs"), &lesson("a", "why", "")));
        assert!(!better(&lesson("a", "", ""), &lesson("a", "", "")));
        assert!(better(&lesson("b", "", ""), &lesson("a", "", "")), "ties are broken the same way");
        assert_eq!(key("The  LOCK, twice!"), "the lock twice");
    }
}
