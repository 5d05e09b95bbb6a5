//! What every hook host sends, as its program sent it to a recording, with a secret in each of its texts and ids.

use handover_testkit::TestEnv;
use serde_json::{Map, Value};

use super::{Planted, list_everything};
use crate::project;

/// A host and the newest recordings of its program.
const RECORDINGS: &[(&str, &[&str])] = &[
    ("claude", &["claude-2.1.325"]),
    ("codex", &["codex-0.166.0", "codex-0.166.0-named"]),
    ("copilot", &["copilot-1.0.102"]),
    ("gemini", &["gemini-0.61.0"]),
    ("opencode", &["opencode-1.18.33"]),
    ("qwen", &["qwen-0.24.4"]),
];

/// What says what an event is; without it, nothing would read the event.
const KEPT: &[&str] = &["hook_event_name", "tool_name", "cwd", "timestamp"];

/// Fields that hold one word. They are replaced as a whole, and not together with texts: an event with an unknown
/// conversation is read in another way.
const WORDS: &[&str] = &[
    "session_id",
    "sessionId",
    "agent_id",
    "agentId",
    "tool_use_id",
    "tool_call_id",
    "prompt_id",
    "turn_id",
    "transcript_path",
    "transcriptPath",
    "agent_transcript_path",
    "source",
    "trigger",
    "agent_type",
    "agentName",
    "agent_name",
    "subagent_type",
    "model",
    "permission_mode",
    "stop_reason",
    "reason",
    "level",
    "result_type",
    "name",
    "mode",
];

/// Which strings of an event get a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fields {
    Texts,
    Words,
}

/// An event with secrets, and those that are in the input of its tool.
struct Planting<'a> {
    planted: &'a mut Planted,
    fields: Fields,
    in_tool_input: Vec<String>,
}

impl Planting<'_> {
    fn plant(&mut self, value: &Value, key: &str, path: &str) -> Value {
        match value {
            Value::Object(fields) => {
                let fields = fields.iter().map(|(key, value)| {
                    (key.clone(), self.plant(value, key, &format!("{path}.{key}")))
                });
                Value::Object(fields.collect::<Map<_, _>>())
            }
            Value::Array(items) => {
                items.iter().map(|item| self.plant(item, key, &format!("{path}[]"))).collect()
            }
            Value::String(text) if self.has_a_secret(key) => {
                let token = self.planted.token(&format!("hook of {path}"));
                if path.contains(".tool_input.") {
                    self.in_tool_input.push(token.clone());
                }
                match self.fields {
                    Fields::Texts => format!("{text} {token}").into(),
                    Fields::Words => token.into(),
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
        }
    }

    fn has_a_secret(&self, key: &str) -> bool {
        !KEPT.contains(&key) && WORDS.contains(&key) == (self.fields == Fields::Words)
    }
}

fn events(env: &TestEnv, recording: &str) -> Vec<Value> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../handover-hosts/tests/recordings");
    let text = fs_err::read_to_string(format!("{root}/{recording}.jsonl")).unwrap();
    let here = format!("\"{}", env.path("").display().to_string().trim_end_matches('/'));
    let lines = text.lines().map(|line| line.replace("\"/project", &here));
    lines.map(|line| serde_json::from_str(&line).unwrap()).collect()
}

#[test]
fn hooks_of_every_host() {
    for (host, recordings) in RECORDINGS {
        let env = project();
        let mut planted = Planted::default();
        for recording in *recordings {
            for (n, event) in events(&env, recording).iter().enumerate() {
                for fields in [Fields::Texts, Fields::Words] {
                    let mut planting =
                        Planting { planted: &mut planted, fields, in_tool_input: Vec::new() };
                    let path = format!("{recording}, event {n}, {fields:?}");
                    let event = planting.plant(event, "", &path);
                    let own = planting.in_tool_input;
                    let mut output = env.run_with(event.to_string(), ["hook", host]);
                    let is_before = ["PreToolUse", "BeforeTool"]
                        .iter()
                        .any(|name| event["hook_event_name"] == *name);
                    if is_before {
                        // The program gets its own input back, with a brief before the prompt.
                        for token in own {
                            output.stdout = output.stdout.replace(&token, "");
                        }
                    }
                    planted.output(&format!("{path}: {}", event["hook_event_name"]), &output);
                }
            }
        }
        list_everything(&mut planted, &env);
        let kept = env.run(["data", "export"]).ok().stdout;
        assert!(kept.contains("[REDACTED-"), "{host}: nothing of it was kept");
        planted.nowhere(&env);
    }
}

#[test]
fn every_host_has_a_recording() {
    let listed = project().run(["host", "list", "--json"]).ok().json();
    let hosts: Vec<&str> = listed["hosts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|host| host["name"].as_str().unwrap())
        .collect();
    let planted: Vec<&str> = RECORDINGS.iter().map(|(host, _)| *host).collect();
    for host in hosts {
        assert!(planted.contains(&host), "{host}");
    }
}
