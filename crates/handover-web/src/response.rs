//! What the dashboard answers.

/// A page, or what else was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageResponse {
    /// The status of HTTP.
    pub status: u16,
    /// What the body is.
    pub content_type: &'static str,
    /// Further headers. Those that protect a browser are set by the service unless they are here.
    pub headers: Vec<(&'static str, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl PageResponse {
    /// A page.
    pub fn html(page: impl Into<String>) -> Self {
        Self {
            status: 200,
            content_type: "text/html; charset=utf-8",
            headers: Vec::new(),
            body: page.into().into_bytes(),
        }
    }

    /// Somewhere else is what there is to see now.
    pub fn see(place: String) -> Self {
        let headers = vec![("location", place), ("cache-control", "no-store".to_owned())];
        Self { headers, ..Self::text(303, "") }
    }

    /// A sentence.
    pub fn text(status: u16, text: &str) -> Self {
        Self {
            status,
            content_type: "text/plain; charset=utf-8",
            headers: Vec::new(),
            body: format!("{text}\n").into_bytes(),
        }
    }
}
