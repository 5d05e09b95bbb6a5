//! Plays a situation in a separate project, and requests the brief.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use serde_json::{Value, json};

use super::situation::{BriefRequest, Situation, Step};
use crate::{Lock, Output, TestEnv};

/// A brief as the program printed it.
#[derive(Debug)]
pub struct PlayedBrief {
    /// The whole prompt.
    pub text: String,
    /// Tokens of the context.
    pub context: u64,
    /// Tokens of the specialization.
    pub specialization: u64,
}

impl PlayedBrief {
    /// Tokens of context and specialization.
    pub fn tokens(&self) -> u64 {
        self.context + self.specialization
    }

    /// How much of that is general advice, in percent.
    pub fn advice(&self) -> u64 {
        (self.specialization * 100).checked_div(self.tokens()).unwrap_or_default()
    }
}

/// Plays a situation up to its brief; the error names the step that failed.
pub(super) fn play(situation: &Situation, program: &Path) -> Result<PlayedBrief, String> {
    let env = TestEnv::empty(program);
    let project = Project { env: &env };
    for (path, text) in &situation.files {
        env.write(path, text);
    }
    project.run(&["init"])?;
    project.run(&["session", "new", "s1"])?;
    let mut locks = Vec::new();
    for (number, step) in situation.steps.iter().enumerate() {
        let done = match step {
            Step::Lock => {
                locks.push(Lock::take(&env));
                Ok(())
            }
            Step::Write { .. }
            | Step::Package { .. }
            | Step::Packages { .. }
            | Step::Agent { .. }
            | Step::Reasoning { .. }
            | Step::Solved { .. }
            | Step::Run { .. } => project.step(step),
        };
        done.map_err(|error| format!("step {}: {error}", number + 1))?;
    }
    project.brief(&situation.brief)
}

struct Project<'a> {
    env: &'a TestEnv,
}

/// Appends `--name value` if there is a value.
fn option(args: &mut Vec<String>, name: &str, value: Option<&str>) {
    if let Some(value) = value {
        args.extend([format!("--{name}"), value.to_owned()]);
    }
}

impl Project<'_> {
    fn run(&self, args: &[impl AsRef<str>]) -> Result<Output, String> {
        self.run_with(args, "")
    }

    fn run_with(&self, args: &[impl AsRef<str>], stdin: &str) -> Result<Output, String> {
        let args: Vec<&str> = args.iter().map(AsRef::as_ref).collect();
        let output = self.env.run_with(stdin, &args);
        if output.code == Some(0) { Ok(output) } else { Err(format!("{args:?}: {output}")) }
    }

    fn json(&self, args: &[impl AsRef<str>]) -> Result<Value, String> {
        let output = self.run(args)?;
        serde_json::from_str(&output.stdout).map_err(|error| format!("{error} in {output}"))
    }

    fn step(&self, step: &Step) -> Result<(), String> {
        match step {
            Step::Write { path, text, times } => self.env.write(path, text.repeat(*times)),
            Step::Package { .. } => self.package(step)?,
            Step::Packages { .. } => self.packages(step)?,
            Step::Agent { role, group, task, ends } => {
                self.agent(role, group.as_deref(), task, ends.as_deref())?;
            }
            Step::Reasoning { role, phase, group, attempt, confidence, text } => {
                let attempt = attempt.saturating_sub(1).to_string();
                let fixed = ["reasoning", "add", "--role", role, "--phase", phase];
                let mut args: Vec<String> = fixed.map(str::to_owned).to_vec();
                option(&mut args, "iteration", Some(&attempt));
                option(&mut args, "group", group.as_deref());
                option(&mut args, "confidence", confidence.as_deref());
                self.run_with(&args, text)?;
            }
            Step::Solved { error, solution, confirmed } => {
                let args = ["error", "resolve", "--message", error, "--solution", solution];
                let found = self.json(&[args.as_slice(), &["--json"]].concat())?;
                let hash = found["error"]["hash"].as_str().unwrap_or_default();
                for _ in 0..*confirmed {
                    self.run(&["error", "confirm", hash])?;
                }
            }
            Step::Run { args, stdin } => {
                self.run_with(args, stdin.as_deref().unwrap_or_default())?;
            }
            Step::Lock => {}
        }
        Ok(())
    }

    fn package(&self, step: &Step) -> Result<(), String> {
        let Step::Package { path, text, kind, by, consumers, priority, group, summary } = step
        else {
            return Ok(());
        };
        if let Some(text) = text {
            self.env.write(path, text);
        }
        let mut args = ["package", "add", path].map(str::to_owned).to_vec();
        option(&mut args, "kind", kind.as_deref());
        option(&mut args, "producer", by.as_deref());
        option(&mut args, "priority", priority.as_deref());
        option(&mut args, "group", group.as_deref());
        option(&mut args, "summary", summary.as_deref());
        for consumer in consumers {
            option(&mut args, "consumer", Some(consumer));
        }
        self.run(&args).map(drop)
    }

    fn packages(&self, step: &Step) -> Result<(), String> {
        let Step::Packages { count, kind, by, priority, group, summary, body, vary } = step else {
            return Ok(());
        };
        let mut lines = String::new();
        for number in 1..=*count {
            let mut line = json!({
                "kind": kind,
                "producer": by,
                "priority": priority,
                "summary": filled(summary, number, vary),
                "body": filled(body, number, vary),
            });
            if let Some(group) = group {
                line["group"] = json!(group);
            }
            let _ = writeln!(lines, "{line}");
        }
        // Outside the project: no agent would have left this file there.
        let file = self.env.folder().join("import.jsonl");
        fs_err::write(&file, lines).map_err(|error| error.to_string())?;
        self.run(&["package", "import", &file.to_string_lossy()]).map(drop)
    }

    fn agent(
        &self,
        role: &str,
        group: Option<&str>,
        task: &str,
        ends: Option<&str>,
    ) -> Result<(), String> {
        let fixed = ["brief", "--json", "--deliver", "--role", role, "--task", task];
        let mut args: Vec<String> = fixed.map(str::to_owned).to_vec();
        option(&mut args, "group", group);
        let briefed = self.json(&args)?;
        let receipt = briefed["receipt"].as_str().ok_or("the brief has no receipt")?;
        let Some(ends) = ends else { return Ok(()) };
        let message = if ends.contains("```handover") {
            ends.replace("{receipt}", receipt)
        } else {
            format!("```handover\nreceipt: {receipt}\n{}\n```\n", ends.trim_end())
        };
        self.run_with(&["debrief", "--receipt", receipt], &message).map(drop)
    }

    fn brief(&self, request: &BriefRequest) -> Result<PlayedBrief, String> {
        let mut args: Vec<String> =
            ["brief", "--json", "--role", &request.role].map(str::to_owned).to_vec();
        option(&mut args, "group", request.group.as_deref());
        option(&mut args, "model", request.model.as_deref());
        option(&mut args, "task", request.task.as_deref());
        args.extend(request.args.iter().cloned());
        let document = self.json(&args)?;
        let tokens = |section: &str| document["sections"][section].as_u64().unwrap_or_default();
        Ok(PlayedBrief {
            text: document["text"].as_str().unwrap_or_default().to_owned(),
            context: tokens("context"),
            specialization: tokens("specialization"),
        })
    }
}

/// A text with its variables replaced.
fn filled(text: &str, number: usize, vary: &BTreeMap<String, Vec<String>>) -> String {
    let mut text = text.replace("{n}", &number.to_string());
    for (name, words) in vary {
        if let Some(word) = words.get(number % words.len().max(1)) {
            text = text.replace(&format!("{{{name}}}"), word);
        }
    }
    text
}
