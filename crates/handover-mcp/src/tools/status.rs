//! `status`: the state of the session.

use handover_model::{PackageId, Phase, Priority, SessionId};
use handover_store::{ReasoningFilter, Store};
use handover_text::cut;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Effect, Tool};
use crate::context::RequestContext;
use crate::error::ToolError;

/// Entries of each list in the answer.
const LISTED: usize = 20;
/// Critical packages whose deliveries are checked.
const CHECKED: usize = 500;
const TEXT_CHARS: usize = 300;

pub(crate) struct Status;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The session, if the server was not started for one and more than one is active
    #[schemars(with = "Option<String>")]
    session: Option<SessionId>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// The session's id
    session: String,
    /// active, completed or failed
    status: String,
    /// The project that learns from it
    project: String,
    /// How many packages there are, in their latest version
    packages: u64,
    /// How many receipts there are
    receipts: u64,
    /// The task groups, oldest first
    groups: Vec<Group>,
    /// How many groups are not listed here
    more_groups: usize,
    /// Critical packages that nobody has received yet, newest first
    undelivered_critical: Vec<Package>,
    /// The latest decisions, newest first
    decisions: Vec<Decision>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Group {
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    status: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Package {
    id: i64,
    path: String,
    summary: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Decision {
    role: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<String>,
    content: String,
}

impl Tool for Status {
    const NAME: &'static str = "status";
    const TITLE: &'static str = "Status of the work";
    const DESCRIPTION: &'static str = "The state of the session: its task groups, critical packages that nobody has received yet, and \
        the latest decisions. Call it first, and again after your context was compacted.";
    const EFFECT: Effect = Effect::Reads;
    type Input = Input;
    type Output = Output;

    fn call(context: &RequestContext<'_>, input: Input) -> Result<Output, ToolError> {
        let id = context.session(input.session.as_ref())?;
        let output = context.store.reading(|store| output(context, store, &id))?;
        Ok(output)
    }
}

fn output(
    context: &RequestContext<'_>,
    store: &dyn Store,
    id: &SessionId,
) -> handover_store::Result<Output> {
    let session = store.session(id)?;
    let counts = store.session_counts(id)?;
    let groups = store.groups(id)?;
    let text = |text: &str| cut::cut(&context.redact(text), TEXT_CHARS);
    let decisions = ReasoningFilter {
        phase: Some(Phase::Decisions),
        limit: Some(5),
        ..ReasoningFilter::default()
    };
    Ok(Output {
        session: session.id.to_string(),
        status: session.status.to_string(),
        project: session.project.to_string(),
        packages: counts.packages,
        receipts: counts.receipts,
        more_groups: groups.len().saturating_sub(LISTED),
        groups: groups
            .iter()
            .take(LISTED)
            .map(|group| Group {
                id: group.id.to_string(),
                title: group.title.as_deref().map(text),
                status: group.status.to_string(),
            })
            .collect(),
        undelivered_critical: undelivered(store, id)?
            .into_iter()
            .map(|package| Package {
                id: package.id.0,
                path: package.path,
                summary: text(&package.summary),
            })
            .collect(),
        decisions: store
            .reasoning(id, &decisions)?
            .iter()
            .map(|entry| Decision {
                role: entry.role.to_string(),
                group: entry.group.as_ref().map(ToString::to_string),
                content: text(&entry.content),
            })
            .collect(),
    })
}

/// Critical packages that no receipt has delivered, newest first.
fn undelivered(
    store: &dyn Store,
    session: &SessionId,
) -> handover_store::Result<Vec<handover_model::Package>> {
    let mut critical: Vec<PackageId> = store
        .candidates(session, None, None)?
        .into_iter()
        .filter(|candidate| candidate.priority == Priority::Critical)
        .map(|candidate| candidate.id)
        .collect();
    critical.sort_unstable_by_key(|id| std::cmp::Reverse(*id));
    let mut found = Vec::new();
    for id in critical.into_iter().take(CHECKED) {
        if store.package_deliveries(id)?.is_empty() {
            found.push(id);
            if found.len() == LISTED {
                break;
            }
        }
    }
    store.packages_by_id(&found)
}
