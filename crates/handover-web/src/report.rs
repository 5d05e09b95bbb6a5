//! A run as one file that needs nothing else: to be attached to a pull request.

use handover_engine::EngineError;
use handover_model::RunId;
use handover_store::StoreError;
use maud::{DOCTYPE, html};

use crate::journal::Told;
use crate::pages::run;
use crate::route::Trouble;
use crate::show::moment;
use crate::{Site, asset};

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// There is nothing of this kind and name.
    #[error("there is no {what} `{id}`")]
    Missing {
        /// What was looked for.
        what: &'static str,
        /// What it is called.
        id: String,
    },
    /// The store says so.
    #[error(transparent)]
    Store(StoreError),
    /// The journal cannot be read.
    #[error(transparent)]
    Engine(EngineError),
}

impl From<Trouble> for ReportError {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Missing { what, id } => Self::Missing { what, id },
            Trouble::Store(error) => Self::Store(error),
            Trouble::Engine(error) => Self::Engine(error),
        }
    }
}

/// The report of a run. Its links lead nowhere: nobody who reads it has this service.
pub fn report(site: &Site<'_>, id: &RunId) -> Result<String, ReportError> {
    let told = Told::read(site, id)?;
    let parts = run::parts(site, &told, None)?;
    let document = html! {
        (DOCTYPE)
        html lang="en" data-theme="auto" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'";
                title { "Epic " (told.run.epic) " · " (site.project) " · Handover" }
                style { (maud::PreEscaped(asset::STYLE.text)) }
            }
            body class="report" {
                main id="main" {
                    (run::heading(site, &told))
                    (parts)
                    (run::said_by_agents(&told))
                }
                footer { p { "Made by Handover, " (moment(site.now)) ", from the journal of run " code { (told.run.id) } "." } }
            }
        }
    };
    Ok(without_links(&document.into_string()))
}

/// Pages of the service are not there for whoever reads the file.
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
    fn links_become_words() {
        let html = "<p><a href=\"/runs\">Runs</a> and <a href=\"/x\" class=\"y\">&lt;a href=&quot;</a></p>";
        assert_eq!(
            without_links(html),
            "<p><span>Runs</span> and <span class=\"y\">&lt;a href=&quot;</span></p>"
        );
    }
}
