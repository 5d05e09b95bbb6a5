//! Small pieces that every page is made of.

use handover_model::{GroupStatus, ReceiptState, RunState, SessionStatus, StoryState};
use maud::{Markup, Render, html};

/// How a word is meant: never by colour alone, the word stands there too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    /// Nothing special.
    Calm,
    /// It goes on, or went well.
    Good,
    /// Somebody should look.
    Warn,
    /// It went wrong.
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

/// Words of closed sets, and how they are meant.
pub(crate) trait Toned {
    fn tone(self) -> Tone;
}

/// How a state is meant.
pub(crate) fn state_tone(state: impl Toned) -> Tone {
    state.tone()
}

impl Toned for SessionStatus {
    fn tone(self) -> Tone {
        match self {
            Self::Active => Tone::Good,
            Self::Completed => Tone::Calm,
            Self::Failed => Tone::Bad,
        }
    }
}

impl Toned for GroupStatus {
    fn tone(self) -> Tone {
        match self {
            Self::Pending | Self::Completed => Tone::Calm,
            Self::InProgress | Self::Merging => Tone::Good,
            Self::ApprovedPendingMerge => Tone::Warn,
            Self::Failed => Tone::Bad,
        }
    }
}

impl Toned for ReceiptState {
    fn tone(self) -> Tone {
        match self {
            Self::Assembled => Tone::Warn,
            Self::Delivered => Tone::Calm,
            Self::Confirmed => Tone::Good,
            Self::Failed => Tone::Bad,
        }
    }
}

impl Toned for RunState {
    fn tone(self) -> Tone {
        match self {
            Self::Running => Tone::Good,
            Self::Done => Tone::Calm,
            Self::Interrupted | Self::Budget | Self::Environment | Self::Blocked => Tone::Warn,
            Self::Failed => Tone::Bad,
        }
    }
}

impl Toned for StoryState {
    fn tone(self) -> Tone {
        match self {
            Self::Pending | Self::Skipped => Tone::Calm,
            Self::Running | Self::Done => Tone::Good,
            Self::Blocked => Tone::Warn,
            Self::Failed => Tone::Bad,
        }
    }
}

/// A word that stands out.
pub(crate) fn badge(tone: Tone, word: &str) -> Markup {
    html! { span class={ "badge " (tone.class()) } { (word.replace('_', " ")) } }
}

/// A figure with its name.
pub(crate) fn stat(name: &str, value: impl Render, note: impl Render) -> Markup {
    html! {
        div class="stat" {
            dt { (name) }
            dd { strong { (value) } " " small { (note) } }
        }
    }
}

/// A name and what belongs to it, for [`facts`].
pub(crate) fn fact(name: &str, value: impl Render) -> Markup {
    html! { div { dt { (name) } dd { (value) } } }
}

/// A list of names and what belongs to them.
pub(crate) fn facts(list: impl Render) -> Markup {
    html! { dl class="facts" { (list) } }
}

/// A part of a page with its heading. It is replaced when something new happens.
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

/// Nothing is there: what that means, and what to do next.
pub(crate) fn empty(what: &str, next: &str, command: &str) -> Markup {
    html! {
        div class="empty" {
            p { strong { (what) } " " (next) }
            @if !command.is_empty() { pre { code { (command) } } }
        }
    }
}
