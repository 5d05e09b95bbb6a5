//! A scripted model: it spawns one subagent, which reports that it is done.
//!
//! It speaks Anthropic's messages, OpenAI's responses and Google's contents on loopback until it is dropped.

use std::io::Read;
use std::sync::Arc;
use std::thread::JoinHandle;

use serde_json::{Value, json};
use tiny_http::{Header, Method, Request, Response, Server};

/// Distinguishes the conversation from that of the subagent.
pub(super) const LEAD: &str = "handover-probe";

const TASK: &str = "Say that you are done.";
const DEBRIEF: &str =
    "Done.\n\n```handover\nverdict: complete\nsummary: Nothing had to be done.\n```\n";

/// More than any request of such a short conversation has.
const MAX_BYTES: u64 = 16 << 20;

/// How the tools for named agents of Codex are listed.
const NAMED: &str = "\"name\":\"collaboration\"";

type Problem = Box<dyn std::error::Error + Send + Sync>;

pub(super) struct Model {
    http: Arc<Server>,
    accepting: Option<JoinHandle<()>>,
}

impl Model {
    pub(super) fn start() -> Result<Self, Problem> {
        let http = Arc::new(Server::http("127.0.0.1:0")?);
        let server = Arc::clone(&http);
        let accepting = std::thread::spawn(move || {
            for request in server.incoming_requests() {
                // A client that hung up needs no answer.
                std::thread::spawn(move || drop(serve(request)));
            }
        });
        Ok(Self { http, accepting: Some(accepting) })
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}", self.http.server_addr())
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        self.http.unblock();
        if let Some(accepting) = self.accepting.take() {
            let _ = accepting.join();
        }
    }
}

fn serve(mut request: Request) -> Result<(), Problem> {
    let path = request.url().split('?').next().unwrap_or_default().to_owned();
    let is_gemini = path.ends_with("enerateContent");
    if *request.method() != Method::Post
        || !matches!(path.as_str(), "/v1/messages" | "/v1/responses") && !is_gemini
    {
        return reply(request, "application/json", "{}".to_owned());
    }
    let mut body = Vec::new();
    request.as_reader().take(MAX_BYTES).read_to_end(&mut body)?;
    let body: Value = serde_json::from_slice(&body)?;
    if path == "/v1/responses" {
        return reply(request, "text/event-stream", events(&responses(&body)));
    }
    if is_gemini {
        let answer = contents(&body);
        return if path.ends_with(":streamGenerateContent") {
            reply(request, "text/event-stream", format!("data: {answer}\n\n"))
        } else {
            reply(request, "application/json", answer.to_string())
        };
    }
    let block = message(&body);
    if body["stream"] == true {
        reply(request, "text/event-stream", events(&stream(&block)))
    } else {
        let message = json!({
            "id": "msg", "type": "message", "role": "assistant", "model": "probe", "content": [block],
            "stop_reason": "end_turn", "usage": {"input_tokens": 1, "output_tokens": 1},
        });
        reply(request, "application/json", message.to_string())
    }
}

fn reply(request: Request, kind: &str, body: String) -> Result<(), Problem> {
    let header = Header::from_bytes("Content-Type", kind).map_err(|()| "no header")?;
    Ok(request.respond(Response::from_string(body).with_header(header))?)
}

/// What Claude Code, Copilot CLI and opencode are answered: one block.
fn message(body: &Value) -> Value {
    let conversation = body["messages"].to_string();
    if !conversation.contains(LEAD) {
        return json!({"type": "text", "text": DEBRIEF});
    }
    if conversation.contains("\"tool_result\"") {
        return json!({"type": "text", "text": "Done."});
    }
    let tools = body["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
    // Copilot CLI and opencode have the same tool under another name.
    let task = tools.iter().find(|tool| tool["name"] == "task");
    let (tool, kind, general) = match task {
        Some(task) if task.pointer("/input_schema/properties/agent_type").is_some() => {
            ("task", "agent_type", "general-purpose")
        }
        Some(_) => ("task", "subagent_type", "general"),
        None => ("Agent", "subagent_type", "general-purpose"),
    };
    let input = json!({"description": "probe", "name": "probe", "prompt": TASK, kind: general});
    json!({"type": "tool_use", "id": "toolu_probe", "name": tool, "input": input})
}

/// A block as it is streamed.
fn stream(block: &Value) -> Vec<Value> {
    let is_tool = block["type"] == "tool_use";
    let (start, delta, reason) = if is_tool {
        let mut start = block.clone();
        start["input"] = json!({});
        let input = block["input"].to_string();
        (start, json!({"type": "input_json_delta", "partial_json": input}), "tool_use")
    } else {
        let start = json!({"type": "text", "text": ""});
        (start, json!({"type": "text_delta", "text": block["text"]}), "end_turn")
    };
    let message = json!({
        "id": "msg", "type": "message", "role": "assistant", "model": "probe", "content": [],
        "stop_reason": null, "stop_sequence": null, "usage": {"input_tokens": 1, "output_tokens": 1},
    });
    vec![
        json!({"type": "message_start", "message": message}),
        json!({"type": "content_block_start", "index": 0, "content_block": start}),
        json!({"type": "content_block_delta", "index": 0, "delta": delta}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({
            "type": "message_delta", "usage": {"output_tokens": 1},
            "delta": {"stop_reason": reason, "stop_sequence": null},
        }),
        json!({"type": "message_stop"}),
    ]
}

/// What Gemini CLI is answered: one part. Its subagents end by calling a tool.
fn contents(body: &Value) -> Value {
    let conversation = body["contents"].to_string();
    let call = |name: &str, args: Value| json!({"functionCall": {"name": name, "args": args}});
    let part = match conversation.contains(LEAD) {
        true if conversation.contains("functionResponse") => json!({"text": "Done."}),
        true => call("invoke_agent", json!({"agent_name": "generalist", "prompt": TASK})),
        false => call("complete_task", json!({"result": {"response": DEBRIEF}})),
    };
    json!({
        "candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
    })
}

/// What Codex is answered: one item and its frame.
fn responses(body: &Value) -> Vec<Value> {
    let items = body["input"].as_array().map(Vec::as_slice).unwrap_or_default();
    let said = |text: &str| {
        json!({"type": "message", "role": "assistant", "id": "msg",
            "content": [{"type": "output_text", "text": text}]})
    };
    // In its second version, agents have names.
    let named = body.to_string().contains(NAMED);
    let namespace = if named { "collaboration" } else { "multi_agent_v1" };
    let call = |name: &str, input: Value| {
        json!({"type": "function_call", "call_id": format!("call_{name}"), "name": name,
            "namespace": namespace, "arguments": input.to_string()})
    };
    let calls = items.iter().filter(|item| item["type"] == "function_call").count();
    let item = match (body["input"].to_string().contains(LEAD), calls) {
        (false, _) => said(DEBRIEF),
        (true, 0) if named => {
            let input = json!({"message": TASK, "task_name": "probe", "fork_turns": "none"});
            call("spawn_agent", input)
        }
        (true, 0) => call("spawn_agent", json!({"message": TASK, "agent_type": "worker"})),
        (true, 1) if named => call("wait_agent", json!({"timeout_ms": 30_000})),
        // It does not wait for its subagents by itself.
        (true, 1) => match spawned(items) {
            Some(id) => call("wait_agent", json!({"targets": [id], "timeout_ms": 30_000})),
            None => said("There are no subagents here."),
        },
        (true, _) => said("Done."),
    };
    let usage = json!({
        "input_tokens": 1, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 1,
        "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 2,
    });
    vec![
        json!({"type": "response.created", "response": {"id": "resp"}}),
        json!({"type": "response.output_item.done", "item": item}),
        json!({"type": "response.completed", "response": {"id": "resp", "usage": usage}}),
    ]
}

/// The subagent that the spawn has led to.
fn spawned(items: &[Value]) -> Option<String> {
    let output = items.iter().find(|item| item["type"] == "function_call_output")?;
    let output: Value = serde_json::from_str(output["output"].as_str()?).ok()?;
    Some(output["agent_id"].as_str()?.to_owned())
}

fn events(events: &[Value]) -> String {
    let event = |event: &Value| {
        format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default())
    };
    events.iter().map(event).collect()
}
