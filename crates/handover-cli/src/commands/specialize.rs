//! `handover specialize`

use handover_context::specialize::{Specialization, SpecializationRequest, specialize};
use handover_model::models::Model;
use handover_model::{Group, Role, SessionId, TestingMode};
use handover_store::StoreError;
use serde_json::json;

use super::Outcome;
use super::stack::stack_of;
use crate::app::App;
use crate::error::{CommandError, Exit};

/// Tell an agent about the project's technology
///
/// Versions, what to do, what to avoid, what to check.
///
/// Chooses templates by the stack (`handover stack`), or those chosen for the group, and prints the
/// block within the budget of the model. Works without a session and outside a project; with a
/// session, every composition is kept as a skill output and an event named `specialization`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SpecializeArgs {
    /// Who the text is for
    #[arg(long)]
    role: Role,

    /// The model of the agent, by any of its names
    #[arg(long, value_name = "NAME")]
    model: Option<String>,

    /// How much testing the workflow does: full, minimal or disabled
    #[arg(long, value_name = "MODE")]
    testing_mode: Option<TestingMode>,

    /// The part of the project that the agent works in [default: the group's, else all of it]
    #[arg(long, value_name = "PATH")]
    component: Option<String>,

    /// At most so many tokens [default: by model]
    #[arg(long, value_name = "N")]
    budget: Option<u64>,
}

const EXAMPLES: &str = "\
Examples:
  handover specialize --role developer
  handover specialize --role qa_expert --model opus --group login --json
  handover specialize --role tech_lead --component services/api --testing-mode minimal";

pub(crate) fn run(app: &App, args: SpecializeArgs) -> Outcome {
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
    let component = args.component.or(component);
    let request = SpecializationRequest {
        role: &args.role,
        model: args.model.as_deref(),
        budget: args.budget.unwrap_or_else(|| config.brief.specialization(tier)),
        testing_mode: args.testing_mode.unwrap_or(config.specialization.testing_mode),
        chosen: &chosen,
        component: component.as_deref(),
    };
    let made = specialize(&request, &stack_of(app)?, &app.templates(), app.redactor()?);
    if let Some(session) = session {
        keep(app, &session, &request, &made)?;
    }
    for note in &made.notes {
        app.ui.warn(note);
    }
    for skipped in made.skipped.iter().filter(|s| chosen.contains(&s.name)) {
        app.ui.warn(format_args!("template `{}` is left out: {}", skipped.name, skipped.reason));
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

/// The configuration wants no specialization: an empty one, and why.
fn switched_off(app: &App, key: &'static str) -> Outcome {
    app.ui.note(format_args!("`{key}` in the configuration switches the specialization off."));
    if app.ui.is_json() {
        app.ui.document(&json!({
            "schema": 1, "receipt": null, "tokens": 0, "budget": 0, "disabled": key,
            "sections": {"specialization": 0}, "trimmed": [], "templates": [], "text": "",
        }))?;
    }
    Ok(Exit::Done)
}

/// The session and the group, if there are any: the command works without.
fn session_and_group(app: &App) -> Result<(Option<SessionId>, Option<Group>), CommandError> {
    let named = app.named_session()?;
    let id = app.group()?;
    let session = match (named, app.project()) {
        (Some(session), _) => {
            app.store()?.session(&session)?;
            Some(session)
        }
        // Nobody named one: whatever keeps us from finding it, the agent gets its text.
        (None, Ok(_)) => app.session_if_any().unwrap_or_else(|error| {
            app.ui.warn(format_args!("the composition is not kept: {}", error.message));
            None
        }),
        (None, Err(_)) => None,
    };
    let (Some(session_id), Some(id)) = (&session, id) else { return Ok((session, None)) };
    match app.store()?.group(session_id, &id) {
        Ok(group) => Ok((session, Some(group))),
        // A group exists once it is named; one without a record has chosen nothing.
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
    // The agent's text matters more than its record.
    if let Err(error) = made.keep(app.store()?, redactor, request, place, app.now()) {
        app.ui.warn(format_args!("the composition was not kept: {error}"));
    }
    Ok(())
}
