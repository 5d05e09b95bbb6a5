//! What a page is, and the type of an entry in the page table.

use std::str::FromStr;

use maud::Markup;

use crate::error::PageError;
use crate::request::PageRequest;
use crate::site::Site;

/// The content of a page, without the frame that the layout adds.
pub(crate) struct Page {
    pub(crate) title: String,
    /// Links to the enclosing pages: path and label.
    pub(crate) breadcrumbs: Vec<(String, String)>,
    pub(crate) body: Markup,
}

pub(crate) type PageResult = Result<Page, PageError>;

type Render = fn(&Site<'_>, &Route<'_>) -> PageResult;
type Submit = fn(&Site<'_>, &Route<'_>) -> Result<FormOutcome, PageError>;

/// The result of a submitted form.
pub(crate) enum FormOutcome {
    /// Accepted; the result is visible at this path.
    Redirect(String),
    /// Rejected with a status; the page again, with the reason.
    Rejected(u16, Box<Page>),
}

/// One page of the dashboard. Each file in `pages` defines its own entries; `pages::ALL` lists them.
pub(crate) struct PageEntry {
    /// A short name, for screenshots and tests.
    pub(crate) name: &'static str,
    /// The path, with `{name}` for parameters.
    pub(crate) path: &'static str,
    /// The label in the navigation, if the page is listed there.
    pub(crate) nav: Option<&'static str>,
    /// The path of the navigation entry that is highlighted on this page.
    pub(crate) section: &'static str,
    pub(crate) render: Render,
    /// Handles a form that is posted to `path`; requires write access.
    pub(crate) submit: Option<Submit>,
    /// The query of this page in the demo project, with its `?`.
    pub(crate) demo_query: &'static str,
}

impl PageEntry {
    /// A page that is reached through links only.
    pub(crate) const fn new(
        name: &'static str,
        path: &'static str,
        section: &'static str,
        render: Render,
    ) -> Self {
        Self { name, path, nav: None, section, render, submit: None, demo_query: "" }
    }

    /// A page with an entry in the navigation.
    pub(crate) const fn in_nav(
        name: &'static str,
        path: &'static str,
        label: &'static str,
        render: Render,
    ) -> Self {
        Self { nav: Some(label), ..Self::new(name, path, path, render) }
    }

    /// The parameters of a request path; `None` if it does not match.
    pub(crate) fn matches<'a>(&self, path: &'a str) -> Option<Vec<(&'static str, &'a str)>> {
        let (mut pattern, mut parts) =
            (self.path.trim_matches('/').split('/'), path.trim_matches('/').split('/'));
        let mut params = Vec::new();
        loop {
            match (pattern.next(), parts.next()) {
                (None, None) => return Some(params),
                (Some(expected), Some(part)) => {
                    match expected.strip_prefix('{').and_then(|name| name.strip_suffix('}')) {
                        Some(name) => params.push((name, part)),
                        None if expected == part => {}
                        None => return None,
                    }
                }
                (Some(_), None) | (None, Some(_)) => return None,
            }
        }
    }
}

/// A request that matched a [`PageEntry`].
pub(crate) struct Route<'a> {
    pub(crate) request: &'a PageRequest,
    pub(crate) params: Vec<(&'static str, &'a str)>,
}

impl Route<'_> {
    /// A path parameter as it was sent.
    pub(crate) fn param(&self, name: &str) -> &str {
        self.params.iter().find(|(key, _)| *key == name).map_or("", |(_, value)| *value)
    }

    /// A path parameter as an id. Malformed ids do not exist.
    pub(crate) fn id<T: FromStr>(&self, name: &str) -> Result<T, PageError> {
        let text = self.param(name);
        text.parse().map_err(|_| PageError::not_found(name, text))
    }

    pub(crate) fn query(&self, name: &str) -> Option<&str> {
        self.request.query(name)
    }

    /// The address of the page, without what a form did that led here.
    pub(crate) fn address(&self) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        for (name, value) in self.request.query.iter().filter(|(name, _)| name != "done") {
            query.append_pair(name, value);
        }
        let query = query.finish();
        let mark = if query.is_empty() { "" } else { "?" };
        format!("{}{mark}{query}", self.request.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(path: &'static str) -> PageEntry {
        PageEntry::new("test", path, "/", |_, _| Err(PageError::not_found("page", "test")))
    }

    #[test]
    fn matches_paths_and_reads_parameters() {
        let packages = entry("/sessions/{session}/packages");
        assert_eq!(packages.matches("/sessions/s1/packages"), Some(vec![("session", "s1")]));
        assert_eq!(packages.matches("/sessions/s1/packages/"), Some(vec![("session", "s1")]));
        for other in ["/sessions/s1", "/sessions/s1/receipts", "/sessions/s1/packages/1", "/"] {
            assert_eq!(packages.matches(other), None, "{other}");
        }
        assert_eq!(entry("/").matches("/"), Some(vec![]));
        assert_eq!(entry("/").matches("/sessions"), None);
    }

    #[test]
    fn malformed_ids_are_not_found() {
        let request = PageRequest::get("/packages/x");
        let route = Route { request: &request, params: vec![("package", "x")] };
        let error = route.id::<handover_model::PackageId>("package").unwrap_err();
        assert!(
            matches!(error, PageError::NotFound { what, id } if what == "package" && id == "x")
        );
    }
}
