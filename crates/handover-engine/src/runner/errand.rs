//! An agent's work for somebody on another machine: what goes there, and what comes back. It travels
//! through the store, so nothing secret is in it; the files travel through git.

use std::collections::BTreeMap;
use std::time::Duration;

use handover_agents::{Invocation, Outcome, split_command};
use handover_model::{Host, ReceiptId, RunId};
use serde::{Deserialize, Serialize};

use super::agent::Seat;
use super::crew::Link;
use super::{Engine, spawn_id};
use crate::EngineError;
use crate::git::{NewCommit, Repo, Worktree};
use crate::ledger::Spent;
use crate::pipeline::AgentStep;
use crate::verdict::{Said, Unclear};

/// What is to be done.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Errand {
    /// The story.
    pub(super) story: String,
    pub(super) step: AgentStep,
    pub(super) attempt: u32,
    pub(super) nonce: String,
    /// The commit that the agent's folder is on.
    pub(super) base: String,
    /// The commit of what the folder holds.
    pub(super) commit: String,
    pub(super) prompt: String,
    pub(super) receipt: ReceiptId,
    /// What it reads besides.
    pub(super) text: String,
    /// Where the prompt says that a result is expected; elsewhere it is somewhere else.
    pub(super) result: String,
    pub(super) host: Host,
    pub(super) command: Option<String>,
    pub(super) model: Option<String>,
    pub(super) variables: BTreeMap<String, String>,
    pub(super) wall: Option<Duration>,
    pub(super) idle: Option<Duration>,
    pub(super) turns: Option<u32>,
    pub(super) cost_usd: Option<f64>,
}

/// What came of it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Brought {
    pub(super) outcome: Outcome,
    /// What the agent said, or why that is not clear.
    pub(super) said: Result<Said, String>,
    pub(super) more: Spent,
    /// The commit of what the folder holds now; none if git cannot read it.
    pub(super) commit: Option<String>,
}

impl Brought {
    pub(super) fn said(self) -> (Outcome, Result<Said, Unclear>, Spent) {
        (self.outcome, self.said.map_err(Unclear::Elsewhere), self.more)
    }
}

/// The refs of one errand, on its way there and back. No story has such a name.
pub(super) fn there(run: &RunId, seq: u64) -> String {
    format!("refs/handover/{run}/@errand-{seq}")
}

pub(super) fn back(run: &RunId, seq: u64) -> String {
    format!("refs/handover/{run}/@brought-{seq}")
}

/// An errand of somebody else.
pub(super) struct ErrandJob {
    errand: Errand,
    run: RunId,
    seq: u64,
    remote: String,
    repo: Repo,
    worktree: Worktree,
    seat: Seat,
    invocation: Invocation,
    at: handover_model::Timestamp,
}

impl Engine<'_> {
    /// Makes everything ready for an errand on this machine.
    pub(super) fn errand(
        &self,
        repo: &Repo,
        remote: &str,
        run: &RunId,
        seq: u64,
        errand: Errand,
    ) -> Result<ErrandJob, EngineError> {
        let folder = self.project.join(".handover/runs").join(run.as_str()).join("errands");
        let place = folder.join(seq.to_string());
        fs_err::create_dir_all(&place)?;
        let worktree =
            Worktree::at(repo, place.join("worktree"), place.join("index"), &errand.base);
        let seat = Seat {
            id: errand.story.clone(),
            step: errand.step.clone(),
            attempt: errand.attempt,
            nonce: errand.nonce.clone(),
            logs: place,
        };
        let _ = fs_err::remove_file(seat.result());
        let mut invocation = Invocation::new(errand.host, spawn_id(run, seq)?, worktree.project());
        if let Some(command) = &errand.command {
            (invocation.program, invocation.args) = split_command(command)?;
        }
        let here = seat.result().display().to_string();
        let prompt = errand.prompt.replace(&errand.result, &here);
        invocation.prompt = Some(self.handoffs.relay(&errand.receipt, prompt)?);
        invocation.profile = errand.step.profile;
        invocation.model.clone_from(&errand.model);
        let mut environment = self.environment_of(errand.host);
        for (name, value) in &errand.variables {
            environment.set(name, value);
        }
        environment.set("HANDOVER_RESULT", seat.result());
        self.share_builds(&mut environment);
        invocation.environment = environment;
        invocation.limits.wall = errand.wall;
        invocation.limits.idle = errand.idle;
        invocation.limits.turns = errand.turns;
        invocation.limits.cost_usd = errand.cost_usd;
        Ok(ErrandJob {
            errand,
            run: run.clone(),
            seq,
            remote: remote.to_owned(),
            repo: repo.clone(),
            worktree,
            seat,
            invocation,
            at: (self.now)(),
        })
    }
}

impl ErrandJob {
    pub(super) fn work(self, link: &Link<'_>) -> Result<Brought, EngineError> {
        let there = there(&self.run, self.seq);
        self.repo.fetch(&self.remote, &[there])?;
        self.worktree.ensure()?;
        self.worktree.restore(&self.repo.tree_of(&self.errand.commit)?)?;
        let read = format!("{}\n{}", self.errand.text, self.errand.prompt);
        let (outcome, said, more) = self.seat.work(&self.invocation, &read, link)?;
        // What git cannot read is told; the one who leads then says no.
        let commit = self.worktree.snapshot().ok().map(|tree| self.bring(&tree)).transpose()?;
        let said = said.map_err(|unclear| unclear.to_string());
        Ok(Brought { outcome, said, more, commit })
    }

    fn bring(&self, tree: &str) -> Result<String, EngineError> {
        let new = NewCommit {
            tree,
            parents: vec![self.errand.base.clone()],
            subject: format!("work on {}", self.errand.story),
            trailers: Vec::new(),
            at: self.at,
        };
        let commit = self.repo.commit(&new)?;
        let back = back(&self.run, self.seq);
        self.repo.push(&self.remote, &[format!("{commit}:{back}")])?;
        Ok(commit)
    }
}
