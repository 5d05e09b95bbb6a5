//! Sessions and their groups.

use handover_context::shape;
use handover_model::{GroupId, SessionId};
use serde_json::json;

use super::{Endpoint, Verb};

pub(super) const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        verb: Verb::Get,
        path: "/sessions",
        summary: "Sessions, newest first",
        query: &[("status", "only active, completed or failed ones")],
        handler: |context, request| {
            Ok(json!({"sessions": context.store.sessions(request.query_param("status")?)?}))
        },
    },
    Endpoint {
        verb: Verb::Get,
        path: "/sessions/{session}",
        summary: "A session and its record counts",
        query: &[],
        handler: |context, request| {
            let id: SessionId = request.path_param("session")?;
            Ok(json!({"session": shape::session(context.store, &id)?}))
        },
    },
    Endpoint {
        verb: Verb::Get,
        path: "/sessions/{session}/groups",
        summary: "The groups of a session, oldest first",
        query: &[],
        handler: |context, request| {
            let id: SessionId = request.path_param("session")?;
            Ok(json!({"groups": context.store.groups(&id)?}))
        },
    },
    Endpoint {
        verb: Verb::Get,
        path: "/sessions/{session}/groups/{group}",
        summary: "A group",
        query: &[],
        handler: |context, request| {
            let (id, group): (SessionId, GroupId) =
                (request.path_param("session")?, request.path_param("group")?);
            Ok(json!({"group": context.store.group(&id, &group)?}))
        },
    },
];
