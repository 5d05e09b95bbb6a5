//! `search`: full-text search over packages.

use handover_context::package_file::{FileState, file_state};
use handover_context::search::{Query, search};
use handover_model::{GroupId, SessionId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Effect, Tool};
use crate::context::RequestContext;
use crate::error::ToolError;
use crate::limits;
use crate::limits::MAX_LINE_BYTES;

const DEFAULT_LIMIT: u32 = 10;
const MAX_LIMIT: u32 = 50;

pub(crate) struct Search;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// What to look for, in plain words; identifiers are split into parts
    query: String,
    /// Only what this group can see: its own packages and global ones
    #[schemars(with = "Option<String>")]
    group: Option<GroupId>,
    /// Maximum number of results, 1 to 50; default 10
    #[schemars(range(min = 1, max = 50))]
    limit: Option<u32>,
    /// The session, if the server was not started for one and more than one is active
    #[schemars(with = "Option<String>")]
    session: Option<SessionId>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// Matches, best first
    results: Vec<SearchResult>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct SearchResult {
    /// For read_package
    id: i64,
    path: String,
    kind: String,
    priority: String,
    version: u32,
    summary: String,
    /// The best matching line
    snippet: String,
    /// Relevance
    score: f64,
    /// Tokens that reading it costs
    tokens: u64,
    /// current, changed or vanished since it was registered, or elsewhere: on another machine
    #[schemars(with = "String")]
    file: FileState,
}

impl Tool for Search {
    const NAME: &'static str = "search";
    const TITLE: &'static str = "Search packages";
    const DESCRIPTION: &'static str = "Finds what other agents of this session saved, by words in title, summary, files and text. \
        Search before you investigate something yourself; read_package returns the whole text of a \
        result.";
    const EFFECT: Effect = Effect::Reads;
    type Input = Input;
    type Output = Output;

    fn call(context: &RequestContext<'_>, input: Input) -> Result<Output, ToolError> {
        limits::text("query", &input.query, MAX_LINE_BYTES)?;
        let limit = input.limit.unwrap_or(DEFAULT_LIMIT);
        if !(1..=MAX_LIMIT).contains(&limit) {
            return Err(ToolError::invalid(
                format!("`limit` is {limit}; it must be between 1 and {MAX_LIMIT}"),
                "Omit it for 10.",
            ));
        }
        let query = Query {
            session: &context.session(input.session.as_ref())?,
            group: input.group.as_ref(),
            text: &input.query,
            limit: limit as usize,
            config: &context.config.assembly,
            now: context.now,
        };
        let hits = context.store.reading(|store| search(store, &query))?;
        let results = hits.into_iter().map(|hit| SearchResult {
            id: hit.package.id.0,
            kind: hit.package.kind.to_string(),
            priority: hit.package.priority.to_string(),
            version: hit.package.version,
            summary: context.redact(&hit.package.summary),
            snippet: context.redact(&hit.snippet),
            score: (hit.score * 1_000.0).round() / 1_000.0,
            tokens: hit.package.tokens,
            file: file_state(context.paths, &hit.package),
            path: hit.package.path,
        });
        Ok(Output { results: results.collect() })
    }
}
