//! What is known of the work on a story, from this run or an earlier one.

use handover_model::{RunPhase, StoryState};

use super::story::is_work;
use super::{PhaseEnd, Skip, StoryRun};
use crate::data::Account;

impl StoryRun {
    /// Whether its work is done, by this run or an earlier one.
    pub fn is_done(&self) -> bool {
        self.state == StoryState::Done || self.planned.skip == Some(Skip::Done)
    }

    /// What is known of its work: what its last developer said and those who fixed it since, or what an earlier run
    /// recorded.
    pub fn account(&self) -> Account {
        let is_dev = |end: &PhaseEnd| end.phase == RunPhase::Dev;
        let first = self.record.iter().rposition(is_dev).unwrap_or(0);
        let mut account = Account::default();
        for end in self.record[first..].iter().filter(|end| is_work(end.phase)) {
            account.add(&end.summary, &end.notes);
            account.files.clone_from(&end.files);
        }
        if account.is_empty() {
            return self.planned.done.clone().unwrap_or_default();
        }
        let review = self.record.iter().rev().find(|end| end.phase == RunPhase::Review);
        account.review = review.map(|end| end.summary.clone()).unwrap_or_default();
        account
    }
}
