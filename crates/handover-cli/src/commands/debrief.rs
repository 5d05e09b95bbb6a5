//! `handover debrief`

use std::path::PathBuf;

use handover_handoff::{DEBRIEF_SCHEMA, Debrief, EndedAgent, Ending, Kept, read_ending};
use handover_model::{AgentId, Role};
use handover_text::Redactor;
use serde_json::json;

use super::Outcome;
use crate::app::App;
use crate::error::{CommandError, Exit};
use crate::input;
use crate::ui::{Ui, count};

/// Store an agent's report: verdict, reasoning, packages, errors
///
/// Reads the agent's last message from a file or standard input and looks for its fenced `handover` block.
/// With --receipt, session, group, role and attempt come from the receipt.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover debrief last-message.md --receipt latest\n  claude -p \"Fix the login\" | handover debrief --role developer --group login\n  handover debrief --schema"
)]
pub(crate) struct DebriefArgs {
    /// Agent's last message; `-` is standard input
    #[arg(default_value = "-", hide_default_value = true)]
    file: PathBuf,

    /// Receipt that the agent started with: its id, at least four characters of it, or `latest`
    #[arg(long, value_name = "ID")]
    receipt: Option<String>,

    /// Role of the agent, if there is no receipt
    #[arg(long, required_unless_present_any = ["receipt", "schema"])]
    role: Option<Role>,

    /// Id of the agent
    #[arg(long, value_name = "ID")]
    agent_id: Option<AgentId>,

    /// Print the JSON Schema of the block and exit
    #[arg(long)]
    schema: bool,
}

pub(crate) fn run(app: &App, args: DebriefArgs) -> Outcome {
    if args.schema {
        app.ui.bytes(DEBRIEF_SCHEMA.as_bytes())?;
        return Ok(Exit::Done);
    }
    let ended = ended_agent(app, &args)?;
    let assignment = app.handoffs()?.assignment(ended)?;
    let debrief = read_ending(&input::file(&args.file, &app.stdin, "the agent's last message")?);
    app.store()?;
    let ended = app.handoffs()?.ended(Ending::new(&assignment, &debrief, app.now()))?;
    let answer = json!({
        "debrief": debrief, "missing": debrief.missing, "kept": ended.kept(),
    });
    // An agent may repeat a secret that it read.
    let redactor = app.redactor()?;
    let answer = redactor.clean_json(answer).value().clone();
    app.ui.answer_all(answer, |ui| show(ui, redactor, &debrief, ended.kept()))?;
    Ok(Exit::Done)
}

fn ended_agent(app: &App, args: &DebriefArgs) -> Result<EndedAgent, CommandError> {
    let agent = args.agent_id.clone().map(|id| app.no_secret("agent id", id)).transpose()?;
    if let Some(id) = &args.receipt {
        let receipt = Some(app.find_receipt(id)?.id);
        let (role, session) = (args.role.clone(), app.named_session()?);
        return Ok(EndedAgent { receipt, role, session, agent, ..EndedAgent::default() });
    }
    if let Some(role) = &args.role {
        app.check_role(role)?;
    }
    let role = args.role.clone().map(|role| app.no_secret("role", role)).transpose()?;
    let (session, group) = (Some(app.session()?), app.group()?);
    Ok(EndedAgent { role, session, group, agent, ..EndedAgent::default() })
}

/// Prints a debrief for people, redacted.
pub(crate) fn show(
    ui: &Ui,
    redactor: &Redactor,
    debrief: &Debrief,
    kept: Option<&Kept>,
) -> Result<(), CommandError> {
    ui.line(format_args!("Verdict    {}", debrief.verdict.map_or("–", |v| v.as_str())))?;
    if let Some(summary) = &debrief.summary {
        ui.line(format_args!("Summary    {}", redactor.clean(summary).as_str()))?;
    }
    match kept {
        Some(kept) => {
            ui.line(format_args!(
                "Kept       {}, {}, {}, {}",
                count(kept.reasoning, "reasoning entry"),
                count(kept.packages.len(), "package"),
                count(kept.errors.len(), "error"),
                count(kept.strategies, "strategy")
            ))?;
            for refused in &kept.refused {
                ui.line(format_args!("Not kept   {}", redactor.clean(refused).as_str()))?;
            }
        }
        None => ui.line(format_args!("Kept       that it left no debrief"))?,
    }
    if !debrief.missing.is_empty() {
        ui.line(format_args!("Missing    {}", debrief.missing.join(", ")))?;
    }
    Ok(())
}
