//! The built-in team: a developer builds, the gates and a QA expert test, a tech lead decides. Rejected
//! work goes back to the developer, and after two failures to a senior engineer; an investigator looks into
//! unexplained failures; a project manager closes the epic.
//!
//! One table lists what each role can report and which transition follows. Nothing else decides.

use handover_model::{Profile, Role, RunPhase, StoryState, TeamStatus, TestingMode, Verdict};

use super::{
    AgentStep, Flow, FlowRule, Member, PartyRules, Pipeline, Step, Transition, agent_step,
};

const DEVELOPER: &str = "developer";
const SENIOR: &str = "senior_software_engineer";
const QA: &str = "qa_expert";
const LEAD: &str = "tech_lead";
const INVESTIGATOR: &str = "investigator";
const MANAGER: &str = "project_manager";
/// A developer who fixes rejected work.
const REWORK: &str = "rework";

/// After this many failures the senior engineer takes over.
const PATIENCE: u32 = 2;
/// The most agents that may work on one story.
const MOST: u32 = 30;

/// A [`Transition`] that can be a constant.
#[derive(Clone, Copy)]
enum Leads {
    Hand(&'static str),
    Check(&'static str),
    Rework,
    Resume,
    Again,
    Keep,
    Stop(StoryState),
}

/// For each role and status code the verdict and the transition.
const TABLE: &[(&str, TeamStatus, Verdict, Leads)] = {
    use Leads::{Again, Check, Hand, Keep, Resume, Rework, Stop};
    use TeamStatus as T;
    use Verdict::{Complete, Escalate, Failed, Passed, PassedWithFixes, Retry};
    const BLOCKED: Verdict = Verdict::Blocked;
    const SKIP: Verdict = Verdict::Skip;
    &[
        (DEVELOPER, T::ReadyForQa, Complete, Check(QA)),
        (DEVELOPER, T::ReadyForReview, Complete, Check(LEAD)),
        (DEVELOPER, T::NeedsTechLeadValidation, Complete, Check(LEAD)),
        (DEVELOPER, T::Blocked, BLOCKED, Hand(INVESTIGATOR)),
        (DEVELOPER, T::SpawnInvestigator, BLOCKED, Hand(INVESTIGATOR)),
        (DEVELOPER, T::Partial, Retry, Again),
        (DEVELOPER, T::Incomplete, Failed, Rework),
        (DEVELOPER, T::EscalateSenior, Escalate, Hand(SENIOR)),
        (DEVELOPER, T::Skip, SKIP, Stop(StoryState::Skipped)),
        (SENIOR, T::ReadyForQa, Complete, Check(QA)),
        (SENIOR, T::ReadyForReview, Complete, Check(LEAD)),
        (SENIOR, T::NeedsTechLeadValidation, Complete, Check(LEAD)),
        (SENIOR, T::RootCauseFound, Complete, Check(LEAD)),
        (SENIOR, T::Blocked, BLOCKED, Hand(LEAD)),
        (SENIOR, T::SpawnInvestigator, BLOCKED, Hand(INVESTIGATOR)),
        (SENIOR, T::Partial, Retry, Again),
        (SENIOR, T::Incomplete, Failed, Rework),
        (SENIOR, T::NeedsClarification, Escalate, Stop(StoryState::Blocked)),
        (SENIOR, T::Skip, SKIP, Stop(StoryState::Skipped)),
        (QA, T::Pass, Passed, Hand(LEAD)),
        (QA, T::Partial, PassedWithFixes, Hand(LEAD)),
        (QA, T::Flaky, PassedWithFixes, Hand(LEAD)),
        (QA, T::Fail, Failed, Rework),
        (QA, T::FailEscalate, Failed, Hand(SENIOR)),
        (QA, T::Blocked, BLOCKED, Hand(LEAD)),
        (QA, T::NeedsClarification, Escalate, Stop(StoryState::Blocked)),
        (LEAD, T::Approved, Passed, Keep),
        (LEAD, T::ApprovedWithNotes, PassedWithFixes, Keep),
        (LEAD, T::ChangesRequested, Failed, Rework),
        (LEAD, T::UnblockingGuidance, Failed, Resume),
        (LEAD, T::ArchitecturalDecisionMade, Failed, Resume),
        (LEAD, T::Blocked, BLOCKED, Stop(StoryState::Blocked)),
        (LEAD, T::SpawnInvestigator, BLOCKED, Hand(INVESTIGATOR)),
        (LEAD, T::NeedsClarification, Escalate, Stop(StoryState::Blocked)),
        (LEAD, T::EscalateToOpus, Escalate, Again),
        (INVESTIGATOR, T::RootCauseFound, Retry, Hand(LEAD)),
        (INVESTIGATOR, T::InvestigationIncomplete, Retry, Hand(LEAD)),
        (INVESTIGATOR, T::NeedDeveloperDiagnostic, Retry, Resume),
        (INVESTIGATOR, T::HypothesisEliminated, Retry, Again),
        (INVESTIGATOR, T::NeedMoreAnalysis, Retry, Again),
        (INVESTIGATOR, T::Blocked, Escalate, Hand(LEAD)),
        (INVESTIGATOR, T::Exhausted, Escalate, Hand(LEAD)),
        (INVESTIGATOR, T::Skip, SKIP, Stop(StoryState::Skipped)),
        (MANAGER, T::Bazinga, Complete, Keep),
        (MANAGER, T::InvestigationOnly, Complete, Keep),
        (MANAGER, T::PlanningComplete, Complete, Again),
        (MANAGER, T::Continue, Failed, Stop(StoryState::Failed)),
        (MANAGER, T::NeedsClarification, Failed, Stop(StoryState::Blocked)),
        (MANAGER, T::InvestigationNeeded, Failed, Stop(StoryState::Blocked)),
    ]
};

/// The transition of an unclear report, by role.
const UNCLEAR: &[(&str, Leads)] = &[
    (DEVELOPER, Leads::Rework),
    (SENIOR, Leads::Rework),
    (QA, Leads::Again),
    (LEAD, Leads::Again),
    (INVESTIGATOR, Leads::Hand(LEAD)),
    (MANAGER, Leads::Again),
];

/// Alternative names of status codes.
const ALIASES: &[(&str, TeamStatus)] = &[
    ("INCOMPLETE", TeamStatus::InvestigationIncomplete),
    ("WAITING_FOR_RESULTS", TeamStatus::NeedDeveloperDiagnostic),
    ("UNBLOCKING_GUIDANCE_PROVIDED", TeamStatus::UnblockingGuidance),
];

impl Pipeline {
    /// A team. Developers have `profile`, and so have QA and the investigator, who must run what they judge; what
    /// they change is discarded. All others are read-only. Without full testing there is no QA.
    pub fn team(profile: Profile, testing: TestingMode) -> Self {
        let members = [
            (DEVELOPER, RunPhase::Dev, DEVELOPER, profile),
            (REWORK, RunPhase::Fix, DEVELOPER, profile),
            (SENIOR, RunPhase::Fix, SENIOR, profile),
            (QA, RunPhase::Review, QA, profile),
            (LEAD, RunPhase::Review, LEAD, Profile::ReadOnly),
            (INVESTIGATOR, RunPhase::Analysis, INVESTIGATOR, profile),
        ];
        let member = |(name, phase, role, profile): (&str, RunPhase, &str, Profile)| Member {
            name: name.to_owned(),
            agent: member(phase, role, profile),
        };
        let to = |leads| match leads {
            Leads::Check(QA) if testing != TestingMode::Full => {
                Transition::Check { next: LEAD.to_owned() }
            }
            Leads::Hand(next) => Transition::Hand { next: next.to_owned() },
            Leads::Check(next) => Transition::Check { next: next.to_owned() },
            Leads::Rework => Transition::Rework,
            Leads::Resume => Transition::Resume,
            Leads::Again => Transition::Again,
            Leads::Keep => Transition::Keep,
            Leads::Stop(state) => Transition::Stop { state },
        };
        let said = TABLE.iter().map(|(from, status, _, leads)| (*from, Some(*status), *leads));
        let unclear = UNCLEAR.iter().map(|(from, leads)| (*from, None, *leads));
        let rules = said
            .chain(unclear)
            .map(|(from, status, leads)| FlowRule { from: role(from), status, to: to(leads) })
            .collect();
        let manager = member_of_closing();
        Self {
            name: "team".to_owned(),
            steps: Vec::new(),
            fix: member((REWORK, RunPhase::Fix, DEVELOPER, profile)).agent,
            after_fix: 0,
            closing: vec![Step::Agent(manager), Step::Commit],
            on_failure: None,
            flow: Some(Flow {
                start: DEVELOPER.to_owned(),
                builder: REWORK.to_owned(),
                senior: SENIOR.to_owned(),
                patience: PATIENCE,
                most: MOST,
                members: members.into_iter().map(member).collect(),
                rules,
            }),
            rules: PartyRules::default(),
        }
    }
}

fn member_of_closing() -> AgentStep {
    member(RunPhase::Retro, MANAGER, Profile::ReadOnly)
}

fn member(phase: RunPhase, name: &str, profile: Profile) -> AgentStep {
    let codes = TABLE.iter().filter(|(from, ..)| *from == name);
    let statuses = codes.map(|(_, status, verdict, _)| (*status, *verdict)).collect();
    AgentStep { statuses, ..agent_step(phase, name, profile) }
}

fn role(name: &str) -> Role {
    agent_step(RunPhase::Dev, name, Profile::ReadOnly).role
}

/// The status code that a word means, among those that the member may report.
pub(crate) fn status(
    word: &str,
    statuses: &[(TeamStatus, Verdict)],
) -> Option<(TeamStatus, Verdict)> {
    let exact = word.parse().ok();
    let other = ALIASES.iter().find(|(alias, _)| *alias == word).map(|(_, status)| *status);
    let find = |wanted| statuses.iter().find(|(status, _)| *status == wanted).copied();
    exact.and_then(find).or_else(|| other.and_then(find))
}
