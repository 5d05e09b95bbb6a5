//! What a run will cost, from what agents of earlier runs did cost.

use std::collections::BTreeMap;
use std::fmt;

use handover_model::{Host, ProjectId, RunPhase, StoryState};
use handover_store::{RunFilter, Store};
use serde::Serialize;

use crate::pipeline::{Pipeline, Step};
use crate::reducer::{Event, Options, Plan, State, StoryRun};
use crate::words::count;
use crate::{EngineError, fold};

/// How many earlier runs are looked at.
const RUNS: u32 = 20;
/// The most agents that a story gets from a team.
const TEAM: u32 = 30;

/// What a run will cost, as far as it is known.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Forecast {
    /// The stories that are to be done.
    pub stories: usize,
    /// What agents of each phase did cost.
    pub phases: Vec<PhaseCost>,
    /// How many earlier agents that is based on.
    pub agents: usize,
    /// The cost if nothing needs a fix, by the medians; none if that of some phase is not known.
    pub usual_usd: Option<f64>,
    /// The cost if every fix is used up, by the most expensive agents; retries are not counted.
    pub most_usd: Option<f64>,
    /// Where the run stops.
    pub limit_usd: Option<f64>,
}

/// What agents of a phase did cost, and how many there will be.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PhaseCost {
    /// The phase.
    pub phase: RunPhase,
    /// How many agents if nothing fails.
    pub at_least: u32,
    /// How many agents if every fix is used up.
    pub at_most: u32,
    /// The median of earlier ones; none if no cost is known.
    pub median_usd: Option<f64>,
    /// The most expensive of earlier ones.
    pub max_usd: Option<f64>,
}

impl Forecast {
    pub(crate) fn new(
        store: &dyn Store,
        project: &ProjectId,
        plan: &Plan,
        options: &Options,
    ) -> Result<Self, EngineError> {
        let earlier = earlier(store, project, options.host)?;
        let started =
            Event::Started { plan: Box::new(plan.clone()), options: Box::new(options.clone()) };
        let state = State::start(&started);
        let is_open = |story: &&StoryRun| story.state == StoryState::Pending;
        let stories = state.map_or(0, |state| state.stories.iter().filter(is_open).count());
        let phases: Vec<PhaseCost> = agents(&plan.pipeline, stories, options)
            .into_iter()
            .filter(|(_, (_, at_most))| *at_most > 0)
            .map(|(phase, (at_least, at_most))| {
                let costs = earlier.get(&phase).map(Vec::as_slice).unwrap_or_default();
                let median_usd = costs.get(costs.len() / 2).copied();
                PhaseCost { phase, at_least, at_most, median_usd, max_usd: costs.last().copied() }
            })
            .collect();
        let usual = phases.iter().filter(|phase| phase.at_least > 0);
        Ok(Self {
            stories,
            agents: phases.iter().filter_map(|phase| earlier.get(&phase.phase)).map(Vec::len).sum(),
            usual_usd: usual.map(|it| Some(it.median_usd? * f64::from(it.at_least))).sum(),
            most_usd: phases.iter().map(|it| Some(it.max_usd? * f64::from(it.at_most))).sum(),
            limit_usd: options.budget.run.usd,
            phases,
        })
    }

    /// The phases whose cost is not known.
    fn unknown(&self) -> Vec<&str> {
        let unknown = self.phases.iter().filter(|phase| phase.max_usd.is_none());
        unknown.map(|phase| phase.phase.as_str()).collect()
    }
}

impl fmt::Display for Forecast {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { stories, agents, .. } = self;
        match (self.usual_usd, self.most_usd) {
            _ if *agents == 0 => {
                f.write_str("cost: unknown, no earlier run reports what its agents cost")?;
            }
            (Some(usual), Some(most)) => {
                write!(f, "cost: about {usual:.2} USD, at most {most:.2}")?;
            }
            (Some(usual), None) => write!(f, "cost: about {usual:.2} USD, at most unknown")?,
            (None, _) => f.write_str("cost: unknown")?,
        }
        let unknown = self.unknown();
        if *agents > 0 && !unknown.is_empty() {
            write!(f, " (no earlier agent of {})", unknown.join(", "))?;
        }
        if *agents > 0 {
            write!(
                f,
                "; {}, going by {}, without retries",
                count(u64::try_from(*stories).unwrap_or(u64::MAX), "story"),
                count(u64::try_from(*agents).unwrap_or(u64::MAX), "earlier agent")
            )?;
        }
        if let Some(limit) = self.limit_usd {
            write!(f, "; it stops at {limit:.2} USD")?;
        }
        Ok(())
    }
}

/// What agents of the same program did cost in the latest runs of the project, ascending. A program that
/// reports no cost says 0.
fn earlier(
    store: &dyn Store,
    project: &ProjectId,
    host: Host,
) -> Result<BTreeMap<RunPhase, Vec<f64>>, EngineError> {
    let mut costs: BTreeMap<RunPhase, Vec<f64>> = BTreeMap::new();
    for run in store.runs(&RunFilter { epic: None, limit: Some(RUNS) })? {
        let is_ours = store.session(&run.session).is_ok_and(|session| session.project == *project);
        let Some(folded) = fold(&run.id, &store.journal(&run.id, 1)?)?.filter(|_| is_ours) else {
            continue;
        };
        if folded.state.options.host != host {
            continue;
        }
        for line in folded.state.units().flat_map(|unit| &unit.lines) {
            if let Some(phase) = line.agent.filter(|_| line.spent.cost_usd > 0.0) {
                costs.entry(phase).or_default().push(line.spent.cost_usd);
            }
        }
    }
    costs.values_mut().for_each(|costs| costs.sort_by(f64::total_cmp));
    Ok(costs)
}

/// How many agents of each phase a run has: if nothing fails, and if every fix is used up.
fn agents(
    pipeline: &Pipeline,
    stories: usize,
    options: &Options,
) -> BTreeMap<RunPhase, (u32, u32)> {
    let stories = u32::try_from(stories).unwrap_or(u32::MAX);
    let mut counts: BTreeMap<RunPhase, (u32, u32)> = BTreeMap::new();
    let mut add = |phase, at_least: u32, at_most: u32| {
        let (least, most) = counts.entry(phase).or_default();
        *least = least.saturating_add(at_least);
        *most = most.saturating_add(at_most);
    };
    let again = if pipeline.on_failure.is_some() { options.max_retries } else { 0 };
    if let Some(flow) = &pipeline.flow {
        let start = flow.members.get(flow.position(&flow.start).unwrap_or(0));
        // A team decides itself who is needed, up to a number.
        if let Some(member) = start {
            add(member.agent.phase, stories, stories.saturating_mul(TEAM));
        }
    } else {
        let fixes = options.max_fixes.saturating_add(again);
        for (at, step) in pipeline.steps.iter().enumerate() {
            let times = if at >= pipeline.after_fix { 1 + fixes } else { 1 + again };
            let Some((phase, once, all)) = width(step) else { continue };
            add(phase, once * stories, (all * stories).saturating_mul(times));
        }
        add(pipeline.fix.phase, 0, stories.saturating_mul(fixes));
    }
    if let Some((phase, _, all)) = pipeline.on_failure.as_ref().and_then(width) {
        add(phase, 0, (all * stories).saturating_mul(1 + again));
    }
    for step in &pipeline.closing {
        match (width(step), step) {
            (Some((phase, once, all)), _) => add(phase, once, all),
            (None, Step::Uat(uat)) => add(pipeline.fix.phase, 0, uat.heal),
            (None, _) => {}
        }
    }
    counts
}

/// The phase of a step and its agents: in the first round, and in all.
fn width(step: &Step) -> Option<(RunPhase, u32, u32)> {
    match step {
        Step::Agent(agent) => Some((agent.phase, 1, 1)),
        Step::Party(party) => {
            let voices = u32::try_from(party.speakers().len()).unwrap_or(u32::MAX);
            Some((party.agent.phase, voices, voices.saturating_mul(party.rounds)))
        }
        Step::Gates | Step::Uat(_) | Step::Commit => None,
    }
}
