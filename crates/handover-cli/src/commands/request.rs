//! The flags by which `assemble`, `brief` and `spawn` are told whom a text is for.

use std::path::PathBuf;

use handover_context::assemble::Request;
use handover_model::{GroupId, ReasoningLevel, ReceiptId, Role, SessionId};

use crate::app::App;
use crate::error::CommandError;
use crate::input;

#[derive(Debug, clap::Args)]
pub(crate) struct RequestArgs {
    /// Who the text is for
    #[arg(long)]
    pub(crate) role: Role,

    /// What the agent is to do; what fits it best comes first
    #[arg(long, value_name = "TEXT", conflicts_with = "task_file", allow_hyphen_values = true,
        value_parser = crate::input::argument)]
    task: Option<String>,

    /// The same from a file, or from standard input for `-`
    #[arg(long, value_name = "FILE")]
    task_file: Option<PathBuf>,

    /// The model of the agent, by any of its names
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,

    /// How many tokens its window holds already
    #[arg(long, default_value = "0", value_name = "N", allow_negative_numbers = true)]
    pub(crate) current_tokens: u64,

    /// Which attempt; a new one gets everything again
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) iteration: Option<u32>,

    /// Other agents' reasoning: on or off [default: by role]
    #[arg(long, value_name = "on|off", value_parser = on_or_off)]
    reasoning: Option<bool>,

    /// How much of it: minimal, medium or full
    #[arg(long, value_name = "LEVEL", default_value = "medium")]
    reasoning_level: ReasoningLevel,

    /// At most so many packages [default: by role]
    #[arg(long, value_name = "K", allow_negative_numbers = true)]
    limit: Option<usize>,
}

/// A switch on the command line.
pub(crate) fn on_or_off(text: &str) -> Result<bool, String> {
    match text {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err("`on` or `off` is expected".to_owned()),
    }
}

impl RequestArgs {
    /// The task, wherever it comes from.
    pub(crate) fn task(&self, app: &App) -> Result<Option<String>, CommandError> {
        match (&self.task, &self.task_file) {
            (Some(task), _) => Ok(Some(task.clone())),
            (None, Some(file)) => Ok(Some(input::file(file, &app.stdin, "the task")?)),
            (None, None) => Ok(None),
        }
    }

    /// The request, under a new receipt.
    pub(crate) fn request(
        &self,
        app: &App,
        session: SessionId,
        group: Option<GroupId>,
        task: Option<String>,
    ) -> Result<Request, CommandError> {
        Ok(Request {
            session,
            role: self.role.clone(),
            group,
            task,
            model: self.model.clone(),
            current_tokens: self.current_tokens,
            iteration: self.iteration.unwrap_or(0),
            reasoning: self.reasoning,
            reasoning_level: self.reasoning_level,
            limit: self.limit,
            cap: None,
            deliver: false,
            explain: false,
            receipt: ReceiptId::new(format!("r_{}", uuid::Uuid::now_v7().simple()))?,
            now: app.now(),
        })
    }
}
