//! `handover mcp`

use handover_mcp::{Desk, Refusal, Seat, Server, Technology, ToolError, serve_stdio};
use handover_model::ReceiptId;

use super::Outcome;
use super::stack::stack_of;
use crate::app::{App, Common};
use crate::error::{CommandError, Exit};
use crate::input::Stdin;
use crate::ui::{ColorChoice, Ui};

/// Serve this project to agents over MCP, on standard input and output
///
/// Tools to save, search and read packages, to record reasoning, errors and a debrief, and to get a
/// brief; packages and receipts as resources; briefs as prompts. The session is that of --session or
/// HANDOVER_SESSION, else the only active one. Both generations of the protocol are spoken: 2025-11-25
/// (and older) and 2026-07-28. Ends when the client leaves.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover mcp\n  claude mcp add handover -- handover mcp --session login-rework"
)]
pub(crate) struct McpArgs {}

pub(crate) fn run(app: &App, _: McpArgs) -> Outcome {
    serve_stdio(Server::new(Reception { common: app.common.clone() }))
        .map_err(|error| CommandError::chain(Exit::Environment, "mcp", &error))?;
    Ok(Exit::Done)
}

/// Every request is worked on like a command: project, configuration and store are found anew.
struct Reception {
    common: Common,
}

impl Desk for Reception {
    fn sit(&self, work: &mut dyn FnMut(&Seat<'_>) -> Result<(), ToolError>) -> Result<(), Refusal> {
        let ui = Ui::new(false, true, ColorChoice::Auto);
        let app = App::new(ui, Stdin::Text(String::new()), self.common.clone());
        app.hurry();
        let technology =
            || Technology { stack: stack_of(&app).unwrap_or_default(), templates: app.templates() };
        let outcome = seat(&app, &technology).and_then(|seat| Ok(work(&seat)?));
        outcome.map_err(|error| refusal(&error))
    }
}

fn seat<'a>(
    app: &'a App,
    technology: &'a dyn Fn() -> Technology,
) -> Result<Seat<'a>, CommandError> {
    Ok(Seat {
        store: app.store()?,
        redactor: app.redactor()?,
        config: app.config()?,
        places: app.places()?,
        checkout: app.scan_roots()?.pop().unwrap_or_default(),
        technology,
        project: app.project_id()?,
        session: app.session().map_err(|error| refusal(&error)),
        bound: app.named_session()?.is_some(),
        group: app.group()?,
        receipt: ReceiptId::new(format!("r_{}", uuid::Uuid::now_v7().simple()))?,
        now: app.now(),
    })
}

fn refusal(error: &CommandError) -> Refusal {
    Refusal { message: error.message.clone(), hint: error.hint.clone() }
}
