//! `handover skill-output save`

use std::path::PathBuf;

use handover_model::{Role, SkillName};
use handover_store::NewSkillOutput;
use serde_json::{Value, json};

use crate::app::App;
use crate::commands::Outcome;
use crate::error::{CommandError, Exit};
use crate::input;

/// Save a skill's output (JSON) from a file or standard input as a new entry
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  lint --json | handover skill-output save lint-check --role developer --group P1\n  handover skill-output save lint-check lint.json"
)]
pub(crate) struct SaveArgs {
    /// Skill name
    name: SkillName,

    /// File with the output; `-` is standard input
    #[arg(default_value = "-", hide_default_value = true)]
    file: PathBuf,

    /// Role that the skill ran for
    #[arg(long)]
    role: Option<Role>,
}

pub(crate) fn run(app: &App, args: SaveArgs) -> Outcome {
    app.check_roles(&args.role)?;
    let text = input::file(&args.file, &app.stdin, "the skill's JSON")?;
    let output: Value = serde_json::from_str(&text).map_err(|error| {
        CommandError::invalid(format!("the skill's output is not valid JSON: {error}"))
    })?;
    let new = NewSkillOutput {
        session: app.session()?,
        skill: app.no_secret("skill's name", args.name)?,
        role: args.role.map(|role| app.no_secret("role", role)).transpose()?,
        group: app.group()?,
        output: app.redactor()?.clean_json(output),
        now: app.now(),
    };
    let saved = app.store()?.save_skill_output(&new)?;
    let answer = json!({"id": saved.id, "iteration": saved.iteration, "redactions": new.output.redactions()});
    app.ui.answer("skill_output", &answer, |ui| {
        ui.line(format_args!("Saved {} (iteration {})", saved.skill, saved.iteration))
    })?;
    Ok(Exit::Done)
}
