//! Briefs as prompts.

use handover_model::{GroupId, Role as WorkRole};
use rmcp::model::{JsonObject, Prompt, PromptArgument, PromptMessage, Role};
use serde_json::Value;

use crate::briefing::{self, Wanted};
use crate::limits::{MAX_LINE_BYTES, MAX_TEXT_BYTES};
use crate::{Seat, ToolError, limits};

/// The name of the one prompt.
pub(crate) const BRIEF: &str = "brief";

/// What there is.
pub(crate) fn list() -> Vec<Prompt> {
    let argument = |name: &str, description: &str, required| {
        PromptArgument::new(name).with_description(description).with_required(required)
    };
    let arguments = vec![
        argument("role", "Who will work, such as developer or qa_expert", true),
        argument("task", "What is to be done; what fits it best comes first", false),
        argument("group", "The task group", false),
        argument("model", "The model that will read it", false),
    ];
    let description = "The context that a role needs before it works, and the task.";
    vec![Prompt::new(BRIEF, Some(description), Some(arguments)).with_title("Brief for a role")]
}

/// The brief as a message. The task is the user's own text: it goes back as it came.
pub(crate) fn brief(
    seat: &Seat<'_>,
    arguments: Option<JsonObject>,
) -> Result<PromptMessage, ToolError> {
    let mut arguments = arguments.unwrap_or_default();
    let mut take = |name: &str, max| -> Result<Option<String>, ToolError> {
        match arguments.remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) if text.is_empty() => Ok(None),
            Some(Value::String(text)) => limits::text(name, &text, max).map(|()| Some(text)),
            Some(_) => Err(ToolError::invalid(format!("`{name}` is not a text"), "Pass a string.")),
        }
    };
    let role = take("role", MAX_LINE_BYTES)?.ok_or_else(|| {
        ToolError::invalid("`role` is missing", "Say who will work, such as developer.")
    })?;
    let group = take("group", MAX_LINE_BYTES)?.map(GroupId::new).transpose()?;
    let task = take("task", MAX_TEXT_BYTES)?;
    let model = take("model", MAX_LINE_BYTES)?;
    if let Some(name) = arguments.keys().next() {
        return Err(ToolError::invalid(
            format!("the prompt has no argument `{name}`"),
            "It has role, task, group and model.",
        ));
    }
    let wanted = Wanted {
        session: seat.session(None)?,
        group: seat.group(group.as_ref())?,
        role: seat.no_secret("role", WorkRole::new(role)?)?,
        task,
        model,
        iteration: None,
    };
    Ok(PromptMessage::new_text(Role::User, briefing::brief(seat, wanted)?.text))
}
