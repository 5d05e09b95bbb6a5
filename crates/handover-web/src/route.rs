//! From a path to its page.

use handover_engine::EngineError;
use handover_model::{PackageId, ReceiptId, RunId, SessionId};
use handover_store::StoreError;
use maud::html;

use crate::layout::{self, Page};
use crate::{Method, PageRequest, PageResponse, Site, asset, pages};

/// Why a page cannot be shown.
pub(crate) enum Trouble {
    /// There is nothing of this kind and name.
    Missing { what: &'static str, id: String },
    /// The store says so.
    Store(StoreError),
    /// The journal of a run cannot be read.
    Engine(EngineError),
}

impl From<StoreError> for Trouble {
    fn from(error: StoreError) -> Self {
        if let StoreError::NotFound { what, id } = error {
            return Self::Missing { what: what.as_str(), id };
        }
        Self::Store(error)
    }
}

impl From<EngineError> for Trouble {
    fn from(error: EngineError) -> Self {
        if let EngineError::Store(error) = error {
            return error.into();
        }
        Self::Engine(error)
    }
}

/// What a page is, or why it is none.
pub(crate) type Shown = Result<Page, Trouble>;

/// What became of a form.
pub(crate) enum Sent {
    /// It is done; this is where it can be seen.
    Done(String),
    /// It is not: the page again, with the reason.
    Refused(u16, Box<Page>),
}

/// Answers a request for a page. What goes wrong becomes a page too.
pub fn answer(site: &Site<'_>, request: &PageRequest) -> PageResponse {
    if let Some(response) = asset::at(&request.path) {
        return response;
    }
    if request.path == "/theme" {
        return layout::choose_theme(request);
    }
    let shown = match request.method {
        Method::Get => page(site, request).map(|page| (200, page)),
        Method::Post => match form(site, request) {
            Ok(Sent::Done(place)) => return PageResponse::see(place),
            Ok(Sent::Refused(status, page)) => Ok((status, *page)),
            Err(trouble) => Err(trouble),
        },
    };
    let (status, page) = shown.unwrap_or_else(Trouble::page);
    let mut response = layout::whole(site, request, &page);
    response.status = status;
    response
}

fn page(site: &Site<'_>, request: &PageRequest) -> Shown {
    let path = request.path.trim_matches('/');
    let parts: Vec<&str> = path.split('/').collect();
    let nothing = || Err(Trouble::Missing { what: "page", id: request.path.clone() });
    match parts.as_slice() {
        [""] => pages::overview::page(site),
        ["sessions"] => pages::sessions::page(site),
        ["sessions", id, rest @ ..] => {
            let id = named::<SessionId>("session", id)?;
            match rest {
                [] => pages::session::page(site, &id),
                ["packages"] => pages::packages::page(site, request, &id),
                ["reasoning"] => pages::reasoning::page(site, request, &id),
                ["receipts"] => pages::receipts::page(site, request, &id),
                _ => nothing(),
            }
        }
        ["packages", id] => pages::package::page(site, named::<PackageId>("package", id)?),
        ["receipts", id] => pages::receipt::page(site, &named::<ReceiptId>("receipt", id)?),
        ["runs"] => pages::runs::page(site),
        // Where a refused answer leaves a browser is the run's page too.
        ["runs", id] | ["runs", id, "answers"] => {
            pages::run::page(site, &named::<RunId>("run", id)?)
        }
        ["runs", id, "journal"] => {
            pages::run::journal_page(site, request, &named::<RunId>("run", id)?)
        }
        ["errors"] => pages::errors::page(site),
        ["errors", hash] => pages::errors::one(site, hash),
        ["strategies"] => pages::strategies::page(site),
        ["search"] => pages::search::page(site, request),
        _ => nothing(),
    }
}

/// The forms that change something.
fn form(site: &Site<'_>, request: &PageRequest) -> Result<Sent, Trouble> {
    let parts: Vec<&str> = request.path.trim_matches('/').split('/').collect();
    match parts.as_slice() {
        ["runs", id, "answers"] if site.may_write => {
            pages::run::answer(site, request, &named::<RunId>("run", id)?)
        }
        _ => Err(Trouble::Missing { what: "form", id: request.path.clone() }),
    }
}

fn named<T: std::str::FromStr>(what: &'static str, text: &str) -> Result<T, Trouble> {
    text.parse().map_err(|_| Trouble::Missing { what, id: text.to_owned() })
}

impl Trouble {
    pub(crate) fn page(self) -> (u16, Page) {
        match self {
            Self::Missing { what, id } => {
                let text = format!("There is no {what} {id}.");
                let next = html! { "It may have been purged, or the address is mistyped. Go to the " a href="/" { "overview" } " or search." };
                (404, layout::trouble("Not found", &text, &next))
            }
            Self::Store(error) => {
                let next = html! { "Run " code { "handover doctor" } "; it says what to do." };
                (503, layout::trouble("The store does not answer", &error.to_string(), &next))
            }
            Self::Engine(error) => {
                let next = html! { code { "handover journal" } " shows what there is." };
                (500, layout::trouble("This run cannot be read", &error.to_string(), &next))
            }
        }
    }
}
