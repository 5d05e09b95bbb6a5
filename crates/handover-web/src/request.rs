//! Requests to the dashboard.

/// The HTTP method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Also used for `HEAD`; the server drops the body.
    Get,
    /// A form. The service has checked that it is same-origin or carries a token.
    Post,
}

/// A request for a page.
#[derive(Debug, Clone)]
pub struct PageRequest {
    /// The HTTP method.
    pub method: Method,
    /// The raw path: with its leading `/`, and still percent-encoded.
    pub path: String,
    /// Query parameters, decoded, in order.
    pub query: Vec<(String, String)>,
    /// Form fields, decoded, in order.
    pub form: Vec<(String, String)>,
    /// The browser's cookies, without the one that holds its token.
    pub cookies: Vec<(String, String)>,
}

impl PageRequest {
    /// A plain GET request.
    pub fn get(path: &str) -> Self {
        Self {
            method: Method::Get,
            path: path.to_owned(),
            query: Vec::new(),
            form: Vec::new(),
            cookies: Vec::new(),
        }
    }

    /// The first query parameter of this name.
    pub fn query(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The first form field of this name.
    pub fn form_field(&self, name: &str) -> Option<&str> {
        self.form.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}
