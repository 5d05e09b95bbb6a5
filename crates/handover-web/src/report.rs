//! A run as a single self-contained HTML file.

use handover_engine::EngineError;
use handover_model::RunId;
use handover_store::StoreError;
use maud::{DOCTYPE, html};

use crate::error::PageError;
use crate::pages::run;
use crate::run_view::RunView;
use crate::view::exact_time;
use crate::{Site, asset};

/// Why a report cannot be rendered.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The run does not exist.
    #[error("there is no {what} `{id}`")]
    NotFound {
        /// The kind of record.
        what: String,
        /// Its id.
        id: String,
    },
    /// The store failed.
    #[error(transparent)]
    Store(StoreError),
    /// The journal cannot be read.
    #[error(transparent)]
    Engine(EngineError),
}

impl From<PageError> for ReportError {
    fn from(error: PageError) -> Self {
        match error {
            PageError::NotFound { what, id } => Self::NotFound { what, id },
            PageError::Store(error) => Self::Store(error),
            PageError::Engine(error) => Self::Engine(error),
        }
    }
}

/// Renders the report of a run. Links are removed: its readers cannot reach the service.
pub fn report(site: &Site<'_>, id: &RunId) -> Result<String, ReportError> {
    let view = RunView::read(site, id)?;
    let sections = run::sections(site, &view, None)?;
    let document = html! {
        (DOCTYPE)
        html lang="en" data-theme="auto" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'";
                title { "Epic " (view.run.epic) " · " (site.project) " · Handover" }
                style { (maud::PreEscaped(asset::STYLE.text)) }
            }
            body class="report" {
                main id="main" {
                    (run::heading(site, &view))
                    (sections)
                    (run::agent_summaries(&view))
                }
                footer { p { "Made by Handover, " (exact_time(site.now)) ", from the journal of run " code { (view.run.id) } "." } }
            }
        }
    };
    Ok(without_links(&document.into_string()))
}

fn without_links(html: &str) -> String {
    let mut out = String::with_capacity(html.len());
    let mut rest = html;
    while let Some(at) = rest.find("<a href=\"") {
        let (before, link) = rest.split_at(at);
        out.push_str(before);
        out.push_str("<span");
        let behind = link.get(9..).and_then(|link| link.split_once('"'));
        rest = behind.map_or("", |(_, behind)| behind);
    }
    out.push_str(rest);
    out.replace("</a>", "</span>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removes_links() {
        let html = "<p><a href=\"/runs\">Runs</a> and <a href=\"/x\" class=\"y\">&lt;a href=&quot;</a></p>";
        assert_eq!(
            without_links(html),
            "<p><span>Runs</span> and <span class=\"y\">&lt;a href=&quot;</span></p>"
        );
    }
}
