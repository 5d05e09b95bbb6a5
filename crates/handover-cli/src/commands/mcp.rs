//! `handover mcp`

use handover_mcp::{Server, serve_stdio};

use super::Outcome;
use crate::app::App;
use crate::context_provider::AppContextProvider;
use crate::error::{CommandError, Exit};
use crate::logging;

/// Serve this project to agents over MCP, on standard input and output
///
/// Tools to save, search and read packages, to record reasoning, errors and a debrief, and to get a
/// brief; packages and receipts as resources; briefs as prompts. Uses the session of --session or
/// HANDOVER_SESSION, or the only active one. Supports both generations of the protocol: 2025-11-25
/// (and older) and 2026-07-28. Exits when the client disconnects.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover mcp\n  claude mcp add handover -- handover mcp --session login-rework"
)]
pub(crate) struct McpArgs {}

pub(crate) fn run(app: &App, _: McpArgs) -> Outcome {
    logging::report_errors();
    serve_stdio(Server::new(AppContextProvider::uncached(app.common.clone())))
        .map_err(|error| CommandError::chain(Exit::Environment, "mcp", &error))?;
    Ok(Exit::Done)
}
