//! The dashboard: translates between HTTP and handover-web.

use std::sync::Arc;

use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use handover_context::assemble::Explained;
use handover_context::why::Agent;
use handover_handoff::HandoffRequest;
use handover_mcp::RequestContext;
use handover_model::TokenScope;
use handover_web::{PageRequest, PageResponse, Site};

use crate::policy::{COOKIE, Caller, cookies};
use crate::response::{Response, error_response, response, with_security_headers};
use crate::state::ServiceState;

/// The fallback: every path that no other route matches is a page.
pub(crate) async fn page(
    State(state): State<ServiceState>,
    Extension(caller): Extension<Caller>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let method = match method {
        Method::GET | Method::HEAD => handover_web::Method::Get,
        Method::POST => handover_web::Method::Post,
        _ => {
            return response(
                StatusCode::METHOD_NOT_ALLOWED,
                "text/plain",
                "Only GET and POST are allowed.\n",
            );
        }
    };
    let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    let request = PageRequest {
        method,
        path: uri.path().to_owned(),
        query: fields(uri.query().unwrap_or_default().as_bytes()),
        form: match text(header::CONTENT_TYPE) {
            Some(kind) if kind.starts_with("application/x-www-form-urlencoded") => fields(&body),
            Some(_) | None => Vec::new(),
        },
        cookies: other_cookies(&headers),
    };
    let need = match method {
        handover_web::Method::Get => TokenScope::Read,
        handover_web::Method::Post => TokenScope::Write,
    };
    let form_token = state.form_token(&caller);
    let shared = Arc::clone(&state.shared_pages);
    let rendered = state.run_with_access(caller, need, move |context, access| {
        let author = match &access.token {
            Some(token) => format!("dashboard, token {token}"),
            None => "dashboard".to_owned(),
        };
        let operation = context.by_hand()?.id;
        let fresh = context.technology.freshness();
        let site = Site {
            store: context.store,
            redactor: context.redactor,
            config: context.config,
            paths: context.paths,
            fresh: &*fresh,
            coverage: &|| context.coverage.coverage(),
            candidates: &|agent, task| candidates(context, agent, task),
            patch: &|from, to, most| context.coverage.patch(from, to, most),
            project: &context.project,
            author: &author,
            operation,
            form_token: &form_token,
            may_write: context.may_write,
            machine: &context.machine,
            now: context.now,
        };
        match handover_web::shared_address(&request, context.now) {
            Some(address) => {
                let change = context.store.feed_span()?.last;
                let render = || handover_web::page(&site, &request);
                let mut page = shared.get(&form_token, address, change, render);
                handover_web::remember(&request, context.now, &mut page);
                Ok(page)
            }
            None => {
                let answer = handover_web::answer(&site, &request);
                if request.method == handover_web::Method::Post {
                    shared.clear();
                }
                Ok(answer)
            }
        }
    });
    rendered.await.map_or_else(|error| error_response(&error), into_response)
}

/// Everything that such an agent could be given now, and what would become of it. Nothing is recorded.
fn candidates(context: &RequestContext<'_>, agent: &Agent, task: Option<&str>) -> Vec<Explained> {
    let (session, role) = (agent.session.clone(), agent.role.clone());
    let request = HandoffRequest {
        group: agent.group.clone(),
        task: task.map(str::to_owned),
        attempt: agent.iteration.into(),
        explain: true,
        specialization: false,
        ..HandoffRequest::new(session, role, context.receipt.clone(), context.now)
    };
    let brief = context.handoffs().preview(&request);
    brief.context.map(|context| context.candidates).unwrap_or_default()
}

fn into_response(page: PageResponse) -> Response {
    let status = StatusCode::from_u16(page.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response =
        with_security_headers(response(status, page.content_type, Body::from(page.body)));
    for (name, value) in page.headers {
        let Ok(value) = HeaderValue::from_str(&value) else { continue };
        let (name, headers) = (HeaderName::from_static(name), response.headers_mut());
        // There may be several cookies; any other header replaces ours.
        if name == header::SET_COOKIE {
            headers.append(name, value);
        } else {
            headers.insert(name, value);
        }
    }
    response
}

fn fields(text: &[u8]) -> Vec<(String, String)> {
    form_urlencoded::parse(text)
        .map(|(name, value)| (name.into_owned(), value.into_owned()))
        .collect()
}

/// All cookies but the token.
fn other_cookies(headers: &HeaderMap) -> Vec<(String, String)> {
    let others = cookies(headers).filter(|(name, _)| *name != COOKIE);
    others.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}
