//! `handover reasoning add`

use handover_context::shape;
use handover_model::{AgentId, Confidence, Phase, Role};
use handover_store::NewReasoning;

use crate::app::App;
use crate::commands::Outcome;
use crate::error::{CommandError, Exit};

/// Record a thought
///
/// Secrets are taken out before it is stored.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover reasoning add --role developer --phase decisions \"Adapter per provider: they change weekly\"\n  handover reasoning add --role qa_expert --phase completion --group P1 < notes.txt"
)]
pub(crate) struct AddArgs {
    /// Who thought it
    #[arg(long)]
    role: Role,

    /// understanding, approach, decisions, risks, blockers, pivot or completion
    #[arg(long)]
    phase: Phase,

    /// high, medium or low
    #[arg(long)]
    confidence: Option<Confidence>,

    /// Which attempt
    #[arg(long, default_value = "0", value_name = "N")]
    iteration: u32,

    /// Which agent of that role
    #[arg(long, value_name = "ID")]
    agent_id: Option<AgentId>,

    /// What it refers to; repeat for more
    #[arg(long, value_name = "TEXT")]
    reference: Vec<String>,

    /// The thought [default: standard input]
    #[arg(allow_hyphen_values = true, value_parser = crate::input::argument)]
    text: Option<String>,
}

/// More than this is not a thought but a document.
const MAX_BYTES: usize = 100_000;

pub(crate) fn run(app: &App, args: AddArgs) -> Outcome {
    let text = match args.text {
        Some(text) => text,
        None => app.stdin.read("the thought")?,
    };
    if text.trim().is_empty() {
        return Err(CommandError::invalid("the thought is empty")
            .hinted("Pass it as an argument or on standard input."));
    }
    if text.len() > MAX_BYTES {
        return Err(CommandError::invalid(format!(
            "the thought has {} bytes, and {MAX_BYTES} are allowed",
            text.len()
        ))
        .hinted("Write it to a file and register that as a package."));
    }
    let redactor = app.redactor()?;
    let content = redactor.clean(text.trim_end());
    let redactions = content.redactions();
    let new = NewReasoning {
        session: app.session()?,
        group: app.group()?,
        role: args.role,
        agent_id: args.agent_id.map(|id| app.no_secret("agent id", id)).transpose()?,
        iteration: args.iteration,
        phase: args.phase,
        confidence: args.confidence,
        content,
        references: args.reference.iter().map(|text| redactor.clean(text)).collect(),
        now: app.now(),
    };
    let kept = app.store()?.add_reasoning(&new)?;
    let answer = shape::recorded(&kept, redactions);
    app.ui.answer("reasoning", &answer, |ui| {
        ui.line(format_args!("Recorded {} ({} of {})", kept.id, kept.phase, kept.role))?;
        if redactions > 0 {
            ui.note(format_args!("{redactions} secret(s) taken out"));
        }
        Ok(())
    })?;
    Ok(Exit::Done)
}
