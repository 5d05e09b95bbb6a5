//! `handover specialize`

use handover_context::specialize::{Specialization, SpecializationRequest, specialize};
use handover_model::models::Model;
use handover_model::{Group, Role, SessionId, TestingMode};
use handover_store::StoreError;
use serde_json::json;

use super::Outcome;
use crate::app::App;
use crate::error::{CommandError, Exit};

/// Print guidance for the project's technology stack
///
/// Covers versions, practices to follow, pitfalls to avoid, and checks.
///
/// Selects templates by the detected stack (see `handover project stack`), or uses those set for the group, and
/// fits the text into the model's budget. Works without a session and outside a project; with a session,
/// each result is saved as a skill output and as an event named `specialization`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SpecializeArgs {
    /// Role of the agent
    #[arg(long)]
    pub(super) role: Role,

    /// Model of the agent, by any of its names
    #[arg(long, value_name = "NAME")]
    pub(super) model: Option<String>,

    /// Amount of testing in the workflow: full, minimal or disabled
    #[arg(long, value_name = "MODE")]
    pub(super) testing_mode: Option<TestingMode>,

    /// Task of the agent; its words may call for templates too
    #[arg(long, value_name = "TEXT")]
    pub(super) task: Option<String>,

    /// Component that the agent works in [default: that of the group or the task, else the whole project]
    #[arg(long, value_name = "PATH")]
    pub(super) component: Option<String>,

    /// Maximum number of tokens [default: depends on the model]
    #[arg(long, value_name = "N")]
    pub(super) budget: Option<u64>,
}

const EXAMPLES: &str = "\
Examples:
  handover specialize --role developer
  handover specialize --role qa_expert --model opus --group login --json
  handover specialize --role tech_lead --component services/api --testing-mode minimal";

pub(crate) fn run(app: &App, args: SpecializeArgs) -> Outcome {
    app.check_role(&args.role)?;
    app.check_model(args.model.as_deref())?;
    let config = app.config()?;
    if let Some(key) = config.specialization.switched_off_by(&args.role) {
        return switched_off(app, key);
    }
    let (session, group) = session_and_group(app)?;
    let (chosen, component) = match group {
        Some(group) => (group.specializations, group.component),
        None => (Vec::new(), None),
    };
    let tier = Model::named(args.model.as_deref()).tier;
    let stack = app.stack()?;
    let named = args.task.as_deref().and_then(|task| stack.component_named(task));
    let component = args.component.or(component).or_else(|| Some(named?.path.clone()));
    let request = SpecializationRequest {
        role: &args.role,
        model: args.model.as_deref(),
        budget: args.budget.unwrap_or_else(|| config.brief.specialization(tier)),
        testing_mode: args.testing_mode.unwrap_or(config.specialization.testing_mode),
        chosen: &chosen,
        component: component.as_deref(),
        task: args.task.as_deref(),
    };
    let made = specialize(&request, &stack, &app.templates(), app.redactor()?);
    if let Some(session) = session {
        keep(app, &session, &request, &made)?;
    }
    for note in &made.notes {
        app.ui.warn(note);
    }
    for skipped in made.skipped.iter().filter(|s| chosen.contains(&s.name)) {
        app.ui.warn(format_args!("template `{}` was skipped: {}", skipped.name, skipped.reason));
    }
    if app.ui.is_json() {
        app.ui.document(&json!({
            "schema": 1,
            "receipt": null,
            "tokens": made.tokens,
            "budget": made.budget,
            "sections": {"specialization": made.tokens},
            "trimmed": made.trimmed,
            "templates": made.templates,
            "identity": made.identity,
            "versions": made.versions,
            "skipped": made.skipped,
            "notes": made.notes,
            "redactions": made.redactions.values().sum::<u64>(),
            "text": made.text,
        }))?;
    } else {
        app.ui.bytes(made.text.as_bytes())?;
    }
    Ok(Exit::Done)
}

/// Prints an empty specialization because the configuration disables it.
fn switched_off(app: &App, key: &'static str) -> Outcome {
    app.ui.note(format_args!("Specialization is disabled by `{key}` in the configuration."));
    if app.ui.is_json() {
        app.ui.document(&json!({
            "schema": 1, "receipt": null, "tokens": 0, "budget": 0, "disabled": key,
            "sections": {"specialization": 0}, "trimmed": [], "templates": [], "text": "",
        }))?;
    }
    Ok(Exit::Done)
}

/// The session and the group, both optional.
fn session_and_group(app: &App) -> Result<(Option<SessionId>, Option<Group>), CommandError> {
    let named = app.named_session()?;
    let id = app.group()?;
    let session = match (named, app.project()) {
        (Some(session), _) => {
            app.store()?.session(&session)?;
            Some(session)
        }
        // No session was requested, so failing to find one must not cost the agent its text.
        (None, Ok(_)) => app.session_if_any().unwrap_or_else(|error| {
            app.ui.warn(format_args!("the specialization will not be saved: {}", error.message));
            None
        }),
        (None, Err(_)) => None,
    };
    let (Some(session_id), Some(id)) = (&session, id) else { return Ok((session, None)) };
    match app.store()?.group(session_id, &id) {
        Ok(group) => Ok((session, Some(group))),
        // Groups need no record; one without a record has no templates set.
        Err(StoreError::NotFound { .. }) => Ok((session, None)),
        Err(error) => Err(error.into()),
    }
}

fn keep(
    app: &App,
    session: &SessionId,
    request: &SpecializationRequest<'_>,
    made: &Specialization,
) -> Result<(), CommandError> {
    let (group, redactor) = (app.group()?, app.redactor()?);
    let place = (session, group.as_ref());
    // Failing to save must not cost the agent its text.
    if let Err(error) = made.keep(app.store()?, redactor, request, place, app.now()) {
        app.ui.warn(format_args!("the specialization was not saved: {error}"));
    }
    Ok(())
}
