//! `handover strategy extract`

use std::collections::BTreeSet;

use handover_context::learning::{Binding, extract_strategies};
use handover_model::roles::writes_code;
use handover_model::{GroupId, Reasoning, Role, SessionId, Timestamp};
use handover_store::{Store, VerdictFilter};

use super::answer;
use crate::app::App;
use crate::commands::Outcome;
use crate::error::{CommandError, Exit};

/// Extract strategies from a finished group
///
/// What was decided before work on the group was last sent back is left out. Extracting again has no effect; finding the same insight in other work raises its helpfulness.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover strategy extract --group P1 --lang rust --framework axum"
)]
pub(crate) struct ExtractArgs {
    /// Programming language that the strategies apply to
    #[arg(long, value_name = "NAME")]
    lang: Option<String>,

    /// Framework that the strategies apply to
    #[arg(long, value_name = "NAME")]
    framework: Option<String>,
}

pub(crate) fn run(app: &App, args: ExtractArgs) -> Outcome {
    let Some(group) = app.group()? else {
        return Err(CommandError::new(Exit::Usage, "usage", "a group is required")
            .hinted("Pass the finished group with `--group ID`."));
    };
    let binding = Binding { language: args.lang, framework: args.framework };
    let (store, session) = (app.store()?, app.session()?);
    let sent_back = SentBack::of(store, &session, &group)?;
    let strategies = extract_strategies(
        store,
        app.redactor()?,
        &session,
        &group,
        &binding,
        &|entry| !sent_back.includes(entry),
        app.now(),
    )?;
    answer(app, &strategies)
}

/// When work on a group was last sent back, and by whom.
#[derive(Default)]
struct SentBack {
    at: Option<Timestamp>,
    by: BTreeSet<Role>,
}

impl SentBack {
    fn of(store: &dyn Store, session: &SessionId, group: &GroupId) -> Result<Self, CommandError> {
        let filter = VerdictFilter { group: Some(group.clone()), ..VerdictFilter::default() };
        let mut sent_back = Self::default();
        for verdict in store.verdicts(session, &filter)? {
            if verdict.verdict.sends_back() && !writes_code(&verdict.role) {
                sent_back.at = sent_back.at.max(Some(verdict.created_at));
                sent_back.by.insert(verdict.role);
            }
        }
        Ok(sent_back)
    }

    /// Whether an entry is about work that was sent back: by its worker, or by who found what is wrong with it.
    fn includes(&self, entry: &Reasoning) -> bool {
        let is_about_work = writes_code(&entry.role) || self.by.contains(&entry.role);
        is_about_work && Some(entry.created_at) <= self.at
    }
}
