//! Runs and their journals, and what all of it comes to.

use handover_engine::question::{self, AnswerContext, Question};
use handover_engine::{EngineError, report, stats};
use handover_mcp::{Refusal, Seat, ToolError};
use handover_model::{Run, RunId, Timestamp};
use handover_store::{RecordKind, RunFilter, StoreError};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Ask, Endpoint, Verb};

pub(super) const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        verb: Verb::Get,
        path: "/runs",
        about: "Runs, newest first",
        fields: &[("epic", "only of this epic"), ("limit", "at most so many; default 100")],
        call: |seat, ask| {
            let filter = RunFilter { epic: ask.field("epic")?, limit: ask.limit()? };
            Ok(json!({"runs": seat.store.runs(&filter)?}))
        },
    },
    Endpoint {
        verb: Verb::Get,
        path: "/status",
        about: "Where the latest run stands: its stories, their phases, what they cost",
        fields: &[],
        call: |seat, _| {
            let latest = seat.store.runs(&RunFilter { epic: None, limit: Some(1) })?.pop();
            let run = latest.ok_or_else(|| StoreError::not_found(RecordKind::Run, "latest"))?;
            standing(seat, &run)
        },
    },
    Endpoint {
        verb: Verb::Get,
        path: "/runs/{run}",
        about: "Where a run stands",
        fields: &[],
        call: |seat, ask| standing(seat, &seat.store.run_record(&ask.part("run")?)?),
    },
    Endpoint {
        verb: Verb::Get,
        path: "/runs/{run}/journal",
        about: "Everything that a run intended and what came of it, oldest first",
        fields: &[("from", "from this entry on; default 1")],
        call: |seat, ask| {
            let id: RunId = ask.part("run")?;
            let from = ask.field("from")?.unwrap_or(1);
            Ok(json!({"journal": seat.store.journal(&id, from)?}))
        },
    },
    Endpoint {
        verb: Verb::Post(r#"{"story": "1-2-login", "text": "Use port 8080."}"#),
        path: "/runs/{run}/answers",
        about: "Answer what a run asks; it goes on with that when it is resumed",
        fields: &[],
        call: answer,
    },
    Endpoint {
        verb: Verb::Get,
        path: "/stats",
        about: "What all sessions and runs come to",
        fields: &[("since", "only what happened since this time, in RFC 3339")],
        call: |seat, ask: &Ask| {
            let since: Option<Timestamp> = ask.field("since")?;
            let stats = stats::of(seat.store, &seat.project, since).map_err(engine)?;
            Ok(json!({"stats": stats}))
        },
    },
];

fn standing(seat: &Seat<'_>, run: &Run) -> Result<Value, ToolError> {
    let document = report::of_run(seat.store, run, &seat.machine).map_err(engine)?;
    let document = document.ok_or_else(|| {
        ToolError::Refused(Refusal {
            code: "empty_run",
            message: format!("run `{}` died before it was planned", run.id),
            hint: Some(format!("Start it again with `handover run {}`.", run.epic)),
        })
    })?;
    Ok(json!({"run": document}))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AnswerBody {
    /// May be left out if only one story asks.
    story: Option<String>,
    text: String,
}

fn answer(seat: &Seat<'_>, ask: &Ask) -> Result<Value, ToolError> {
    let body: AnswerBody = ask.body()?;
    let open = question::open(seat.store, Some(&ask.part("run")?)).map_err(engine)?;
    let asked = question::meant(open, body.story.as_deref()).map_err(engine)?;
    let context = AnswerContext {
        store: seat.store,
        redactor: seat.redactor,
        config: seat.config,
        machine: &seat.machine,
        now: seat.now,
    };
    context.answer(&asked, &body.text).map_err(engine)?;
    let Question { run, story, question } = asked;
    Ok(json!({"answer": {"run": run.id, "story": story, "question": question}}))
}

fn engine(error: EngineError) -> ToolError {
    let told = |code, hint: &str| {
        let hint = Some(hint.to_owned());
        ToolError::Refused(Refusal { code, message: error.to_string(), hint })
    };
    if let EngineError::NothingAsked { .. } = error {
        let hint = "`GET /api/v1/runs/{run}` has a `question` in every story that asks.";
        return told("not_found", hint);
    }
    if let EngineError::SeveralAsked = error {
        return told("ambiguous", "Name the `story`.");
    }
    if let EngineError::EmptyAnswer = error {
        return told("invalid_input", "Say it in words; the next agent reads exactly that.");
    }
    if let EngineError::LongAnswer { .. } = error {
        let hint = "Put the rest into a file of the project and name it in the answer.";
        return told("invalid_input", hint);
    }
    if let EngineError::Store(error) = error {
        return error.into();
    }
    ToolError::Refused(Refusal::broken(&error.to_string()))
}
