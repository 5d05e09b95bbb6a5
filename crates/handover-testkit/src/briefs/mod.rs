//! A corpus of briefs: scripted projects, and what the brief at the end of each must say.
//!
//! Situations are data, one file each in the folder `briefs` of this crate; `situation.rs` describes their
//! format. They are played with the real program: `cargo xtask eval briefs` prints a table, and a
//! command-line test fails if one of them does.

mod judge;
mod play;
mod situation;

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

pub use play::PlayedBrief;
pub use situation::Situation;

/// A situation that was played.
pub struct Verdict<'a> {
    /// What was played.
    pub situation: &'a Situation,
    /// The brief, unless a step failed.
    pub brief: Option<PlayedBrief>,
    /// What is wrong with it; empty if it passes.
    pub complaints: Vec<String>,
}

impl<'a> Verdict<'a> {
    fn of(situation: &'a Situation, program: &Path) -> Self {
        match play::play(situation, program) {
            Ok(brief) => {
                let complaints = judge::complaints(situation, &brief);
                Self { situation, brief: Some(brief), complaints }
            }
            Err(complaint) => Self { situation, brief: None, complaints: vec![complaint] },
        }
    }
}

/// Plays situations with a build of `handover`, several at once, and returns the verdicts in their order.
pub fn judge_briefs<'a>(program: &Path, situations: &'a [Situation]) -> Vec<Verdict<'a>> {
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    let next = AtomicUsize::new(0);
    let verdicts = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((at, situation)) = {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    situations.get(at).map(|situation| (at, situation))
                } {
                    let verdict = Verdict::of(situation, program);
                    verdicts.lock().unwrap().push((at, verdict));
                }
            });
        }
    });
    let mut verdicts = verdicts.into_inner().unwrap();
    verdicts.sort_by_key(|(at, _)| *at);
    verdicts.into_iter().map(|(_, verdict)| verdict).collect()
}
