//! What a run would do, without leaving a trace: its plan, its gates and the prompts of its first
//! agents.

use std::path::Path;

use handover_model::{Role, RunPhase, StoryState};

use super::{NO_GATES, Planner, RunRequest, cautions, group_of};
use crate::EngineError;
use crate::bounded;
use crate::gates::Gate;
use crate::pipeline::{AgentStep, PartyStep, Pipeline, Step};
use crate::prompt::PromptRequest;
use crate::reducer::{Event, Plan, State, StoryRun, UnitKind};
use crate::story::{Discovery, Match, epic_section};
use crate::task::{Documents, TaskParts, kind, role_text, task};

/// What a run would do.
#[derive(Debug, Clone)]
pub struct Preview {
    /// The plan.
    pub plan: Plan,
    /// Why each file was selected.
    pub matches: Vec<Match>,
    /// Why other files in the same folders were not selected.
    pub others: Vec<Match>,
    /// The stories that would not start, with the reason.
    pub blocked: Vec<(String, String)>,
    /// The gates that would check the work.
    pub gates: Vec<String>,
    /// What to know before an agent is paid.
    pub cautions: Vec<String>,
    /// The prompts of the first agents, as far as they can be known in advance.
    pub prompts: Vec<PreviewPrompt>,
}

/// The prompt of one agent.
#[derive(Debug, Clone)]
pub struct PreviewPrompt {
    /// The story.
    pub story: String,
    /// The agent's phase.
    pub phase: RunPhase,
    /// The agent's role.
    pub role: Role,
    /// The agent's persona, in a party.
    pub persona: Option<String>,
    /// The text of the prompt.
    pub text: String,
}

impl Planner<'_> {
    /// What a run would do, without leaving a trace.
    pub(crate) fn preview(&self, request: &RunRequest) -> Result<Preview, EngineError> {
        let discovery = self.discover(request)?;
        let plan = self.plan_of(request, &discovery, false)?;
        let started =
            Event::Started { plan: Box::new(plan.clone()), options: Box::new(request.options()) };
        let state = State::start(&started);
        let (mut prompts, mut blocked) = (Vec::new(), Vec::new());
        if let Some(state) = &state {
            let waits = state.stories.iter().filter(|story| story.state == StoryState::Blocked);
            blocked.extend(waits.map(|story| (story.planned.id.clone(), story.reason.clone())));
            prompts = self.prompts(state, &discovery)?;
        }
        let gates: Vec<String> = self.gates().into_iter().map(|gate| gate.name).collect();
        let mut cautions = cautions(&request.options());
        if gates.is_empty() {
            cautions.push(NO_GATES.to_owned());
        }
        Ok(Preview {
            prompts,
            blocked,
            gates,
            cautions,
            matches: discovery.matches,
            others: discovery.others,
            plan,
        })
    }

    fn prompts(
        &self,
        state: &State,
        discovery: &Discovery,
    ) -> Result<Vec<PreviewPrompt>, EngineError> {
        let plan = &state.plan;
        let epic = plan.epic_file.as_ref().map(|path| self.project.join(path));
        let epic = epic.and_then(|path| bounded::text(&path)).unwrap_or_default();
        let epic = epic_section(&epic, &plan.epic).unwrap_or(&epic);
        let mut prompts = Vec::new();
        for story in state.units().filter(|unit| unit.state == StoryState::Pending) {
            let text = discovery.stories.iter().find(|(found, _)| found.id == story.planned.id);
            let text = text.map_or(epic, |(found, _)| found.text.as_str());
            for (step, party) in first_agents(&plan.pipeline, story.kind) {
                prompts.push(self.prompt(state, story, &step, party, text)?);
            }
        }
        Ok(prompts)
    }

    fn prompt(
        &self,
        state: &State,
        story: &StoryRun,
        step: &AgentStep,
        party: Option<&PartyStep>,
        text: &str,
    ) -> Result<PreviewPrompt, EngineError> {
        let parts = TaskParts {
            state,
            story,
            step,
            text,
            patch: "",
            nonce: "<nonce>",
            result: Path::new("<result file>"),
            gates: &self.gates().iter().map(Gate::shown).collect::<Vec<_>>(),
            documents: &Documents::read(self.project, &state.plan),
        };
        let request = PromptRequest {
            session: state.plan.records_in.clone(),
            group: group_of(&story.planned.id)?,
            role: step.role.clone(),
            role_text: role_text(step, party),
            reasoning: kind(step).is_cold.then_some(false),
            host: state.options.host,
            model: step.model.clone().or_else(|| state.options.model.clone()),
            folder: None,
            task: task(&parts),
            about: format!("{}\n{text}", story.planned.title),
            unique: "preview".to_owned(),
            now: self.now,
        };
        Ok(PreviewPrompt {
            story: story.planned.id.clone(),
            phase: step.phase,
            role: step.role.clone(),
            persona: step.voice.as_ref().map(|voice| voice.persona.clone()),
            text: request.preview(&self.handoffs)?,
        })
    }
}

/// The agents of a run, each once: those of a run without failures, the other members of a team, and who analyzes
/// a failure; of parties, the voices of the first round.
pub(super) fn first_agents(
    pipeline: &Pipeline,
    kind: UnitKind,
) -> Vec<(AgentStep, Option<&PartyStep>)> {
    let members = pipeline.flow.iter().flat_map(|flow| &flow.members);
    let (members, steps): (Vec<_>, Vec<&Step>) = match kind {
        UnitKind::Story => {
            (members.collect(), pipeline.steps.iter().chain(&pipeline.on_failure).collect())
        }
        UnitKind::Closing => (Vec::new(), pipeline.closing.iter().collect()),
    };
    let mut agents: Vec<_> =
        members.into_iter().map(|member| (member.agent.clone(), None)).collect();
    for step in steps {
        match step {
            Step::Agent(step) => agents.push((step.clone(), None)),
            Step::Party(party) => {
                let voices =
                    party.speakers().into_iter().map(|id| (party.voice(&id, 1), Some(party)));
                agents.extend(voices);
            }
            Step::Gates | Step::Uat(_) | Step::Commit => {}
        }
    }
    agents
}
