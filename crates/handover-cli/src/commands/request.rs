//! The flags that `assemble`, `brief` and `spawn` share: who the text is for, and how much of it.

use std::path::PathBuf;

use handover_handoff::HandoffRequest;
use handover_model::{ReasoningLevel, Role, SessionId};

use crate::app::App;
use crate::error::CommandError;
use crate::input;

#[derive(Debug, clap::Args)]
pub(crate) struct RequestArgs {
    /// Role of the agent
    #[arg(long)]
    pub(crate) role: Role,

    /// Task of the agent; context is ranked by it
    #[arg(long, value_name = "TEXT", conflicts_with = "task_file", allow_hyphen_values = true,
        value_parser = crate::input::argument)]
    task: Option<String>,

    /// Read the task from a file, or from standard input with `-`
    #[arg(long, value_name = "FILE")]
    task_file: Option<PathBuf>,

    /// Model of the agent, by any of its names
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,

    /// Tokens already in the agent's window
    #[arg(long, default_value = "0", value_name = "N", allow_negative_numbers = true)]
    pub(crate) current_tokens: u64,

    /// Attempt, from 0; each attempt gets everything again
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) iteration: Option<u32>,

    /// Other agents' reasoning: on or off [default: by role]
    #[arg(long, value_name = "on|off", value_parser = on_or_off)]
    reasoning: Option<bool>,

    /// Amount of reasoning: minimal, medium or full [default: by role]
    #[arg(long, value_name = "LEVEL")]
    reasoning_level: Option<ReasoningLevel>,

    /// Maximum number of packages [default: by role]
    #[arg(long, value_name = "K", allow_negative_numbers = true)]
    limit: Option<usize>,
}

/// Parses a switch.
pub(crate) fn on_or_off(text: &str) -> Result<bool, String> {
    match text {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err("expected `on` or `off`".to_owned()),
    }
}

impl RequestArgs {
    /// The task from either flag.
    pub(crate) fn task(&self, app: &App) -> Result<Option<String>, CommandError> {
        match (&self.task, &self.task_file) {
            (Some(task), _) => Ok(Some(task.clone())),
            (None, Some(file)) => Ok(Some(input::file(file, &app.stdin, "the task")?)),
            (None, None) => Ok(None),
        }
    }

    /// The request, under a new receipt. Without `--iteration` the attempt is counted.
    pub(crate) fn request(
        &self,
        app: &App,
        session: SessionId,
        task: Option<String>,
    ) -> Result<HandoffRequest, CommandError> {
        let role = self.role.clone();
        app.check_role(&role)?;
        app.check_model(self.model.as_deref())?;
        Ok(HandoffRequest {
            group: app.group()?,
            task,
            model: self.model.clone(),
            attempt: self.iteration.into(),
            current_tokens: self.current_tokens,
            reasoning: self.reasoning,
            reasoning_level: self.reasoning_level,
            limit: self.limit,
            ..HandoffRequest::new(session, role, app.new_receipt()?, app.now())
        })
    }
}
