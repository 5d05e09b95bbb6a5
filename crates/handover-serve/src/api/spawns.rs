//! What an agent gets before it works, and what it leaves behind.

use handover_context::shape;
use handover_handoff::{Assignment, Delivery, Ending, HandoffRequest, read_ending};
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
    fn request(self, seat: &Seat<'_>, session: SessionId) -> Result<HandoffRequest, ToolError> {
        seat.store.session(&session)?;
        let role = seat.no_secret("role", self.role)?;
        Ok(HandoffRequest {
            group: seat.group(self.group.as_ref())?,
            task: self.task,
            model: self.model,
            attempt: self.iteration.into(),
            current_tokens: self.current_tokens,
            reasoning: self.reasoning,
            reasoning_level: self.reasoning_level.unwrap_or_default(),
            limit: self.limit,
            testing_mode: self.testing_mode,
            component: self.component,
            explain: self.explain,
            ..HandoffRequest::new(session, role, seat.receipt.clone(), seat.now)
        })
    }
}

fn state(delivered: bool) -> ReceiptState {
    if delivered { ReceiptState::Delivered } else { ReceiptState::Assembled }
}

fn assembled(seat: &Seat<'_>, ask: &Ask) -> Result<Value, ToolError> {
    let wanted: Wanted = ask.body()?;
    let (explain, deliver) = (wanted.explain, wanted.deliver);
    let request = wanted.request(seat, ask.part("session")?)?;
    let handoffs = seat.handoffs();
    let assembly = handoffs.assemble(&request, Delivery::now_if(deliver))?;
    if deliver {
        handoffs.started(&assembly.receipt.id, None, seat.now)?;
    }
    Ok(shape::assembly(&assembly, state(deliver), explain))
}

fn briefed(seat: &Seat<'_>, ask: &Ask) -> Result<Value, ToolError> {
    let wanted: Wanted = ask.body()?;
    let deliver = wanted.deliver;
    let request = wanted.request(seat, ask.part("session")?)?;
    let handoffs = seat.handoffs();
    let brief = match deliver {
        true => handoffs.prepare(&request)?.brief,
        false => handoffs.draft(&request)?,
    };
    if deliver {
        handoffs.started(&brief.receipt.id, None, seat.now)?;
    }
    Ok(brief.document(state(deliver)))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EndingBody {
    text: String,
    receipt: Option<ReceiptId>,
    role: Option<Role>,
    group: Option<GroupId>,
    agent_id: Option<AgentId>,
}

fn debriefed(seat: &Seat<'_>, ask: &Ask) -> Result<Value, ToolError> {
    let body: EndingBody = ask.body()?;
    let session: SessionId = ask.part("session")?;
    let agent = body.agent_id.map(|id| seat.no_secret("agent id", id)).transpose()?;
    let assignment = match (&body.receipt, body.role) {
        (Some(id), _) => {
            let receipt = seat.store.receipt(id)?;
            if receipt.session != session {
                return Err(ToolError::invalid(
                    format!("receipt `{id}` is of another session"),
                    "Name the session of the receipt in the path.",
                ));
            }
            Assignment::of(&receipt)
        }
        (None, Some(role)) => Assignment::without_receipt(
            seat.store.session(&session)?.id,
            seat.group(body.group.as_ref())?,
            seat.no_secret("role", role)?,
        ),
        (None, None) => {
            return Err(ToolError::invalid(
                "neither a receipt nor a role is given",
                "Send `receipt` or `role`.",
            ));
        }
    };
    let debrief = read_ending(&body.text);
    let ended = seat.handoffs().ended(Ending::new(&assignment.named(agent), &debrief, seat.now))?;
    Ok(json!({"debrief": debrief, "missing": debrief.missing, "kept": ended.kept()}))
}
