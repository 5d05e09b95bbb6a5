//! Drives a run: asks the reducer what comes next, writes it down, does it, writes down what came of
//! it, and begins again. What takes long is done on threads of its own, several at once; the journal
//! has the order of beginnings and endings. After a crash it goes on from what was written.

mod agent;
mod agent_work;
mod answer;
mod away;
mod closing;
mod commit;
mod crew;
mod errand;
mod folder;
mod gates;
mod handoffs;
mod help;
mod inspect;
pub(crate) mod lock;
mod open;
mod park;
mod rebase;
mod records;
mod strays;
mod uat;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};

use handover_agents::{CancelToken, Environment, OrphanEnd, SpawnId, end_marked, end_orphan};
use handover_handoff::Handoffs;
use handover_model::config::Config;
use handover_model::{GroupId, Host, RunId, RunState, SessionStatus, Timestamp};
use handover_store::{NewRun, NewSession, RunFilter, Store};
use handover_text::Redactor;

use crate::EngineError;
use crate::gates::GateResult;
use crate::git::{Repo, Worktree, ref_part};
use crate::journal::{Death, Folded, Intent, Journal, Note, fold, mark};
use crate::plan::{self, Request};
use crate::reducer::{Effect, Event, State, StoryRun};
use crate::story::StoryError;
use away::{Away, LOOK};
use crew::{Crew, Done, Job, Message, Word};
use help::Helped;

/// What a run needs from outside.
pub struct Engine<'a> {
    /// Where the journal goes.
    pub store: &'a dyn Store,
    /// How secrets are found.
    pub redactor: &'a Redactor,
    /// The configuration.
    pub config: &'a Config,
    /// Briefs the agents and keeps what they leave behind.
    pub handoffs: Handoffs<'a>,
    /// The project's folder.
    pub project: PathBuf,
    /// The project's name, for its sessions.
    pub project_id: handover_model::ProjectId,
    /// Our own environment; agents, gates and git see a part of it.
    pub environment: Vec<(OsString, OsString)>,
    /// The name of this machine.
    pub machine: String,
    /// The clock.
    pub now: &'a dyn Fn() -> Timestamp,
    /// A new text that nobody can guess, of letters and digits.
    pub unique: &'a dyn Fn() -> String,
    /// Who stops the run.
    pub cancel: CancelToken,
    /// For tests of crashes.
    pub death: Option<Death>,
}

/// Something to be shown while a run is at work.
#[derive(Debug)]
pub enum Progress<'a> {
    /// It begins, or goes on.
    Begun {
        /// The run.
        run: &'a RunId,
        /// Whether it goes on.
        resumed: bool,
    },
    /// Another machine leads the run; this one works for it.
    Helping {
        /// The run.
        run: &'a RunId,
        /// The machine that leads.
        leader: &'a str,
    },
    /// Something is about to be done.
    Doing(&'a Effect),
    /// Something came of it.
    Done(&'a Event),
    /// An agent or a gate gave a sign of life.
    Activity {
        /// The story.
        story: &'a str,
        /// What it does.
        what: String,
    },
    /// Something odd.
    Warning(String),
}

/// Who is shown progress.
pub type OnProgress<'a> = &'a mut dyn FnMut(&State, &Progress<'_>);

impl<'a> Engine<'a> {
    /// Runs an epic to its end, or until something stops it. Gives the run and where it stands.
    pub fn run(
        &self,
        request: &Request,
        on_progress: OnProgress<'_>,
    ) -> Result<(RunId, State), EngineError> {
        let repo = Repo::open(&self.project, self.environment_of(Host::COMMAND))?;
        let slots = request.options().parallel;
        let mut request = request.clone();
        let fence = match self.lock_or_help(&request.epic, slots, &repo, on_progress)? {
            Helped::Over(run, state) => return Ok((run, *state)),
            Helped::Leads { fence, succeeds } => {
                request.resume |= succeeds;
                fence
            }
        };
        let outcome = self.locked(&request, &repo, fence, on_progress);
        // If it cannot be given back, its owner is known to be dead soon enough.
        let _ = self.store.unlock_epic(&request.epic, fence);
        outcome
    }

    /// What would be run, without any trace of it.
    pub fn plan(&self, request: &Request) -> Result<plan::Preview, EngineError> {
        let repo = Repo::open(&self.project, self.environment_of(Host::COMMAND))?;
        plan::preview(self, &repo, request)
    }

    pub(crate) fn environment_of(&self, host: Host) -> Environment {
        Environment::scrubbed(self.environment.iter().cloned(), host, &self.config.runs.env)
    }

    fn locked(
        &self,
        request: &Request,
        repo: &Repo,
        fence: u64,
        on_progress: OnProgress<'_>,
    ) -> Result<(RunId, State), EngineError> {
        let filter = RunFilter { epic: Some(request.epic.clone()), limit: Some(1) };
        let former = match self.store.runs(&filter)?.pop() {
            Some(run) if request.resume || !run.state.is_final() => {
                fold(&run.id, &self.store.journal(&run.id, 1)?)?.map(|folded| (run, folded))
            }
            Some(run) => {
                self.leave_behind(&run, repo)?;
                None
            }
            None => None,
        };
        let mut journal = Journal {
            store: self.store,
            redactor: self.redactor,
            run: RunId::new(format!("run_{}", (self.unique)()))?,
            fence,
            seq: 0,
            lease: self.lease(self.config.gates.timeout.max(request.options().phase_timeout)),
            death: self.death,
        };
        let (state, open) = match former {
            Some((run, _)) if !request.resume => {
                return Err(EngineError::Unfinished {
                    run: run.id.to_string(),
                    epic: run.epic.to_string(),
                    state: run.state,
                });
            }
            Some((run, folded)) if folded.state.is_over() => {
                let text = format!(
                    "run {} has come to its end; without `--resume` a new one begins",
                    run.id
                );
                on_progress(&folded.state, &Progress::Warning(text));
                return Ok((run.id, folded.state));
            }
            Some((run, folded)) => {
                journal.run = run.id;
                self.fetch_run(repo, &journal.run, &folded.state.plan.branch)?;
                self.resume(request, &mut journal, folded, on_progress)?
            }
            None => (self.start(request, repo, &mut journal, on_progress)?, Vec::new()),
        };
        let run = journal.run.clone();
        let mut runner = Runner {
            engine: self,
            repo,
            folder: self.project.join(".handover/runs").join(run.as_str()),
            journal,
            state,
            on_progress,
            open,
            busy: Vec::new(),
            away: Away::default(),
            in_place: BTreeMap::new(),
            spare: None,
            checked: BTreeMap::new(),
            strays: BTreeSet::new(),
        };
        fs_err::create_dir_all(&runner.folder)?;
        runner.drive()?;
        Ok((run, runner.state))
    }

    fn start(
        &self,
        request: &Request,
        repo: &Repo,
        journal: &mut Journal<'_>,
        on_progress: OnProgress<'_>,
    ) -> Result<State, EngineError> {
        let planned = plan::plan(self, repo, request)?;
        let now = (self.now)();
        let session = NewSession {
            id: planned.records_in.clone(),
            project: self.project_id.clone(),
            metadata: self.redactor.clean_json(serde_json::json!({"epic": request.epic})),
            now,
        };
        let opened = self.store.open_session(&session)?;
        if opened.record.status != SessionStatus::Active {
            self.store.set_session_status(&session.id, SessionStatus::Active, now)?;
        }
        let new = NewRun {
            id: journal.run.clone(),
            epic: request.epic.clone(),
            session: planned.records_in.clone(),
            now,
        };
        let odd = self.take_over(repo, &planned)?;
        self.store.start_run(&new, journal.fence)?;
        let event =
            Event::Started { plan: Box::new(planned), options: Box::new(request.options()) };
        let event = journal.event(&event, now)?;
        let state = State::start(&event).ok_or_else(|| EngineError::Journal {
            run: journal.run.to_string(),
            seq: journal.seq,
            reason: "it does not begin with a plan".to_owned(),
        })?;
        on_progress(&state, &Progress::Begun { run: &journal.run, resumed: false });
        for text in odd {
            let text = format!("a part of a handoff was left out: {text}");
            on_progress(&state, &Progress::Warning(text));
        }
        Ok(state)
    }

    /// Ends what the dead left behind, and goes on.
    fn resume(
        &self,
        request: &Request,
        journal: &mut Journal<'_>,
        folded: Folded,
        on_progress: OnProgress<'_>,
    ) -> Result<(State, Vec<Intent>), EngineError> {
        let Folded { mut state, open, processes, seq } = folded;
        journal.seq = seq;
        let grace = std::time::Duration::from_millis(500);
        let (mut ended, mut stuck) = (0, 0);
        let mut count = |end: OrphanEnd| match end {
            OrphanEnd::Gone => {}
            OrphanEnd::Ended(n) => ended += n,
            OrphanEnd::Stuck(n) => stuck += n,
        };
        for process in &processes {
            count(end_orphan(process, grace)?);
        }
        for intent in &open {
            count(end_marked(&spawn_id(&journal.run, intent.seq)?, grace)?);
        }
        if stuck > 0 {
            return Err(EngineError::Stuck { count: stuck });
        }
        let options = request.resumed(&state.options)?;
        let now = (self.now)();
        if ended > 0 {
            journal.note(&Note::Reaped { count: ended }, now)?;
        }
        let event = journal.event(&Event::Resumed { options: Box::new(options) }, now)?;
        state.apply(&event);
        on_progress(&state, &Progress::Begun { run: &journal.run, resumed: true });
        if ended > 0 {
            let text = format!("ended {ended} process(es) that an earlier engine left behind");
            on_progress(&state, &Progress::Warning(text));
        }
        Ok((state, open))
    }
}

/// The mark of the processes of one effect.
fn spawn_id(run: &RunId, seq: u64) -> Result<SpawnId, EngineError> {
    Ok(SpawnId::new(mark(run, seq))?)
}

/// The group of a story.
pub(crate) fn group_of(story: &str) -> Result<GroupId, EngineError> {
    let part = ref_part(story);
    let part = part.trim_start_matches(|c: char| !c.is_ascii_alphanumeric());
    let short = if part.len() > 64 {
        let hash = blake3::hash(story.as_bytes()).to_hex();
        format!("{}-{}", &part[..55], &hash[..8])
    } else {
        part.to_owned()
    };
    Ok(GroupId::new(short)?)
}

struct Runner<'a, 'p> {
    engine: &'a Engine<'a>,
    repo: &'a Repo,
    /// Where everything of the run is, worktrees and logs.
    folder: PathBuf,
    journal: Journal<'a>,
    state: State,
    on_progress: OnProgress<'p>,
    /// What an earlier engine began and did not end.
    open: Vec<Intent>,
    /// What is going on.
    busy: Vec<Intent>,
    /// What of it is on other machines.
    away: Away,
    /// The tree that a story's worktree is known to hold, by story.
    in_place: BTreeMap<String, String>,
    /// The worktree of a story that is done.
    spare: Option<Worktree>,
    /// What the gates said last and about which tree, by story.
    checked: BTreeMap<String, (String, Vec<GateResult>)>,
    /// Refs that appeared and were reported.
    strays: BTreeSet<String>,
}

/// An effect that has been begun.
enum Begun {
    /// It was short and is over.
    Over(Event),
    /// Somebody is to work on it.
    Job(Job),
}

impl<'a> Runner<'a, '_> {
    fn now(&self) -> Timestamp {
        (self.engine.now)()
    }

    /// Does what is to be done until nothing is left, or something stops it.
    fn drive(&mut self) -> Result<(), EngineError> {
        let (sender, receiver) = channel();
        let (redactor, cancel) = (self.engine.redactor, self.engine.cancel.clone());
        std::thread::scope(|scope| {
            let crew = Crew { scope, sender, redactor, cancel };
            let outcome = self.lead(&crew, &receiver);
            if outcome.is_err() {
                // Nothing can be written down any more, so nobody may go on.
                self.engine.cancel.cancel();
            }
            outcome
        })
    }

    /// Begins what may be begun, and takes in what the others say. Whatever stops the run lets those
    /// who are at work come to their end: they are paid for.
    fn lead<'s>(
        &mut self,
        crew: &Crew<'s, 'a>,
        messages: &Receiver<Message>,
    ) -> Result<(), EngineError>
    where
        'a: 's,
    {
        let mut stop = None;
        loop {
            stop = stop.or(self.look_around(crew)?);
            while let (None, Some(effect)) = (&stop, self.next()) {
                stop = self.begin_one(effect, crew)?;
            }
            if self.busy.is_empty() {
                break;
            }
            let Message { seq, word } = match messages.recv_timeout(LOOK) {
                Ok(message) => message,
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => break,
            };
            match word {
                Word::Spawned(process) => {
                    // Nobody would find it after a crash, so it must not run unless this is written.
                    self.journal.note(&Note::Spawned { process }, (self.engine.now)())?;
                }
                Word::Activity { story, what } => {
                    (self.on_progress)(&self.state, &Progress::Activity { story: &story, what });
                }
                Word::Done(done) => {
                    let done = done.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                    stop = stop.or(self.done(seq, done)?);
                }
            }
        }
        stop.map_or(Ok(()), |error| self.stopped_by(error))
    }

    /// Takes in what came of something; gives what stops the run, if something does.
    fn done(
        &mut self,
        seq: u64,
        done: Result<Done, EngineError>,
    ) -> Result<Option<EngineError>, EngineError> {
        let Some(at) = self.busy.iter().position(|intent| intent.seq == seq) else {
            return Ok(None);
        };
        self.busy.remove(at);
        match done.and_then(|done| self.end(done)) {
            Ok(event) => self.take_in(&event),
            Err(error) => Ok(Some(error)),
        }
    }

    fn next(&self) -> Option<Effect> {
        self.state.next(&self.at_work())
    }

    fn at_work(&self) -> Vec<Effect> {
        self.busy.iter().map(|intent| intent.effect.clone()).collect()
    }

    /// Begins one effect; gives what stops the run, if something does.
    fn begin_one<'s>(
        &mut self,
        effect: Effect,
        crew: &Crew<'s, 'a>,
    ) -> Result<Option<EngineError>, EngineError>
    where
        'a: 's,
    {
        if self.engine.cancel.is_cancelled() {
            return Ok(Some(EngineError::Interrupted));
        }
        // What was begun before a crash is done again under the same number and time.
        let intent = match self.open.iter().position(|intent| intent.effect == effect) {
            Some(at) => self.open.remove(at),
            None => self.journal.intent(&effect, (self.engine.now)())?,
        };
        (self.on_progress)(&self.state, &Progress::Doing(&effect));
        match self.begin(&intent) {
            Ok(Begun::Over(event)) => return self.take_in(&event),
            Ok(Begun::Job(Job::Agent(job))) if self.is_for_others(&job) => {
                if let Err(error) = self.send(&intent, job) {
                    return Ok(Some(error));
                }
                self.busy.push(intent);
            }
            Ok(Begun::Job(job)) => {
                crew.start(intent.seq, job);
                self.busy.push(intent);
            }
            Err(error) => return Ok(Some(error)),
        }
        Ok(None)
    }

    /// Writes an event down and takes it in; gives what stops the run, if something does.
    fn take_in(&mut self, event: &Event) -> Result<Option<EngineError>, EngineError> {
        if let Err(error) = self.publish(event) {
            return Ok(Some(error));
        }
        let event = self.journal.event(event, (self.engine.now)())?;
        self.state.apply(&event);
        (self.on_progress)(&self.state, &Progress::Done(&event));
        Ok(None)
    }

    /// A stop leaves a run that can be resumed. What cannot even be written down is told.
    fn stopped_by(&mut self, error: EngineError) -> Result<(), EngineError> {
        if matches!(error, EngineError::Store(_)) {
            return Err(error);
        }
        let was_asked_to = matches!(error, EngineError::Interrupted);
        let state = if was_asked_to || self.engine.cancel.is_cancelled() {
            RunState::Interrupted
        } else {
            RunState::Environment
        };
        let mut reason = error.to_string();
        let mut cause = std::error::Error::source(&error);
        while let Some(inner) = cause {
            reason = format!("{reason}: {inner}");
            cause = inner.source();
        }
        self.stop(state, reason)
    }

    fn stop(&mut self, state: RunState, reason: String) -> Result<(), EngineError> {
        self.take_in(&Event::Stopped { state, reason }).map(drop)
    }

    fn begin(&mut self, intent: &Intent) -> Result<Begun, EngineError> {
        let event = match &intent.effect {
            Effect::Agent { story, attempt, voice, .. } => {
                return self.begin_agent(intent, story, *attempt, voice.as_ref());
            }
            Effect::Gates { story, attempt } => return self.begin_gates(intent, story, *attempt),
            Effect::Uat { story, attempt } => return self.begin_uat(intent, story, *attempt),
            Effect::Forgo { story, phase, attempt, voice, reason } => {
                self.forgone(story, *phase, *attempt, voice.as_ref(), reason)?
            }
            Effect::Open { story } => self.open(story)?,
            Effect::Rebase { story, onto } => self.rebase(intent, story, onto)?,
            Effect::Commit { story } => self.commit(intent, story)?,
            Effect::Park { story } => self.park(intent, story)?,
            Effect::Merge => self.merge()?,
            Effect::Ask => self.ask()?,
            Effect::Halt { reason } => {
                Event::Stopped { state: RunState::Budget, reason: reason.clone() }
            }
            Effect::Finish => self.finish()?,
        };
        Ok(Begun::Over(event))
    }

    fn end(&mut self, done: Done) -> Result<Event, EngineError> {
        match done {
            Done::Agent(done) => self.end_agent(*done),
            Done::Gates(done) => Ok(self.end_gates(*done)),
            Done::Errand(_) => Err(self.out_of_step("somebody else's errand")),
            Done::Uat(done) => self.end_uat(*done),
        }
    }

    fn story(&self, id: &str) -> Result<StoryRun, EngineError> {
        self.state.story(id).cloned().ok_or_else(|| EngineError::NoSuchStory {
            epic: self.state.plan.epic.to_string(),
            story: id.to_owned(),
            stories: Vec::new(),
        })
    }

    /// What the reducer never asks for.
    fn out_of_step(&self, what: &str) -> EngineError {
        EngineError::Journal {
            run: self.journal.run.to_string(),
            seq: self.journal.seq,
            reason: what.to_owned(),
        }
    }

    /// A file of a story's worktree that can be written; links must not lead us out of it.
    fn writable(&self, worktree: &Worktree, path: &str) -> Result<PathBuf, EngineError> {
        worktree.inside(path).ok_or_else(|| {
            let reason = "a link leads out of the worktree".to_owned();
            StoryError::BadFile { path: path.to_owned(), reason }.into()
        })
    }

    fn warn(&mut self, text: String) -> Result<(), EngineError> {
        (self.on_progress)(&self.state, &Progress::Warning(text.clone()));
        self.journal.note(&Note::Said { text }, (self.engine.now)())
    }

    /// The folder of a story's logs.
    fn logs(&self, story: &str) -> Result<PathBuf, EngineError> {
        let folder = self.folder.join(ref_part(story));
        fs_err::create_dir_all(&folder)?;
        Ok(folder)
    }

    /// A story's worktree, made anew if it is gone, holding exactly what was last written down.
    fn worktree(&mut self, story: &StoryRun) -> Result<Worktree, EngineError> {
        let (Some(base), Some(tree)) = (&story.base, &story.tree) else {
            return Err(self.out_of_step("a story without a worktree"));
        };
        let worktree = self.worktree_at(&story.planned.id, base);
        if self.in_place.get(&story.planned.id) != Some(tree) {
            worktree.ensure()?;
            worktree.restore(tree)?;
            self.in_place.insert(story.planned.id.clone(), tree.clone());
        }
        Ok(worktree)
    }

    fn worktree_at(&self, story: &str, base: &str) -> Worktree {
        let name = ref_part(story);
        let path = self.folder.join("worktrees").join(&name);
        let index = self.folder.join(format!("{name}.index"));
        Worktree::at(self.repo, path, index, base)
    }

    /// Where the trees of a story are kept from being collected as garbage.
    fn keep(
        &self,
        story: &str,
        base: &str,
        tree: &str,
        at: Timestamp,
    ) -> Result<String, EngineError> {
        let new = crate::git::NewCommit {
            tree,
            parents: vec![base.to_owned()],
            subject: format!("work on {story}"),
            trailers: Vec::new(),
            at,
        };
        let commit = self.repo.commit(&new)?;
        self.repo.set_ref(&self.kept(story), &commit)?;
        Ok(commit)
    }

    fn kept(&self, story: &str) -> String {
        format!("refs/handover/{}/{}", self.journal.run, ref_part(story))
    }

    fn merge(&mut self) -> Result<Event, EngineError> {
        let plan = &self.state.plan;
        let refused =
            if self.repo.current_branch()? != plan.user_branch || plan.user_branch.is_none() {
                Some("another branch is checked out by now".to_owned())
            } else {
                match self.repo.fast_forward(&self.state.head) {
                    Ok(()) => None,
                    Err(crate::git::GitError::Failed { message, .. }) => Some(message),
                    Err(error) => return Err(error.into()),
                }
            };
        Ok(Event::Merged { refused })
    }

    fn clear_worktrees(&mut self) -> Result<(), EngineError> {
        if self.state.options.no_commit {
            // They are all that there is of the work.
            return Ok(());
        }
        self.spare = None;
        let _ = fs_err::remove_dir_all(self.folder.join("worktrees"));
        Ok(self.repo.prune()?)
    }

    /// Nothing of the run stays in git but its branches.
    fn finish(&mut self) -> Result<Event, EngineError> {
        self.clear_worktrees()?;
        if !self.state.options.no_commit {
            self.repo.delete_refs(&format!("refs/handover/{}/", self.journal.run))?;
            self.clean_remote();
        }
        let state = self.state.verdict();
        let own = crate::plan::own_session(&self.state.plan.epic)?;
        if self.state.plan.records_in != own {
            // Somebody else's session is theirs to close.
            return Ok(Event::Ended { state });
        }
        let ended =
            if state == RunState::Done { SessionStatus::Completed } else { SessionStatus::Failed };
        self.engine.store.set_session_status(&self.state.plan.records_in, ended, self.now())?;
        Ok(Event::Ended { state })
    }
}
