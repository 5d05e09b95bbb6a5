//! What was changed by hand, by whom, and undoing it. Every form about a record is sent here.

use std::collections::BTreeMap;

use handover_context::by_hand::{ByHandError, undone};
use handover_context::notes::{Decision, named};
use handover_model::{
    Action, AmendmentDecision, Edit, Operation, OperationId, PackageId, RecordState, SessionId,
    SessionStatus,
};
use handover_store::{Decided, Judgement, OperationFilter, RecordKind};
use maud::{Markup, html};
use serde_json::Value;

use super::knowledge::tabs;
use crate::error::PageError;
use crate::form::{self, Subject, Verb, button, hand};
use crate::page::{FormOutcome, Page, PageEntry, PageResult, Route};
use crate::site::Site;
use crate::view::{
    Column, Key, Order, Paging, Row, Tone, badge, empty_state, excerpt, kept_views, ordered_table,
    plural, relative_time, section, short_id, table, untrusted, with_parameter,
};

pub(crate) const PAGES: &[PageEntry] = &[PageEntry {
    submit: Some(submit),
    ..PageEntry::new("changes", "/changes", "/knowledge", render)
}];

const COLUMNS: [Column; 5] = [
    Column::Text("What"),
    Column::Text("By"),
    Column::Text("State"),
    Column::Text("When"),
    Column::Text("Id"),
];

/// Changes per page, and decisions.
const LISTED: u32 = 100;

fn render(site: &Site<'_>, route: &Route<'_>) -> PageResult {
    let all = site.store.operations(site.project, &OperationFilter::default())?;
    let mut paging = Paging::read(route, LISTED);
    let order = Order::read(route, &COLUMNS);
    let mut shown = paging.of(&all).to_vec();
    let decided = match paging.from {
        0 => site.store.decided(site.project, LISTED)?,
        _ => Vec::new(),
    };
    let gone: BTreeMap<&OperationId, &OperationId> = undone(&all).into_iter().collect();
    order.apply(&mut shown, |operation, column| {
        key(operation, column, gone.contains_key(&operation.id))
    });
    let note = html! { (plural(all.len(), "change", "changes")) @if let Some(place) = paging.place(shown.len()) { ", " (place) } ". Nothing is lost by undoing one." };
    let body = html! {
        header class="page" {
            h1 { "Changes by hand" }
            p class="lead" { "What people and agents retired, restored, decided, added and closed, newest first; and what people decided about runs." }
            (tabs("/changes"))
        }
        (kept_views())
        (section("changes", "Log", note, html! {
            @if all.is_empty() {
                (empty_state("Nothing was changed by hand.", "Retire what misleads agents, on the page of a package or note, or:", "handover package retire 3 --reason \"the service is gone\""))
            } @else {
                (rows(site, &shown, &gone, &order))
                (paging.links("changes"))
            }
        }))
        @if !decided.is_empty() {
            (section("decided", "Decisions about runs", html! { @if decided.len() >= LISTED as usize { "The latest " (LISTED) } @else { (plural(decided.len(), "decision", "decisions")) } ", in the journals of their runs." }, decisions(site, &decided)))
        }
    };
    Ok(Page { title: "Changes by hand".to_owned(), breadcrumbs: Vec::new(), body })
}

fn by(operation: &Operation) -> String {
    let author = operation.author.iter().map(|author| format!(", {author}"));
    std::iter::once(operation.trust.as_str().to_owned()).chain(author).collect()
}

fn key(operation: &Operation, column: usize, is_undone: bool) -> Key {
    match column {
        0 => Key::text(verb(operation.action)),
        1 => Key::text(by(operation)),
        2 => Key::text(if is_undone { "undone" } else { "" }),
        3 => Key::Number(operation.created_at.as_micros() as f64),
        _ => Key::text(operation.id.as_str()),
    }
}

fn rows(
    site: &Site<'_>,
    all: &[Operation],
    gone: &BTreeMap<&OperationId, &OperationId>,
    order: &Order,
) -> Markup {
    let row = |operation: &Operation| {
        let undone_by = gone.get(&operation.id);
        let state = match undone_by {
            Some(by) => {
                html! { (badge(Tone::Calm, "undone")) " by " code { (short_id(by.as_str())) } }
            }
            None => button(site, Verb::Undo, Subject::Operation, operation.id.as_str(), "/changes"),
        };
        let row = Row::new(
            html! { (described(operation)) },
            [
                excerpt(&by(operation), 100),
                state,
                relative_time(site.now, operation.created_at),
                html! { code { (short_id(operation.id.as_str())) } },
            ],
        );
        if undone_by.is_some() { row.dimmed() } else { row }
    };
    ordered_table("", &COLUMNS, Some(order), all.iter().map(row))
}

/// What people decided about runs.
fn decisions(site: &Site<'_>, all: &[Decided]) -> Markup {
    use Column::Text;
    let columns = [Text("What"), Text("By"), Text("Run"), Text("When")];
    let row = |one: &Decided| {
        let entry = &one.entry.entry;
        let approval = &entry["approval"];
        let first = |keys: &[&Value]| {
            keys.iter()
                .find_map(|value| value.as_str().filter(|text| !text.is_empty()))
                .map(str::to_owned)
        };
        let verb = match (entry["event"].as_str(), approval["holds"].as_bool()) {
            (Some("answered"), _) => "Answered",
            (Some("retried"), _) => "Retried",
            (Some("gave_up"), _) => "Skipped",
            (_, Some(true)) => "Approved",
            _ => "Rejected",
        };
        let what = first(&[&entry["story"], &approval["scenario"]]).unwrap_or_default();
        let said = first(&[&entry["answer"], &entry["reason"], &approval["note"]]);
        let by = first(&[&entry["by"], &approval["by"]]).unwrap_or_default();
        Row::new(
            html! { (verb) " " code { (excerpt(&what, 80)) } @if let Some(said) = said { span class="muted" { ": " (excerpt(&said, 160)) } } },
            [
                excerpt(&by, 80),
                html! { a href={ "/runs/" (one.run) } { "Epic " (one.epic) } },
                relative_time(site.now, one.entry.created_at),
            ],
        )
    };
    table("", &columns, all.iter().map(row))
}

/// An operation in words, with links to what it changed.
pub(crate) fn described(operation: &Operation) -> Markup {
    let reason = operation.changes.iter().find_map(reason);
    html! {
        (verb(operation.action)) " "
        @for (nth, edit) in operation.changes.iter().take(3).enumerate() { @if nth > 0 { ", " } (subject(edit)) }
        @if operation.changes.len() > 3 { " and " (operation.changes.len() - 3) " more" }
        @if let Some(reason) = reason { span class="muted" { ": " (excerpt(reason, 160)) } }
    }
}

const fn verb(action: Action) -> &'static str {
    match action {
        Action::Retire => "Retired",
        Action::Restore => "Restored",
        Action::Expire => "Retired because of its age:",
        Action::Add => "Added",
        Action::Supersede => "Replaced",
        Action::Confirm => "Confirmed a replacement of",
        Action::Reject => "Rejected a replacement of",
        Action::Close => "Closed",
        Action::Reopen => "Reopened",
        Action::Undo => "Undid a change of",
    }
}

fn reason(edit: &Edit) -> Option<&str> {
    match edit {
        Edit::Package { after, .. } | Edit::Strategy { after, .. } | Edit::Error { after, .. } => {
            after.reason.as_deref()
        }
        Edit::Note { after, .. } => after.reason.as_deref(),
        Edit::Session { .. } | Edit::Decision { .. } | Edit::Version { .. } => None,
    }
}

fn subject(edit: &Edit) -> Markup {
    let link = match edit {
        Edit::Package { id, .. } | Edit::Version { id, .. } => Some(format!("/packages/{id}")),
        Edit::Note { id, .. } => Some(format!("/notes/{id}")),
        Edit::Error { id, .. } => Some(format!("/errors/{id}")),
        Edit::Session { id, .. } => Some(format!("/sessions/{id}")),
        Edit::Strategy { id, .. } => Some(format!("/strategies/{id}")),
        Edit::Decision { .. } => None,
    };
    let name = edit.subject();
    html! { @match link { Some(link) => a href=(link) { (excerpt(&name, 80)) }, None => (excerpt(&name, 80)) } }
}

/// Does what a form asks for, and returns to where it was sent from.
fn submit(site: &Site<'_>, route: &Route<'_>) -> Result<FormOutcome, PageError> {
    let field = |name: &str| route.request.form_field(name).unwrap_or_default();
    let (what, verb) = (Subject::parse(field("what")), Verb::parse(field("do")));
    let (Some(what), Some(verb)) = (what, verb) else {
        return Ok(refused(400, "The form asks for something that does not exist.", route));
    };
    let reason: String = field("reason").chars().take(form::REASON).collect();
    let done = match (what, verb) {
        (Subject::Package, Verb::Edit) => edit(site, field("id"), field("summary")),
        _ => change(site, what, verb, field("id"), &reason).map(|()| form::back(route)),
    };
    match done {
        Ok(back) => {
            let path = with_parameter(&back, "done", site.operation.as_str());
            Ok(FormOutcome::Redirect(path))
        }
        Err(ByHandError::Store(error)) => Err(error.into()),
        Err(error) => Ok(refused(409, &format!("{error}."), route)),
    }
}

/// Gives a package another summary; where its new version is.
fn edit(site: &Site<'_>, id: &str, summary: &str) -> Result<String, ByHandError> {
    let unknown = || ByHandError::Unknown { what: RecordKind::Package, name: id.to_owned() };
    let id: PackageId = id.parse().map_err(|_| unknown())?;
    let registered = hand(site).set_summary(id, summary)?;
    Ok(format!("/packages/{}", registered.package.id))
}

fn change(
    site: &Site<'_>,
    what: Subject,
    verb: Verb,
    id: &str,
    reason: &str,
) -> Result<(), ByHandError> {
    let hand = hand(site);
    let unknown = || ByHandError::Unknown { what: what.kind(), name: id.to_owned() };
    let why = Some(reason).filter(|_| verb == Verb::Retire);
    let state = if verb == Verb::Retire { RecordState::Retired } else { RecordState::Live };
    let note = || named(site.store, site.project, id);
    let close = |status| {
        let id = SessionId::new(id).map_err(|_| unknown())?;
        hand.set_session(&id, status).map(drop)
    };
    match (what, verb) {
        (Subject::Package, Verb::Retire | Verb::Restore) => {
            let id: PackageId = id.parse().map_err(|_| unknown())?;
            hand.set_package(id, state, why).map(drop)
        }
        (Subject::Package, Verb::Confirm) => {
            let id: PackageId = id.parse().map_err(|_| unknown())?;
            hand.decide_package(id, None, AmendmentDecision::Confirmed).map(drop)
        }
        (Subject::Package, Verb::Reject) => {
            let id: PackageId = id.parse().map_err(|_| unknown())?;
            hand.decide_package(id, None, AmendmentDecision::Rejected).map(drop)
        }
        (Subject::Strategy, Verb::Retire | Verb::Restore) => {
            hand.set_strategy(id, state, why).map(drop)
        }
        (Subject::Error, Verb::Retire | Verb::Restore) => hand.set_error(id, state, why).map(drop),
        (Subject::Error, Verb::Confirm) => judge(site, id, Judgement::Confirmed),
        (Subject::Error, Verb::Reject) => judge(site, id, Judgement::Rejected),
        (Subject::Note, Verb::Retire) => {
            let reason = why.filter(|why| !why.is_empty());
            hand.decide(&note()?, Decision::Retire { reason }).map(drop)
        }
        (Subject::Note, Verb::Restore) => hand.decide(&note()?, Decision::Restore).map(drop),
        (Subject::Note, Verb::Confirm) => {
            hand.decide(&note()?, Decision::Confirm { by: None }).map(drop)
        }
        (Subject::Note, Verb::Reject) => {
            hand.decide(&note()?, Decision::Reject { by: None }).map(drop)
        }
        (Subject::Session, Verb::Close) => close(SessionStatus::Completed),
        (Subject::Session, Verb::Fail) => close(SessionStatus::Failed),
        (Subject::Session, Verb::Reopen) => close(SessionStatus::Active),
        (Subject::Operation, Verb::Undo) => hand.undo(Some(id)).map(drop),
        _ => Err(unknown()),
    }
}

/// Whether the solution of an error worked. That is an observation of its own: it has no way back but another one.
fn judge(site: &Site<'_>, hash: &str, judgement: Judgement) -> Result<(), ByHandError> {
    site.store.judge_error(site.project, hash, judgement, site.now)?;
    Ok(())
}

/// Says why nothing was changed.
pub(crate) fn refused(status: u16, why: &str, route: &Route<'_>) -> FormOutcome {
    let back = form::back(route);
    let page = Page {
        title: "Nothing was changed".to_owned(),
        breadcrumbs: Vec::new(),
        body: html! {
            h1 { "Nothing was changed" }
            p class="lead" role="alert" { (untrusted(why)) }
            p { a href=(back) { "Back" } }
        },
    };
    FormOutcome::Rejected(status, Box::new(page))
}

/// Says on the next page what a form did, with the way back.
pub(crate) fn told(site: &Site<'_>, route_path: &str, done: &str) -> Option<Markup> {
    let id = OperationId::new(done).ok()?;
    let filter = OperationFilter { since: None, limit: Some(50) };
    let all = site.store.operations(site.project, &filter).ok()?;
    let operation = all.iter().find(|operation| operation.id == id)?;
    let is_undone = undone(&all).iter().any(|(target, _)| **target == id);
    Some(html! {
        div class="notice good" id="done" role="status" {
            div class="row" {
                p { (described(operation)) "." }
                @if !is_undone { (button(site, Verb::Undo, Subject::Operation, id.as_str(), route_path)) }
                a href="/changes" { "All changes" }
            }
        }
    })
}
