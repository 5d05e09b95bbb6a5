//! `handover search`

use handover_context::assemble::what_it_does;
use handover_context::everything::{
    Assumed, Everything, Found, file_of, parse_kind, parse_type, search,
};
use handover_context::package_file::FileState;
use handover_context::shape;
use handover_model::{GroupId, ItemKind, NoteState, Timestamp};

use super::Outcome;
use crate::app::{App, short_id};
use crate::error::{CommandError, Exit};
use crate::input::date;

/// Search everything the project knows, in all sessions
///
/// Packages, notes, reasoning, error patterns and strategies. Words are stemmed, identifiers are split and
/// accents do not matter: "user by id" finds `getUserById`, "cafe" finds `café`, and "db" finds `database`. A word
/// found nowhere is replaced by the closest known word.
/// --session limits the search to the packages and reasoning of one session, --group to those of a group.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover search \"refresh token rotation\"\n  handover search getUserById --type note --limit 3\n  handover search gateway --kind decisions --since 2026-01-01 --json"
)]
pub(crate) struct SearchArgs {
    /// Words to search for
    #[arg(required = true)]
    query: Vec<String>,

    /// Maximum number of results
    #[arg(long, default_value = "10", value_name = "N")]
    limit: u32,

    /// Only this type: package, note, reasoning, error or strategy
    #[arg(long = "type", value_name = "TYPE", value_parser = parse_type)]
    of: Option<ItemKind>,

    /// Only this kind within: of a package or note, a phase of reasoning, or a topic of strategies
    #[arg(long, value_name = "KIND", value_parser = parse_kind)]
    kind: Option<String>,

    /// Only what is at least as new as this date
    #[arg(long, value_name = "DATE", value_parser = date)]
    since: Option<Timestamp>,
}

pub(crate) fn run(app: &App, args: SearchArgs) -> Outcome {
    let text = args.query.join(" ");
    if text.trim().is_empty() {
        return Err(
            CommandError::invalid("the query is empty").hinted("Pass the words to search for.")
        );
    }
    // Only flags narrow: a variable of the environment is about where to write.
    let session = match &app.common.session {
        Some(_) => app.named_session()?,
        None => None,
    };
    let group = app.common.group.clone().map(GroupId::new).transpose()?;
    let project = match &session {
        Some(session) => app.store()?.session(session)?.project,
        None => app.project_id()?,
    };
    let query = Everything {
        project: &project,
        text: &text,
        limit: args.limit as usize,
        session: session.as_ref(),
        group: group.as_ref(),
        of: args.of,
        kind: args.kind.as_deref(),
        since: args.since,
        config: &app.config()?.assembly,
    };
    let findings = app.store()?.reading(|store| search(store, &query))?;
    let fields = shape::findings(app.store()?, app.places()?, &findings)?;
    for Assumed { word, meant } in &findings.assumed {
        app.ui.note(format_args!("Nothing has `{word}`; searched for {}.", meant.join(", ")));
    }
    app.ui.answer_all(fields, |ui| {
        if findings.found.is_empty() {
            return ui.line("No results.");
        }
        for hit in &findings.found {
            let notice = match file_of(app.store()?, app.places()?, hit)? {
                Some(FileState::Current) | None => "",
                Some(FileState::Changed) => "  (file changed)",
                Some(FileState::Vanished) => "  (file missing)",
                Some(FileState::Elsewhere) => "  (file on another machine)",
            };
            let place = hit.path.as_deref().unwrap_or(&hit.origin);
            let session = match &hit.session {
                Some(session) => format!("  (session {session})"),
                None => String::new(),
            };
            let id = short_id(&hit.id.to_string()).to_owned();
            let (of, class) = (hit.of, class(hit));
            let notice = format!("{}{notice}", replaced(hit));
            ui.wrapped(6, format_args!("{of} {id}  {place}  [{class}]{session}{notice}"))?;
            if let Some(flag) = hit.flags.first() {
                ui.wrapped(6, format_args!("      (Careful: the text {}.)", what_it_does(*flag)))?;
            }
            if !hit.snippet.is_empty() {
                ui.wrapped(6, format_args!("      {}", hit.snippet))?;
            }
        }
        Ok(())
    })?;
    Ok(Exit::Done)
}

/// The kind, and whose text it is if neither a person nor the project vouches for it.
fn class(hit: &Found) -> String {
    if hit.trust.is_shown() { format!("{}, {}", hit.kind, hit.trust) } else { hit.kind.clone() }
}

fn replaced(hit: &Found) -> String {
    if hit.state == NoteState::Live { String::new() } else { format!("  ({})", hit.state) }
}
