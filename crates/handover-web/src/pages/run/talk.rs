//! What the agent of a step said and did, from the log of its program: the newest entries that fit on the page.

use handover_engine::{Said, conversation, git};
use handover_files::Folder;
use handover_model::Host;
use maud::{Markup, html};

use super::log::log_file;
use crate::run_view::RunView;
use crate::site::Site;
use crate::steps::RunStep;
use crate::view::{Room, Tone, badge, beginning, bytes, count, ending, excerpt, plural, section};

/// How much is read of a log.
const LOG: u64 = 512 << 10;
/// Bytes of the conversation as it is sent; of one text in it; of what a tool was called with, and of what it showed.
const SHOWN: usize = 80_000;
const TEXT: usize = 12_000;
const TOOL: usize = 4_000;
/// Entries that people still scroll through.
const ENTRIES: usize = 160;

pub(super) fn conversation_of(site: &Site<'_>, view: &RunView, step: &RunStep) -> Markup {
    if step.phase == "gates" || step.phase == "uat" && step.receipt.is_none() {
        return html! {};
    }
    let runs = Folder::of(site.paths.root()).inside("runs").inside(view.run.id.as_str());
    let log = log_file(&runs, &step.story, &step.phase, step.attempt.into(), step.voice.as_ref());
    let read = log.and_then(|(folder, name)| Some((folder.tail(&name, LOG).ok().flatten()?, name)));
    let Some(((raw, is_whole), name)) = read else {
        let nothing = html! { p class="muted" { "Its output was not kept on this machine." } };
        return section("said", "Conversation", "", nothing);
    };
    let host = handover_engine::fold(&view.run.id, &view.entries).ok().flatten();
    let host = host.map_or(Host::COMMAND, |folded| folded.state.options.host);
    let clean = site.redactor.redact_bytes(&raw);
    let text = String::from_utf8_lossy(&clean);
    // The first line may be incomplete.
    let text = if is_whole { &*text } else { text.split_once('\n').map_or("", |(_, rest)| rest) };
    let all = conversation(host, text);
    let newest = all.get(all.len().saturating_sub(ENTRIES)..).unwrap_or_default();
    let shown = Room::new(SHOWN).fill_from_end(newest.iter().map(entry));
    // A text may also have been too long for its entry.
    let is_cut = !is_whole || shown.len() < all.len() || raw.len() > SHOWN;
    let note = html! {
        (plural(all.len(), "entry", "entries"))
        @if !is_whole { ", of the last " (bytes(LOG)) " of its output" }
        @if shown.len() < all.len() { ", the last " (count(shown.len())) }
        ". Tool calls unfold."
    };
    let path = format!(".handover/runs/{}/{}/{name}", view.run.id, git::ref_part(&step.story));
    section(
        "said",
        "Conversation",
        note,
        html! {
            @if all.is_empty() && is_whole { p class="muted" { "It has printed nothing." } }
            @if is_cut { p class="note" { "The rest is in " code { (excerpt(&path, 200)) } "." } }
            ol class="talk" { @for entry in &shown { (entry) } }
        },
    )
}

fn entry(said: &Said) -> Markup {
    html! { li class=(kind(said)) { (line(said)) } }
}

const fn kind(said: &Said) -> &'static str {
    match said {
        Said::Text(_) => "text",
        Said::Tool { failed: Some(true), .. } => "tool failed",
        Said::Tool { .. } => "tool",
        Said::Notice(_) => "notice-line",
        Said::Line(_) => "line",
        Said::Result { .. } => "result",
    }
}

fn line(said: &Said) -> Markup {
    match said {
        Said::Text(text) => html! { p class="words" { bdi { (beginning(text, TEXT)) } } },
        // Lines that follow each other are one entry; what came last matters most.
        Said::Line(text) => html! { pre { (ending(text, TEXT)) } },
        Said::Notice(text) => html! { p class="muted" { bdi { (beginning(text, TOOL)) } } },
        Said::Result { text, failed } => html! {
            p { (badge(if *failed { Tone::Bad } else { Tone::Calm }, if *failed { "error" } else { "result" })) }
            p class="words" { bdi { (beginning(text, TEXT)) } }
        },
        Said::Tool { name, about, input, shown, failed } => html! {
            details {
                summary { strong { (excerpt(name, 60)) } " " code { (excerpt(about, 120)) } @if *failed == Some(true) { " " (badge(Tone::Bad, "failed")) } }
                @if !input.is_empty() { pre class="log" tabindex="0" { (beginning(input, TOOL)) } }
                @if !shown.is_empty() { pre class="log" tabindex="0" { (beginning(shown, TOOL)) } }
            }
        },
    }
}
