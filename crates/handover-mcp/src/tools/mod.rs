//! The tools, one file each: arguments, answer, implementation.

mod brief;
mod debrief;
mod judge_replacement;
mod read_package;
mod record_reasoning;
mod report_error;
mod retire;
mod save_package;
mod search;
mod status;
mod where_to_look;

use std::sync::Arc;

use handover_model::{Reasoning, TokenScope};
use handover_store::StoreError;
use rmcp::handler::server::common::{schema_for_input, schema_for_output};
use rmcp::model::{JsonObject, Tool as Definition, ToolAnnotations};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

pub(crate) use read_package::text_of;
pub use save_package::SavedPackage;

use crate::context::RequestContext;
use crate::error::ToolError;
use crate::{limits, schema};

/// A tool with typed arguments and answer.
trait Tool {
    const NAME: &'static str;
    /// Shown to people.
    const TITLE: &'static str;
    /// Shown to agents.
    const DESCRIPTION: &'static str;
    /// Decides the annotations and the right that is required.
    const EFFECT: Effect;
    /// Whether its answer is a prompt, whose agent must not wait for the store.
    const IS_PROMPT: bool = false;
    type Input: DeserializeOwned + JsonSchema + 'static;
    type Output: Serialize + JsonSchema + 'static;

    fn call(context: &RequestContext<'_>, input: Self::Input) -> Result<Self::Output, ToolError>;
}

/// What a tool does to the store. None deletes anything or reaches outside the project.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// Read-only.
    Reads,
    /// Adds records; idempotent.
    AddsOnce,
    /// Adds records on every call.
    Adds,
}

/// A type-erased [`Tool`].
pub(crate) struct ToolEntry {
    pub(crate) name: &'static str,
    effect: Effect,
    pub(crate) is_prompt: bool,
    define: fn() -> Option<Definition>,
    call: fn(&RequestContext<'_>, JsonObject) -> Result<Value, ToolError>,
}

/// Every tool, in the order in which an agent uses them. The order is stable.
pub(crate) const ALL: &[ToolEntry] = &[
    entry::<status::Status>(),
    entry::<brief::Brief>(),
    entry::<search::Search>(),
    entry::<where_to_look::WhereToLook>(),
    entry::<read_package::ReadPackage>(),
    entry::<save_package::SavePackage>(),
    entry::<record_reasoning::RecordReasoning>(),
    entry::<report_error::ReportError>(),
    entry::<retire::Retire>(),
    entry::<judge_replacement::JudgeReplacement>(),
    entry::<debrief::DebriefTool>(),
];

/// Finds a tool by name.
pub(crate) fn named(name: &str) -> Option<&'static ToolEntry> {
    ALL.iter().find(|entry| entry.name == name)
}

/// The definitions that clients list.
pub(crate) fn definitions() -> Vec<Definition> {
    ALL.iter().filter_map(|entry| (entry.define)()).collect()
}

impl ToolEntry {
    /// Calls the tool and truncates its answer to the limits.
    pub(crate) fn call(
        &self,
        context: &RequestContext<'_>,
        input: JsonObject,
    ) -> Result<Value, ToolError> {
        // Checked up front: some tools write files before they write records.
        if self.effect != Effect::Reads && !context.may_write {
            return Err(StoreError::Denied { need: TokenScope::Write }.into());
        }
        let mut answer = (self.call)(context, input)?;
        limits::fit(&mut answer);
        Ok(answer)
    }
}

const fn entry<T: Tool>() -> ToolEntry {
    ToolEntry {
        name: T::NAME,
        effect: T::EFFECT,
        is_prompt: T::IS_PROMPT,
        define: define::<T>,
        call: call::<T>,
    }
}

/// The definition of a tool; `None` only if its arguments are not an object, which a test rules out.
fn define<T: Tool>() -> Option<Definition> {
    let annotations = ToolAnnotations::with_title(T::TITLE)
        .read_only(T::EFFECT == Effect::Reads)
        .destructive(false)
        .idempotent(T::EFFECT != Effect::Adds)
        .open_world(false);
    let input = portable(schema_for_input::<T::Input>().ok()?);
    let output = portable(schema_for_output::<T::Output>());
    let definition = Definition::new(T::NAME, T::DESCRIPTION, input)
        .with_title(T::TITLE)
        .with_raw_output_schema(output)
        .with_annotations(annotations);
    Some(definition)
}

fn portable(mut schema: Arc<JsonObject>) -> Arc<JsonObject> {
    schema::portable(Arc::make_mut(&mut schema));
    schema
}

fn call<T: Tool>(context: &RequestContext<'_>, input: JsonObject) -> Result<Value, ToolError> {
    let output = T::call(context, read::<T>(input)?)?;
    serde_json::to_value(output).map_err(|error| {
        ToolError::invalid(
            format!("the answer cannot be serialized: {error}"),
            "Please report this.",
        )
    })
}

fn read<T: Tool>(input: JsonObject) -> Result<T::Input, ToolError> {
    serde_json::from_value(Value::Object(input)).map_err(|error| {
        ToolError::invalid(
            format!("the arguments of `{}` are not valid: {error}", T::NAME),
            "See the tool's input schema.",
        )
    })
}

/// The `save_package` tool for other protocols: the same arguments, the record itself as the answer.
pub fn save_package(
    context: &RequestContext<'_>,
    input: JsonObject,
) -> Result<SavedPackage, ToolError> {
    save_package::save(context, read::<save_package::SavePackage>(input)?)
}

/// The `record_reasoning` tool for other protocols; also returns how many secrets were redacted.
pub fn record_reasoning(
    context: &RequestContext<'_>,
    input: JsonObject,
) -> Result<(Reasoning, u32), ToolError> {
    record_reasoning::record(context, read::<record_reasoning::RecordReasoning>(input)?)
}

/// The JSON Schema of a tool's arguments.
pub fn input_schema(tool: &str) -> Option<Value> {
    let definition = (named(tool)?.define)()?;
    Some(Value::Object(definition.input_schema.as_ref().clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Descriptions are an interface for agents: changes should be visible in review.
    #[test]
    fn tool_definitions() {
        insta::assert_json_snapshot!(definitions());
    }

    #[test]
    fn every_tool_and_argument_is_described() {
        let definitions = definitions();
        assert_eq!(definitions.len(), ALL.len());
        for tool in definitions {
            let description = tool.description.as_deref().unwrap();
            assert!((40..700).contains(&description.len()), "{}: {}", tool.name, description.len());
            assert_eq!(tool.input_schema["type"], "object", "{}", tool.name);
            assert_eq!(tool.input_schema["additionalProperties"], false, "{}", tool.name);
            for (name, field) in tool.input_schema["properties"].as_object().unwrap() {
                assert!(field.get("description").is_some(), "{} {name}", tool.name);
            }
            let output = tool.output_schema.unwrap();
            assert_eq!(output["type"], "object", "{}", tool.name);
            let annotations = tool.annotations.unwrap();
            assert_eq!(annotations.destructive_hint, Some(false));
            assert!(tool.title.is_some() && annotations.read_only_hint.is_some());
        }
    }
}
