//! "Why didn't it know …?", as a form: what `handover why` answers.

use handover_context::why::{Agent, Finding, Library};
use handover_model::{ItemKind, Receipt};
use maud::{Markup, html};

use crate::error::PageError;
use crate::page::Route;
use crate::site::Site;
use crate::view::{Tone, badge, excerpt, section, single_line, untrusted, with_code};

/// Characters of a question.
const ASKED: usize = 200;
/// Characters of a way out.
const FIX: usize = 1_000;

pub(super) fn ask(
    site: &Site<'_>,
    route: &Route<'_>,
    receipt: &Receipt,
) -> Result<Markup, PageError> {
    let asked: String = route.query("why").unwrap_or_default().chars().take(ASKED).collect();
    let asked = asked.trim();
    let findings = match asked {
        "" => None,
        asked => Some(answer(site, receipt, asked)?),
    };
    let note = html! { "A package by its number or path, a note by its id, a file, or words." };
    Ok(section(
        "why",
        "Why didn’t it know …?",
        note,
        html! {
            form class="inline" method="get" action={ "/receipts/" (receipt.id) } {
                label class="unseen" for="why-name" { "What it did not know" }
                input id="why-name" type="text" name="why" value=(single_line(asked)) maxlength=(ASKED) required placeholder="docs/oauth.md, or: refresh tokens";
                button { "Ask" }
            }
            @match &findings {
                None => {},
                Some(none) if none.is_empty() => p class="note" role="status" { "Nothing is known as " strong { (untrusted(asked)) } ": no package, note or file. " code { "handover learn" } " reads what the project knows." },
                Some(findings) => div role="status" { ol class="list answers" { @for finding in findings { li { (found(finding)) } } } },
            }
        },
    ))
}

fn answer(site: &Site<'_>, receipt: &Receipt, asked: &str) -> Result<Vec<Finding>, PageError> {
    let library = Library {
        store: site.store,
        project: site.project,
        config: &site.config.assembly,
        session: &receipt.session,
    };
    let subjects = library.find(asked, asked)?;
    if subjects.is_empty() {
        return Ok(Vec::new());
    }
    let agent = Agent::of(receipt);
    let now = (site.candidates)(&agent, receipt.task.as_deref());
    Ok(library.explain(&subjects, &agent, Some(receipt), receipt.task.as_deref(), &now)?)
}

fn found(finding: &Finding) -> Markup {
    let link = match finding.kind {
        ItemKind::Note => format!("/notes/{}", finding.id),
        ItemKind::Package
        | ItemKind::Reasoning
        | ItemKind::Error
        | ItemKind::Strategy
        | ItemKind::Verdict => format!("/packages/{}", finding.id),
    };
    let (tone, word) =
        if finding.included { (Tone::Good, "included") } else { (Tone::Calm, "left out") };
    html! {
        p { (badge(tone, word)) " " a href=(link) { (excerpt(&finding.title, 100)) } " " span class="muted" { (finding.kind) " " (excerpt(&finding.origin, 100)) } }
        p { (untrusted(&finding.explanation)) }
        @for fix in &finding.fixes { p class="muted" { "→ " (with_code(fix, FIX)) } }
    }
}
