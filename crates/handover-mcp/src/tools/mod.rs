//! The tools, one file each: what goes in, what comes out, what is done.

mod brief;
mod debrief;
mod read_package;
mod record_reasoning;
mod report_error;
mod save_package;
mod search;
mod status;

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
pub use save_package::Saved;

use crate::{Seat, ToolError, limits, schema};

/// One tool.
trait Tool {
    /// How it is called.
    const NAME: &'static str;
    /// What people see.
    const TITLE: &'static str;
    /// What agents see.
    const DESCRIPTION: &'static str;
    /// What it does to the store.
    const EFFECT: Effect;
    /// Its arguments.
    type Input: DeserializeOwned + JsonSchema + 'static;
    /// Its answer.
    type Output: Serialize + JsonSchema + 'static;

    /// Does it.
    fn call(seat: &Seat<'_>, input: Self::Input) -> Result<Self::Output, ToolError>;
}

/// What a tool does to the store. None of them takes anything away, and none reaches further.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// It only reads.
    Reads,
    /// It adds; the same again changes nothing.
    AddsOnce,
    /// It adds every time.
    Adds,
}

/// A tool whose types are no longer needed.
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    effect: Effect,
    define: fn() -> Option<Definition>,
    call: fn(&Seat<'_>, JsonObject) -> Result<Value, ToolError>,
}

/// Every tool. The order is that of a piece of work, and always the same.
pub(crate) const ALL: &[Entry] = &[
    entry::<status::Status>(),
    entry::<brief::Brief>(),
    entry::<search::Search>(),
    entry::<read_package::ReadPackage>(),
    entry::<save_package::SavePackage>(),
    entry::<record_reasoning::RecordReasoning>(),
    entry::<report_error::ReportError>(),
    entry::<debrief::DebriefTool>(),
];

/// The tool of a name.
pub(crate) fn named(name: &str) -> Option<&'static Entry> {
    ALL.iter().find(|entry| entry.name == name)
}

/// How every tool is described.
pub(crate) fn definitions() -> Vec<Definition> {
    ALL.iter().filter_map(|entry| (entry.define)()).collect()
}

impl Entry {
    /// Calls the tool; its answer is within the limits.
    pub(crate) fn call(&self, seat: &Seat<'_>, input: JsonObject) -> Result<Value, ToolError> {
        // Before anything is done: some tools write files before they write records.
        if self.effect != Effect::Reads && !seat.may_write {
            return Err(StoreError::Denied { need: TokenScope::Write }.into());
        }
        let mut answer = (self.call)(seat, input)?;
        limits::fit(&mut answer);
        Ok(answer)
    }
}

const fn entry<T: Tool>() -> Entry {
    Entry { name: T::NAME, effect: T::EFFECT, define: define::<T>, call: call::<T> }
}

/// The description of a tool; none only if its arguments are no object, which a test rules out.
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

fn call<T: Tool>(seat: &Seat<'_>, input: JsonObject) -> Result<Value, ToolError> {
    let output = T::call(seat, read::<T>(input)?)?;
    serde_json::to_value(output).map_err(|error| {
        ToolError::invalid(format!("the answer cannot be told: {error}"), "Please report this.")
    })
}

fn read<T: Tool>(input: JsonObject) -> Result<T::Input, ToolError> {
    serde_json::from_value(Value::Object(input)).map_err(|error| {
        ToolError::invalid(
            format!("the arguments of `{}` are not valid: {error}", T::NAME),
            "The tool's input schema says what is expected.",
        )
    })
}

/// What `save_package` does, for whoever speaks another protocol: the same arguments, the record
/// itself as the answer.
pub fn save(seat: &Seat<'_>, input: JsonObject) -> Result<Saved, ToolError> {
    save_package::save(seat, read::<save_package::SavePackage>(input)?)
}

/// What `record_reasoning` does, in the same way; also how many secrets were taken out.
pub fn record(seat: &Seat<'_>, input: JsonObject) -> Result<(Reasoning, u32), ToolError> {
    record_reasoning::record(seat, read::<record_reasoning::RecordReasoning>(input)?)
}

/// The JSON Schema of what they take.
pub fn input_schema(tool: &str) -> Option<Value> {
    let definition = (named(tool)?.define)()?;
    Some(Value::Object(definition.input_schema.as_ref().clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What agents read is an interface: a change of it should be seen.
    #[test]
    fn the_tools_as_agents_see_them() {
        insta::assert_json_snapshot!(definitions());
    }

    #[test]
    fn every_tool_is_described_in_full_and_briefly() {
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
