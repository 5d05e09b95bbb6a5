//! The engine: takes an epic's lock, then plans a new run or resumes an unfinished one.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use handover_agents::{
    CancelToken, ClockTime, Databases, Environment, OrphanEnd, Registry, end_marked, end_orphan,
    split_command,
};
use handover_files::Folder;
use handover_handoff::Handoffs;
use handover_model::config::Config;
use handover_model::{EpicId, Host, ProjectId, RunId, SessionStatus, Timestamp};
use handover_store::{NewRun, NewSession, RecordKind, RunFilter, Store, StoreError};
use handover_text::Redactor;

use super::dispatch::Dispatched;
use super::helper::HelpOutcome;
use super::workers::Delivered;
use super::{Runner, spawn_id};
use crate::EngineError;
use crate::forecast::Forecast;
use crate::gates::GateKind;
use crate::git::Repo;
use crate::journal::{Death, Folded, Intent, Journal, Note, fold};
use crate::lock::{lease, lock};
use crate::plan::{NO_GATES, Planner, Preview, RunRequest, cautions, own_session};
use crate::reducer::{Effect, Event, Options, Plan, State};

/// How long orphaned processes have between SIGTERM and SIGKILL.
const ORPHAN_GRACE: Duration = Duration::from_millis(500);

/// The dependencies of a run.
pub struct Engine<'a> {
    /// Holds the journal, the lock of the epic and all records.
    pub store: &'a dyn Store,
    /// Removes secrets from everything that is stored.
    pub redactor: &'a Redactor,
    /// The project's configuration.
    pub config: &'a Config,
    /// The kinds of gates to detect, usually [`gates::BUILT_IN`](crate::gates::BUILT_IN).
    pub gates: &'a [&'static dyn GateKind],
    /// Briefs agents and keeps what they report.
    pub handoffs: Handoffs<'a>,
    /// The project's folder: the user's checkout.
    pub project: PathBuf,
    /// The project that owns sessions and lessons.
    pub project_id: ProjectId,
    /// Reads the databases in which agent programs keep what they used.
    pub databases: Option<&'static dyn Databases>,
    /// Our own environment; agents, gates and git see part of it.
    pub environment: Vec<(OsString, OsString)>,
    /// The name of this machine, shown to others as the holder of a lock.
    pub machine: String,
    /// The clock.
    pub now: &'a dyn Fn() -> Timestamp,
    /// The next time that a clock of this machine shows this.
    pub next_at: &'a dyn Fn(&ClockTime) -> Option<Timestamp>,
    /// Generates an unguessable text of letters and digits, a new one on each call.
    pub unique: &'a dyn Fn() -> String,
    /// Cancels the run and everything it started.
    pub cancel: CancelToken,
    /// Where tests make the engine crash.
    pub death: Option<Death>,
}

/// What a run reports while it works.
#[derive(Debug)]
pub enum Progress<'a> {
    /// The run started or was resumed.
    Started {
        /// The run.
        run: &'a RunId,
        /// Whether it is an earlier run that continues.
        resumed: bool,
    },
    /// What the run will cost, said before its first agent starts.
    Expects(&'a Forecast),
    /// Another machine leads the run; this one works for it.
    Helping {
        /// The run.
        run: &'a RunId,
        /// The machine that leads it.
        leader: &'a str,
    },
    /// An effect is in the journal and about to start.
    Starting(&'a Effect),
    /// An event is in the journal and part of the state.
    Recorded(&'a Event),
    /// An agent or a gate reported activity.
    Activity {
        /// The story that it works on.
        story: &'a str,
        /// One line of what it does.
        what: String,
    },
    /// Nothing happened for a moment, while something is at work.
    Tick,
    /// Something unexpected that does not stop the run.
    Warning(String),
}

/// Receives progress, together with the resulting state.
pub type OnProgress<'a> = &'a mut dyn FnMut(&State, &Progress<'_>);

impl<'a> Engine<'a> {
    /// Runs an epic until it is finished or something stops it. Returns the run and its last state.
    pub fn run(
        &self,
        request: &RunRequest,
        on_progress: OnProgress<'_>,
    ) -> Result<(RunId, State), EngineError> {
        let _span = tracing::info_span!("run", epic = %request.epic).entered();
        let repo = Repo::open(&self.project, self.environment_of(Host::COMMAND))?;
        let slots = request.options().parallel;
        let mut request = request.clone();
        let fence = match self.lock_or_help(&request.epic, slots, &repo, on_progress)? {
            HelpOutcome::Finished(run, state) => return Ok((run, *state)),
            HelpOutcome::Leading { fence, succeeds } => {
                request.resume |= succeeds;
                fence
            }
        };
        let outcome = self.run_locked(&request, &repo, fence, on_progress);
        // A lock that cannot be released expires, or its owner is found to be dead.
        let _ = self.store.unlock_epic(&request.epic, fence);
        outcome
    }

    /// What a run would do, without leaving a trace.
    pub fn plan(&self, request: &RunRequest) -> Result<Preview, EngineError> {
        let repo = Repo::open(&self.project, self.environment_of(Host::COMMAND))?;
        let session = match &request.session {
            Some(session) => session.clone(),
            None => own_session(&request.epic)?,
        };
        let mut preview = None;
        if matches!(self.store.session(&session), Err(StoreError::NotFound { .. })) {
            // The first agents will find a session without records: it is created and rolled back.
            let undone = StoreError::not_found(RecordKind::Session, session.as_str());
            let new = NewSession {
                id: session,
                project: self.project_id.clone(),
                metadata: self.redactor.clean_json(serde_json::json!({})),
                now: (self.now)(),
            };
            let _ = self.store.writing(|store| {
                store.open_session(&new)?;
                let handoffs = Handoffs { store: Ok(store), ..self.handoffs };
                preview = Some(Planner { handoffs, ..self.planner(&repo) }.preview(request));
                Err::<(), _>(undone)
            });
        }
        preview.unwrap_or_else(|| self.planner(&repo).preview(request))
    }

    /// What a planned run will cost, from what earlier ones did cost.
    pub fn forecast(&self, plan: &Plan, request: &RunRequest) -> Result<Forecast, EngineError> {
        Forecast::new(self.store, &self.project_id, plan, &request.options())
    }

    fn planner<'p>(&'p self, repo: &'p Repo) -> Planner<'p> {
        Planner {
            project: &self.project,
            repo,
            redactor: self.redactor,
            config: self.config,
            gates: self.gates,
            handoffs: self.handoffs,
            now: (self.now)(),
        }
    }

    pub(super) fn lock(&self, epic: &EpicId) -> Result<u64, EngineError> {
        lock(self.store, self.config, &self.machine, epic, (self.now)())
    }

    pub(super) fn lease(&self, longest_effect: u64) -> u64 {
        lease(self.config, longest_effect)
    }

    pub(crate) fn environment_of(&self, host: Host) -> Environment {
        Environment::scrubbed(self.environment.iter().cloned(), host, &self.config.runs.env)
    }

    /// A text that reveals nothing about any other, unlike consecutive ids.
    pub(super) fn secret(&self) -> String {
        let ids = format!("{}-{}", (self.unique)(), (self.unique)());
        blake3::hash(ids.as_bytes()).to_hex()[..32].to_owned()
    }

    /// Marks the receipt of an agent that has just started as delivered.
    pub(super) fn mark_delivered(&self, delivered: Option<Delivered>) -> Result<(), EngineError> {
        if let Some(Delivered { receipt, host }) = delivered {
            self.handoffs.started(&receipt, Some(host), (self.now)())?;
        }
        Ok(())
    }

    /// The folder of all runs.
    pub(super) fn runs_folder(&self) -> Folder {
        Folder::of(&self.project).inside("runs")
    }

    pub(super) fn run_folder(&self, run: &RunId) -> Folder {
        self.runs_folder().inside(run.as_str())
    }

    fn run_locked(
        &self,
        request: &RunRequest,
        repo: &Repo,
        fence: u64,
        on_progress: OnProgress<'_>,
    ) -> Result<(RunId, State), EngineError> {
        let mut journal = Journal {
            store: self.store,
            redactor: self.redactor,
            run: RunId::new(format!("run_{}", (self.unique)()))?,
            fence,
            seq: 0,
            lease: self.lease(self.config.gates.timeout.max(request.options().phase_timeout)),
            death: self.death,
        };
        let (state, interrupted) = match self.earlier_run(request, repo)? {
            Some((run, folded)) if folded.state.is_over() => {
                let text = format!("run {run} is finished; omit `--resume` to start a new one");
                on_progress(&folded.state, &Progress::Warning(text));
                return Ok((run, folded.state));
            }
            Some((run, folded)) => {
                journal.run = run;
                self.fetch_run(repo, &journal.run, &folded.state.plan.branch)?;
                self.resume(request, &mut journal, folded, on_progress)?
            }
            None if request.abandon => {
                return Err(EngineError::NothingUnfinished { epic: request.epic.to_string() });
            }
            None => (self.start(request, repo, &mut journal, on_progress)?, Vec::new()),
        };
        let run = journal.run.clone();
        for text in cautions(&state.options) {
            on_progress(&state, &Progress::Warning(text));
        }
        let live_logs = state.units().map(|unit| unit.planned.id.clone()).collect();
        tracing::debug!(%run, fence, interrupted = interrupted.len(), "driving the run");
        let program = Registry::built_in().find(state.options.host);
        // It was said before the run started.
        let cost_is_unknown = program.is_ok_and(|it| it.capabilities().reports_no_cost);
        let mut runner = Runner {
            engine: self,
            repo,
            folder: self.run_folder(&run),
            journal,
            state,
            on_progress,
            interrupted,
            in_flight: Vec::new(),
            dispatched: Dispatched::default(),
            tree_in_worktree: BTreeMap::new(),
            spare_worktree: None,
            gate_results: BTreeMap::new(),
            cost_is_unknown,
            reported_refs: BTreeSet::new(),
            live_logs,
        };
        runner.folder.create()?;
        if request.abandon {
            runner.give_up_all()?;
        }
        runner.drive()?;
        Ok((run, runner.state))
    }

    /// The run to resume. An unfinished run that is not being resumed is an error; one that waits for an
    /// answer is abandoned.
    fn earlier_run(
        &self,
        request: &RunRequest,
        repo: &Repo,
    ) -> Result<Option<(RunId, Folded)>, EngineError> {
        let filter = RunFilter { epic: Some(request.epic.clone()), limit: Some(1) };
        let Some(run) = self.store.runs(&filter)?.pop() else { return Ok(None) };
        if !request.resume && run.state.is_final() {
            self.abandon(&run, repo)?;
            return Ok(None);
        }
        let folded = fold(&run.id, &self.store.journal(&run.id, 1)?)?;
        if folded.as_ref().is_some_and(|folded| !request.resume && folded.state.is_untouched()) {
            // It stopped before its first story, such as at a missing tool; nothing would be lost.
            return Ok(None);
        }
        match folded {
            Some(_) if !request.resume => Err(EngineError::Unfinished {
                run: run.id.to_string(),
                epic: run.epic.to_string(),
                state: run.state,
            }),
            Some(folded) => Ok(Some((run.id, folded))),
            None => Ok(None),
        }
    }

    /// Finds the agent program before anything is recorded.
    fn check_program(&self, options: &Options) -> Result<(), EngineError> {
        let program = match &options.command {
            Some(command) => split_command(command)?.0,
            None => PathBuf::new(),
        };
        let environment = self.environment_of(options.host);
        Registry::built_in().locate(options.host, &program, &environment)?;
        Ok(())
    }

    fn start(
        &self,
        request: &RunRequest,
        repo: &Repo,
        journal: &mut Journal<'_>,
        on_progress: OnProgress<'_>,
    ) -> Result<State, EngineError> {
        let planned = self.planner(repo).plan(request)?;
        if has_work(&planned) {
            self.check_program(&request.options())?;
        }
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
        let skipped = self.register_handoffs(repo, &planned)?;
        self.store.start_run(&new, journal.fence)?;
        let event =
            Event::Started { plan: Box::new(planned), options: Box::new(request.options()) };
        let event = journal.event(&event, now)?;
        let state = State::start(&event).ok_or_else(|| EngineError::Journal {
            run: journal.run.to_string(),
            seq: journal.seq,
            reason: "it does not begin with a plan".to_owned(),
        })?;
        on_progress(&state, &Progress::Started { run: &journal.run, resumed: false });
        // Earlier runs that cannot be read are no reason not to start this one.
        if let Ok(forecast) = self.forecast(&state.plan, request) {
            on_progress(&state, &Progress::Expects(&forecast));
        }
        if has_work(&state.plan) && self.planner(repo).gates().is_empty() {
            on_progress(&state, &Progress::Warning(NO_GATES.to_owned()));
        }
        for text in skipped {
            let text = format!("skipped a part of a handoff: {text}");
            on_progress(&state, &Progress::Warning(text));
        }
        let filters: Vec<String> = repo.filters(&state.plan.base)?.into_iter().collect();
        if !filters.is_empty() {
            let text = format!(
                "files with the git filter {} are as git stores them in this run; work that changes \
                 one is not committed",
                filters.join(", ")
            );
            on_progress(&state, &Progress::Warning(text));
        }
        let submodules = repo.submodules(&state.plan.base)?;
        if !submodules.is_empty() {
            let empty = repo.empty_submodules(&state.plan.base)?;
            let mut text =
                format!("work inside of submodules is not committed: {}", submodules.join(", "));
            if !empty.is_empty() {
                let empty = empty.join(", ");
                text.push_str(
                    "; these are empty in this run, because your checkout does not have them: ",
                );
                text.push_str(&empty);
            }
            on_progress(&state, &Progress::Warning(text));
        }
        Ok(state)
    }

    /// Kills the orphans of a crashed engine and continues its run. Returns the effects that it had
    /// started and not finished.
    fn resume(
        &self,
        request: &RunRequest,
        journal: &mut Journal<'_>,
        folded: Folded,
        on_progress: OnProgress<'_>,
    ) -> Result<(State, Vec<Intent>), EngineError> {
        let Folded { mut state, open, processes, seq } = folded;
        journal.seq = seq;
        let (mut killed, mut stuck) = (0, 0);
        let mut count = |end: OrphanEnd| match end {
            OrphanEnd::Gone => {}
            OrphanEnd::Ended(n) => killed += n,
            OrphanEnd::Stuck(n) => stuck += n,
        };
        for process in &processes {
            count(end_orphan(process, ORPHAN_GRACE)?);
        }
        for intent in &open {
            count(end_marked(&spawn_id(&journal.run, intent.seq)?, ORPHAN_GRACE)?);
        }
        if stuck > 0 {
            return Err(EngineError::Stuck { count: stuck });
        }
        tracing::debug!(run = %journal.run, seq, killed, open = open.len(), "resuming the run");
        let options = request.resumed(&state.options)?;
        if !request.abandon && has_work(&state.plan) {
            self.check_program(&options)?;
        }
        let now = (self.now)();
        if killed > 0 {
            journal.note(&Note::Reaped { count: killed }, now)?;
        }
        let event = journal.event(&Event::Resumed { options: Box::new(options) }, now)?;
        state.apply(&event);
        let session = &state.plan.records_in;
        if self.store.session(session).is_ok_and(|one| one.status != SessionStatus::Active) {
            self.store.set_session_status(session, SessionStatus::Active, now)?;
        }
        on_progress(&state, &Progress::Started { run: &journal.run, resumed: true });
        if killed > 0 {
            let text = format!("killed {killed} orphaned process(es) of an earlier engine");
            on_progress(&state, &Progress::Warning(text));
        }
        Ok((state, open))
    }
}

/// Whether agents have a story to work on; repeating scenarios needs none.
fn has_work(plan: &Plan) -> bool {
    plan.stories.iter().any(|story| story.skip.is_none())
}
