//! Search over everything the project knows, or within one session.

use handover_context::everything::{Everything, parse_kind, parse_type, search};
use handover_context::shape;
use handover_mcp::{RequestContext, ToolError};
use handover_model::{GroupId, ProjectId, SessionId, Timestamp, UnknownWord};
use serde_json::Value;

use super::{ApiRequest, Endpoint, Verb};

/// Results unless `limit` is given.
const DEFAULT_LIMIT: u32 = 10;
/// The most results.
const MAX_LIMIT: u32 = 500;

pub(super) const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        verb: Verb::Get,
        path: "/search",
        summary: "Search everything the project knows, in all sessions",
        query: &[
            ("q", "the search terms"),
            ("type", "only this type: package, note, reasoning, error or strategy"),
            ("kind", "only this kind within the type"),
            ("since", "only what is at least as new, RFC 3339"),
            ("limit", "maximum number; default 10, at most 500"),
        ],
        handler: |context, request| find(context, request, None),
    },
    Endpoint {
        verb: Verb::Get,
        path: "/sessions/{session}/search",
        summary: "Search in the packages and the reasoning of a session",
        query: &[
            ("q", "the search terms"),
            ("group", "only what this group can see"),
            ("type", "only this type: package or reasoning"),
            ("kind", "only this kind within the type"),
            ("since", "only what is at least as new, RFC 3339"),
            ("limit", "maximum number; default 10, at most 500"),
        ],
        handler: |context, request| find(context, request, Some(request.path_param("session")?)),
    },
];

fn find(
    context: &RequestContext<'_>,
    request: &ApiRequest,
    session: Option<SessionId>,
) -> Result<Value, ToolError> {
    let group: Option<GroupId> = request.query_param("group")?;
    let text: String = request.query_param("q")?.unwrap_or_default();
    if text.trim().is_empty() {
        return Err(ToolError::invalid("the query is empty", "Pass the search terms as `q`."));
    }
    let limit: u32 = request.query_param("limit")?.unwrap_or(DEFAULT_LIMIT);
    let project: ProjectId = match &session {
        Some(session) => context.store.session(session)?.project,
        None => context.project.clone(),
    };
    let word = |name: &str| request.query_param::<String>(name);
    let wrong = |name: &'static str| {
        move |error: UnknownWord| {
            ToolError::invalid(format!("invalid `{name}`: {error}"), "Correct the query.")
        }
    };
    let of = word("type")?.as_deref().map(parse_type).transpose().map_err(wrong("type"))?;
    let kind = word("kind")?.as_deref().map(parse_kind).transpose().map_err(wrong("kind"))?;
    let query = Everything {
        project: &project,
        text: &text,
        limit: limit.min(MAX_LIMIT) as usize,
        session: session.as_ref(),
        group: group.as_ref(),
        of,
        kind: kind.as_deref(),
        since: request.query_param::<Timestamp>("since")?,
        config: &context.config.assembly,
    };
    let findings = context.store.reading(|store| search(store, &query))?;
    Ok(shape::findings(context.store, context.paths, &findings)?)
}
