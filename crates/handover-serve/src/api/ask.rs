//! What an endpoint is asked: parts of the path, fields after `?`, a body.

use std::fmt::Display;
use std::str::FromStr;

use axum::http::Uri;
use handover_mcp::{Refusal, ToolError};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::invalid;

/// How many records a listing gives unless more are asked for.
const DEFAULT_LIMIT: u32 = 100;

/// A request, read as far as that goes without knowing what it is for.
pub(super) struct Ask {
    path: Vec<(String, String)>,
    fields: Vec<(String, String)>,
    body: Value,
}

impl Ask {
    pub(super) fn new(
        known: &[(&str, &str)],
        path: Vec<(String, String)>,
        uri: &Uri,
        body: Value,
    ) -> Result<Self, Refusal> {
        let fields: Vec<(String, String)> =
            form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes())
                .map(|(name, value)| (name.into_owned(), value.into_owned()))
                .collect();
        let unknown = fields.iter().find(|(name, _)| !known.iter().any(|(known, _)| known == name));
        if let Some((name, _)) = unknown {
            let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
            let hint = match names.is_empty() {
                true => "There are none here.".to_owned(),
                false => format!("There are {}.", names.join(", ")),
            };
            return Err(invalid(format!("there is no field `{name}`"), &hint));
        }
        Ok(Self { path, fields, body })
    }

    /// A part of the path.
    pub(super) fn part<T: FromStr<Err: Display>>(&self, name: &str) -> Result<T, ToolError> {
        let text = self.path.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
        text.unwrap_or_default()
            .parse()
            .map_err(|error| ToolError::invalid(format!("{error}"), "Mend the path."))
    }

    /// A field after `?`.
    pub(super) fn field<T: FromStr<Err: Display>>(
        &self,
        name: &str,
    ) -> Result<Option<T>, ToolError> {
        let text = self.fields.iter().find(|(key, _)| key == name).map(|(_, value)| value);
        text.map(|text| {
            text.parse().map_err(|error| {
                ToolError::invalid(format!("`{name}` is not right: {error}"), "Mend the query.")
            })
        })
        .transpose()
    }

    /// A switch after `?`; `true` or nothing behind its name switches it on.
    pub(super) fn switch(&self, name: &str) -> Result<bool, ToolError> {
        match self.fields.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str()) {
            None | Some("false") => Ok(false),
            Some("true" | "") => Ok(true),
            Some(other) => Err(ToolError::invalid(
                format!("`{name}` is `{other}`"),
                "`true` or `false` is expected.",
            )),
        }
    }

    /// How many records are wanted.
    pub(super) fn limit(&self) -> Result<Option<u32>, ToolError> {
        Ok(Some(self.field("limit")?.unwrap_or(DEFAULT_LIMIT)))
    }

    /// The body, as what it should be.
    pub(super) fn body<T: DeserializeOwned>(&self) -> Result<T, ToolError> {
        serde_json::from_value(self.body.clone()).map_err(|error| {
            ToolError::invalid(
                format!("the body is not right: {error}"),
                "`/api/v1/openapi.json` has an example.",
            )
        })
    }

    /// The body as an object, with the session of the path in it.
    pub(super) fn body_in_session(&self) -> Result<Map<String, Value>, ToolError> {
        let mut body: Map<String, Value> = self.body()?;
        let session: handover_model::SessionId = self.part("session")?;
        body.insert("session".to_owned(), session.to_string().into());
        Ok(body)
    }
}
