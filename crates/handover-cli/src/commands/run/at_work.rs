//! What a run is busy with right now, as the board and the lines show it.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use handover_engine::Progress;
use handover_engine::reducer::{Effect, Event, State};

use super::live::starting;
use super::progress::waiting;

/// Everything that has been started and has not ended.
#[derive(Default)]
pub(super) struct AtWork(Vec<Doing>);

/// One of them.
struct Doing {
    /// The intent, which says what ends it.
    effect: Effect,
    what: String,
    since: Instant,
    /// The last sign of life.
    activity: String,
}

impl AtWork {
    pub(super) fn follow(&mut self, state: &State, progress: &Progress<'_>) {
        match progress {
            Progress::Starting(effect) => self.started(state, effect),
            Progress::Activity { story, what } => {
                let of = |doing: &&mut Doing| doing.effect.story() == Some(*story);
                if let Some(last) = self.0.iter_mut().rev().find(of) {
                    last.activity.clone_from(what);
                }
            }
            Progress::Recorded(event) => self.ended(event),
            Progress::Started { .. }
            | Progress::Expects(_)
            | Progress::Helping { .. }
            | Progress::Tick
            | Progress::Warning(_) => {}
        }
    }

    fn started(&mut self, state: &State, effect: &Effect) {
        if let Some(what) = doing(state, effect) {
            let (effect, since) = (effect.clone(), Instant::now());
            self.0.push(Doing { effect, what, since, activity: String::new() });
        }
    }

    /// A run that stops is busy with nothing.
    fn ended(&mut self, event: &Event) {
        if matches!(event, Event::Stopped { .. } | Event::Ended { .. }) {
            self.0.clear();
        }
        self.0.retain(|doing| !event.answers(&doing.effect));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Everything in one line.
    pub(super) fn sentence(&self) -> String {
        let each = self.0.iter().map(|doing| match doing.effect.story() {
            Some(story) => format!("{story} {}", doing.what),
            None => doing.what.clone(),
        });
        each.collect::<Vec<_>>().join(", ")
    }

    /// What is done in each story, for how long, and the last sign of life.
    pub(super) fn stories(&self) -> BTreeMap<String, String> {
        let mut stories: BTreeMap<String, Vec<&Doing>> = BTreeMap::new();
        for doing in &self.0 {
            if let Some(story) = doing.effect.story() {
                stories.entry(story.to_owned()).or_default().push(doing);
            }
        }
        stories.into_iter().map(|(story, all)| (story, together(&all))).collect()
    }
}

/// What is done at the same time in one story.
fn together(all: &[&Doing]) -> String {
    let names: Vec<&str> = all.iter().map(|doing| doing.what.as_str()).collect();
    let since = all.iter().map(|doing| doing.since.elapsed()).max().unwrap_or_default();
    let activity = all.iter().rev().find(|doing| !doing.activity.is_empty());
    let activity = activity.map_or("", |doing| doing.activity.as_str());
    format!("{}  {}  {activity}", names.join(", "), clock(since)).trim_end().to_owned()
}

/// `05:31`
pub(super) fn clock(time: Duration) -> String {
    let seconds = time.as_secs();
    format!("{:02}:{:02}", seconds / 60, seconds % 60)
}

/// An effect in few words; none for those that are over at once.
fn doing(state: &State, effect: &Effect) -> Option<String> {
    Some(match effect {
        Effect::Agent { story, phase, attempt, voice } => {
            starting(state, story, *phase, *attempt, voice.as_ref())
        }
        Effect::Gates { attempt, .. } => format!("gates {attempt}"),
        Effect::CheckBase => "gates on the base".to_owned(),
        Effect::Uat { attempt, .. } => format!("scenarios {attempt}"),
        Effect::Wait { until } => waiting(*until),
        Effect::Rebase { .. } => "rebase".to_owned(),
        Effect::Commit { .. } => "commit".to_owned(),
        Effect::Open { .. } => "worktree".to_owned(),
        Effect::GiveUp { .. }
        | Effect::Park { .. }
        | Effect::Forgo { .. }
        | Effect::Merge
        | Effect::Ask
        | Effect::Halt { .. }
        | Effect::Finish => return None,
    })
}
