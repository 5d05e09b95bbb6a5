//! The prompts of an experiment. They are made once, before the first trial, and kept with the journal: all repetitions
//! of a task get the same text, and a resumed experiment the one it began with.
//!
//! Briefs are made in a clone of the task's start with a store of its own: what the project's store knew at that time,
//! and what the documents and the history of that time say.

use std::path::{Path, PathBuf};

use handover_context::archive::{Earlier, Knowledge, copy_earlier};
use handover_context::assemble::{Freshness, ShownPlace};
use handover_engine::EngineError;
use handover_files::{Folder, Sync};
use handover_handoff::{
    Brief, HandoffRequest, Handoffs, Parts, Technology, TechnologySource, marker_of,
};
use handover_model::{Host, SessionId, SessionStatus, SourceName};
use handover_prove::{Arm, BriefSection};
use handover_store::NewSession;
use serde::{Deserialize, Serialize};

use super::Lab;
use super::record::{Record, work_folder};
use super::tasks::PreparedTask;
use crate::app::{App, Common, DEFAULT_SESSION};
use crate::config;
use crate::error::CommandError;
use crate::learn::{self, Lesson};
use crate::ui::{ColorChoice, Ui};

/// The most that is read of a stored prompt.
const MAX_BYTES: u64 = 16 << 20;

/// How many other tasks are tried for a placebo of the right size.
const MOST_OTHERS: usize = 8;

/// What the agents of one task and arm are given.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Prompt {
    /// The text, with the marker of no receipt in particular.
    pub(super) text: String,
    /// How many tokens it has.
    tokens: u64,
    /// Files that the text points to and that git does not have.
    files: Vec<(String, String)>,
    context: bool,
    specialization: bool,
}

impl Prompt {
    /// The text for one trial.
    pub(super) fn text_for(&self, receipt: &str) -> String {
        match marker_of(&self.text) {
            Some(marker) => self.text.replace(marker.as_str(), receipt),
            None => self.text.clone(),
        }
    }

    pub(super) fn parts(&self) -> Parts {
        Parts { context: self.context, specialization: self.specialization }
    }

    /// Puts the files where the text says they are.
    pub(super) fn place_files(&self, clone: &Path) -> Result<(), CommandError> {
        for (path, body) in &self.files {
            let Some((folder, name)) = below_handover(path) else { continue };
            let folder = Folder::of(clone).inside(folder);
            folder.create()?;
            folder.replace(name, body.as_bytes(), Sync::No)?;
        }
        Ok(())
    }

    /// Reads the prompt of a task and an arm.
    pub(super) fn read(
        record: &Record,
        task: &str,
        arm: Arm,
    ) -> Result<Option<Self>, CommandError> {
        let text = record.prompts().read_text(&name(task, arm), MAX_BYTES)?;
        Ok(text.and_then(|text| serde_json::from_str(&text).ok()))
    }
}

fn name(task: &str, arm: Arm) -> String {
    format!("{task}.{arm}.json")
}

/// The folder and the name of a file below `.handover/`.
fn below_handover(path: &str) -> Option<(PathBuf, &str)> {
    let below =
        path.strip_prefix(".handover/").filter(|below| handover_prove::file::is_inside(below))?;
    let (folder, name) = below.rsplit_once('/')?;
    Some((PathBuf::from(folder), name))
}

/// Makes the prompts that are missing.
pub(super) fn prepare(lab: &Lab<'_>, record: &Record) -> Result<(), CommandError> {
    record.prompts().create()?;
    let missing = |task: &PreparedTask, arm: Arm| {
        Ok::<_, CommandError>(Prompt::read(record, &task.task.id, arm)?.is_none())
    };
    for (at, task) in lab.tasks.iter().enumerate() {
        let mut todo = Vec::new();
        for arm in &lab.plan.arms {
            if missing(task, *arm)? {
                todo.push(*arm);
            }
        }
        if todo.is_empty() || lab.cancel.is_cancelled() {
            continue;
        }
        lab.app.ui.note(format_args!(
            "Preparing the prompts of task {} ({} of {})",
            task.task.id,
            at + 1,
            lab.tasks.len()
        ));
        let made = of_task(lab, at, &todo)?;
        // What was learned before an interruption is not all that was known.
        if lab.cancel.is_cancelled() {
            return Ok(());
        }
        for (arm, prompt) in made {
            let text = serde_json::to_vec(&prompt).unwrap_or_default();
            record.prompts().replace(&name(&task.task.id, arm), &text, Sync::Yes)?;
        }
    }
    Ok(())
}

/// The knowledge that an arm does without; other sections are left out when the brief is made.
fn without(arm: Arm) -> Option<Knowledge> {
    match arm {
        Arm::Without(BriefSection::Packages) => Some(Knowledge::Packages),
        Arm::Without(BriefSection::Errors) => Some(Knowledge::Errors),
        Arm::Without(BriefSection::Strategies) => Some(Knowledge::Strategies),
        Arm::Bare | Arm::Placebo | Arm::Brief | Arm::Without(_) => None,
    }
}

fn of_task(lab: &Lab<'_>, at: usize, arms: &[Arm]) -> Result<Vec<(Arm, Prompt)>, CommandError> {
    let asked = asked(lab, at)?;
    let mut made = Vec::new();
    let mut all: Option<Past<'_>> = None;
    for arm in arms.iter().copied() {
        let prompt = match (arm, without(arm)) {
            (Arm::Bare, _) => Prompt {
                text: asked.clone(),
                tokens: 0,
                files: Vec::new(),
                context: false,
                specialization: false,
            },
            (_, Some(kind)) => Past::new(lab, at, Some(kind))?.prompt(arm, &asked)?,
            (_, None) => {
                if all.is_none() {
                    all = Some(Past::new(lab, at, None)?);
                }
                let Some(past) = &all else { continue };
                match arm {
                    Arm::Placebo => past.placebo(at)?,
                    Arm::Bare | Arm::Brief | Arm::Without(_) => past.prompt(arm, &asked)?,
                }
            }
        };
        made.push((arm, prompt));
    }
    Ok(made)
}

/// What a task asks for, without secrets: prompts are kept, and all arms get the same text.
fn asked(lab: &Lab<'_>, at: usize) -> Result<String, CommandError> {
    Ok(lab.app.redactor()?.clean(&lab.tasks[at].task.prompt).as_str().to_owned())
}

/// The project as it was when a task began.
struct Past<'a> {
    lab: &'a Lab<'a>,
    task: &'a PreparedTask,
    /// What it asks for.
    asked: String,
    app: App,
    session: SessionId,
    folder: PathBuf,
}

impl Drop for Past<'_> {
    fn drop(&mut self) {
        let _ = fs_err::remove_dir_all(&self.folder);
    }
}

impl<'a> Past<'a> {
    fn new(lab: &'a Lab<'a>, at: usize, without: Option<Knowledge>) -> Result<Self, CommandError> {
        let (app, task, asked) = (lab.app, &lab.tasks[at], asked(lab, at)?);
        let folder = work_folder(&lab.plan.id)?.join("past");
        let _ = fs_err::remove_dir_all(&folder);
        lab.repo.isolated_clone(&task.start, &folder).map_err(EngineError::from)?;
        // The settings of today: they are not what the experiment is about, and the user trusts them.
        let own = Folder::of(&folder.join(&lab.repo.prefix));
        let settings = app.project()?.folder().read_text(config::FILE, config::MAX_BYTES)?;
        own.create_shared()?;
        own.replace_shared(config::FILE, settings.unwrap_or_default().as_bytes())?;
        let mut flags = app.common.config.clone();
        flags.push("store.location=.handover/store.db".to_owned());
        flags.push(format!("project.id={}", app.project_id()?));
        let common = Common {
            project: Some(folder.join(&lab.repo.prefix)),
            session: None,
            group: None,
            config: flags,
            trust_project: true,
        };
        let open = |common: Common| {
            let past = App::new(Ui::new(false, true, ColorChoice::Auto), app.stdin.clone(), common);
            past.keep_trust_to_itself();
            past
        };
        let empty = open(common.clone());
        let earlier = Earlier { before: task.at, without };
        copy_earlier(app.store()?, empty.store()?, app.redactor()?, earlier)?;
        let session = session(app, &empty)?;
        // The variable may name a session that there was not yet.
        let past = open(Common { session: Some(session.clone()), ..common });
        let wanted = learn::allowed(app)?;
        let sources =
            [SourceName::Docs, SourceName::Git].into_iter().filter(|name| wanted.contains(name));
        let lesson = Lesson {
            sources: sources.collect(),
            paths: Vec::new(),
            since: None,
            preview: false,
            stop: &|| lab.cancel.is_cancelled(),
            progress: &|_, _, _| {},
        };
        learn::learn(&past, &lesson)?;
        Ok(Self { lab, task, asked, app: past, session, folder })
    }

    /// What an agent of an arm is given, chosen for `relevance`.
    fn prompt(&self, arm: Arm, relevance: &str) -> Result<Prompt, CommandError> {
        let section = match arm {
            Arm::Without(section) => Some(section),
            Arm::Bare | Arm::Placebo | Arm::Brief => None,
        };
        let task = &self.task.task;
        let request = HandoffRequest {
            task: Some(self.asked.clone()),
            relevance: Some(relevance.to_owned()),
            model: self.lab.plan.model.clone(),
            host: Some(self.lab.plan.host),
            context: section != Some(BriefSection::Context),
            specialization: section != Some(BriefSection::Specialization),
            reasoning: (section == Some(BriefSection::Reasoning)).then_some(false),
            ..HandoffRequest::new(
                self.session.clone(),
                task.role.clone(),
                self.app.new_receipt()?,
                self.task.at,
            )
        };
        let mut config = self.app.config()?.clone();
        config.brief.notes &= section != Some(BriefSection::Notes);
        let blind = NoPlaces(&self.app);
        let technology: &dyn TechnologySource =
            if section == Some(BriefSection::Places) { &blind } else { &self.app };
        let handoffs = Handoffs { config: &config, technology, ..self.app.handoffs()? };
        let brief = handoffs.preview(&request);
        Ok(Prompt {
            tokens: brief.tokens,
            files: self.files(&brief)?,
            context: request.context,
            specialization: request.specialization,
            text: brief.text,
        })
    }

    /// The brief for another task whose size is nearest: the same amount of text of the same kind, from the same
    /// time, but not about this task.
    fn placebo(&self, at: usize) -> Result<Prompt, CommandError> {
        let real = self.prompt(Arm::Brief, &self.asked)?;
        let others = (1..self.lab.tasks.len()).map(|step| (at + step) % self.lab.tasks.len());
        let mut best: Option<Prompt> = None;
        for other in others.take(MOST_OTHERS) {
            let made = self.prompt(Arm::Placebo, &asked(self.lab, other)?)?;
            let off = |prompt: &Prompt| prompt.tokens.abs_diff(real.tokens);
            if best.as_ref().is_none_or(|best| off(&made) < off(best)) {
                best = Some(made);
            }
        }
        // An experiment with a placebo has at least two tasks.
        Ok(best.unwrap_or(real))
    }

    /// The packages of a brief that are not in the repository.
    fn files(&self, brief: &Brief) -> Result<Vec<(String, String)>, CommandError> {
        let mut files = Vec::new();
        for package in brief.context.iter().flat_map(|context| &context.packages) {
            if below_handover(&package.path).is_some() {
                files.push((package.path.clone(), self.app.store()?.package_body(package.id)?));
            }
        }
        Ok(files)
    }
}

/// The session whose packages a brief is made from: the one in use now, if it existed then, else the latest.
fn session(now: &App, past: &App) -> Result<SessionId, CommandError> {
    let store = past.store()?;
    let mut active = store.sessions(Some(SessionStatus::Active))?;
    active.sort_by_key(|session| session.created_at);
    let current = now.session_if_any().ok().flatten();
    let known = active.iter().find(|session| current.as_ref() == Some(&session.id));
    if let Some(session) = known.or_else(|| active.last()) {
        return Ok(session.id.clone());
    }
    let id = SessionId::new(DEFAULT_SESSION)?;
    store.open_session(&NewSession {
        id: id.clone(),
        project: past.project_id()?,
        metadata: handover_text::CleanJson::default(),
        now: past.now(),
    })?;
    Ok(id)
}

/// A checkout whose files nobody may be pointed to.
struct NoPlaces<'a>(&'a App);

impl TechnologySource for NoPlaces<'_> {
    fn technology(&self) -> &Technology {
        self.0.technology()
    }

    fn where_to_look(&self, _task: &str) -> Vec<ShownPlace> {
        Vec::new()
    }

    fn loads(&self, host: Host) -> &'static [&'static str] {
        self.0.loads(host)
    }

    fn freshness(&self) -> Box<dyn Freshness + '_> {
        self.0.freshness()
    }
}
