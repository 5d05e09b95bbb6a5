//! What an agent gets before it works, and what it leaves behind.

use handover_context::assemble::{self, assemble, deliver};
use handover_context::brief::{self, brief};
use handover_context::debrief::{self, Origin, keep, keep_missing, parse};
use handover_context::learning::Binding;
use handover_context::shape;
use handover_mcp::{Seat, ToolError};
use handover_model::{
    AgentId, GroupId, ReasoningLevel, ReceiptId, ReceiptState, Role, SessionId, TestingMode,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Ask, Endpoint, Verb};

pub(super) const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        verb: Verb::Post(
            r#"{"role": "developer", "task": "Refresh tokens in parallel", "group": "login", "model": "opus", "deliver": true}"#,
        ),
        path: "/sessions/{session}/assemble",
        about: "Put together the context of one agent, with a receipt",
        fields: &[],
        call: assembled,
    },
    Endpoint {
        verb: Verb::Post(
            r#"{"role": "qa_expert", "task": "Test the login", "deliver": true, "testing_mode": "full"}"#,
        ),
        path: "/sessions/{session}/brief",
        about: "Make the whole prompt of an agent: context, specialization, role, task",
        fields: &[],
        call: briefed,
    },
    Endpoint {
        verb: Verb::Post(
            r#"{"receipt": "r_0190…", "text": "Done.\n```handover\nverdict: done\n```"}"#,
        ),
        path: "/sessions/{session}/debrief",
        about: "Keep what an agent left behind: its last message, with its receipt or its role",
        fields: &[],
        call: debriefed,
    },
];

/// Whom a text is for.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    role: Role,
    task: Option<String>,
    group: Option<GroupId>,
    model: Option<String>,
    #[serde(default)]
    current_tokens: u64,
    iteration: Option<u32>,
    reasoning: Option<bool>,
    reasoning_level: Option<ReasoningLevel>,
    limit: Option<usize>,
    #[serde(default)]
    deliver: bool,
    #[serde(default)]
    explain: bool,
    testing_mode: Option<TestingMode>,
    component: Option<String>,
}

impl Wanted {
    fn request(self, seat: &Seat<'_>, session: SessionId) -> Result<assemble::Request, ToolError> {
        seat.store.session(&session)?;
        Ok(assemble::Request {
            session,
            role: seat.no_secret("role", self.role)?,
            group: seat.group(self.group.as_ref())?,
            task: self.task,
            model: self.model,
            current_tokens: self.current_tokens,
            iteration: self.iteration.unwrap_or(0),
            reasoning: self.reasoning,
            reasoning_level: self.reasoning_level.unwrap_or_default(),
            limit: self.limit,
            cap: None,
            deliver: self.deliver,
            explain: self.explain,
            receipt: seat.receipt.clone(),
            now: seat.now,
        })
    }
}

fn state(delivered: bool) -> ReceiptState {
    if delivered { ReceiptState::Delivered } else { ReceiptState::Assembled }
}

fn assembled(seat: &Seat<'_>, ask: &Ask) -> Result<Value, ToolError> {
    let wanted: Wanted = ask.body()?;
    let explain = wanted.explain;
    let request = wanted.request(seat, ask.part("session")?)?;
    let binding = || Binding::of(&(seat.technology)().stack, None);
    let setting = assemble::Setting {
        store: seat.store,
        redactor: seat.redactor,
        config: &seat.config.assembly,
        binding: &binding,
        places: Some(seat.places),
    };
    let assembly = assemble(setting, &request)?;
    if request.deliver {
        deliver(seat.store, seat.redactor, &assembly.receipt.id, None, seat.now)?;
    }
    Ok(shape::assembly(&assembly, state(request.deliver), explain))
}

fn briefed(seat: &Seat<'_>, ask: &Ask) -> Result<Value, ToolError> {
    let mut wanted: Wanted = ask.body()?;
    let (testing_mode, component) = (wanted.testing_mode.take(), wanted.component.take());
    let spawn = wanted.request(seat, ask.part("session")?)?;
    let delivered = spawn.deliver;
    let technology = (seat.technology)();
    let setting = brief::Setting {
        store: Ok(seat.store),
        redactor: seat.redactor,
        config: seat.config,
        stack: &technology.stack,
        templates: &technology.templates,
        places: Some(seat.places),
    };
    let request = brief::Request {
        spawn,
        testing_mode,
        component,
        context: true,
        specialization: true,
        about: None,
        role_text: None,
        count_attempt: false,
    };
    let made = brief(setting, &request)?;
    if delivered {
        deliver(seat.store, seat.redactor, &made.receipt.id, None, seat.now)?;
    }
    Ok(shape::brief(&made, state(delivered)))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Ending {
    text: String,
    receipt: Option<ReceiptId>,
    role: Option<Role>,
    group: Option<GroupId>,
    agent_id: Option<AgentId>,
}

fn debriefed(seat: &Seat<'_>, ask: &Ask) -> Result<Value, ToolError> {
    let body: Ending = ask.body()?;
    let session: SessionId = ask.part("session")?;
    let agent = body.agent_id.map(|id| seat.no_secret("agent id", id)).transpose()?;
    let origin = match (&body.receipt, body.role) {
        (Some(id), _) => {
            let receipt = seat.store.receipt(id)?;
            if receipt.session != session {
                return Err(ToolError::invalid(
                    format!("receipt `{id}` is of another session"),
                    "Name the session of the receipt in the path.",
                ));
            }
            Origin {
                session,
                group: receipt.group,
                role: receipt.role,
                agent,
                iteration: receipt.iteration,
                receipt: Some(receipt.id),
                now: seat.now,
            }
        }
        (None, Some(role)) => Origin {
            session: seat.store.session(&session)?.id,
            group: seat.group(body.group.as_ref())?,
            role: seat.no_secret("role", role)?,
            agent,
            iteration: 0,
            receipt: None,
            now: seat.now,
        },
        (None, None) => {
            return Err(ToolError::invalid(
                "neither a receipt nor a role is given",
                "Send `receipt` or `role`.",
            ));
        }
    };
    let debrief = parse(&body.text);
    let binding = Binding::of(&(seat.technology)().stack, None);
    let setting = debrief::Setting {
        store: seat.store,
        redactor: seat.redactor,
        places: seat.places,
        config: seat.config,
        binding: &binding,
    };
    let said_something =
        debrief.is_there() || debrief.verdict.is_some() || !debrief.packages.is_empty();
    let kept = match said_something {
        true => Some(keep(setting, &origin, &debrief)?),
        false => {
            keep_missing(setting, &origin, false)?;
            None
        }
    };
    Ok(json!({"debrief": debrief, "missing": debrief.missing, "kept": kept}))
}
