//! Packages: listing, reading, searching, saving.

use handover_context::search::{Query, search};
use handover_context::shape;
use handover_mcp::{Seat, ToolError};
use handover_model::{GroupId, PackageId, SessionId};
use handover_store::{PackageFilter, Versions};
use serde_json::{Value, json};

use super::{Ask, Endpoint, Verb};

pub(super) const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        verb: Verb::Get,
        path: "/sessions/{session}/packages",
        about: "The packages of a session, newest first",
        fields: &[
            ("group", "only of this group"),
            ("all_versions", "superseded versions too"),
            ("limit", "at most so many; default 100"),
        ],
        call: list,
    },
    Endpoint {
        verb: Verb::Post(
            r##"{"text": "# OAuth\n\nTokens live ten minutes.", "kind": "research", "producer": "developer", "consumers": ["qa_expert"], "priority": "high", "group": "login"}"##,
        ),
        path: "/sessions/{session}/packages",
        about: "Save a package: its text, or the path of a file of the project",
        fields: &[],
        call: add,
    },
    Endpoint {
        verb: Verb::Get,
        path: "/packages/{package}",
        about: "A package, its versions, who got it, and whether its file is still the same",
        fields: &[("body", "the registered text too")],
        call: |seat, ask| {
            let (id, body): (PackageId, bool) = (ask.part("package")?, ask.switch("body")?);
            Ok(json!({"package": shape::package(seat.store, seat.places, id, body)?}))
        },
    },
    Endpoint {
        verb: Verb::Get,
        path: "/sessions/{session}/search",
        about: "Packages by words in their title, summary, files and text",
        fields: &[
            ("q", "what to look for"),
            ("group", "only what this group would see"),
            ("limit", "at most so many; default 10"),
        ],
        call: find,
    },
];

fn list(seat: &Seat<'_>, ask: &Ask) -> Result<Value, ToolError> {
    let session: SessionId = ask.part("session")?;
    let filter = PackageFilter {
        group: ask.field("group")?,
        path: None,
        versions: if ask.switch("all_versions")? { Versions::All } else { Versions::Latest },
        limit: ask.limit()?,
    };
    Ok(json!({"packages": seat.store.packages(&session, &filter)?}))
}

fn add(seat: &Seat<'_>, ask: &Ask) -> Result<Value, ToolError> {
    let saved = handover_mcp::save(seat, ask.body_in_session()?)?;
    let package = shape::registered(&saved.registered, saved.redactions);
    Ok(json!({"package": package, "warnings": saved.warnings}))
}

fn find(seat: &Seat<'_>, ask: &Ask) -> Result<Value, ToolError> {
    let session: SessionId = ask.part("session")?;
    let group: Option<GroupId> = ask.field("group")?;
    let text: String = ask.field("q")?.unwrap_or_default();
    if text.trim().is_empty() {
        return Err(ToolError::invalid("the query is empty", "Say what to look for with `q`."));
    }
    seat.store.session(&session)?;
    let query = Query {
        session: &session,
        group: group.as_ref(),
        text: &text,
        limit: ask.field::<u32>("limit")?.unwrap_or(10) as usize,
        config: &seat.config.assembly,
        now: seat.now,
    };
    let hits = seat.store.reading(|store| search(store, &query))?;
    let results: Vec<Value> = hits.iter().map(|hit| shape::hit(hit, seat.places)).collect();
    Ok(json!({"results": results}))
}
