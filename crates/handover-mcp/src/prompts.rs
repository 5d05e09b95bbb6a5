//! Briefs as prompts.

use handover_model::{GroupId, Role as WorkRole};
use rmcp::model::{JsonObject, Prompt, PromptArgument, PromptMessage, Role};
use serde_json::Value;

use crate::briefing::{self, BriefRequest};
use crate::context::RequestContext;
use crate::error::ToolError;
use crate::limits;
use crate::limits::{MAX_LINE_BYTES, MAX_TEXT_BYTES};

/// The name of the only prompt.
pub(crate) const BRIEF: &str = "brief";

pub(crate) fn list() -> Vec<Prompt> {
    let argument = |name: &str, description: &str, required| {
        PromptArgument::new(name).with_description(description).with_required(required)
    };
    let arguments = vec![
        argument("role", "The role that will do the work, such as developer or qa_expert", true),
        argument("task", "What to do; the most relevant context comes first", false),
        argument("group", "The task group", false),
        argument("model", "The model that will read the brief", false),
    ];
    let description = "The context that a role needs before it starts, and its task.";
    vec![Prompt::new(BRIEF, Some(description), Some(arguments)).with_title("Brief for a role")]
}

/// The brief as a message. The task is the user's own text, so it is returned unredacted.
pub(crate) fn brief(
    context: &RequestContext<'_>,
    arguments: Option<JsonObject>,
) -> Result<PromptMessage, ToolError> {
    let mut arguments = arguments.unwrap_or_default();
    let mut take = |name: &str, max| -> Result<Option<String>, ToolError> {
        match arguments.remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) if text.is_empty() => Ok(None),
            Some(Value::String(text)) => limits::text(name, &text, max).map(|()| Some(text)),
            Some(_) => {
                Err(ToolError::invalid(format!("`{name}` is not a string"), "Pass a string."))
            }
        }
    };
    let role = take("role", MAX_LINE_BYTES)?.ok_or_else(|| {
        ToolError::invalid(
            "`role` is missing",
            "Name the role that will do the work, such as developer.",
        )
    })?;
    let group = take("group", MAX_LINE_BYTES)?.map(GroupId::new).transpose()?;
    let task = take("task", MAX_TEXT_BYTES)?;
    let model = take("model", MAX_LINE_BYTES)?;
    if let Some(name) = arguments.keys().next() {
        return Err(ToolError::invalid(
            format!("the prompt has no argument `{name}`"),
            "Its arguments are role, task, group and model.",
        ));
    }
    let request = BriefRequest {
        session: context.session(None)?,
        group: context.group(group.as_ref())?,
        role: context.no_secret("role", WorkRole::new(role)?)?,
        task,
        model,
        iteration: None,
    };
    Ok(PromptMessage::new_text(Role::User, briefing::brief(context, request)?.text))
}
