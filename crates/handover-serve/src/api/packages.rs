//! Packages: listing, reading, searching, saving.

use handover_context::everything::{Everything, file_of, search};
use handover_context::shape;
use handover_mcp::{RequestContext, ToolError};
use handover_model::{GroupId, PackageId, SessionId};
use handover_store::{PackageFilter, Versions};
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
        verb: Verb::Get,
        path: "/sessions/{session}/search",
        summary: "Search in the packages and the reasoning of a session",
        query: &[
            ("q", "the search terms"),
            ("group", "only what this group can see"),
            ("limit", "maximum number; default 10"),
        ],
        handler: find,
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

fn find(context: &RequestContext<'_>, request: &ApiRequest) -> Result<Value, ToolError> {
    let session: SessionId = request.path_param("session")?;
    let group: Option<GroupId> = request.query_param("group")?;
    let text: String = request.query_param("q")?.unwrap_or_default();
    if text.trim().is_empty() {
        return Err(ToolError::invalid("the query is empty", "Pass the search terms as `q`."));
    }
    let project = context.store.session(&session)?.project;
    let query = Everything {
        project: &project,
        text: &text,
        limit: request.query_param::<u32>("limit")?.unwrap_or(10) as usize,
        session: Some(&session),
        group: group.as_ref(),
        of: None,
        kind: None,
        since: None,
        config: &context.config.assembly,
    };
    let found = context.store.reading(|store| search(store, &query))?;
    let mut results: Vec<Value> = found.iter().map(shape::found).collect();
    for (result, hit) in results.iter_mut().zip(&found) {
        if let Some(state) = file_of(context.store, context.paths, hit)? {
            result["file"] = json!(state);
        }
    }
    Ok(json!({"results": results}))
}
