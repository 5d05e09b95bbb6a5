//! Runs, their journals and questions, and totals across all runs.

use handover_engine::question::{self, AnswerContext, Question};
use handover_engine::{EngineError, report, stats};
use handover_mcp::{RequestContext, RequestError, ToolError};
use handover_model::{Run, RunId, Timestamp};
use handover_store::{RecordKind, RunFilter, StoreError};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{ApiRequest, Endpoint, Verb};

pub(super) const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        verb: Verb::Get,
        path: "/runs",
        summary: "Runs, newest first",
        query: &[("epic", "only this epic"), ("limit", "maximum number; default 100")],
        handler: |context, request| {
            let filter = RunFilter { epic: request.query_param("epic")?, limit: request.limit()? };
            Ok(json!({"runs": context.store.runs(&filter)?}))
        },
    },
    Endpoint {
        verb: Verb::Get,
        path: "/status",
        summary: "The state of the latest run: its stories, their phases and cost",
        query: &[],
        handler: |context, _| {
            let latest = context.store.runs(&RunFilter { epic: None, limit: Some(1) })?.pop();
            let run = latest.ok_or_else(|| StoreError::not_found(RecordKind::Run, "latest"))?;
            run_state(context, &run)
        },
    },
    Endpoint {
        verb: Verb::Get,
        path: "/runs/{run}",
        summary: "The state of a run",
        query: &[],
        handler: |context, request| {
            run_state(context, &context.store.run_record(&request.path_param("run")?)?)
        },
    },
    Endpoint {
        verb: Verb::Get,
        path: "/runs/{run}/journal",
        summary: "The journal of a run: intents and results, oldest first",
        query: &[("from", "the first entry; default 1")],
        handler: |context, request| {
            let id: RunId = request.path_param("run")?;
            let from = request.query_param("from")?.unwrap_or(1);
            Ok(json!({"journal": context.store.journal(&id, from)?}))
        },
    },
    Endpoint {
        verb: Verb::Post(r#"{"story": "1-2-login", "text": "Use port 8080."}"#),
        path: "/runs/{run}/answers",
        summary: "Answer a question of a run, which uses it when it is resumed",
        query: &[],
        handler: answer,
    },
    Endpoint {
        verb: Verb::Get,
        path: "/stats",
        summary: "Totals across all sessions and runs",
        query: &[("since", "only since this time (RFC 3339)")],
        handler: |context, request: &ApiRequest| {
            let since: Option<Timestamp> = request.query_param("since")?;
            let stats = stats::of(context.store, &context.project, since, context.now)
                .map_err(engine_error)?;
            Ok(json!({"stats": stats}))
        },
    },
];

fn run_state(context: &RequestContext<'_>, run: &Run) -> Result<Value, ToolError> {
    let document = report::of_run(context.store, run, &context.machine).map_err(engine_error)?;
    let document = document.ok_or_else(|| {
        ToolError::Request(RequestError {
            code: "empty_run",
            message: format!("run `{}` crashed before it was planned", run.id),
            hint: Some(format!("Start it again with `handover run {}`.", run.epic)),
        })
    })?;
    Ok(json!({"run": document}))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AnswerBody {
    /// Optional while only one story has a question.
    story: Option<String>,
    text: String,
}

fn answer(context: &RequestContext<'_>, request: &ApiRequest) -> Result<Value, ToolError> {
    let body: AnswerBody = request.body()?;
    let open =
        question::open(context.store, Some(&request.path_param("run")?)).map_err(engine_error)?;
    let asked = question::meant(open, body.story.as_deref()).map_err(engine_error)?;
    let answers = AnswerContext {
        store: context.store,
        redactor: context.redactor,
        config: context.config,
        machine: &context.machine,
        author: "API",
        now: context.now,
    };
    answers.answer(&asked, &body.text).map_err(engine_error)?;
    let Question { run, story, question } = asked;
    Ok(json!({"answer": {"run": run.id, "story": story, "question": question}}))
}

fn engine_error(error: EngineError) -> ToolError {
    let rejected = |code, hint: &str| {
        let hint = Some(hint.to_owned());
        ToolError::Request(RequestError { code, message: error.to_string(), hint })
    };
    if let EngineError::NothingAsked { .. } = error {
        let hint = "`GET /api/v1/runs/{run}` shows the `question` of each story that has one.";
        return rejected("not_found", hint);
    }
    if let EngineError::SeveralAsked = error {
        return rejected("ambiguous", "Name the `story`.");
    }
    if let EngineError::EmptyAnswer = error {
        return rejected("invalid_input", "Write an answer; the next agent reads it verbatim.");
    }
    if let EngineError::LongAnswer { .. } = error {
        let hint = "Put the rest into a file of the project and name it in the answer.";
        return rejected("invalid_input", hint);
    }
    if let EngineError::Store(error) = error {
        return error.into();
    }
    ToolError::Request(RequestError::internal(&error.to_string()))
}
