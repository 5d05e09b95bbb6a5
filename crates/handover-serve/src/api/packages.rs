//! Packages: listing, reading, saving.

use handover_context::{amendments, shape};
use handover_mcp::{RequestContext, ToolError};
use handover_model::{AmendmentDecision, PackageId, SessionId};
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
        verb: Verb::Post(r#"{"decision": "confirmed", "by": 8}"#),
        path: "/packages/{package}",
        summary: "Decide whether a later package replaces this one: confirmed or rejected",
        query: &[],
        handler: decide,
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
];

fn list(context: &RequestContext<'_>, request: &ApiRequest) -> Result<Value, ToolError> {
    let session: SessionId = request.path_param("session")?;
    let filter = PackageFilter {
        group: request.query_param("group")?,
        path: None,
        versions: if request.query_flag("all_versions")? {
            Versions::All
        } else {
            Versions::Latest
        },
        limit: request.limit()?,
    };
    Ok(json!({"packages": context.store.packages(&session, &filter)?}))
}

fn add(context: &RequestContext<'_>, request: &ApiRequest) -> Result<Value, ToolError> {
    let saved = handover_mcp::save_package(context, request.body_in_session()?)?;
    let package = shape::registered(&saved.registered, saved.redactions);
    Ok(json!({"package": package, "warnings": saved.warnings}))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DecisionBody {
    decision: AmendmentDecision,
    by: Option<PackageId>,
}

fn decide(context: &RequestContext<'_>, request: &ApiRequest) -> Result<Value, ToolError> {
    let DecisionBody { decision, by } = request.body()?;
    let (store, project) = (context.store, &context.project);
    let id = request.path_param("package")?;
    let made = amendments::decide_package(store, project, id, by, decision, context.now)?;
    Ok(json!({"amendment": made}))
}
