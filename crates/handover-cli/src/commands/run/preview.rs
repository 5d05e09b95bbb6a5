//! What would be run.

use handover_engine::{Forecast, Preview, PreviewPrompt};
use handover_model::RunPhase;
use serde_json::{Value, json};

use crate::app::App;
use crate::commands::Outcome;
use crate::error::Exit;

/// How many files that are no stories of the epic are listed.
const OTHERS: usize = 12;

pub(super) fn show(app: &App, preview: &Preview, cost: &Forecast, with_prompts: bool) -> Outcome {
    let plan = &preview.plan;
    let shown = || preview.prompts.iter().filter(|_| with_prompts);
    let prompts_of = |id: &str| {
        let of = shown().filter(|prompt| prompt.story == id).map(
            |prompt| json!({"phase": prompt.phase, "role": prompt.role, "persona": prompt.persona, "text": prompt.text}),
        );
        of.collect::<Vec<Value>>()
    };
    let prompt_of = |id: &str| {
        let is_dev = |prompt: &&PreviewPrompt| prompt.story == id && prompt.phase == RunPhase::Dev;
        shown().find(is_dev).map(|prompt| prompt.text.clone())
    };
    let blocked = |id: &str| {
        preview.blocked.iter().find(|(story, _)| story == id).map(|(_, why)| why.as_str())
    };
    let stories: Vec<Value> = plan
        .stories
        .iter()
        .map(|story| {
            let matched = preview.matches.iter().find(|found| found.path == story.path);
            json!({
                "id": story.id, "title": story.title, "path": story.path,
                "waits_for": story.waits_for, "skip": story.skip, "blocked": blocked(&story.id),
                "matched_by": matched.map(|found| found.reason),
                "prompt": prompt_of(&story.id),
                "prompts": prompts_of(&story.id),
            })
        })
        .collect();
    let answer = json!({
        "epic": plan.epic, "epic_file": plan.epic_file, "base": plan.base, "branch": plan.branch,
        "others": preview.others.iter().map(|other| json!({"path": other.path, "reason": other.reason})).collect::<Vec<_>>(),
        "gates": preview.gates, "cautions": preview.cautions, "pipeline": plan.pipeline, "stories": stories,
        "forecast": cost,
    });
    app.ui.answer("plan", &answer, |ui| {
        ui.line(format_args!("Epic {} on branch {}", plan.epic, plan.branch))?;
        let gates = if preview.gates.is_empty() {
            "none found".to_owned()
        } else {
            preview.gates.join(", ")
        };
        if let Some(file) = &plan.epic_file {
            ui.line(format_args!("File of the epic: {file}"))?;
        }
        ui.line(format_args!("Gates: {gates}"))?;
        ui.line(sentence(cost))?;
        preview.cautions.iter().for_each(|text| ui.warn(text));
        let rows = plan
            .stories
            .iter()
            .map(|story| {
                vec![
                    story.id.clone(),
                    match (story.skip, blocked(&story.id)) {
                        (Some(why), _) => format!("skip: {}", why.as_str()),
                        (None, Some(why)) => format!("blocked: {why}"),
                        (None, None) => "run".to_owned(),
                    },
                    story.waits_for.join(", "),
                ]
            })
            .collect();
        ui.table(&["story", "plan", "waits for"], rows, "No stories.")?;
        if !plan.stories.is_empty() {
            ui.line("\nFiles of the stories:")?;
        }
        // Lines of their own: a column would be cut where a terminal is narrow.
        for story in &plan.stories {
            let found = preview.matches.iter().find(|found| found.path == story.path);
            let reason = found.map_or("", |found| found.reason);
            ui.line(format_args!("  {}: {} (by {reason})", story.id, story.path))?;
        }
        if !preview.others.is_empty() {
            ui.line("\nOther files in these folders:")?;
            for other in preview.others.iter().take(OTHERS) {
                ui.line(format_args!("  {} ({})", other.path, other.reason))?;
            }
            if let Some(more) = preview.others.len().checked_sub(OTHERS + 1) {
                ui.line(format_args!("  and {} more", more + 1))?;
            }
        }
        for PreviewPrompt { story, phase, role, persona, text } in shown() {
            let who = persona.as_deref().unwrap_or(role.as_str());
            ui.line(format_args!("\n===== prompt of {story}, {phase}, {who} =====\n{text}"))?;
        }
        Ok(())
    })?;
    Ok(Exit::Done)
}

/// What it will cost, as a line of its own.
fn sentence(forecast: &Forecast) -> String {
    let text = forecast.to_string();
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
