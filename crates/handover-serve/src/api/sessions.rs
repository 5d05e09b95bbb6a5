//! Sessions and their groups.

use handover_context::shape;
use handover_model::{GroupId, SessionId};
use serde_json::json;

use super::{Endpoint, Verb};

pub(super) const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        verb: Verb::Get,
        path: "/sessions",
        about: "Sessions, newest first",
        fields: &[("status", "only those that are active, completed or failed")],
        call: |seat, ask| Ok(json!({"sessions": seat.store.sessions(ask.field("status")?)?})),
    },
    Endpoint {
        verb: Verb::Get,
        path: "/sessions/{session}",
        about: "A session and how much it holds",
        fields: &[],
        call: |seat, ask| {
            let id: SessionId = ask.part("session")?;
            Ok(json!({"session": shape::session(seat.store, &id)?}))
        },
    },
    Endpoint {
        verb: Verb::Get,
        path: "/sessions/{session}/groups",
        about: "The groups of a session, oldest first",
        fields: &[],
        call: |seat, ask| {
            let id: SessionId = ask.part("session")?;
            Ok(json!({"groups": seat.store.groups(&id)?}))
        },
    },
    Endpoint {
        verb: Verb::Get,
        path: "/sessions/{session}/groups/{group}",
        about: "A group",
        fields: &[],
        call: |seat, ask| {
            let (id, group): (SessionId, GroupId) = (ask.part("session")?, ask.part("group")?);
            Ok(json!({"group": seat.store.group(&id, &group)?}))
        },
    },
];
