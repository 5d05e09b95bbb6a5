//! When the agents of a session worked: a bar from each brief to the verdict of its agent, or for as long as it may
//! still be at work.

use std::collections::{BTreeMap, HashMap};

use handover_model::{
    Receipt, ReceiptId, ReceiptState, Session, SessionStatus, Timestamp, VerdictRecord,
};
use handover_store::VerdictFilter;
use maud::{Markup, html};

use super::graph::SessionGraph;
use crate::error::PageError;
use crate::pages::receipt::outcome::word_tone;
use crate::site::Site;
use crate::view::{Lane, Span, Tone, duration, role_name, section, single_line, waterfall};

/// Agents that are drawn, and verdicts that are read for them: some end twice.
const DRAWN: usize = 50;
const READ: u32 = 300;
/// An agent that has said nothing for longer than this has ended without a verdict, in microseconds.
const SILENT: i64 = 3 * 60 * 60 * 1_000_000;

pub(super) fn render(
    site: &Site<'_>,
    session: &Session,
    graph: &SessionGraph,
) -> Result<Markup, PageError> {
    let filter = VerdictFilter { limit: Some(READ), ..VerdictFilter::default() };
    let verdicts = site.store.verdicts(&session.id, &filter)?;
    let ends: HashMap<&ReceiptId, &VerdictRecord> = verdicts
        .iter()
        .rev()
        .filter_map(|verdict| Some((verdict.receipt.as_ref()?, verdict)))
        .collect();
    let mut lanes: BTreeMap<String, Lane> = BTreeMap::new();
    for receipt in graph.receipts.iter().rev().take(DRAWN) {
        let Some(span) = span(site, session, receipt, ends.get(&receipt.id).copied()) else {
            continue;
        };
        let role = role_name(receipt.role.as_str());
        let name = single_line(&role);
        lanes.entry(role).or_insert_with(|| Lane { name, spans: Vec::new() }).spans.push(span);
    }
    if lanes.is_empty() {
        return Ok(html! {});
    }
    let lanes: Vec<Lane> = lanes.into_values().collect();
    let note = html! {
        "From each brief to the verdict of its agent, to scale; pauses are shortened. Without a verdict, to the last sign of it."
        @if graph.receipts.len() > DRAWN { " The latest " (DRAWN) " agents." }
    };
    Ok(section("time", "Time", note, waterfall("The agents of the session over time", &lanes)))
}

fn span(
    site: &Site<'_>,
    session: &Session,
    receipt: &Receipt,
    end: Option<&VerdictRecord>,
) -> Option<Span> {
    let from = receipt.delivered_at.unwrap_or(receipt.created_at);
    let since = |to: Timestamp| to.as_micros().saturating_sub(from.as_micros());
    let (to, verdict) = match (end, receipt.state) {
        (Some(end), _) => (end.created_at, Some(end.verdict.as_str())),
        (None, ReceiptState::Delivered | ReceiptState::Confirmed) => {
            let works = session.status == SessionStatus::Active && since(site.now) < SILENT;
            let last = receipt.confirmed_at.unwrap_or(from);
            (if works { site.now } else { last }, None)
        }
        // Nobody has started.
        (None, ReceiptState::Assembled | ReceiptState::Failed) => return None,
    };
    let grows = verdict.is_none() && to == site.now;
    let word = verdict.unwrap_or(if grows { "at work" } else { "no verdict" });
    let took = duration(u64::try_from(since(to) / 1_000).unwrap_or_default());
    let role = single_line(&role_name(receipt.role.as_str()));
    Some(Span {
        from,
        to,
        tone: verdict.map_or(Tone::Calm, word_tone),
        note: format!("{role}: {word}, {took}"),
        name: word.replace('_', " "),
        link: Some(format!("/receipts/{}", receipt.id)),
        grows,
    })
}
