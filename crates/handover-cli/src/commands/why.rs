//! `handover why`

use handover_context::assemble::Explained;
use handover_context::why::{Agent, Finding, Library};
use handover_handoff::HandoffRequest;
use handover_model::{Receipt, Role};
use handover_store::ReceiptFilter;
use handover_text::{redact_message, short};
use serde::Serialize;
use serde_json::json;

use super::Outcome;
use crate::app::App;
use crate::error::{CommandError, Exit};
use crate::ui::Ui;

/// Explain why an agent did or did not get something
///
/// Names what was found under that name, whether it was a candidate, how it ranked, why it was left out, and what
/// would change that. Without --role it is about a receipt; with --role, about what such an agent would get now.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct WhyArgs {
    /// Package (number or path), note (id), file, or words to search for
    #[arg(value_name = "X", required = true)]
    name: Vec<String>,

    /// Receipt: its id, at least four characters of it, or `latest` [default: the newest]
    #[arg(long, value_name = "ID", conflicts_with = "role")]
    receipt: Option<String>,

    /// Role of an agent that has no receipt yet
    #[arg(long)]
    role: Option<Role>,

    /// Task of that agent
    #[arg(long, value_name = "TEXT", requires = "role")]
    task: Option<String>,
}

const EXAMPLES: &str = "\
Examples:
  handover why docs/oauth.md
  handover why 3 --receipt latest
  handover why src/auth.rs --role developer --group login --task \"Refresh tokens\"
  handover why \"refresh tokens\" --json";

/// The whole answer.
#[derive(Debug, Serialize)]
struct Answer {
    name: String,
    found: bool,
    agent: Agent,
    findings: Vec<Finding>,
}

pub(crate) fn run(app: &App, args: WhyArgs) -> Outcome {
    let name = args.name.join(" ");
    let (agent, receipt, task) = match &args.role {
        Some(role) => {
            app.check_role(role)?;
            let agent = Agent {
                receipt: None,
                session: app.session()?,
                role: role.clone(),
                group: app.group()?,
                iteration: None,
            };
            (agent, None, args.task.clone())
        }
        None => {
            let receipt = receipt(app, args.receipt.as_deref())?;
            let task = receipt.task.clone();
            (Agent::of(&receipt), Some(receipt), task)
        }
    };
    let (_, project) = app.learning()?;
    let library = Library {
        store: app.store()?,
        project: &project,
        config: &app.config()?.assembly,
        session: &agent.session,
    };
    let path = app.in_project(name.as_ref()).unwrap_or_else(|| name.clone());
    let subjects = library.find(&name, &path)?;
    let now = candidates(app, &agent, task.clone())?;
    let findings = library.explain(&subjects, &agent, receipt.as_ref(), task.as_deref(), &now)?;
    let name = short(&redact_message(&name)).into_owned();
    let answer = Answer { name, found: !findings.is_empty(), agent, findings };
    // Titles and reasons come from files and agents.
    let shown = app.redactor()?.clean_json(json!(answer)).value().clone();
    app.ui.answer("why", &shown, |ui| print(ui, &answer))?;
    Ok(if answer.found { Exit::Done } else { Exit::Failed })
}

/// The named receipt, or the newest one.
fn receipt(app: &App, name: Option<&str>) -> Result<Receipt, CommandError> {
    if let Some(name) = name {
        return app.find_receipt(name);
    }
    let filter = ReceiptFilter {
        session: app.named_session()?,
        group: app.group()?,
        limit: Some(1),
        ..ReceiptFilter::default()
    };
    match app.store()?.receipts(&filter)?.pop() {
        Some(newest) => Ok(app.store()?.receipt(&newest.id)?),
        None => Err(CommandError::new(Exit::Usage, "not_found", "no receipts yet")
            .hinted("Name an agent: `handover why X --role developer --task \"…\"`.")),
    }
}

/// Everything that such an agent could be given now, and what would become of it. Nothing is recorded.
fn candidates(
    app: &App,
    agent: &Agent,
    task: Option<String>,
) -> Result<Vec<Explained>, CommandError> {
    let (session, role) = (agent.session.clone(), agent.role.clone());
    let request = HandoffRequest {
        group: agent.group.clone(),
        task,
        attempt: agent.iteration.into(),
        explain: true,
        specialization: false,
        ..HandoffRequest::new(session, role, app.new_receipt()?, app.now())
    };
    let brief = app.handoffs()?.preview(&request);
    Ok(brief.context.map(|context| context.candidates).unwrap_or_default())
}

fn print(ui: &Ui, answer: &Answer) -> Result<(), CommandError> {
    let agent = &answer.agent;
    if answer.findings.is_empty() {
        ui.line(format_args!("There is no package, note or file `{}`.", answer.name))?;
        ui.note(format_args!(
            "`handover search {}` looks inside texts, in every session.",
            shell_words::quote(&answer.name)
        ));
        return Ok(());
    }
    ui.line(format_args!("For {agent}"))?;
    for finding in &answer.findings {
        ui.line(format_args!("\n{}", finding.heading()))?;
        ui.wrapped(2, format_args!("  {}", finding.explanation))?;
        for fix in &finding.fixes {
            ui.wrapped(4, format_args!("  → {fix}"))?;
        }
    }
    Ok(())
}
