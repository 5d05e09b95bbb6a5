//! `/mcp`: agents that speak MCP over HTTP.

use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::{Request, State};
use handover_mcp::{Desk, Refusal, Seat, Server, ToolError, answer_http};

use crate::admit::Caller;
use crate::answer::{Answer, refused};
use crate::office::Office;

/// Answers one message. Whoever has no right to read at all is told so by HTTP, and not by a tool.
pub(crate) async fn mcp(
    State(office): State<Office>,
    Extension(caller): Extension<Caller>,
    request: Request,
) -> Answer {
    if let Err(refusal) = office.hear(&caller).await
        && matches!(refusal.code, "unauthorized" | "forbidden")
    {
        return refused(&refusal);
    }
    let desk = Arc::new(CallersDesk { office, caller });
    answer_http(move || Server::at(desk.clone()), request).await.map(Body::new)
}

/// A desk at which a caller has their own rights and no others.
struct CallersDesk {
    office: Office,
    caller: Caller,
}

impl Desk for CallersDesk {
    fn sit(&self, work: &mut dyn FnMut(&Seat<'_>) -> Result<(), ToolError>) -> Result<(), Refusal> {
        self.office.sit(None, |own| {
            let access = self.office.access(own, &self.caller)?;
            self.office.settle(own, &access, work)
        })
    }
}
