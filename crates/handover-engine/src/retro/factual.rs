//! A retrospective from the journal alone, for epics whose agents reported no lessons.

use std::collections::BTreeMap;

use handover_model::StoryState;
use handover_text::cut::{cut, one_line};

use crate::data::{Lesson, Retro};
use crate::reducer::{State, StoryRun};
use crate::words::count;

const MOST: usize = 12;
const TEXT: usize = 300;

/// The lessons that follow from the journal.
pub fn factual(state: &State) -> Retro {
    let done: Vec<&StoryRun> = state.stories.iter().filter(|story| story.is_done()).collect();
    let lost: Vec<&StoryRun> = state
        .stories
        .iter()
        .filter(|story| {
            matches!(story.state, StoryState::Failed | StoryState::Blocked | StoryState::Skipped)
                && story.planned.skip.is_none()
        })
        .collect();
    let spent = state.spent();
    let summary = format!(
        "{} of {} done; agents worked for {} ({}).",
        done.len(),
        match state.stories.len() {
            1 => "1 story is".to_owned(),
            all => format!("{all} stories are"),
        },
        count(spent.duration_ms / 60_000, "minute"),
        spent.price()
    );
    let is_of_this_run = |story: &&&StoryRun| story.state == StoryState::Done;
    let at_once = done.iter().filter(is_of_this_run).filter(|story| story.fixes() == 0);
    let fixed = state.stories.iter().filter(|story| story.fixes() > 0);
    let mut went_badly: Vec<Lesson> = lost
        .iter()
        .map(|story| lesson(format!("{} {}", story.planned.id, ended(story.state)), &story.reason))
        .collect();
    went_badly.extend(fixed.map(|story| {
        let fixes = if story.fixes() == 1 {
            "a fix".to_owned()
        } else {
            format!("{} fixes", story.fixes())
        };
        lesson(format!("{} needed {fixes}", story.planned.id), "")
    }));
    went_badly.truncate(MOST);
    Retro {
        summary,
        went_well: at_once
            .map(|story| lesson(format!("{} was done at the first try", story.planned.id), ""))
            .take(MOST)
            .collect(),
        went_badly,
        decisions: done.iter().filter_map(|story| decision(story)).take(MOST).collect(),
        gotchas: gotchas(state),
        files: files(state),
        ..Retro::default()
    }
}

/// `failed`, `was blocked`.
fn ended(state: StoryState) -> String {
    if state == StoryState::Failed { state.to_string() } else { format!("was {state}") }
}

fn lesson(text: String, why: &str) -> Lesson {
    Lesson { text: cut(&text, TEXT), why: cut(&one_line(why), TEXT), file: String::new() }
}

/// What was decided in a story.
fn decision(story: &StoryRun) -> Option<Lesson> {
    let decided = one_line(&story.account().notes.decisions.join("; "));
    (!decided.is_empty()).then(|| lesson(story.planned.id.clone(), &decided))
}

/// The findings of reviews.
fn gotchas(state: &State) -> Vec<Lesson> {
    let ends = state.stories.iter().flat_map(|story| &story.record);
    let findings = ends.flat_map(|end| end.findings.iter().map(move |finding| (end, finding)));
    findings
        .map(|(end, finding)| Lesson {
            text: cut(&one_line(&finding.text), TEXT),
            why: format!("found in {}", end.story),
            file: finding.place.split(':').next().unwrap_or_default().to_owned(),
        })
        .take(MOST)
        .collect()
}

/// The files that most stories changed.
fn files(state: &State) -> Vec<Lesson> {
    let mut counts: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for story in state.stories.iter().filter(|story| story.is_done()) {
        for file in story.account().files {
            counts.entry(file).or_default().push(&story.planned.id);
        }
    }
    let mut counts: Vec<(String, Vec<&str>)> = counts.into_iter().collect();
    counts.sort_by(|a, b| b.1.len().cmp(&a.1.len()).then(a.0.cmp(&b.0)));
    counts
        .into_iter()
        .take(MOST)
        .map(|(file, stories)| Lesson {
            text: file.clone(),
            why: cut(&format!("changed by {}", stories.join(", ")), TEXT),
            file,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use handover_model::{RunPhase, Verdict};

    use super::*;
    use crate::data::Spent;
    use crate::reducer::{Event, GateOutcome, PhaseEnd};
    use crate::testing::{self, event, finding, opened, start, story};

    fn gates(id: &str, attempt: u32) -> Event {
        Event::GatesEnded {
            story: id.to_owned(),
            attempt,
            outcome: GateOutcome::Passed,
            failures: Vec::new(),
            detail: String::new(),
            duration_ms: 1,
        }
    }

    fn files(end: PhaseEnd, files: &[&str]) -> PhaseEnd {
        PhaseEnd { files: files.iter().map(|&file| file.to_owned()).collect(), ..end }
    }

    /// `a` is done at once, `b` after a fix, `c` failed, `d` was done by an earlier run.
    fn epic() -> State {
        let mut state = start(story(), &["a", "b", "c", "d"]);
        state.stories[3].planned.skip = Some(crate::reducer::Skip::Done);
        state.stories[3].state = StoryState::Skipped;
        state.stories[3].planned.done = Some(crate::data::Account {
            notes: crate::data::WorkNotes {
                decisions: vec!["one clock".to_owned()],
                ..crate::data::WorkNotes::default()
            },
            ..crate::data::Account::default()
        });
        for id in ["a", "b"] {
            state.apply(&opened(id));
            let mut dev = testing::ended(id, RunPhase::Dev, Some(Verdict::Complete));
            if id == "b" {
                dev.notes.decisions = vec!["one lock".to_owned()];
            }
            dev.spent = Spent { cost_usd: 0.5, duration_ms: 90_000, ..Spent::default() };
            state.apply(&event(files(dev, &["src/shared.rs", &format!("src/{id}.rs")])));
            state.apply(&gates(id, 1));
        }
        let mut review = testing::ended("b", RunPhase::Review, Some(Verdict::Failed));
        review.findings = vec![finding("high", "src/b.rs:7", "no\nlock")];
        state.apply(&event(review));
        let fix = testing::ended("b", RunPhase::Fix, Some(Verdict::Complete));
        state.apply(&event(files(fix, &["src/shared.rs", "src/lock.rs"])));
        for id in ["a", "b"] {
            state.apply(&Event::Committed { story: id.to_owned(), commit: format!("of {id}") });
        }
        state.apply(&opened("c"));
        state.apply(&event(testing::ended("c", RunPhase::Dev, Some(Verdict::Failed))));
        state
    }

    fn texts(lessons: &[Lesson]) -> Vec<String> {
        lessons.iter().map(Lesson::line).collect()
    }

    #[test]
    fn the_journal_says_what_went_well_and_what_did_not() {
        let retro = factual(&epic());
        assert_eq!(
            retro.summary,
            "3 of 4 stories are done; agents worked for 3 minutes (1.0000 USD)."
        );
        assert_eq!(texts(&retro.went_well), ["a was done at the first try"]);
        assert_eq!(texts(&retro.went_badly), ["c failed: dev 1: dev of c", "b needed a fix"]);
        assert_eq!(texts(&retro.decisions), ["b: one lock", "d: one clock"]);
        assert!(retro.actions.is_empty() && retro.patterns.is_empty());
    }

    #[test]
    fn findings_are_pitfalls_and_shared_files_worth_knowing() {
        let retro = factual(&epic());
        let gotcha = &retro.gotchas[0];
        assert_eq!((gotcha.text.as_str(), gotcha.file.as_str()), ("no lock", "src/b.rs"));
        assert_eq!(gotcha.why, "found in b");
        assert_eq!(
            texts(&retro.files),
            [
                "src/shared.rs: changed by a, b",
                "src/a.rs: changed by a",
                "src/lock.rs: changed by b",
            ]
        );
    }

    #[test]
    fn lists_and_texts_are_bounded() {
        let ids: Vec<String> = (0..20).map(|n| format!("s{n:02}")).collect();
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let mut state = start(story(), &ids);
        for id in &ids {
            state.apply(&opened(id));
            let mut end = testing::ended(id, RunPhase::Dev, Some(Verdict::Complete));
            end.summary = "word ".repeat(500);
            end.notes.decisions = vec!["word ".repeat(500)];
            end.files = (0..20).map(|n| format!("f{n:02}")).collect();
            state.apply(&event(end));
            state.apply(&Event::Committed { story: (*id).to_owned(), commit: "c".to_owned() });
        }
        let retro = factual(&state);
        assert_eq!(
            (retro.went_well.len(), retro.decisions.len(), retro.files.len()),
            (MOST, MOST, MOST)
        );
        assert!(retro.decisions.iter().all(|lesson| lesson.why.chars().count() <= TEXT));
        assert!(retro.files.iter().all(|lesson| lesson.why.chars().count() <= TEXT));
    }
}
