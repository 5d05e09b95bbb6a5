//! A retrospective from the journal alone, for epics whose agents reported no lessons.

use std::collections::BTreeMap;

use handover_model::{RunPhase, StoryState};
use handover_text::cut::{cut, one_line};

use crate::data::{Lesson, Retro};
use crate::reducer::{State, StoryRun};

const MOST: usize = 12;
const TEXT: usize = 300;

/// The lessons that follow from the journal.
pub fn factual(state: &State) -> Retro {
    let done = of(state, StoryState::Done);
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
        "{} of {} stories are done; {:.4} USD and {} minutes of agents were used.",
        done.len(),
        state.stories.len(),
        spent.cost_usd,
        spent.duration_ms / 60_000
    );
    let at_once = done.iter().filter(|story| story.fixes() == 0);
    let fixed = state.stories.iter().filter(|story| story.fixes() > 0);
    let mut went_badly: Vec<Lesson> = lost
        .iter()
        .map(|story| lesson(format!("{} is {}", story.planned.id, story.state), &story.reason))
        .collect();
    went_badly.extend(
        fixed.map(|story| {
            lesson(format!("{} needed {} fix(es)", story.planned.id, story.fixes()), "")
        }),
    );
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

fn of(state: &State, wanted: StoryState) -> Vec<&StoryRun> {
    state.stories.iter().filter(|story| story.state == wanted).collect()
}

fn lesson(text: String, why: &str) -> Lesson {
    Lesson { text: cut(&text, TEXT), why: cut(&one_line(why), TEXT), file: String::new() }
}

/// The summary of a story's last developer.
fn decision(story: &StoryRun) -> Option<Lesson> {
    let said = story.record.iter().rev().find(|end| end.phase != RunPhase::Review)?;
    let summary = one_line(&said.summary);
    (!summary.is_empty()).then(|| lesson(story.planned.id.clone(), &summary))
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
    let mut counts: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for story in of(state, StoryState::Done) {
        let last = story.record.iter().rev().find(|end| end.phase != RunPhase::Review);
        for file in last.into_iter().flat_map(|end| &end.files) {
            counts.entry(file).or_default().push(&story.planned.id);
        }
    }
    let mut counts: Vec<(&str, Vec<&str>)> = counts.into_iter().collect();
    counts.sort_by(|a, b| b.1.len().cmp(&a.1.len()).then(a.0.cmp(b.0)));
    counts
        .into_iter()
        .take(MOST)
        .map(|(file, stories)| Lesson {
            text: file.to_owned(),
            why: cut(&format!("changed by {}", stories.join(", ")), TEXT),
            file: file.to_owned(),
        })
        .collect()
}
