//! A parsed API request: path parameters, query parameters, JSON body.

use std::fmt::Display;
use std::str::FromStr;

use axum::http::Uri;
use handover_mcp::{RequestError, ToolError};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::invalid;

/// Records of a listing unless `limit` is given.
const DEFAULT_LIMIT: u32 = 100;

/// A request whose parameters are parsed by the endpoint on access.
pub(super) struct ApiRequest {
    path: Vec<(String, String)>,
    query: Vec<(String, String)>,
    body: Value,
}

impl ApiRequest {
    pub(super) fn new(
        known: &[(&str, &str)],
        path: Vec<(String, String)>,
        uri: &Uri,
        body: Value,
    ) -> Result<Self, RequestError> {
        let query: Vec<(String, String)> =
            form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes())
                .map(|(name, value)| (name.into_owned(), value.into_owned()))
                .collect();
        let unknown = query.iter().find(|(name, _)| !known.iter().any(|(known, _)| known == name));
        if let Some((name, _)) = unknown {
            let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
            let hint = match names.is_empty() {
                true => "This endpoint takes none.".to_owned(),
                false => format!("Known parameters: {}.", names.join(", ")),
            };
            return Err(invalid(format!("unknown query parameter `{name}`"), &hint));
        }
        Ok(Self { path, query, body })
    }

    pub(super) fn path_param<T: FromStr<Err: Display>>(&self, name: &str) -> Result<T, ToolError> {
        let text = self.path.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
        text.unwrap_or_default()
            .parse()
            .map_err(|error| ToolError::invalid(format!("{error}"), "Correct the path."))
    }

    pub(super) fn query_param<T: FromStr<Err: Display>>(
        &self,
        name: &str,
    ) -> Result<Option<T>, ToolError> {
        let text = self.query.iter().find(|(key, _)| key == name).map(|(_, value)| value);
        text.map(|text| {
            text.parse().map_err(|error| {
                ToolError::invalid(format!("invalid `{name}`: {error}"), "Correct the query.")
            })
        })
        .transpose()
    }

    /// A boolean parameter; `?name` alone means true.
    pub(super) fn query_flag(&self, name: &str) -> Result<bool, ToolError> {
        match self.query.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str()) {
            None | Some("false") => Ok(false),
            Some("true" | "") => Ok(true),
            Some(other) => {
                Err(ToolError::invalid(format!("`{name}` is `{other}`"), "Use `true` or `false`."))
            }
        }
    }

    /// The `limit` parameter or its default.
    pub(super) fn limit(&self) -> Result<Option<u32>, ToolError> {
        Ok(Some(self.query_param("limit")?.unwrap_or(DEFAULT_LIMIT)))
    }

    /// Deserializes the body.
    pub(super) fn body<T: DeserializeOwned>(&self) -> Result<T, ToolError> {
        serde_json::from_value(self.body.clone()).map_err(|error| {
            ToolError::invalid(
                format!("invalid body: {error}"),
                "`/api/v1/openapi.json` has an example.",
            )
        })
    }

    /// The body as an object with the session of the path added.
    pub(super) fn body_in_session(&self) -> Result<Map<String, Value>, ToolError> {
        let mut body: Map<String, Value> = self.body()?;
        let session: handover_model::SessionId = self.path_param("session")?;
        body.insert("session".to_owned(), session.to_string().into());
        Ok(body)
    }
}
