//! Forms that change something by hand: what they send, and the fields that every one of them has.
//!
//! A form works without a script. It carries the token of the browser's rights, so that no other site can send
//! it, and where to go back to.

use handover_context::by_hand::ByHand;
use handover_context::package_file::MAX_SUMMARY_CHARS;
use handover_model::Trust;
use handover_store::RecordKind;
use handover_text::quote::visible;
use maud::{Markup, html};

use crate::page::Route;
use crate::site::Site;
use crate::view::single_line;

/// The field with the token.
pub(crate) const TOKEN: &str = "token";

/// Characters of a reason.
pub(crate) const REASON: usize = 300;

/// The kinds of record that forms are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Subject {
    Package,
    Note,
    Strategy,
    Error,
    Session,
    Operation,
}

/// What a form does with one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verb {
    Retire,
    Restore,
    Confirm,
    Reject,
    Close,
    Fail,
    Reopen,
    Undo,
    Edit,
}

impl Subject {
    /// The records that it stands for.
    pub(crate) fn kind(self) -> RecordKind {
        match self {
            Self::Package => RecordKind::Package,
            Self::Note => RecordKind::Note,
            Self::Strategy => RecordKind::Strategy,
            Self::Error => RecordKind::ErrorPattern,
            Self::Session => RecordKind::Session,
            Self::Operation => RecordKind::Operation,
        }
    }

    const ALL: [(Self, &'static str); 6] = [
        (Self::Package, "package"),
        (Self::Note, "note"),
        (Self::Strategy, "strategy"),
        (Self::Error, "error"),
        (Self::Session, "session"),
        (Self::Operation, "operation"),
    ];

    pub(crate) fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(_, name)| *name == text).map(|(subject, _)| subject)
    }

    pub(crate) fn as_str(self) -> &'static str {
        Self::ALL.into_iter().find(|(subject, _)| *subject == self).map_or("", |(_, name)| name)
    }
}

impl Verb {
    const ALL: [(Self, &'static str, &'static str); 9] = [
        (Self::Retire, "retire", "Retire"),
        (Self::Restore, "restore", "Restore"),
        (Self::Confirm, "confirm", "It is outdated"),
        (Self::Reject, "reject", "It still counts"),
        (Self::Close, "close", "Close as completed"),
        (Self::Fail, "fail", "Close as failed"),
        (Self::Reopen, "reopen", "Reopen"),
        (Self::Undo, "undo", "Undo"),
        (Self::Edit, "edit", "Edit"),
    ];

    pub(crate) fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(_, name, _)| *name == text).map(|(verb, ..)| verb)
    }

    /// What the button says: a solution is judged, a statement is decided about.
    fn label(self, what: Subject) -> &'static str {
        match (self, what) {
            (Self::Confirm, Subject::Error) => "It worked",
            (Self::Reject, Subject::Error) => "It did not",
            _ => self.row().1,
        }
    }

    fn row(self) -> (&'static str, &'static str) {
        let found = Self::ALL.into_iter().find(|(verb, ..)| *verb == self);
        found.map_or(("", ""), |(_, name, label)| (name, label))
    }
}

/// The change that a form makes, logged with who sent it.
pub(crate) fn hand<'a>(site: &'a Site<'a>) -> ByHand<'a> {
    ByHand {
        store: site.store,
        redactor: site.redactor,
        project: site.project,
        id: site.operation.clone(),
        // Nothing proves that a person sent it.
        trust: Trust::Agent,
        author: Some(site.author.to_owned()),
        now: site.now,
    }
}

/// The field that every form has.
pub(crate) fn token_field(site: &Site<'_>) -> Markup {
    html! { input type="hidden" name=(TOKEN) value=(site.form_token); }
}

/// A button that does something with a record, and returns to `back`. Nothing without the right to write.
pub(crate) fn button(site: &Site<'_>, verb: Verb, what: Subject, id: &str, back: &str) -> Markup {
    if !site.may_write {
        return html! {};
    }
    let (name, label) = (verb.row().0, verb.label(what));
    html! {
        form class="act" method="post" action="/changes" {
            (token_field(site))
            input type="hidden" name="what" value=(what.as_str());
            input type="hidden" name="id" value=(single_line(id));
            input type="hidden" name="do" value=(name);
            input type="hidden" name="back" value=(back);
            button { (label) }
        }
    }
}

/// Retiring, which asks for a reason, or restoring what is retired.
pub(crate) fn retire_or_restore(
    site: &Site<'_>,
    is_retired: bool,
    what: Subject,
    id: &str,
    back: &str,
) -> Markup {
    if !site.may_write {
        return html! {};
    }
    if is_retired {
        return button(site, Verb::Restore, what, id, back);
    }
    html! {
        details class="act" {
            summary { "Retire" }
            form class="inline" method="post" action="/changes" {
                (token_field(site))
                input type="hidden" name="what" value=(what.as_str());
                input type="hidden" name="id" value=(single_line(id));
                input type="hidden" name="do" value="retire";
                input type="hidden" name="back" value=(back);
                label for={ "reason-" (what.as_str()) "-" (single_line(id)) } { "Why" }
                input id={ "reason-" (what.as_str()) "-" (single_line(id)) } type="text" name="reason" maxlength=(REASON) placeholder="optional";
                button { "Retire" }
            }
        }
    }
}

/// Another summary for a package. Nothing without the right to write.
pub(crate) fn edit_summary(site: &Site<'_>, id: &str, summary: &str, back: &str) -> Markup {
    if !site.may_write {
        return html! {};
    }
    html! {
        details class="act" {
            summary { "Edit the summary" }
            form class="edit" method="post" action="/changes" {
                (token_field(site))
                input type="hidden" name="what" value=(Subject::Package.as_str());
                input type="hidden" name="id" value=(single_line(id));
                input type="hidden" name="do" value=(Verb::Edit.row().0);
                input type="hidden" name="back" value=(back);
                label for="summary" { "What agents read first; it becomes a new version" }
                textarea id="summary" name="summary" rows="4" maxlength=(MAX_SUMMARY_CHARS) required { (visible(summary)) }
                button { "Save" }
            }
        }
    }
}

/// Where a form leads back to: a path of ours, else the log.
pub(crate) fn back(route: &Route<'_>) -> String {
    let back = route.request.form_field("back").filter(|path| is_local(path));
    back.unwrap_or("/changes").to_owned()
}

/// `//host` and `/\host` are other sites to a browser.
pub(crate) fn is_local(path: &str) -> bool {
    path.starts_with('/')
        && !path.starts_with("//")
        && path.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_forms_read_back() {
        for (subject, name) in Subject::ALL {
            assert_eq!((Subject::parse(name), subject.as_str()), (Some(subject), name));
        }
        for (verb, name, _) in Verb::ALL {
            assert_eq!((Verb::parse(name), verb.row().0), (Some(verb), name));
        }
        assert_eq!((Subject::parse("x"), Verb::parse("")), (None, None));
    }

    #[test]
    fn forms_lead_nowhere_else() {
        for local in ["/", "/packages/1?x=%20#y"] {
            assert!(is_local(local), "{local}");
        }
        for other in ["", "a", "//evil.example", "/\\evil.example", "https://x", "/a\nb", "/ä"] {
            assert!(!is_local(other), "{other}");
        }
    }
}
