//! `handover reasoning timeline`

use std::fmt::Write;

use clap::ValueEnum;
use handover_model::Reasoning;
use handover_store::{ReasoningFilter, TimeOrder};
use handover_text::quote::{quote_block, quote_inline};

use super::print;
use crate::app::App;
use crate::commands::Outcome;
use crate::error::Exit;

/// Show the session's reasoning, oldest first
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover reasoning timeline --group P1\n  handover reasoning timeline --format markdown > reasoning.md"
)]
pub(crate) struct TimelineArgs {
    /// How to print it; `--json` prints JSON
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// One line per entry
    Table,
    /// A document with every entry as quoted text
    Markdown,
}

pub(crate) fn run(app: &App, args: TimelineArgs) -> Outcome {
    let filter = ReasoningFilter {
        group: app.group()?,
        order: TimeOrder::OldestFirst,
        ..Default::default()
    };
    let session = app.session()?;
    let entries = app.store()?.reasoning(&session, &filter)?;
    match args.format {
        Format::Markdown if !app.ui.is_json() => {
            app.ui.bytes(document(session.as_str(), &entries).as_bytes())?;
        }
        Format::Table | Format::Markdown => {
            app.ui.answer("reasoning", &entries, |ui| print(ui, &entries))?;
        }
    }
    Ok(Exit::Done)
}

/// The entries as Markdown. Their text is quoted, so that it cannot fake a heading.
fn document(session: &str, entries: &[Reasoning]) -> String {
    let mut text = format!("# Reasoning of session {session}\n");
    if entries.is_empty() {
        text.push_str("\nNo reasoning yet.\n");
    }
    for entry in entries {
        let group = entry.group.as_ref().map(|group| format!(", group {group}"));
        let confidence = entry.confidence.map(|confidence| format!(", {confidence} confidence"));
        let _ = write!(
            text,
            "\n## {} · {} · {}\n\nattempt {}{}{}\n\n{}\n",
            entry.created_at,
            entry.role,
            entry.phase,
            entry.iteration + 1,
            group.unwrap_or_default(),
            confidence.unwrap_or_default(),
            quote_block(&entry.content).trim_end(),
        );
        if !entry.references.is_empty() {
            let references: Vec<String> =
                entry.references.iter().map(|reference| quote_inline(reference)).collect();
            let _ = writeln!(text, "\nReferences: {}", references.join(", "));
        }
    }
    text
}
