//! Packages: listing, reading, saving.

use handover_context::by_hand::ByHand;
use handover_context::shape;
use handover_mcp::{RequestContext, ToolError};
use handover_model::{AmendmentDecision, PackageId, RecordState, SessionId};
use handover_store::{PackageFilter, Versions};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{ApiRequest, Endpoint, Verb};

pub(super) const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        verb: Verb::Get,
        path: "/sessions/{session}/packages",
        summary: "The packages of a session, newest first",
        query: &[
            ("group", "only this group"),
            ("all_versions", "include superseded versions"),
            ("state", "only this state: live or retired"),
            ("limit", "maximum number; default 100"),
        ],
        handler: list,
    },
    Endpoint {
        verb: Verb::Post(
            r##"{"text": "# OAuth\n\nTokens live ten minutes.", "kind": "research", "producer": "developer", "consumers": ["qa_expert"], "priority": "high", "group": "login"}"##,
        ),
        path: "/sessions/{session}/packages",
        summary: "Save a package from its text or from the path of a project file",
        query: &[],
        handler: add,
    },
    Endpoint {
        verb: Verb::Get,
        path: "/packages/{package}",
        summary: "A package, its versions and recipients, and whether its file has changed",
        query: &[("body", "include the registered text")],
        handler: |context, request| {
            let (id, body): (PackageId, bool) =
                (request.path_param("package")?, request.query_flag("body")?);
            Ok(json!({"package": shape::package(context.store, context.paths, id, body)?}))
        },
    },
    Endpoint {
        verb: Verb::Post(r#"{"decision": "retire", "reason": "we moved to Kafka"}"#),
        path: "/packages/{package}",
        summary: "Decide about a package: retire (with a reason), restore, confirm or reject that a later one replaces it",
        query: &[],
        handler: decide,
    },
];

fn list(context: &RequestContext<'_>, request: &ApiRequest) -> Result<Value, ToolError> {
    let session: SessionId = request.path_param("session")?;
    let filter = PackageFilter {
        group: request.query_param("group")?,
        state: request.query_param("state")?,
        versions: if request.query_flag("all_versions")? {
            Versions::All
        } else {
            Versions::Latest
        },
        limit: request.limit()?,
        ..PackageFilter::default()
    };
    Ok(json!({"packages": context.store.packages(&session, &filter)?}))
}

fn add(context: &RequestContext<'_>, request: &ApiRequest) -> Result<Value, ToolError> {
    let saved = handover_mcp::save_package(context, request.body_in_session()?)?;
    let package = shape::registered(&saved.registered, saved.redactions);
    Ok(json!({"package": package, "warnings": saved.warnings}))
}

#[derive(Deserialize)]
#[serde(tag = "decision", rename_all = "snake_case", deny_unknown_fields)]
enum DecisionBody {
    Retire { reason: Option<String> },
    Restore {},
    Confirm { by: Option<PackageId> },
    Reject { by: Option<PackageId> },
}

fn decide(context: &RequestContext<'_>, request: &ApiRequest) -> Result<Value, ToolError> {
    let (id, body): (PackageId, DecisionBody) = (request.path_param("package")?, request.body()?);
    let store = context.store;
    let project = store.session(&store.package(id)?.session)?.project;
    let hand = ByHand { project: &project, ..context.by_hand()? };
    let set = |state, reason: Option<String>| {
        Ok(json!({"package": hand.set_package(id, state, reason.as_deref())?}))
    };
    let judge = |by, decision| Ok(json!({"amendment": hand.decide_package(id, by, decision)?}));
    match body {
        DecisionBody::Retire { reason } => set(RecordState::Retired, reason),
        DecisionBody::Restore {} => set(RecordState::Live, None),
        DecisionBody::Confirm { by } => judge(by, AmendmentDecision::Confirmed),
        DecisionBody::Reject { by } => judge(by, AmendmentDecision::Rejected),
    }
}
