//! What single lines of each program mean: the cases that the recordings do not cover.

use handover_agents::{AgentEvent, Ended, Failure, Registry, Report, Tool, Usage};
use handover_model::{FailureClass, Host};
use serde_json::{Value, json};

/// Everything read from some lines.
struct Read {
    events: Vec<AgentEvent>,
    report: Report,
    failure: Option<Failure>,
}

impl Read {
    fn of(host: Host, ended: Ended, lines: &[Value]) -> Self {
        let stdout: String = lines.iter().map(|line| format!("{line}\n")).collect();
        Self::of_text(host, ended, &stdout)
    }

    fn of_text(host: Host, ended: Ended, stdout: &str) -> Self {
        let mut events = Vec::new();
        let (report, failure) = Registry::built_in()
            .replay(host, stdout, ended, &mut |event| events.push(event))
            .unwrap();
        Self { events, report, failure }
    }

    #[track_caller]
    fn fails_as(&self, class: FailureClass) -> &str {
        let failure = self.failure.as_ref().unwrap();
        assert_eq!(failure.class, class, "{}", failure.message);
        &failure.message
    }
}

const OK: Ended = Ended::Exited(0);

mod claude {
    use super::*;

    fn read(lines: &[Value]) -> Read {
        Read::of(Host::CLAUDE, OK, lines)
    }

    fn said(text: &str) -> Value {
        json!({"type": "assistant", "message": {"content": [{"type": "text", "text": text}]}})
    }

    #[test]
    fn a_success_has_answer_session_model_and_cost() {
        let read = read(&[
            json!({"type": "system", "subtype": "init", "session_id": "c1", "model": "opus"}),
            said("thinking aloud"),
            json!({
                "type": "result", "subtype": "success", "is_error": false, "result": "done",
                "num_turns": 3, "total_cost_usd": 0.25, "permission_denials": [{}, {}],
            }),
        ]);
        assert_eq!(read.failure, None);
        let Report { answer, last_text, host_session, model, cost_usd, turns, denials, .. } =
            read.report;
        assert_eq!((answer.as_deref(), last_text.as_str()), (Some("done"), "thinking aloud"));
        assert_eq!((host_session.as_deref(), model.as_deref()), (Some("c1"), Some("opus")));
        assert_eq!((cost_usd, turns, denials), (Some(0.25), Some(3), 2));
        let started =
            AgentEvent::Started { session: Some("c1".to_owned()), model: Some("opus".to_owned()) };
        assert_eq!(read.events[0], started);
        let result = AgentEvent::Result { text: "done".to_owned(), failed: false };
        assert_eq!(read.events.last(), Some(&result));
    }

    #[test]
    fn usage_by_model_counts_subagents_and_caches() {
        let usage = |line: Value| read(&[line]).report.usage;
        let main = json!({
            "input_tokens": 10, "cache_creation_input_tokens": 20,
            "cache_read_input_tokens": 30, "output_tokens": 4,
        });
        let model = json!({
            "inputTokens": 1, "cacheCreationInputTokens": 2, "cacheReadInputTokens": 3, "outputTokens": 5,
        });
        let alone = usage(json!({"type": "result", "subtype": "success", "usage": main}));
        assert_eq!(alone, Usage { input: 60, cached_input: 30, output: 4 });
        let models = usage(json!({
            "type": "result", "subtype": "success", "usage": main,
            "modelUsage": {"opus": model, "haiku": model},
        }));
        assert_eq!(models, Usage { input: 12, cached_input: 6, output: 10 });
        let empty = usage(json!({
            "type": "result", "subtype": "success", "usage": main, "modelUsage": {},
        }));
        assert_eq!(empty, alone);
    }

    #[test]
    fn failures_are_classified() {
        let result = |fields: Value| {
            let mut line = json!({"type": "result"});
            line.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
            read(&[line])
        };
        result(json!({"subtype": "error_max_turns"})).fails_as(FailureClass::MaxTurns);
        result(json!({"subtype": "error_max_budget_usd"})).fails_as(FailureClass::MaxBudget);
        let refused =
            json!({"subtype": "success", "stop_reason": "refusal", "result": "I will not"});
        assert_eq!(result(refused).fails_as(FailureClass::Refused), "I will not");
        let status =
            json!({"subtype": "success", "is_error": true, "api_error_status": 429, "result": "x"});
        result(status).fails_as(FailureClass::RateLimit);
        let errors =
            json!({"subtype": "error_during_execution", "errors": ["a", "API Error: 500 b"]});
        assert_eq!(result(errors).fails_as(FailureClass::Server), "a; API Error: 500 b");
        let bare = result(json!({"subtype": "error_during_execution"}));
        assert_eq!(bare.fails_as(FailureClass::Other), "ended with `error_during_execution`");
    }

    #[test]
    fn error_codes_classify_unclear_results() {
        for (word, class) in [
            ("rate_limit", FailureClass::RateLimit),
            ("overloaded", FailureClass::Overloaded),
            ("server_error", FailureClass::Server),
            ("authentication_failed", FailureClass::Auth),
            ("billing_error", FailureClass::Quota),
            ("something_new", FailureClass::Other),
        ] {
            let error = json!({
                "type": "assistant", "error": word,
                "message": {"content": [{"type": "text", "text": "it did not work"}]},
            });
            let result =
                json!({"type": "result", "subtype": "success", "is_error": true, "result": "hm"});
            let read = read(&[error, result]);
            read.fails_as(class);
            assert_eq!(read.events[0], AgentEvent::Notice("it did not work".to_owned()));
            assert_eq!(read.report.last_text, "", "an error is not the agent's text");
        }
    }

    #[test]
    fn subagents_speak_without_replacing_the_last_text() {
        let mut inner = said("from the subagent");
        inner["parent_tool_use_id"] = json!("toolu_1");
        let read = read(&[said("from the lead"), inner]);
        assert_eq!(read.report.last_text, "from the lead");
        assert_eq!(read.events.len(), 2);
    }

    #[test]
    fn tools_start_end_and_fail() {
        let block = json!({
            "type": "tool_use", "id": "t1", "name": "Bash",
            "input": {"command": "ls -la\nrm x", "description": "why"},
        });
        let result = |failed: Value| {
            json!({"type": "tool_result", "tool_use_id": "t1", "is_error": failed,
                "content": [{"type": "text", "text": "total 0"}]})
        };
        let user = |block: Value| json!({"type": "user", "message": {"content": [block]}});
        let read = read(&[
            json!({"type": "assistant", "message": {"content": [block]}}),
            user(result(json!(true))),
            user(result(Value::Null)),
        ]);
        let input = r#"{"command":"ls -la\nrm x","description":"why"}"#.to_owned();
        let tool = Tool {
            id: "t1".to_owned(),
            name: "Bash".to_owned(),
            about: "ls -la".to_owned(),
            input,
        };
        let shown = || "total 0".to_owned();
        let ended = |failed| AgentEvent::ToolEnded { id: "t1".to_owned(), failed, shown: shown() };
        assert_eq!(read.events, [AgentEvent::ToolStarted(tool), ended(true), ended(false)]);
    }

    #[test]
    fn retries_unknown_kinds_and_invalid_json() {
        let text = concat!(
            r#"{"type":"system","subtype":"api_retry","attempt":2,"error":"overloaded"}"#,
            "\n",
            r#"{"type":"system","subtype":"status"}"#,
            "\n\n",
            r#"{"type":"stream_event"}"#,
            "\nnot json\n",
        );
        let read = Read::of_text(Host::CLAUDE, OK, text);
        let retry = AgentEvent::Retry { attempt: 2, reason: "overloaded".to_owned() };
        let raw = AgentEvent::Raw("not json".to_owned());
        assert_eq!(read.events, [retry, AgentEvent::Activity, AgentEvent::Activity, raw]);
        assert_eq!(read.report.unknown_lines, 1);
        read.fails_as(FailureClass::NoResult);
    }

    #[test]
    fn fields_of_an_unexpected_type_count_as_missing() {
        let read = read(&[
            json!({"type": "system", "subtype": "init", "session_id": 7, "model": ["x"]}),
            json!({"type": "assistant", "message": "text"}),
            json!({"type": "result", "subtype": "success", "result": "done", "num_turns": "three",
                "total_cost_usd": "free", "usage": 3, "modelUsage": []}),
        ]);
        assert_eq!(read.failure, None);
        let Report { answer, host_session, model, turns, cost_usd, .. } = read.report;
        assert_eq!(answer.as_deref(), Some("done"));
        assert_eq!((host_session, model, turns, cost_usd), (None, None, None, None));
    }
}

mod codex {
    use super::*;

    fn read(lines: &[Value]) -> Read {
        Read::of(Host::CODEX, OK, lines)
    }

    fn item(kind: &str, item: Value) -> Value {
        json!({"type": kind, "item": item})
    }

    fn completed(usage: Value) -> Value {
        json!({"type": "turn.completed", "usage": usage})
    }

    #[test]
    fn the_last_message_of_a_completed_turn_is_the_answer() {
        let read = read(&[
            json!({"type": "thread.started", "thread_id": "t1"}),
            json!({"type": "turn.started"}),
            item("item.completed", json!({"type": "agent_message", "text": "first"})),
            item("item.completed", json!({"type": "agent_message", "text": "second"})),
            completed(json!({"input_tokens": 9, "cached_input_tokens": 4, "output_tokens": 2})),
        ]);
        assert_eq!(read.failure, None);
        assert_eq!(read.report.answer.as_deref(), Some("second"));
        assert_eq!(read.report.host_session.as_deref(), Some("t1"));
        assert_eq!(read.report.usage, Usage { input: 9, cached_input: 4, output: 2 });
        assert_eq!((read.report.turns, read.report.cost_usd), (Some(1), None));
    }

    #[test]
    fn usage_is_the_sum_of_all_turns_so_far() {
        let turn = |tokens: u64| {
            [json!({"type": "turn.started"}), completed(json!({"input_tokens": tokens}))]
        };
        let lines: Vec<Value> = [turn(10), turn(25)].concat();
        let read = read(&lines);
        assert_eq!((read.report.usage.input, read.report.turns), (25, Some(2)));
    }

    #[test]
    fn an_error_counts_only_if_the_turn_did_not_recover() {
        let error = json!({"type": "error", "message": "stream disconnected"});
        let started = json!({"type": "turn.started"});
        let recovered = read(&[started.clone(), error.clone(), completed(Value::Null)]);
        assert_eq!(recovered.failure, None);
        assert!(recovered.events.contains(&AgentEvent::Notice("stream disconnected".to_owned())));
        read(&[started.clone(), error.clone()]).fails_as(FailureClass::Network);
        let failed = json!({"type": "turn.failed", "error": {"message": "last status: 429"}});
        read(&[started.clone(), error.clone(), failed]).fails_as(FailureClass::RateLimit);
        let bare = json!({"type": "turn.failed"});
        read(&[started, error, bare]).fails_as(FailureClass::Network);
    }

    #[test]
    fn a_second_turn_that_does_not_finish_has_no_answer() {
        let read = read(&[
            json!({"type": "turn.started"}),
            item("item.completed", json!({"type": "agent_message", "text": "half"})),
            completed(Value::Null),
            json!({"type": "turn.started"}),
        ]);
        read.fails_as(FailureClass::NoResult);
        assert_eq!(read.report.last_text, "half");
    }

    #[test]
    fn tools_have_a_name_and_a_short_description() {
        let about = |item: Value| {
            let read = read(&[self::item("item.started", item)]);
            let AgentEvent::ToolStarted(tool) = &read.events[0] else {
                return format!("{:?}", read.events[0]);
            };
            format!("{} {}", tool.name, tool.about)
        };
        assert_eq!(about(json!({"type": "command_execution", "command": "ls\nrm"})), "shell ls");
        let change = json!({"type": "file_change", "changes": [{"path": "a"}, {"path": "b"}]});
        assert_eq!(about(change), "file_change a b");
        let call = json!({
            "type": "mcp_tool_call", "server": "s", "tool": "t", "arguments": {"query": "q"},
        });
        assert_eq!(about(call), "s.t q");
        assert_eq!(
            about(json!({"type": "collab_tool_call", "tool": "spawn_agent"})),
            "spawn_agent "
        );
        assert_eq!(about(json!({"type": "web_search", "query": "x"})), "web_search x");
        assert_eq!(about(json!({"type": "reasoning"})), "Activity");
    }

    #[test]
    fn tools_fail_by_status_or_exit_code_and_declined_ones_are_denials() {
        let read = read(&[
            item(
                "item.completed",
                json!({"id": "1", "type": "command_execution", "exit_code": 0, "aggregated_output": "ok"}),
            ),
            item("item.completed", json!({"id": "2", "type": "command_execution", "exit_code": 2})),
            item("item.completed", json!({"id": "3", "type": "file_change", "status": "failed"})),
            item("item.completed", json!({"id": "4", "type": "file_change", "status": "declined"})),
        ]);
        let ended = |id: &str, failed, shown: &str| AgentEvent::ToolEnded {
            id: id.to_owned(),
            failed,
            shown: shown.to_owned(),
        };
        assert_eq!(
            read.events,
            [
                ended("1", false, "ok"),
                ended("2", true, ""),
                ended("3", true, ""),
                ended("4", true, "")
            ]
        );
        assert_eq!(read.report.denials, 1);
    }
}

mod gemini {
    use super::*;

    fn message(content: &str, delta: bool) -> Value {
        json!({"type": "message", "role": "assistant", "content": content, "delta": delta})
    }

    fn result() -> Value {
        json!({"type": "result", "status": "success"})
    }

    #[test]
    fn pieces_since_the_last_tool_are_the_answer() {
        let read = Read::of(
            Host::GEMINI,
            OK,
            &[
                json!({"type": "init", "session_id": "g1", "model": "pro"}),
                message("looking", true),
                json!({"type": "tool_use", "tool_name": "read", "tool_id": "1", "parameters": {"path": "a"}}),
                json!({"type": "tool_result", "tool_id": "1", "status": "error", "output": "no file"}),
                message("do", true),
                message("ne", true),
                result(),
            ],
        );
        assert_eq!(read.failure, None);
        assert_eq!(read.report.answer.as_deref(), Some("done"));
        assert_eq!(read.report.host_session.as_deref(), Some("g1"));
        let shown = "no file".to_owned();
        let ended = AgentEvent::ToolEnded { id: "1".to_owned(), failed: true, shown };
        assert!(read.events.contains(&ended), "{:?}", read.events);
    }

    #[test]
    fn a_whole_message_replaces_the_pieces_before_it() {
        let lines = [message("dra", true), message("final", false), result()];
        let read = Read::of(Host::GEMINI, OK, &lines);
        assert_eq!(read.report.answer.as_deref(), Some("final"));
        let user = json!({"type": "message", "role": "user", "content": "not mine"});
        let read = Read::of(Host::GEMINI, OK, &[message("mine", false), user, result()]);
        assert_eq!(read.report.answer.as_deref(), Some("mine"));
    }

    #[test]
    fn thoughts_count_as_output() {
        let stats =
            json!({"input_tokens": 10, "cached": 4, "output_tokens": 5, "total_tokens": 22});
        let line = json!({"type": "result", "status": "success", "stats": stats});
        let usage = Read::of(Host::GEMINI, OK, &[line]).report.usage;
        assert_eq!(usage, Usage { input: 10, cached_input: 4, output: 12 });
    }

    #[test]
    fn exit_codes_and_error_types_classify_failures() {
        let result = |kind: &str, message: &str| json!({"type": "result", "status": "error", "error": {"type": kind, "message": message}});
        for (kind, class) in [
            ("FatalTurnLimitedError", FailureClass::MaxTurns),
            ("FatalAuthenticationError", FailureClass::Auth),
            ("FatalInputError", FailureClass::Usage),
            ("Error", FailureClass::Other),
        ] {
            Read::of(Host::GEMINI, Ended::Exited(1), &[result(kind, "hm")]).fails_as(class);
        }
        for (code, class) in
            [(41, FailureClass::Auth), (42, FailureClass::Usage), (53, FailureClass::MaxTurns)]
        {
            Read::of(Host::GEMINI, Ended::Exited(code), &[]).fails_as(class);
        }
        let warning = json!({"type": "error", "severity": "warning", "message": "API Error: 500"});
        let read = Read::of(Host::GEMINI, OK, &[warning, message("fine", false), self::result()]);
        assert_eq!(read.failure, None, "a warning is no failure");
        let error = json!({"type": "error", "severity": "error", "message": "quota exceeded"});
        let failed = json!({"type": "result", "status": "error"});
        Read::of(Host::GEMINI, OK, &[error, failed]).fails_as(FailureClass::Quota);
    }
}

mod command {
    use super::*;

    #[test]
    fn the_whole_output_is_the_answer() {
        let read = Read::of_text(Host::COMMAND, OK, "one\n{\"two\": 2}\n");
        assert_eq!(read.failure, None);
        assert_eq!(read.report.answer.as_deref(), Some("one\n{\"two\": 2}\n"));
        assert_eq!(read.events[1], AgentEvent::Text("{\"two\": 2}".to_owned()));
        assert_eq!(Read::of_text(Host::COMMAND, OK, "").failure, None, "silence is a result");
    }

    #[test]
    fn a_nonzero_exit_code_is_a_failure() {
        let read = Read::of_text(Host::COMMAND, Ended::Exited(3), "half\n");
        assert_eq!(read.fails_as(FailureClass::ExitCode), "ended with exit code 3");
        assert_eq!(read.report.answer.as_deref(), Some("half\n"));
    }
}

/// However a run is cut short, it counts as failed, never as a success.
#[test]
fn a_stopped_process_has_failed_whatever_it_printed() {
    let success = json!({"type": "result", "subtype": "success", "result": "done"});
    for (ended, class) in [
        (Ended::WallTimeout, FailureClass::WallTimeout),
        (Ended::IdleTimeout, FailureClass::IdleTimeout),
        (Ended::OutputFlood, FailureClass::OutputFlood),
        (Ended::Cancelled, FailureClass::Cancelled),
        (Ended::Signalled(9), FailureClass::Crashed),
        (Ended::Exited(2), FailureClass::ExitCode),
    ] {
        Read::of(Host::CLAUDE, ended, std::slice::from_ref(&success)).fails_as(class);
    }
}
