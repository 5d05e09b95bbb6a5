//! `where_to_look`: the files that a task will most likely touch.

use handover_knowledge::places::Evidence;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Effect, Tool};
use crate::context::RequestContext;
use crate::error::ToolError;
use crate::limits;
use crate::limits::MAX_TEXT_BYTES;

const DEFAULT_LIMIT: u32 = 8;
const MAX_LIMIT: u32 = 50;

pub(crate) struct WhereToLook;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The task in plain words; names of files, functions and errors help
    task: String,
    /// Maximum number of files, 1 to 50; default 8
    #[schemars(range(min = 1, max = 50))]
    limit: Option<u32>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// Files, best first
    places: Vec<Place>,
    /// Whether every file and commit was known; if not, a later call may find more
    complete: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Place {
    /// Relative to the root of the project
    path: String,
    /// Comparable within this answer only
    score: f64,
    /// Why this file; names and commit subjects in it are quoted from the repository
    why: String,
}

impl Tool for WhereToLook {
    const NAME: &'static str = "where_to_look";
    const TITLE: &'static str = "Where to look";
    const DESCRIPTION: &'static str = "Lists the files of the repository that a task will most likely touch, each with its reason: \
        names that it defines, commits that sounded like the task, files that change together. Call it before \
        you search the code yourself.";
    const EFFECT: Effect = Effect::Reads;
    type Input = Input;
    type Output = Output;

    fn call(context: &RequestContext<'_>, input: Input) -> Result<Output, ToolError> {
        limits::text("task", &input.task, MAX_TEXT_BYTES)?;
        let limit = input.limit.unwrap_or(DEFAULT_LIMIT);
        if !(1..=MAX_LIMIT).contains(&limit) {
            return Err(ToolError::invalid(
                format!("`limit` is {limit}; it must be between 1 and {MAX_LIMIT}"),
                "Omit it for 8.",
            ));
        }
        let Some(index) = context.files.index() else {
            return Err(ToolError::invalid(
                "the project's files are not indexed: it is not in a git repository on this machine".to_owned(),
                "Search the code yourself.",
            ));
        };
        let places = index.places(&input.task, &Evidence::default(), limit as usize);
        let places = places.into_iter().map(|place| Place {
            path: context.redact(&place.path),
            score: (place.score * 1_000.0).round() / 1_000.0,
            why: context.redact(&place.why),
        });
        Ok(Output { places: places.collect(), complete: index.is_complete() })
    }
}
