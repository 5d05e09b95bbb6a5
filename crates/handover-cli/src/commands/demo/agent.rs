//! `handover demo-agent`: a scripted agent without a model, for the demo. It reports like any other agent.

use std::io::Read as _;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};

use super::coder;
use crate::app::App;
use crate::commands::Outcome;
use crate::env;
use crate::error::{CommandError, Exit, io};

/// Play an agent of `handover demo`
#[derive(Debug, clap::Args)]
pub(crate) struct DemoAgentArgs {
    /// Work on a task of the shop instead of a story
    #[arg(long)]
    shop: bool,

    /// Pause between two steps
    #[arg(long, value_name = "MS", default_value = "0", requires = "shop")]
    step: u64,

    /// Do not pause any more once this file exists
    #[arg(long, value_name = "FILE", requires = "shop")]
    hurry: Option<PathBuf>,
}

/// Slows the demo down enough to follow.
const PACE: Duration = Duration::from_millis(25);

/// Where the first developer writes down what the next ones need.
const FOUND_IN: &str = "docs/greetings.md";

const FINDINGS: &str = "\
---
group_id: global
---
# How greetings are stored

## Summary
Each greeting is a file of one line in the root folder. The spelling gate compares greeting.txt as a whole.

## Details
A file with a second line, or without its newline, fails the gate although its words are right.
";

/// The agent's input: its environment and its prompt.
struct Assignment {
    story: String,
    phase: String,
    persona: Option<String>,
    round: u32,
    attempt: u32,
    prompt: String,
}

pub(crate) fn run(app: &App, args: DemoAgentArgs) -> Outcome {
    if args.shop {
        coder::run(app, Duration::from_millis(args.step), args.hurry)?;
        return Ok(Exit::Done);
    }
    let variable = |name: &str| {
        env::var(name).ok_or_else(|| {
            CommandError::new(Exit::Usage, "usage", format!("{name} is not set"))
                .hinted("This command is run by `handover demo --epic`.")
        })
    };
    let mut prompt = String::new();
    std::io::stdin()
        .lock()
        .take(1 << 20)
        .read_to_string(&mut prompt)
        .map_err(|error| io(&error))?;
    let nonce = prompt.rsplit_once("{\"nonce\": \"").and_then(|(_, rest)| rest.split('"').next());
    let nonce = nonce.unwrap_or_default().to_owned();
    let assignment = Assignment {
        story: variable("HANDOVER_STORY")?,
        phase: variable("HANDOVER_PHASE")?,
        persona: env::var("HANDOVER_PERSONA"),
        round: env::var("HANDOVER_ROUND").and_then(|round| round.parse().ok()).unwrap_or(1),
        attempt: variable("HANDOVER_ATTEMPT")?.parse().unwrap_or(1),
        prompt,
    };
    std::thread::sleep(PACE);
    for line in assignment.read_packages() {
        app.ui.line(line)?;
    }
    let mut answer = assignment.act().map_err(|error| io(&error))?;
    answer["nonce"] = nonce.into();
    answer["story"] = assignment.story.into();
    answer["phase"] = assignment.phase.into();
    answer["usage"] = json!({"cost_usd": 0.01, "tokens": 900, "turns": 3});
    if let Some(summary) = answer["summary"].as_str() {
        app.ui.line(summary)?;
    }
    fs_err::write(variable("HANDOVER_RESULT")?, answer.to_string()).map_err(|error| io(&error))?;
    Ok(Exit::Done)
}

impl Assignment {
    /// A developer opens the files that its brief names, and says what it read.
    fn read_packages(&self) -> Vec<String> {
        if self.phase != "dev" && self.phase != "fix" {
            return Vec::new();
        }
        // The worktree is inside the project, which has the files that no commit has.
        let above = std::env::current_dir().unwrap_or_default();
        let open = |path: &str| above.ancestors().find_map(|in_| fs_err::read(in_.join(path)).ok());
        // `**[HIGH]** docs/greetings.md (research, agent)`
        let named = self.prompt.lines().filter_map(|line| {
            let (_, rest) = line.strip_prefix("**[")?.split_once("]** ")?;
            rest.split_once(" (").map(|(path, _)| path)
        });
        let read = named.filter_map(|path| {
            let text = String::from_utf8(open(path)?).ok()?;
            let first = text.lines().find(|line| line.ends_with('.')).unwrap_or_default();
            Some(format!("reading {path}: {first}"))
        });
        read.collect()
    }

    /// Does the work of the phase in the current folder and returns the result document.
    fn act(&self) -> std::io::Result<Value> {
        Ok(match (self.phase.as_str(), self.story.as_str()) {
            ("dev", "1-1-greet") => {
                fs_err::write("greeting.txt", "Helo, Ada!\n")?;
                fs_err::write(FOUND_IN, FINDINGS)?;
                let mut answer = done(
                    "The guest is greeted.",
                    "Each greeting is a file of its own, so that a gate can compare it as a whole",
                    "Read a new greeting once more before you end: the gate compares every letter",
                );
                answer["packages"] = json!([{
                    "path": FOUND_IN, "kind": "research", "priority": "high", "consumers": ["developer"],
                }]);
                answer
            }
            ("fix", _) => {
                fs_err::write("greeting.txt", "Hello, Ada!\n")?;
                done(
                    "The typo is fixed.",
                    "The text stays in the file, because the gate reads only that",
                    "A failed spelling gate names no line: compare greeting.txt with the story",
                )
            }
            ("dev", "1-2-farewell") => self.farewell()?,
            ("dev", "2-1-german") => {
                // Only the handoff of epic 1 names the guest.
                let knows_guest = self.prompt.contains("The guest is Ada");
                let guest = if knows_guest { "Ada" } else { "Welt" };
                fs_err::write("hallo.txt", format!("Hallo, {guest}!\n"))?;
                let how = if knows_guest {
                    "the handoff of epic 1 says who the guest is"
                } else {
                    "nothing says who the guest is"
                };
                done(
                    &format!("The guest is greeted in German; {how}."),
                    "A translation keeps the guest's name, which the handoff of the epic before has",
                    "A greeting in another language is a file with that language's word, as hallo.txt",
                )
            }
            ("review", _) => self.review(),
            ("analysis", _) => self.analysis(),
            ("uat", epic) => scenarios(epic),
            ("retro", _) => retro(),
            _ => json!({"verdict": "complete", "summary": "Nothing to add."}),
        })
    }

    /// The first attempt fails: only the analysis says that it is the same guest.
    fn farewell(&self) -> std::io::Result<Value> {
        let knows_guest = self.attempt > 1 || self.prompt.contains("the person it greets");
        if !knows_guest {
            return Ok(
                json!({"verdict": "failed", "summary": "The story does not say who the guest is."}),
            );
        }
        fs_err::write("farewell.txt", "Goodbye, Ada!\n")?;
        Ok(done(
            "The guest is seen off.",
            "The guest of a story without a name is the one in greeting.txt",
            "A story about the guest needs the name: look for it in the greetings first",
        ))
    }

    /// Each persona finds something else in round one, and agrees with the other in round two.
    fn review(&self) -> Value {
        let (summary, finding) = match self.persona.as_deref() {
            None => return json!({"verdict": "passed", "summary": "Simple and correct."}),
            Some("murat") => {
                ("The gate checks only one of several files.", "No gate checks this file.")
            }
            Some(_) => ("Simple and correct.", "The guest's name is duplicated."),
        };
        let mut report = json!({"verdict": "passed"});
        if self.round > 1 {
            report["summary"] = "I agree with the other finding.".into();
            report["stances"] = json!([{"on": "F1", "stance": "agree", "why": "I see it too"}]);
        } else {
            let issue = json!({"severity": "low", "kind": "quality", "file": "greeting.txt", "line": 1, "issue": finding});
            report["summary"] = summary.into();
            report["findings"] = json!([issue]);
        }
        report
    }

    fn analysis(&self) -> Value {
        let summary = match self.persona.as_deref() {
            Some("murat") => "The guest is the person greeted in greeting.txt.",
            Some(_) | None => "The guest's name is in greeting.txt; it is the same guest.",
        };
        json!({
            "verdict": "retry", "summary": summary,
            "analysis": {
                "root_cause": "the story does not say who the guest is", "class": "spec",
                "remediation": ["Read greeting.txt and say goodbye to the person it greets"],
            },
        })
    }
}

/// The end of a phase: what was done, what was decided, and what later agents should know.
fn done(summary: &str, decision: &str, lesson: &str) -> Value {
    json!({"verdict": "complete", "summary": summary, "reasoning": {"decisions": decision, "completion": lesson}})
}

fn scenarios(epic: &str) -> Value {
    let auto = |id: &str, criterion: &str, file: &str, text: &str| {
        json!({
            "id": id, "title": format!("{file} can be read"), "criterion": criterion, "kind": "auto",
            "argv": ["cat", file], "expect": {"text": text},
        })
    };
    let list = if epic == "epic-1" {
        json!([
            auto("UAT-1", "1-1-greet AC1", "greeting.txt", "Hello, Ada!"),
            auto("UAT-2", "1-2-farewell AC1", "farewell.txt", "Goodbye, Ada!"),
            {"id": "UAT-3", "title": "It is friendly", "criterion": "Goal", "kind": "manual",
             "steps": ["Read both texts to somebody"], "expected": "A smile"},
        ])
    } else {
        json!([auto("UAT-1", "2-1-german AC1", "hallo.txt", "Hallo, Ada!")])
    };
    json!({"verdict": "complete", "summary": "Scenarios for every criterion.", "scenarios": list})
}

fn retro() -> Value {
    json!({
        "verdict": "complete", "summary": "Small files, one gate, one lesson.",
        "retro": {
            "summary": "Greetings are one-line files; a gate checks the spelling of greeting.txt.",
            "went_well": ["Every story was one file"],
            "went_badly": ["No story named the guest"],
            "patterns": [{"text": "Give each greeting a file of its own with a single line", "file": "greeting.txt"}],
            "decisions": [{"text": "Write the guest's name out", "why": "there is only one guest"}],
            "gotchas": [{"text": "The guest is Ada: stories about greeting the guest do not say so", "file": "greeting.txt"}],
            "test_conventions": ["Compare files of one line with `grep -qx`"],
        },
    })
}
