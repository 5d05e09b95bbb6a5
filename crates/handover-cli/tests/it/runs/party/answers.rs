//! Questions for a person, and the effect of their answers.

use super::{prompt, recording, result};
use crate::runs::Epic;

fn asks(epic: &Epic) -> String {
    let more = ",\"analysis\":{\"root_cause\":\"the story names no port\",\"class\":\"spec\",\"question\":\"Which port may be used?\"}";
    let again = recording(
        epic,
        "* dev *",
        "write {HANDOVER_STORY}.txt b print \"IMPLEMENTATION COMPLETE: {HANDOVER_STORY}\"",
    );
    let first = "1-1-a dev 1 | write a.txt half print \"IMPLEMENTATION BLOCKED: 1-1-a - no port\"";
    format!("{first}\n{again}* analysis * | {}", result("analysis", "escalate", more))
}

#[test]
fn an_answer_continues_the_run() {
    let epic = Epic::new(&["1-1-a", "1-2-b", "1-3-c"]);
    let waits = crate::runs::story("1-2-b").replace("\n## Tasks", "\nDepends on: 1.1\n\n## Tasks");
    epic.env.write("docs/stories/1-2-b.md", waits);
    epic.commit_all("depends");
    epic.script(&asks(&epic));
    let output = epic.run(&["--party-failure"]);
    assert_eq!(output.code, Some(3), "{output}");
    assert!(output.stdout.contains("Which port may be used?"), "{output}");
    // Independent stories are done; dependent ones wait.
    assert_eq!(epic.states(), ["blocked", "pending", "done"]);
    assert_eq!(epic.git(&["show", "handover/failed/1-1-a:a.txt"]), "half");
    let shown = epic.env.run(["answer"]).ok().stdout;
    assert!(shown.contains("1-1-a") && shown.contains("Which port may be used?"), "{shown}");
    let open = epic.env.run(["answer", "--json"]).ok().json();
    assert_eq!(open["questions"][0]["story"], "1-1-a");
    assert_eq!(open["questions"][0]["question"], "Which port may be used?");
    // Without an answer nothing continues and nothing is lost.
    epic.run(&["--resume"]).fails(3);
    epic.env.run(["answer", "1-2-b", "x"]).fails(2);
    epic.env.run(["answer", "1-1-a", "  "]).fails(2);
    let answer = epic.env.run(["answer", "1-1-a", "Use port 8080.", "--json"]).ok().json();
    assert_eq!(answer["answer"]["story"], "1-1-a");
    assert_eq!(epic.env.run(["answer", "--json"]).ok().json()["questions"], serde_json::json!([]));
    epic.env.run(["answer", "1-1-a", "again"]).fails(2);
    epic.run(&["--resume"]).ok();
    let dev = prompt(&epic, "1-1-a.dev.2..");
    assert!(dev.contains("Which port may be used?") && dev.contains("Use port 8080."), "{dev}");
    assert_eq!(epic.states(), ["done", "done", "done"]);
    // Another story was committed meanwhile: the work was merged with it and continued.
    assert_eq!(epic.git(&["show", "handover/epic-1:1-1-a.txt"]), "b");
    assert_eq!(epic.git(&["show", "handover/epic-1:a.txt"]), "half");
    assert_eq!(epic.git(&["show", "handover/epic-1:1-3-c.txt"]), "b");
    assert_eq!(epic.git(&["for-each-ref", "--format=%(refname)"]).lines().count(), 2);
    let story = epic.git(&["show", "handover/epic-1:docs/stories/1-1-a.md"]);
    assert!(story.contains("Use port 8080."), "{story}");
}

#[test]
fn answer_can_resume_the_run() {
    let epic = Epic::new(&["1-1-a"]);
    epic.script(&asks(&epic));
    epic.run(&["--party-failure", "--party-agents", "bob"]).fails(3);
    let run = epic.status()["id"].as_str().unwrap().to_owned();
    let args = ["answer", &run, "1-1-a", "-", "--resume"];
    let output = epic.env.run_with("Use port 8080.\nAnd say so.\n", args);
    assert_eq!(output.code, Some(0), "{output}");
    assert_eq!(epic.states(), ["done"]);
    assert!(prompt(&epic, "1-1-a.dev.2..").contains("And say so."));
    // Nothing has happened meanwhile, so it continues with its work.
    assert_eq!(epic.git(&["show", "handover/epic-1:a.txt"]), "half");
}

#[test]
fn the_only_question_needs_no_story() {
    let epic = Epic::new(&["1-1-a"]);
    epic.env.run(["answer", "x"]).fails(2);
    // A developer may ask too, without any analysis.
    epic.script("1-1-a dev 1 | write a.txt b result '{\"nonce\":\"{HANDOVER_NONCE}\",\"story\":\"1-1-a\",\"phase\":\"dev\",\"verdict\":\"escalate\",\"summary\":\"May I drop the table?\"}'");
    epic.run(&[]).fails(3);
    assert_eq!(epic.status()["stories"][0]["question"], "May I drop the table?");
    epic.env.run(["answer", "No. Keep the [REDACTED] out of it: password=hunter2secret"]).ok();
    assert!(!epic.env.run(["journal"]).ok().stdout.contains("hunter2secret"));
    epic.run(&["--resume"]).ok();
    assert_eq!(epic.states(), ["done"]);
}

#[test]
fn a_new_run_abandons_the_question() {
    let epic = Epic::new(&["1-1-a"]);
    epic.script(&asks(&epic));
    epic.run(&["--party-failure", "--party-agents", "bob"]).fails(3);
    epic.script("");
    epic.run(&[]).ok();
    assert_eq!(epic.states(), ["done"]);
    let refs = epic.git(&["for-each-ref", "--format=%(refname)"]);
    assert!(!refs.contains("refs/handover/"), "{refs}");
    assert_eq!(epic.git(&["worktree", "list"]).lines().count(), 1);
    epic.env.run(["answer", "too late"]).fails(2);
}

/// R4: an answer that comes after other work has landed in the same lines loses nothing either.
#[test]
fn answered_work_that_conflicts_is_merged_by_the_developer() {
    let epic = Epic::new(&["1-1-a", "1-2-b"]);
    let ask = "write same.txt 'half of a' result '{\"nonce\":\"{HANDOVER_NONCE}\",\"story\":\"1-1-a\",\"phase\":\"dev\",\"verdict\":\"escalate\",\"summary\":\"Which?\"}'";
    let seen = epic.env.folder().join("seen");
    epic.script(&format!(
        "1-1-a dev 1 | {ask}\n\
         1-2-b dev 1 | write same.txt 'all of b' print \"IMPLEMENTATION COMPLETE: 1-2-b\"\n\
         1-1-a dev 2 | echo-prompt {0} run 'cp same.txt {0}.file' write same.txt 'a and b' print \"IMPLEMENTATION COMPLETE: 1-1-a\"",
        seen.display()
    ));
    epic.run(&[]).fails(3);
    epic.env.run(["answer", "1-1-a", "This one."]).ok();
    epic.run(&["--resume"]).ok();
    let file = fs_err::read_to_string(seen.with_extension("file")).unwrap();
    assert!(file.contains("half of a") && file.contains("all of b"), "{file}");
    let text = fs_err::read_to_string(&seen).unwrap();
    assert!(text.contains("same.txt: another story changed the same lines"), "{text}");
    assert_eq!(epic.git(&["show", "handover/epic-1:same.txt"]), "a and b");
    // The first developer's answer counts as work, so does the commit: nothing is left behind.
    assert_eq!(epic.git(&["branch", "--list", "handover/failed/*"]), "");
}
