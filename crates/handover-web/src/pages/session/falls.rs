//! When the agents of a session worked: a bar from each brief to the verdict of its agent.

use std::collections::{BTreeMap, HashMap};

use handover_model::{ReceiptId, SessionId, VerdictRecord};
use handover_store::VerdictFilter;
use maud::{Markup, html};

use super::graph::SessionGraph;
use crate::error::PageError;
use crate::pages::receipt::outcome::word_tone;
use crate::site::Site;
use crate::view::{Lane, Span, duration, role_name, section, single_line, waterfall};

/// Agents that are drawn.
const DRAWN: u32 = 100;

pub(super) fn render(
    site: &Site<'_>,
    id: &SessionId,
    graph: &SessionGraph,
) -> Result<Markup, PageError> {
    let filter = VerdictFilter { limit: Some(DRAWN), ..VerdictFilter::default() };
    let verdicts = site.store.verdicts(id, &filter)?;
    let ends: HashMap<&ReceiptId, &VerdictRecord> = verdicts
        .iter()
        .rev()
        .filter_map(|verdict| Some((verdict.receipt.as_ref()?, verdict)))
        .collect();
    let mut lanes: BTreeMap<String, Lane> = BTreeMap::new();
    for receipt in graph.receipts.iter().rev() {
        let Some(end) = ends.get(&receipt.id) else { continue };
        let from = receipt.delivered_at.unwrap_or(receipt.created_at);
        let took = u64::try_from((end.created_at.as_micros() - from.as_micros()) / 1_000);
        let (role, verdict) = (role_name(receipt.role.as_str()), end.verdict.as_str());
        let name = single_line(&role);
        let lane =
            lanes.entry(role).or_insert_with(|| Lane { name: name.clone(), spans: Vec::new() });
        lane.spans.push(Span {
            from,
            to: end.created_at,
            tone: word_tone(verdict),
            note: format!("{name}: {verdict}, {}", duration(took.unwrap_or_default())),
            name: verdict.replace('_', " "),
            link: Some(format!("/receipts/{}", receipt.id)),
        });
    }
    if lanes.is_empty() {
        return Ok(html! {});
    }
    let lanes: Vec<Lane> = lanes.into_values().collect();
    let note =
        html! { "From each brief to the verdict of its agent, to scale; pauses are shortened." };
    Ok(section("time", "Time", note, waterfall("The agents of the session over time", &lanes)))
}
