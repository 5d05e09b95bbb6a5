//! `handover note add`

use handover_model::{NoteId, NoteKind, NoteState};
use handover_store::{NewNote, NewUnit};
use handover_text::cut;

use super::answer;
use crate::app::App;
use crate::commands::Outcome;
use crate::error::CommandError;

/// Write a note
///
/// One statement that agents of every later session should know. Secrets are redacted before it is stored. It
/// counts as written by a person if it is typed at a terminal outside of any agent program.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover note add \"Prices are stored in cents; never use floats\"\n  handover note add --title Deployment < notes.txt"
)]
pub(crate) struct AddArgs {
    /// Title [default: the beginning of the text]
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,

    /// File that it is about, relative to the project; repeatable
    #[arg(long, value_name = "PATH")]
    path: Vec<String>,

    /// Text [default: standard input]
    #[arg(allow_hyphen_values = true, value_parser = crate::input::argument)]
    text: Option<String>,
}

/// One passage. Anything longer should be a document.
const MAX_CHARS: usize = 1_600;
const TITLE_CHARS: usize = 80;

pub(crate) fn run(app: &App, args: AddArgs) -> Outcome {
    let text = match args.text {
        Some(text) => text,
        None => app.stdin.read("the note")?,
    };
    if text.trim().is_empty() {
        return Err(CommandError::invalid("the note is empty")
            .hinted("Pass it as an argument or on standard input."));
    }
    let redactor = app.redactor()?;
    let text = redactor.clean(text.trim());
    let chars = text.as_str().chars().count();
    if chars > MAX_CHARS {
        return Err(CommandError::invalid(format!(
            "the note has {chars} characters; the limit is {MAX_CHARS}"
        ))
        .hinted("Write a document of the repository: `handover learn docs` reads it."));
    }
    let title = match &args.title {
        Some(title) => redactor.clean(title.trim()),
        None => {
            let first = text.as_str().lines().next().unwrap_or_default();
            redactor.clean(&cut::cut(first, TITLE_CHARS))
        }
    };
    let hash = blake3::hash(text.as_str().as_bytes()).to_hex().to_string();
    let id = NoteId::new(format!("manual-{}", &hash[..24]))?;
    let trust = app.author()?;
    let (_, project) = app.learning()?;
    let unit = NewUnit {
        kind: NoteKind::Manual,
        source: id.to_string(),
        fingerprint: Some(hash.clone()),
        notes: vec![NewNote {
            id: id.clone(),
            origin: redactor.clean("written by hand"),
            title,
            text,
            trust,
            paths: args.path.iter().map(|path| redactor.clean(path)).collect(),
            symbols: Vec::new(),
            state: NoteState::Live,
            reason: None,
            hash,
            created_at: app.now(),
        }],
    };
    let store = app.store()?;
    store.learn_notes(&project, &[unit], app.now())?;
    answer(app, &store.note(&project, &id)?)
}
