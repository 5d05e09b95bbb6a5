//! What is asked of the dashboard.

/// What is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// A page. `HEAD` arrives as this; the body is dropped later.
    Get,
    /// A form was sent. It is of the same origin or carries a token that may write.
    Post,
}

/// A request for a page.
#[derive(Debug, Clone)]
pub struct PageRequest {
    /// What is wanted.
    pub method: Method,
    /// The path as it was sent, with its leading `/` and its percent signs.
    pub path: String,
    /// The fields after `?`, decoded, in order.
    pub query: Vec<(String, String)>,
    /// The fields of a form, decoded, in order.
    pub form: Vec<(String, String)>,
    /// The cookies that the browser sent, but for the one that holds its token.
    pub cookies: Vec<(String, String)>,
    /// The version of the page that the browser has (`If-None-Match`).
    pub known_tag: Option<String>,
}

impl PageRequest {
    /// A request for a page, without anything else.
    pub fn get(path: &str) -> Self {
        Self {
            method: Method::Get,
            path: path.to_owned(),
            query: Vec::new(),
            form: Vec::new(),
            cookies: Vec::new(),
            known_tag: None,
        }
    }

    /// The first field of this name after `?`.
    pub fn field(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The first field of this name of a form.
    pub fn sent(&self, name: &str) -> Option<&str> {
        self.form.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}
