//! Responses of the dashboard.

/// A response, independent of the HTTP library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageResponse {
    /// The HTTP status.
    pub status: u16,
    /// The media type of the body.
    pub content_type: &'static str,
    /// Additional headers; they override the security headers that the service sets.
    pub headers: Vec<(&'static str, String)>,
    /// The payload.
    pub body: Vec<u8>,
}

impl PageResponse {
    /// An HTML document.
    pub fn html(page: impl Into<String>) -> Self {
        Self {
            status: 200,
            content_type: "text/html; charset=utf-8",
            headers: Vec::new(),
            body: page.into().into_bytes(),
        }
    }

    /// Redirects to another page after a form (303).
    pub fn redirect(path: String) -> Self {
        let headers = vec![("location", path), ("cache-control", "no-store".to_owned())];
        Self { headers, ..Self::text(303, "") }
    }

    /// Plain text.
    pub fn text(status: u16, text: &str) -> Self {
        Self {
            status,
            content_type: "text/plain; charset=utf-8",
            headers: Vec::new(),
            body: format!("{text}\n").into_bytes(),
        }
    }
}
