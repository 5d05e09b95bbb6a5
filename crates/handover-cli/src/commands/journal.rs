//! `handover run journal`

use super::Outcome;
use crate::app::App;
use crate::error::Exit;

/// Show the journal of a run: every intent and result, oldest first
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover run journal\n  handover run journal --json | jq '.journal[] | select(.kind == \"result\")'"
)]
pub(crate) struct JournalArgs {
    /// Run: its id, or at least four characters of it [default: the latest]
    #[arg(value_name = "RUN")]
    run: Option<String>,
}

pub(crate) fn run(app: &App, args: JournalArgs) -> Outcome {
    let run = app.find_run(args.run.as_deref())?;
    let journal = app.store()?.journal(&run.id, 1)?;
    app.ui.answer("journal", &journal, |ui| {
        let rows = journal
            .iter()
            .map(|entry| {
                let word = |key: &str| entry.entry[key].as_str().unwrap_or_default().to_owned();
                let what = [word("effect"), word("event"), word("note")].concat();
                let attempt = entry.entry["attempt"].as_u64();
                let persona = entry.entry["voice"]["persona"].as_str().unwrap_or_default();
                let phase = attempt.map(|attempt| format!("{} {attempt} {persona}", word("phase")));
                let verdict =
                    [word("verdict"), word("outcome"), word("state"), word("text")].concat();
                vec![
                    entry.seq.to_string(),
                    ui.time(entry.created_at),
                    entry.kind.to_string(),
                    what,
                    word("story"),
                    phase.unwrap_or_default().trim().to_owned(),
                    handover_text::cut::cut(&verdict, 80),
                ]
            })
            .collect();
        ui.table(&["n", "time", "kind", "what", "story", "phase", "outcome"], rows, "Nothing yet.")
    })?;
    Ok(Exit::Done)
}
