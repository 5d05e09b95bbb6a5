//! The tools, resources and prompts that the conformance suite calls by name. No product has them: they
//! exist to send every kind of message through the transport once.

use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities,
    ErrorData, GetPromptRequestParams, GetPromptResponse, GetPromptResult, JsonObject,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ProgressNotificationParam, ReadResourceRequestParams,
    ReadResourceResponse, ReadResourceResult, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::rounds::Round;

const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=";
const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=";

pub(crate) struct Showcase;

/// A value of the protocol, as it is sent over the wire.
fn wire<T: DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).unwrap()
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn image() -> Value {
    json!({"type": "image", "data": PNG, "mimeType": "image/png"})
}

fn embedded(uri: &str) -> Value {
    json!({"type": "resource", "resource": {"uri": uri, "mimeType": "text/plain", "text": "embedded"}})
}

/// Every tool, with its arguments where it has any.
fn tools() -> Vec<Tool> {
    let plain = json!({"type": "object", "properties": {}});
    let header = json!({"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}});
    let round = |name: &str| format!("test_input_required_result_{name}");
    let rounds = [
        "elicitation",
        "sampling",
        "list_roots",
        "request_state",
        "multiple_inputs",
        "multi_round",
        "tampered_state",
        "capabilities",
    ];
    let names = [
        "test_simple_text",
        "test_image_content",
        "test_audio_content",
        "test_embedded_resource",
        "test_multiple_content_types",
        "test_error_handling",
        "test_tool_with_progress",
        "test_missing_capability",
        "test_streaming_elicitation",
        "test_logging_tool",
    ];
    let mut all: Vec<(String, Value)> =
        names.iter().map(|name| ((*name).to_owned(), plain.clone())).collect();
    all.extend(rounds.iter().map(|name| (round(name), plain.clone())));
    all.push(("test_header".to_owned(), header));
    all.push(("json_schema_2020_12_tool".to_owned(), rich_schema()));
    let tool = |(name, schema)| Tool::new(name, "A tool of the suite", wire::<JsonObject>(schema));
    all.into_iter().map(tool).collect()
}

/// JSON Schema keywords that must be passed through unchanged.
fn rich_schema() -> Value {
    let street = json!({"street": {"type": "string"}, "city": {"type": "string"}});
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {"address": {"$anchor": "addressDef", "type": "object", "properties": street}},
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": false,
    })
}

/// How long a list may be cached, which the newer protocol requires.
macro_rules! kept {
    ($list:expr) => {{
        let mut list = $list;
        (list.ttl_ms, list.cache_scope) = (Some(1_000), Some(CacheScope::Private));
        Ok(list)
    }};
}

impl ServerHandler for Showcase {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder();
        ServerConfig::new(capabilities.enable_tools().enable_resources().enable_prompts().build())
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tools().into_iter().find(|tool| tool.name == name)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        kept!(ListToolsResult::with_all_items(tools()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let capabilities = context.meta.client_capabilities().unwrap_or_default();
        let content = match &*request.name {
            "test_image_content" => json!([image()]),
            "test_audio_content" => {
                json!([{"type": "audio", "data": WAV, "mimeType": "audio/wav"}])
            }
            "test_embedded_resource" => json!([embedded("test://embedded-resource")]),
            "test_multiple_content_types" => {
                json!([text("Several:"), image(), embedded("test://mixed-content-resource")])
            }
            "test_error_handling" => {
                return Ok(CallToolResult::error(wire(json!([text("On purpose.")]))).into());
            }
            "test_tool_with_progress" => {
                for done in [0.0, 50.0, 100.0] {
                    let Some(token) = context.meta.get_progress_token() else { break };
                    let progress = ProgressNotificationParam::new(token, done).with_total(100.0);
                    let _ = context.peer.notify_progress(progress).await;
                }
                json!([text("All of it.")])
            }
            "test_missing_capability" if capabilities.sampling.is_none() => {
                let needed: ClientCapabilities = wire(json!({"sampling": {}}));
                return Err(ErrorData::missing_required_client_capability(needed));
            }
            name if name.starts_with("test_input_required") || name.ends_with("elicitation") => {
                let answers = request.input_responses.unwrap_or_default();
                let round = Round { capabilities, answers, state: request.request_state };
                if let Some(question) = round.next(name)? {
                    return Ok(question.into());
                }
                json!([text("Hello, Alice! state-ok")])
            }
            _ => json!([text("This is a simple text response for testing.")]),
        };
        Ok(CallToolResult::success(wire(content)).into())
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let uris = ["test://static-text", "test://static-binary"];
        let resources = uris.map(|uri| wire(json!({"uri": uri, "name": uri})));
        kept!(ListResourcesResult::with_all_items(resources.into()))
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let template = json!({"uriTemplate": "test://template/{id}/data", "name": "template"});
        kept!(ListResourceTemplatesResult::with_all_items(vec![wire(template)]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = &request.uri;
        let content = if uri == "test://static-binary" {
            json!({"uri": uri, "mimeType": "image/png", "blob": PNG})
        } else if uri == "test://static-text" {
            json!({"uri": uri, "mimeType": "text/plain", "text": "static"})
        } else if let Some(rest) = uri.strip_prefix("test://template/") {
            let id = rest.trim_end_matches("/data");
            json!({"uri": uri, "mimeType": "application/json", "text": json!({"id": id}).to_string()})
        } else {
            return Err(ErrorData::resource_not_found("nothing", Some(json!({"uri": uri}))));
        };
        kept!(ReadResourceResult::new(vec![wire(content)])).map(ReadResourceResponse::Complete)
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let names = [
            ("test_simple_prompt", json!([])),
            ("test_prompt_with_arguments", json!([{"name": "arg1"}, {"name": "arg2"}])),
            ("test_prompt_with_embedded_resource", json!([{"name": "resourceUri"}])),
            ("test_prompt_with_image", json!([])),
            ("test_input_required_result_prompt", json!([])),
        ];
        let prompts = names.map(|(name, arguments)| {
            wire(json!({"name": name, "description": "Of the suite", "arguments": arguments}))
        });
        kept!(ListPromptsResult::with_all_items(prompts.into()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let content = match request.name.as_str() {
            "test_prompt_with_embedded_resource" => {
                embedded(arguments["resourceUri"].as_str().unwrap_or_default())
            }
            "test_prompt_with_image" => image(),
            "test_input_required_result_prompt" => {
                let capabilities = context.meta.client_capabilities().unwrap_or_default();
                let answers = request.input_responses.unwrap_or_default();
                let round = Round { capabilities, answers, state: request.request_state };
                if let Some(question) = round.next(&request.name)? {
                    return Ok(question.into());
                }
                text("With what you said.")
            }
            _ => text(&format!("A prompt with {arguments}.")),
        };
        let messages = json!([{"role": "user", "content": content}]);
        Ok(GetPromptResult::new(wire(messages)).into())
    }
}
