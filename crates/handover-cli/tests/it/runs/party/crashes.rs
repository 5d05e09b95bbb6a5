//! Engines that die in the middle of a party, of an analysis, or after an answer: a resumed run reaches
//! the same end.

use super::result;
use crate::runs::Epic;
use crate::runs::crashes::end_state;
use crate::runs::killed::{Scene, call, killed};

/// A kickoff, and a review by two.
fn party() -> Epic {
    let epic = Epic::new(&["1-1-a"]);
    epic.env.write(
        ".handover/config.toml",
        "[party]\nphases = [\"kickoff\", \"review\"]\n\
         agents = { kickoff = [\"murat\"], review = [\"murat\", \"bob\"] }\n",
    );
    epic.commit_all("party");
    let call = call(&epic);
    let kickoff = result("kickoff", "complete", ",\"insights\":{\"risks\":[\"the limit\"]}");
    let review = result(
        "review",
        "passed",
        ",\"findings\":[{\"severity\":\"low\",\"file\":\"{HANDOVER_PERSONA}.rs\",\"issue\":\"a name\"}],\
         \"stances\":[{\"on\":\"F1\",\"stance\":\"agree\"}]",
    );
    epic.script(&format!(
        "* kickoff * | {call} {kickoff}\n\
         * dev * | {call} write a.txt work print \"IMPLEMENTATION COMPLETE: 1-1-a\"\n\
         * review * | {call} {review}"
    ));
    epic
}

/// A failure that is analyzed and retried, and one that becomes a question.
fn failure() -> Epic {
    let epic = Epic::new(&["1-1-a", "1-2-b"]);
    let call = call(&epic);
    let retry = result(
        "analysis",
        "retry",
        ",\"analysis\":{\"root_cause\":\"the socket was closed\",\"remediation\":[\"reopen the socket before writing\"]}",
    );
    let escalate = result("analysis", "escalate", ",\"analysis\":{\"question\":\"Which key?\"}");
    epic.script(&format!(
        "1-1-a dev 1 | {call} write 1-1-a.txt half print no\n\
         1-2-b dev 1 | {call} write half.txt x print \"IMPLEMENTATION BLOCKED: 1-2-b - no key\"\n\
         1-1-a analysis * | {call} {retry}\n\
         1-2-b analysis * | {call} {escalate}\n\
         * dev * | {call} write {{HANDOVER_STORY}}.txt work print \"IMPLEMENTATION COMPLETE: {{HANDOVER_STORY}}\""
    ));
    epic
}

const ANALYSED: &[&str] = &["--skip-review", "--config", "runs.analysis=true"];

/// The question of the other scene, answered.
fn answered() -> Epic {
    let epic = failure();
    epic.run(ANALYSED).fails(3);
    epic.env.run(["answer", "1-2-b", "the blue one"]).ok();
    epic
}

/// The results of a run, without its id.
fn left(epic: &Epic) -> Vec<String> {
    let status = epic.status();
    let run = status["id"].as_str().unwrap().to_owned();
    let mut state: Vec<String> =
        end_state(epic).iter().map(|line| line.replace(&run, "RUN")).collect();
    state.extend(status["stories"].as_array().unwrap().iter().map(|s| s["question"].to_string()));
    let errors = epic.env.run(["error", "list", "--json"]).ok().json();
    for error in errors["errors"].as_array().unwrap() {
        state.push(format!("{} {}", error["solution"], error["occurrences"]));
    }
    state
}

pub(crate) const PARTY: Scene = Scene::new(party, left);
pub(crate) const FAILURE: Scene = Scene {
    flags: ANALYSED,
    again: &["--resume", "--skip-review", "--config", "runs.analysis=true"],
    code: 3,
    ..Scene::new(failure, left)
};
const ANSWERED: Scene = Scene { flags: &["--resume"], ..Scene::new(answered, left) };

mod in_a_party {
    super::killed!(super::super::PARTY, 2: odd 1, even 2);
}

mod in_a_failure {
    super::killed!(super::super::FAILURE, 2: odd 1, even 2);
}

mod after_an_answer {
    super::killed!(super::super::ANSWERED, 1: every 1);
}
