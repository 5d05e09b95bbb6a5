//! Storing a debrief: reasoning, packages, errors and the verdict, all of it or nothing.

use std::path::Path;

use handover_model::config::Config;
use handover_model::{
    AgentId, GroupId, KnownEvent, PackageId, PackageKind, Priority, ProjectId, ReceiptId,
    ReceiptState, Role, SessionId, Timestamp, Verdict,
};
use handover_store::{
    ErrorSighting, EventKey, NewEvent, NewReasoning, ReasoningFilter, ReceiptStep, Result, Store,
};
use handover_text::Redactor;
use serde::Serialize;
use serde_json::{Value, json};

use super::{Debrief, PackageNote, sent_back};
use crate::learning::{Binding, extract_strategies};
use crate::package_file::{self, Facts, ProjectPaths, Put, register_file};

/// Who left the debrief.
#[derive(Debug, Clone)]
pub struct Origin {
    /// The session.
    pub session: SessionId,
    /// The group.
    pub group: Option<GroupId>,
    /// The role.
    pub role: Role,
    /// The agent, if it has a name.
    pub agent: Option<AgentId>,
    /// Which attempt.
    pub iteration: u32,
    /// The receipt that it started with.
    pub receipt: Option<ReceiptId>,
    /// Now.
    pub now: Timestamp,
}

/// What storing needs.
#[derive(Clone, Copy)]
pub struct Setting<'a> {
    /// The store.
    pub store: &'a dyn Store,
    /// How secrets are found.
    pub redactor: &'a Redactor,
    /// Where package files may be.
    pub places: &'a ProjectPaths,
    /// The configuration.
    pub config: &'a Config,
    /// The language and framework of the project, for what it learns.
    pub binding: &'a Binding,
}

/// What was kept.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Kept {
    /// How many pieces of reasoning.
    pub reasoning: usize,
    /// The packages.
    pub packages: Vec<PackageId>,
    /// The patterns of solved errors, by hash.
    pub errors: Vec<String>,
    /// How many strategies the project took from it.
    pub strategies: usize,
    /// Whether the receipt is confirmed: the agent named it.
    pub confirmed: bool,
    /// What could not be kept, and why.
    pub refused: Vec<String>,
}

/// Stores a debrief.
pub fn keep(setting: Setting<'_>, origin: &Origin, debrief: &Debrief) -> Result<Kept> {
    setting.store.writing(|store| {
        let setting = Setting { store, ..setting };
        let mut kept = Kept { refused: debrief.problems.clone(), ..Kept::default() };
        reasoning(setting, origin, debrief, &mut kept)?;
        packages(setting, origin, &debrief.packages, &mut kept)?;
        errors(setting, origin, debrief, &mut kept)?;
        sent_back::learn(setting, origin, debrief, &mut kept)?;
        confirm(setting, origin, debrief, &mut kept)?;
        strategies(setting, origin, debrief, &mut kept)?;
        let payload = json!({
            "receipt": origin.receipt,
            "role": origin.role,
            "iteration": origin.iteration,
            "verdict": debrief.verdict,
            "summary": debrief.summary,
            "missing": debrief.missing,
            "kept": kept,
        });
        log(setting, origin, KnownEvent::Debrief, payload)?;
        if let Some(verdict) = debrief.verdict {
            let payload = json!({
                "receipt": origin.receipt, "role": origin.role, "verdict": verdict,
            });
            log(setting, origin, KnownEvent::Verdict, payload)?;
        }
        Ok(kept)
    })
}

/// Registers what an agent says about its files, and nothing else.
pub fn keep_packages(
    setting: Setting<'_>,
    origin: &Origin,
    packages: &[PackageNote],
) -> Result<Kept> {
    let mut kept = Kept::default();
    self::packages(setting, origin, packages, &mut kept)?;
    Ok(kept)
}

/// Notes that an agent left nothing, although it was asked.
pub fn keep_missing(setting: Setting<'_>, origin: &Origin, asked: bool) -> Result<()> {
    let payload = json!({
        "receipt": origin.receipt, "role": origin.role, "missing": [super::BLOCK], "asked": asked,
    });
    log(setting, origin, KnownEvent::Debrief, payload)
}

fn reasoning(
    setting: Setting<'_>,
    origin: &Origin,
    debrief: &Debrief,
    kept: &mut Kept,
) -> Result<()> {
    for (phase, text) in &debrief.reasoning {
        setting.store.add_reasoning(&NewReasoning {
            session: origin.session.clone(),
            group: origin.group.clone(),
            role: origin.role.clone(),
            agent_id: origin.agent.clone(),
            iteration: origin.iteration,
            phase: *phase,
            confidence: None,
            content: setting.redactor.clean(text),
            references: Vec::new(),
            now: origin.now,
        })?;
        kept.reasoning += 1;
    }
    Ok(())
}

fn packages(
    setting: Setting<'_>,
    origin: &Origin,
    notes: &[PackageNote],
    kept: &mut Kept,
) -> Result<()> {
    if notes.is_empty() {
        return Ok(());
    }
    let groups: Vec<GroupId> =
        setting.store.groups(&origin.session)?.into_iter().map(|group| group.id).collect();
    let drafts = package_file::DraftContext {
        places: setting.places,
        redactor: setting.redactor,
        session: &origin.session,
        groups: &groups,
        warn_bytes: setting.config.packages.warn_bytes,
        max_bytes: setting.config.packages.max_bytes,
        now: origin.now,
    };
    for note in notes {
        let located = setting.places.locate_untrusted(Path::new(&note.path));
        let put = match facts(note, origin) {
            Ok(facts) => register_file(setting.store, &drafts, located, facts)?,
            Err(reason) => Put::Skipped(reason),
        };
        match put {
            Put::Registered(registered) | Put::Unchanged(registered) => {
                kept.packages.push(registered.package.id);
            }
            Put::Skipped(reason) => kept.refused.push(format!("package `{}`: {reason}", note.path)),
        }
    }
    Ok(())
}

/// What the agent says about a file; what makes no sense refuses the file.
fn facts(note: &PackageNote, origin: &Origin) -> std::result::Result<Facts, String> {
    let lower = |text: &String| text.to_lowercase();
    let kind = note.kind.as_ref().map(lower).map(|kind| kind.parse::<PackageKind>()).transpose();
    let priority =
        note.priority.as_ref().map(lower).map(|word| word.parse::<Priority>()).transpose();
    let consumers: std::result::Result<Vec<Role>, _> =
        note.consumers.iter().map(|name| Role::new(name.to_lowercase())).collect();
    let consumers = consumers.map_err(|error| error.to_string())?;
    Ok(Facts {
        kind: kind.map_err(|error| error.to_string())?,
        producer: Some(origin.role.clone()),
        consumers: (!consumers.is_empty()).then_some(consumers),
        priority: priority.map_err(|error| error.to_string())?,
        summary: note.summary.clone(),
        default_group: origin.group.clone(),
        ..Facts::default()
    })
}

fn errors(setting: Setting<'_>, origin: &Origin, debrief: &Debrief, kept: &mut Kept) -> Result<()> {
    if debrief.errors.is_empty() {
        return Ok(());
    }
    let project = setting.store.session(&origin.session)?.project;
    for note in &debrief.errors {
        let sighting = sighting(setting, origin, &project, &note.message);
        let pattern = match &note.solution {
            Some(solution) => {
                setting.store.resolve_error(&sighting, &setting.redactor.clean(solution))?
            }
            None => setting.store.record_error(&sighting)?,
        };
        kept.errors.push(pattern.hash);
    }
    Ok(())
}

/// An error as the one who left the debrief saw it.
pub(super) fn sighting(
    setting: Setting<'_>,
    origin: &Origin,
    project: &ProjectId,
    message: &str,
) -> ErrorSighting {
    ErrorSighting {
        project: project.clone(),
        kind: None,
        message: setting.redactor.clean(message),
        hints: Vec::new(),
        language: setting.binding.language.as_deref().map(|name| setting.redactor.clean(name)),
        ttl_days: setting.config.learning.ttl_days,
        session: Some(origin.session.clone()),
        group: origin.group.clone(),
        role: Some(origin.role.clone()),
        command: None,
        now: origin.now,
    }
}

/// An agent that names its receipt has seen its prompt.
fn confirm(
    setting: Setting<'_>,
    origin: &Origin,
    debrief: &Debrief,
    kept: &mut Kept,
) -> Result<()> {
    let (Some(named), Some(given)) = (&debrief.receipt, &origin.receipt) else { return Ok(()) };
    if named != given {
        kept.refused.push(format!("it names receipt {named}, and it was given {given}"));
        return Ok(());
    }
    if setting.store.receipt(given)?.state == ReceiptState::Delivered {
        setting.store.advance_receipt(given, &ReceiptStep::Confirmed, origin.now)?;
    }
    kept.confirmed = true;
    Ok(())
}

/// A success teaches: a developer that finished without help teaches what it thought itself; QA that
/// passed at the first try and an approval teach what those thought who did the work.
fn strategies(
    setting: Setting<'_>,
    origin: &Origin,
    debrief: &Debrief,
    kept: &mut Kept,
) -> Result<()> {
    let own = match (origin.role.as_str(), debrief.verdict) {
        ("developer", Some(Verdict::Complete)) if origin.iteration == 0 => true,
        ("qa_expert", Some(Verdict::Passed)) if origin.iteration == 0 => false,
        ("tech_lead", Some(Verdict::Passed | Verdict::PassedWithFixes)) => false,
        _ => return Ok(()),
    };
    let Some(group) = &origin.group else { return Ok(()) };
    // A group that nobody named before has nothing to teach.
    let Ok(_) = setting.store.group(&origin.session, group) else { return Ok(()) };
    let filter = ReasoningFilter { group: Some(group.clone()), ..ReasoningFilter::default() };
    let all = setting.store.reasoning(&origin.session, &filter)?;
    // Earlier attempts were sent back; the last one was not.
    let last = all.iter().filter(|r| is_worker(&r.role)).map(|r| r.iteration).max();
    let learned = extract_strategies(
        setting.store,
        setting.redactor,
        &origin.session,
        group,
        setting.binding,
        &|reasoning| {
            if own {
                reasoning.role == origin.role && reasoning.created_at == origin.now
            } else {
                is_worker(&reasoning.role) && Some(reasoning.iteration) == last
            }
        },
        origin.now,
    )?;
    kept.strategies = learned.len();
    Ok(())
}

/// Whether a role is one of those who do the work that others judge.
pub(super) fn is_worker(role: &Role) -> bool {
    matches!(role.as_str(), "developer" | "senior_software_engineer")
}

fn log(setting: Setting<'_>, origin: &Origin, kind: KnownEvent, payload: Value) -> Result<()> {
    let key = origin.receipt.as_ref().map(|id| EventKey::new(id.as_str(), setting.redactor));
    setting.store.log_event(&NewEvent {
        session: origin.session.clone(),
        group: origin.group.clone(),
        kind: kind.into(),
        payload: setting.redactor.clean_json(payload),
        key,
        now: origin.now,
    })?;
    Ok(())
}
