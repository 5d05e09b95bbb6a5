//! From what a user asks for to the plan of a run.

use std::path::Path;

use handover_model::{EpicId, Host, RunPhase, SessionId};

use crate::EngineError;
use crate::git::{GitError, Repo};
use crate::pipeline::{AgentStep, PartyStep, Pipeline, Step};
use crate::prompt::Ask;
use crate::reducer::{Event, Options, Plan, PlannedStory, State, UnitKind};
use crate::runner::{Engine, group_of};
use crate::story::{Discovery, Match, Status, StoryError, discover};
use crate::task::{TaskParts, kind, role_text, task};

/// What a user asks for.
#[derive(Debug, Clone)]
pub struct Request {
    /// The epic.
    pub epic: EpicId,
    /// Where its agents' records go; the epic's own session if nobody says.
    pub session: Option<SessionId>,
    /// Whether a run that did not come to its end goes on.
    pub resume: bool,
    /// The first story to work on.
    pub start_from: Option<String>,
    /// Whether stories that are done are left out.
    pub skip_done: bool,
    /// What happens to a story and to the epic.
    pub pipeline: Pipeline,
    /// Whether only what closes the epic is done.
    pub only_closing: bool,
    /// The commit to start from; the user's unless somebody says.
    pub from: Option<String>,
    /// How it works if nobody says otherwise.
    pub defaults: Options,
    /// What the user says now.
    pub given: Given,
}

/// What a user says about how a run works; the rest is as it was, or as it is configured.
#[derive(Debug, Clone, Default)]
pub struct Given {
    /// The agent program's kind, and for `command` the program.
    pub host: Option<(Host, Option<String>)>,
    /// The model.
    pub model: Option<String>,
    /// Whether commits stay off every branch.
    pub no_commit: bool,
    /// Whether the user's branch follows at the end.
    pub merge: bool,
    /// How many stories are worked on at once.
    pub parallel: Option<u32>,
    /// Money for the whole run.
    pub max_cost: Option<f64>,
    /// The longest phase, in seconds.
    pub phase_timeout: Option<u64>,
    /// The longest silence, in seconds.
    pub idle_timeout: Option<u64>,
    /// How often findings are mended.
    pub max_fixes: Option<u32>,
    /// Whether the run fails if its scenarios do.
    pub uat_blocking: bool,
}

impl Request {
    /// The options of a run that begins.
    pub(crate) fn options(&self) -> Options {
        self.over(self.defaults.clone())
    }

    /// The options of a run that goes on: as it was, but for what the user says now and for a budget
    /// that was configured since.
    pub(crate) fn resumed(&self, before: &Options) -> Result<Options, EngineError> {
        let mut options = before.clone();
        let usd = self.defaults.budget.run.usd.or(before.budget.run.usd);
        options.budget.clone_from(&self.defaults.budget);
        options.budget.run.usd = usd;
        let options = self.over(options);
        if options.command.as_ref().is_some_and(|command| command.contains("[REDACTED")) {
            return Err(EngineError::RedactedCommand);
        }
        Ok(options)
    }

    fn over(&self, mut options: Options) -> Options {
        let Given {
            host,
            model,
            no_commit,
            merge,
            parallel,
            max_cost,
            phase_timeout,
            idle_timeout,
            max_fixes,
            uat_blocking,
        } = &self.given;
        if let Some((host, command)) = host {
            options.host = *host;
            options.command.clone_from(command);
        }
        if model.is_some() {
            options.model.clone_from(model);
        }
        options.no_commit |= no_commit;
        options.merge |= merge;
        options.parallel = parallel.unwrap_or(options.parallel);
        options.budget.run.usd = max_cost.or(options.budget.run.usd);
        options.phase_timeout = phase_timeout.unwrap_or(options.phase_timeout);
        options.idle_timeout = idle_timeout.unwrap_or(options.idle_timeout);
        options.max_fixes = max_fixes.unwrap_or(options.max_fixes);
        options.uat_blocking |= uat_blocking;
        options
    }
}

/// What would be run.
#[derive(Debug, Clone)]
pub struct Preview {
    /// The plan.
    pub plan: Plan,
    /// Why each file was taken.
    pub matches: Vec<Match>,
    /// The gates that would check the work.
    pub gates: Vec<String>,
    /// What agents would be told, as far as that is known before anything is done.
    pub prompts: Vec<PreviewPrompt>,
}

/// What an agent would be told.
#[derive(Debug, Clone)]
pub struct PreviewPrompt {
    /// The story.
    pub story: String,
    /// What the agent is there for.
    pub phase: RunPhase,
    /// As whom it speaks, in a party.
    pub persona: Option<String>,
    /// What it would be told.
    pub text: String,
}

/// Plans a run.
pub(crate) fn plan(
    engine: &Engine<'_>,
    repo: &Repo,
    request: &Request,
) -> Result<Plan, EngineError> {
    let discovery = discovered(engine, request)?;
    plan_of(engine, repo, request, &discovery)
}

/// The epic and its stories; what only closes it needs none.
fn discovered(engine: &Engine<'_>, request: &Request) -> Result<Discovery, EngineError> {
    let found = discover(&engine.project, &request.epic);
    if !request.only_closing {
        return Ok(found?);
    }
    let epic = request.epic.clone();
    let none = Discovery { epic, epic_file: None, stories: Vec::new(), matches: Vec::new() };
    match found {
        Ok(found) => Ok(Discovery { stories: Vec::new(), ..found }),
        Err(StoryError::NotFound { .. } | StoryError::NoStories { .. }) => Ok(none),
        Err(error) => Err(error.into()),
    }
}

/// The commit that a run starts from. The branch of an earlier run is gone on with.
fn base(
    repo: &Repo,
    request: &Request,
    branch: &str,
    user_branch: Option<&str>,
) -> Result<String, EngineError> {
    let full = format!("refs/heads/{branch}");
    let head = match &request.from {
        Some(commit) => commit.clone(),
        None => repo.head()?,
    };
    let earlier = repo.resolve(&full)?;
    if request.only_closing && !request.pipeline.keeps_closing() {
        // It is only looked at, wherever it stands.
        return Ok(earlier.unwrap_or(head));
    }
    if user_branch == Some(branch) {
        return Err(GitError::CheckedOut { branch: branch.to_owned() }.into());
    }
    match earlier {
        // An earlier run went on from here, and so does this one.
        Some(earlier) if repo.is_ancestor(&head, &earlier)? => Ok(earlier),
        Some(earlier) if repo.is_ancestor(&earlier, &head)? => {
            if !request.given.no_commit && earlier != head {
                repo.move_ref(&full, &head, Some(&earlier))?;
            }
            Ok(head)
        }
        Some(_) => Err(GitError::Diverged { branch: branch.to_owned() }.into()),
        None => Ok(head),
    }
}

fn plan_of(
    engine: &Engine<'_>,
    repo: &Repo,
    request: &Request,
    discovery: &Discovery,
) -> Result<Plan, EngineError> {
    let branch = format!("handover/epic-{}", request.epic);
    let user_branch = repo.current_branch()?;
    let base = base(repo, request, &branch, user_branch.as_deref())?;
    let continues = repo.resolve(&format!("refs/heads/{branch}"))?.is_some();
    let mut stories = Vec::new();
    let mut before_start = request.start_from.is_some();
    for (story, waits_for) in &discovery.stories {
        if let Some(found) = engine.redactor.find(&format!("{} {}", story.id, story.path)).pop() {
            return Err(EngineError::SecretName { story: story.id.clone(), rule: found.rule });
        }
        if before_start && is_meant(&story.id, story.number, request) {
            before_start = false;
        }
        let done = request.skip_done
            && (story.status == Some(Status::Done) || done_in(repo, &base, &story.path)?);
        let skip = if before_start {
            Some("before the story to start from")
        } else if done {
            Some("done already")
        } else {
            None
        };
        stories.push(PlannedStory {
            id: story.id.clone(),
            title: story.title.clone(),
            path: story.path.clone(),
            waits_for: waits_for.clone(),
            skip: skip.map(str::to_owned),
        });
    }
    if let Some(story) = request.start_from.clone().filter(|_| before_start) {
        let stories = stories.into_iter().map(|story| story.id).collect();
        return Err(EngineError::NoSuchStory { epic: request.epic.to_string(), story, stories });
    }
    let records_in = match &request.session {
        Some(session) => session.clone(),
        None => own_session(&request.epic)?,
    };
    Ok(Plan {
        epic: request.epic.clone(),
        epic_file: discovery.epic_file.clone(),
        records_in,
        base,
        user_branch,
        branch,
        continues,
        pipeline: request.pipeline.clone(),
        stories,
    })
}

/// The session that the runs of an epic share.
pub(crate) fn own_session(epic: &EpicId) -> Result<SessionId, EngineError> {
    Ok(SessionId::new(format!("epic-{epic}"))?)
}

/// A story by its id, or by its number: `2`, `1.2` and `1-2-login` all mean the second of epic 1.
fn is_meant(id: &str, number: Option<u64>, request: &Request) -> bool {
    let Some(word) = &request.start_from else { return true };
    if id == word {
        return true;
    }
    let last = word.rsplit(['.', '-']).next().and_then(|last| last.parse().ok());
    let epic = word.rsplit_once(['.', '-']).map_or(request.epic.as_str(), |(epic, _)| epic);
    last.is_some() && last == number && epic.trim_start_matches("story-") == request.epic.as_str()
}

fn done_in(repo: &Repo, base: &str, path: &str) -> Result<bool, EngineError> {
    let file = repo.file_of(base, &repo.prefix.join(path))?;
    let text = file.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    Ok(text.is_some_and(|text| Status::of(&text) == Some(Status::Done)))
}

/// What would be run, without any trace of it.
pub(crate) fn preview(
    engine: &Engine<'_>,
    repo: &Repo,
    request: &Request,
) -> Result<Preview, EngineError> {
    let discovery = discovered(engine, request)?;
    // A preview moves no branch.
    let mut still = request.clone();
    still.given.no_commit = true;
    let plan = plan_of(engine, repo, &still, &discovery)?;
    let project = &engine.project;
    let gates = crate::gates::detect(project, project, Path::new("reports"), &engine.config.gates);
    let event =
        Event::Started { plan: Box::new(plan.clone()), options: Box::new(request.options()) };
    let state = State::start(&event);
    let mut prompts = Vec::new();
    let epic = plan.epic_file.as_ref().map(|path| fs_err::read_to_string(project.join(path)));
    let epic = epic.and_then(Result::ok).unwrap_or_default();
    let units = state.iter().flat_map(|state| state.units().map(move |unit| (state, unit)));
    for (state, story) in units.filter(|(_, story)| story.planned.skip.is_none()) {
        let text = discovery.stories.iter().find(|(found, _)| found.id == story.planned.id);
        let text = text.map_or(epic.as_str(), |(found, _)| found.text.as_str());
        for (step, party) in first_agents(&plan.pipeline, story.kind) {
            let parts = TaskParts {
                state,
                story,
                step: &step,
                text,
                patch: "",
                nonce: "<nonce>",
                result: Path::new("<result file>"),
            };
            let options = request.options();
            let ask = Ask {
                session: plan.records_in.clone(),
                group: group_of(&story.planned.id)?,
                role: step.role.clone(),
                role_text: role_text(&step, party),
                reasoning: kind(&step).is_cold.then_some(false),
                host: options.host,
                model: step.model.clone().or(options.model),
                folder: None,
                task: task(&parts),
                about: format!("{}\n{text}", story.planned.title),
                unique: "preview".to_owned(),
                now: (engine.now)(),
            };
            prompts.push(PreviewPrompt {
                story: story.planned.id.clone(),
                phase: step.phase,
                persona: step.voice.as_ref().map(|voice| voice.persona.clone()),
                text: ask.preview(&engine.handoffs)?,
            });
        }
    }
    Ok(Preview {
        plan,
        matches: discovery.matches,
        gates: gates.into_iter().map(|gate| gate.name).collect(),
        prompts,
    })
}

/// Everybody who is asked if nothing goes wrong, each once: of parties those of the first round.
fn first_agents(pipeline: &Pipeline, kind: UnitKind) -> Vec<(AgentStep, Option<&PartyStep>)> {
    let (flow, steps) = match kind {
        UnitKind::Story => (pipeline.flow.as_ref(), &pipeline.steps),
        UnitKind::Closing => (None, &pipeline.closing),
    };
    let begins = flow.and_then(|flow| flow.members.get(flow.position(&flow.start)?));
    let mut agents: Vec<_> = begins.iter().map(|member| (member.agent.clone(), None)).collect();
    for step in steps {
        match step {
            Step::Agent(step) => agents.push((step.clone(), None)),
            Step::Party(party) => {
                let voices = party.seats().into_iter().map(|id| (party.voice(&id, 1), Some(party)));
                agents.extend(voices);
            }
            Step::Gates | Step::Uat(_) | Step::Commit => {}
        }
    }
    agents
}
