//! Badges, facts, sections and other small elements.

use handover_model::{
    GroupStatus, NoteState, ReceiptState, RecordState, RunState, SessionStatus, StaleName,
    StoryState,
};
use maud::{Markup, Render, html};

use super::{count, excerpt, single_line};

/// Stale names that are listed.
const STALE_SHOWN: usize = 12;

/// The color of a badge. Its text says the same: color alone is not accessible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    /// Neutral.
    Calm,
    /// In progress or successful.
    Good,
    /// Needs attention.
    Warn,
    /// Failed.
    Bad,
}

impl Tone {
    pub(crate) const fn class(self) -> &'static str {
        match self {
            Self::Calm => "calm",
            Self::Good => "good",
            Self::Warn => "warn",
            Self::Bad => "bad",
        }
    }
}

/// Statuses that have a color.
pub(crate) trait HasTone {
    fn tone(self) -> Tone;
}

pub(crate) fn state_tone(state: impl HasTone) -> Tone {
    state.tone()
}

impl HasTone for SessionStatus {
    fn tone(self) -> Tone {
        match self {
            Self::Active => Tone::Good,
            Self::Completed => Tone::Calm,
            Self::Failed => Tone::Bad,
        }
    }
}

impl HasTone for GroupStatus {
    fn tone(self) -> Tone {
        match self {
            Self::Pending | Self::Completed => Tone::Calm,
            Self::InProgress | Self::Merging => Tone::Good,
            Self::ApprovedPendingMerge => Tone::Warn,
            Self::Failed => Tone::Bad,
        }
    }
}

impl HasTone for ReceiptState {
    fn tone(self) -> Tone {
        match self {
            Self::Assembled => Tone::Warn,
            Self::Delivered => Tone::Calm,
            Self::Confirmed => Tone::Good,
            Self::Failed => Tone::Bad,
        }
    }
}

impl HasTone for RunState {
    fn tone(self) -> Tone {
        match self {
            Self::Running | Self::Done => Tone::Good,
            Self::Interrupted | Self::Budget | Self::Environment | Self::Blocked => Tone::Warn,
            Self::Failed => Tone::Bad,
        }
    }
}

impl HasTone for NoteState {
    fn tone(self) -> Tone {
        match self {
            Self::Live => Tone::Good,
            Self::Stale | Self::Amended => Tone::Warn,
            Self::Retired => Tone::Calm,
        }
    }
}

impl HasTone for StoryState {
    fn tone(self) -> Tone {
        match self {
            Self::Pending | Self::Skipped => Tone::Calm,
            Self::Running | Self::Done => Tone::Good,
            Self::Blocked => Tone::Warn,
            Self::Failed => Tone::Bad,
        }
    }
}

pub(crate) fn badge(tone: Tone, word: &str) -> Markup {
    html! { span class={ "badge " (tone.class()) } { (word.replace('_', " ")) } }
}

/// Names that are not what they were, each with what became of it. They are text of others.
pub(crate) fn stale_names(stale: &[StaleName]) -> Markup {
    html! {
        @for (nth, name) in stale.iter().take(STALE_SHOWN).enumerate() {
            @if nth > 0 { ", " }
            code { (excerpt(name.name(), 100)) } " " span class="badge warn" { (single_line(&name.to_string())) }
        }
        @if stale.len() > STALE_SHOWN { " and " (count(stale.len() - STALE_SHOWN)) " others" }
    }
}

/// Says that a record is out of use, and why; nothing for one in use.
pub(crate) fn retired(state: RecordState, reason: Option<&str>) -> Markup {
    html! {
        @if state == RecordState::Retired {
            p class="muted" {
                (badge(Tone::Calm, state.as_str()))
                @if let Some(reason) = reason { " " (excerpt(reason, 140)) }
            }
        }
    }
}

/// The end of an id, as people read it; the command line accepts it.
pub(crate) fn short_id(id: &str) -> &str {
    handover_context::why::short_id(id)
}

/// A button that copies the address of a page. The script shows it; without it, the address bar does the same.
pub(crate) fn copy_link(path: &str) -> Markup {
    html! { button type="button" class="plain" data-copy=(path) hidden { "Copy link" } }
}

/// The page as one file that somebody can be sent, and its address.
pub(crate) fn share(path: &str) -> Markup {
    html! {
        nav class="links" aria-label="Share" {
            a href={ (path) "/report.html" } download { "Download as HTML" }
            (copy_link(path))
        }
    }
}

/// Where the script offers to keep the filters and the order of a list, and shows what was kept.
pub(crate) fn kept_views() -> Markup {
    html! { div class="views" data-views hidden {} }
}

/// A headline number with its label.
pub(crate) fn stat(name: &str, value: impl Render, note: impl Render) -> Markup {
    html! {
        div class="stat" {
            dt { (name) }
            dd { strong { (value) } " " small { (note) } }
        }
    }
}

/// One line of [`facts`].
pub(crate) fn fact(name: &str, value: impl Render) -> Markup {
    html! { div { dt { (name) } dd { (value) } } }
}

/// A list of labeled values.
pub(crate) fn facts(list: impl Render) -> Markup {
    html! { dl class="facts" { (list) } }
}

/// A section with a heading, which the script replaces when its content changes.
pub(crate) fn section(id: &str, heading: &str, note: impl Render, body: impl Render) -> Markup {
    html! {
        section id=(id) aria-labelledby={ (id) "-heading" } data-live {
            header class="head" {
                h2 id={ (id) "-heading" } { (heading) }
                p { (note) }
            }
            (body)
        }
    }
}

/// Shown in place of an empty list: what that means, and the command that fills it.
pub(crate) fn empty_state(what: &str, next: &str, command: &str) -> Markup {
    html! {
        div class="empty" {
            p { strong { (what) } " " (next) }
            @if !command.is_empty() { pre { code { (command) } } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn badges_show_their_status_as_text() {
        let html = badge(state_tone(GroupStatus::ApprovedPendingMerge), "approved_pending_merge");
        assert_eq!(html.into_string(), "<span class=\"badge warn\">approved pending merge</span>");
    }

    #[test]
    fn failures_are_bad_and_success_is_not() {
        assert_eq!(state_tone(RunState::Failed), Tone::Bad);
        assert_eq!(state_tone(StoryState::Failed), Tone::Bad);
        assert_eq!(state_tone(SessionStatus::Failed), Tone::Bad);
        assert_eq!(state_tone(ReceiptState::Failed), Tone::Bad);
        assert_eq!(state_tone(RunState::Blocked), Tone::Warn);
        assert_eq!(state_tone(ReceiptState::Confirmed), Tone::Good);
        assert_eq!(state_tone(SessionStatus::Completed), Tone::Calm);
    }

    #[test]
    fn sections_are_labelled_and_replaceable() {
        let html = section("runs", "Runs", "note", "body").into_string();
        assert!(html.contains("id=\"runs\" aria-labelledby=\"runs-heading\" data-live"), "{html}");
        assert!(html.contains("<h2 id=\"runs-heading\">Runs</h2>"), "{html}");
    }

    #[test]
    fn an_empty_state_without_a_command_has_no_code() {
        assert!(!empty_state("None.", "Wait.", "").into_string().contains("<pre>"));
        assert!(empty_state("None.", "Run:", "a < b").into_string().contains("a &lt; b"));
    }
}
