//! Handoffs: context and briefs for agents, and their debriefs.

use handover_context::shape;
use handover_handoff::{
    Delivery, EndedAgent, Ending, HandoffRequest, Prepared, Recorded, read_ending,
};
use handover_mcp::{RequestContext, ToolError};
use handover_model::{
    AgentId, GroupId, ReasoningLevel, ReceiptId, ReceiptState, Role, SessionId, TestingMode,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{ApiRequest, Endpoint, Verb};

pub(super) const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        verb: Verb::Post(
            r#"{"role": "developer", "task": "Refresh tokens in parallel", "group": "login", "model": "opus", "deliver": true}"#,
        ),
        path: "/sessions/{session}/assemble",
        summary: "Assemble the context of one agent, with a receipt",
        query: &[],
        handler: assemble_context,
    },
    Endpoint {
        verb: Verb::Post(
            r#"{"role": "qa_expert", "task": "Test the login", "deliver": true, "testing_mode": "full"}"#,
        ),
        path: "/sessions/{session}/brief",
        summary: "Render the whole prompt of an agent: context, specialization, role, task",
        query: &[],
        handler: render_brief,
    },
    Endpoint {
        verb: Verb::Post(
            r#"{"receipt": "r_0190…", "text": "Done.\n```handover\nverdict: done\n```"}"#,
        ),
        path: "/sessions/{session}/debrief",
        summary: "Store the last message of an agent, identified by its receipt or its role",
        query: &[],
        handler: store_debrief,
    },
];

/// The body of `assemble` and `brief`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HandoffBody {
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

impl HandoffBody {
    fn request(
        self,
        context: &RequestContext<'_>,
        session: SessionId,
    ) -> Result<HandoffRequest, ToolError> {
        context.store.session(&session)?;
        let role = context.no_secret("role", self.role)?;
        Ok(HandoffRequest {
            group: context.group(self.group.as_ref())?,
            task: self.task,
            model: self.model,
            attempt: self.iteration.into(),
            current_tokens: self.current_tokens,
            reasoning: self.reasoning,
            reasoning_level: self.reasoning_level,
            limit: self.limit,
            testing_mode: self.testing_mode,
            component: self.component,
            explain: self.explain,
            ..HandoffRequest::new(session, role, context.receipt.clone(), context.now)
        })
    }
}

fn state(delivered: bool) -> ReceiptState {
    if delivered { ReceiptState::Delivered } else { ReceiptState::Assembled }
}

fn assemble_context(
    context: &RequestContext<'_>,
    request: &ApiRequest,
) -> Result<Value, ToolError> {
    let body: HandoffBody = request.body()?;
    let (explain, deliver) = (body.explain, body.deliver);
    let request = body.request(context, request.path_param("session")?)?;
    let handoffs = context.handoffs();
    let (assembly, recorded) = handoffs.assemble(&request, Delivery::now_if(deliver))?;
    if deliver && recorded == Recorded::Store {
        handoffs.started(&assembly.receipt.id, None, context.now)?;
    }
    Ok(shape::assembly(&assembly, state(deliver), explain))
}

fn render_brief(context: &RequestContext<'_>, request: &ApiRequest) -> Result<Value, ToolError> {
    let body: HandoffBody = request.body()?;
    let deliver = body.deliver;
    let request = body.request(context, request.path_param("session")?)?;
    let handoffs = context.handoffs();
    if !deliver {
        return Ok(handoffs.draft(&request)?.0.document(state(deliver)));
    }
    let Prepared { brief, handoff, .. } = handoffs.prepare(&request)?;
    if handoff.in_store() {
        handoffs.started(&brief.receipt.id, None, context.now)?;
    }
    Ok(brief.document(state(deliver)))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DebriefBody {
    text: String,
    receipt: Option<ReceiptId>,
    role: Option<Role>,
    group: Option<GroupId>,
    agent_id: Option<AgentId>,
}

fn store_debrief(context: &RequestContext<'_>, request: &ApiRequest) -> Result<Value, ToolError> {
    let body: DebriefBody = request.body()?;
    let session: SessionId = request.path_param("session")?;
    let agent = body.agent_id.map(|id| context.no_secret("agent id", id)).transpose()?;
    let handoffs = context.handoffs();
    let assignment = handoffs.assignment(EndedAgent {
        receipt: body.receipt,
        role: body.role.map(|role| context.no_secret("role", role)).transpose()?,
        session: Some(session),
        group: context.group(body.group.as_ref())?,
        iteration: None,
        agent,
    })?;
    let debrief = read_ending(&body.text);
    let ended = handoffs.ended(Ending::new(&assignment, &debrief, context.now))?;
    // An agent may repeat a secret that it read.
    let answer = json!({"debrief": debrief, "missing": debrief.missing, "kept": ended.kept()});
    Ok(context.redactor.clean_json(answer).value().clone())
}
