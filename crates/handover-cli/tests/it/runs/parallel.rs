//! Stories side by side: a worktree each, and one way to the branch.

use std::collections::BTreeSet;

use handover_testkit::processes_with;
use serde_json::Value;

use super::killed::{Scene, around, lines};
use super::{Epic, story};

const THREE: &[&str] = &["1-1-a", "1-2-b", "1-3-c"];

/// Each developer waits until all three are there: they do work at once.
fn meeting(epic: &Epic) -> String {
    let folder = epic.env.folder().join("meeting");
    fs_err::create_dir_all(&folder).unwrap();
    let at = folder.display();
    let there: Vec<String> = THREE.iter().map(|id| format!("wait-for {at}/{id}")).collect();
    format!("write {at}/{{HANDOVER_STORY}} x {}", there.join(" "))
}

#[test]
fn stories_run_in_parallel_and_land_one_at_a_time() {
    let epic = Epic::new(THREE);
    epic.env.write("list.txt", "one\n\n\n\ntwo\n\n\n\nthree\n\n\n\n");
    let check = "grep -q one list.txt && grep -q two list.txt && test ! -e broken.txt";
    epic.env.write(
        ".handover/config.toml",
        format!("[[gates.commands]]\nname = \"check\"\nargv = [\"sh\", \"-c\", \"{check}\"]\n"),
    );
    epic.commit_all("list");
    let meeting = meeting(&epic);
    // All change the same file in different places.
    let agent = epic.env.folder().join("change.sh");
    fs_err::write(&agent, "sed -i \"s/^$1\\$/$1 by $2/\" list.txt\n").unwrap();
    let work = "print \"IMPLEMENTATION COMPLETE: {HANDOVER_STORY}\"";
    epic.script(&format!(
        "1-1-a dev 1 | {meeting} run 'sh {0} one 1-1-a' {work}\n\
         1-2-b dev 1 | {meeting} run 'sh {0} two 1-2-b' {work}\n\
         1-3-c dev 1 | {meeting} run 'sh {0} three 1-3-c' {work}",
        agent.display()
    ));
    let output = epic.run(&["--parallel", "3", "--json"]).ok();
    assert_eq!(epic.states(), ["done", "done", "done"], "{output}");
    let list = epic.git(&["show", "handover/epic-1:list.txt"]);
    for line in ["one by 1-1-a", "two by 1-2-b", "three by 1-3-c"] {
        assert!(list.contains(line), "{list}");
    }
    let subjects: BTreeSet<String> = epic.subjects("handover/epic-1").into_iter().collect();
    assert_eq!(subjects.len(), 3);
    // The lines tell of all three before anybody has ended.
    let lines: Vec<Value> =
        output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let first = lines.iter().position(|line| line["event"] == "phase_ended").unwrap();
    let begun = lines[..first].iter().filter(|line| line["phase"] == "dev");
    assert_eq!(begun.filter(|line| line["type"] == "intent").count(), 3, "{output}");
    // One story found the branch where it had left it; the others were moved and checked again.
    let count = |word: &str| output.stdout.lines().filter(|line| line.contains(word)).count();
    assert_eq!(count("\"event\":\"rebased\""), 2);
    assert_eq!(count("\"event\":\"gates_ended\""), 5);
    assert_eq!(epic.git(&["for-each-ref", "--format=%(refname)"]).lines().count(), 2);
    assert_eq!(epic.git(&["worktree", "list"]).lines().count(), 1);
}

/// Cargo tells worktrees of a project apart by when their files changed, and takes a newer build of another one.
#[test]
fn gates_of_cargo_check_the_code_of_their_own_worktree() {
    let mut epic = Epic::new(&["1-1-a", "1-2-b"]);
    super::gates::use_toolchain(&mut epic);
    epic.env.write("Cargo.toml", "[package]\nname = \"shop\"\nedition = \"2021\"\n");
    epic.env.write("src/lib.rs", "pub fn price() -> u32 { 1 }\n");
    epic.env.write("tests/price.rs", "#[test]\nfn price() { assert_eq!(shop::price(), 1) }\n");
    epic.env.write(".gitignore", "target\nCargo.lock\n");
    epic.commit_all("cargo");
    let at = epic.env.folder().join("meeting");
    fs_err::create_dir_all(&at).unwrap();
    // The second story breaks the code, then the gates of the first one build, then its own gates do.
    epic.script(&format!(
        "1-2-b dev 1 | write src/lib.rs 'pub fn price() -> u32 {{ 0 }}' write {0}/broken x wait-for {0}/checked print \"IMPLEMENTATION COMPLETE: 1-2-b\"\n\
         1-1-a dev 1 | wait-for {0}/broken write a.txt x print \"IMPLEMENTATION COMPLETE: 1-1-a\"\n\
         1-1-a review 1 | write {0}/checked x print \"REVIEW PASSED: 1-1-a\"",
        at.display()
    ));
    epic.run(&["--parallel", "2", "--max-fixes", "0"]).fails(1);
    assert_eq!(epic.states(), ["done", "failed"]);
    assert!(epic.reason(1).contains("price"), "{}", epic.reason(1));
}

/// Both write the same file; the second one has the conflict fixed.
#[test]
fn a_conflict_is_fixed() {
    let epic = Epic::new(&["1-1-a", "1-2-b"]);
    let at = epic.env.folder().join("meeting");
    fs_err::create_dir_all(&at).unwrap();
    let at = at.display();
    let prompt = epic.env.folder().join("fix");
    let both = format!("write {at}/{{HANDOVER_STORY}} x wait-for {at}/1-1-a wait-for {at}/1-2-b");
    epic.script(&format!(
        "* dev 1 | {both} write same.txt 'by {{HANDOVER_STORY}}' print \"IMPLEMENTATION COMPLETE: {{HANDOVER_STORY}}\"\n\
         * fix 1 | echo-prompt {} write same.txt 'by both' print \"IMPLEMENTATION COMPLETE: {{HANDOVER_STORY}}\"",
        prompt.display()
    ));
    epic.run(&["--parallel", "2"]).ok();
    assert_eq!(epic.git(&["show", "handover/epic-1:same.txt"]), "by both");
    let text = fs_err::read_to_string(prompt).unwrap();
    assert!(text.contains("same.txt: another story changed the same lines"), "{text}");
    assert_eq!(epic.subjects("handover/epic-1").len(), 2);
}

/// R9: six stories change the same line. The later ones have to merge, which is not their fault.
#[test]
fn conflicts_do_not_use_up_the_fixes() {
    const SIX: &[&str] = &["1-1-a", "1-2-b", "1-3-c", "1-4-d", "1-5-e", "1-6-f"];
    let epic = Epic::new(SIX);
    let at = epic.env.folder().join("meeting");
    fs_err::create_dir_all(&at).unwrap();
    let at = at.display();
    let there: Vec<String> = SIX.iter().map(|id| format!("wait-for {at}/{id}")).collect();
    let merge = epic.env.folder().join("merge.sh");
    fs_err::write(&merge, "sed -i '/^[<=>|]/d' same.txt\n").unwrap();
    epic.script(&format!(
        "* dev 1 | write {at}/{{HANDOVER_STORY}} x {} write same.txt 'by {{HANDOVER_STORY}}' print \"IMPLEMENTATION COMPLETE: {{HANDOVER_STORY}}\"\n\
         * fix * | run 'sh {}' print \"IMPLEMENTATION COMPLETE: {{HANDOVER_STORY}}\"",
        there.join(" "),
        merge.display()
    ));
    epic.run(&["--parallel", "6", "--max-fixes", "1"]).ok();
    let same = epic.git(&["show", "handover/epic-1:same.txt"]);
    for id in SIX {
        assert!(same.contains(&format!("by {id}")), "{same}");
    }
}

#[test]
fn an_unresolved_conflict_is_not_committed() {
    let epic = Epic::new(&["1-1-a", "1-2-b"]);
    let at = epic.env.folder().join("meeting");
    fs_err::create_dir_all(&at).unwrap();
    let at = at.display();
    let both = format!("write {at}/{{HANDOVER_STORY}} x wait-for {at}/1-1-a wait-for {at}/1-2-b");
    epic.script(&format!(
        "* dev 1 | {both} write same.txt 'by {{HANDOVER_STORY}}' print \"IMPLEMENTATION COMPLETE: {{HANDOVER_STORY}}\""
    ));
    epic.run(&["--parallel", "2", "--max-fixes", "2"]).fails(1);
    let states: BTreeSet<String> = epic.states().into_iter().collect();
    assert_eq!(states, ["done", "failed"].map(str::to_owned).into());
    let same = epic.git(&["show", "handover/epic-1:same.txt"]);
    assert!(same == "by 1-1-a" || same == "by 1-2-b", "{same}");
    assert_eq!(epic.subjects("handover/epic-1").len(), 1);
}

#[test]
fn a_failed_story_affects_only_its_dependents() {
    let epic = Epic::new(&["1-1-a", "1-2-b", "1-3-c", "1-4-d"]);
    let waits = |id: &str, on: &str| {
        story(id).replace("\n\n## Tasks", &format!("\nDepends on: {on}\n\n## Tasks"))
    };
    epic.env.write("docs/stories/1-3-c.md", waits("1-3-c", "1.1"));
    epic.env.write("docs/stories/1-4-d.md", waits("1-4-d", "1.2"));
    epic.commit_all("dependencies");
    epic.script(
        "1-1-a dev 1 | write half.txt x crash\n\
         1-4-d dev 1 | run 'test -e 1-2-b.txt' write d.txt x print \"IMPLEMENTATION COMPLETE: 1-4-d\"",
    );
    epic.run(&["--parallel", "4"]).fails(1);
    assert_eq!(epic.states(), ["failed", "done", "blocked", "done"]);
    let files = epic.git(&["ls-tree", "-r", "--name-only", "handover/epic-1"]);
    assert!(!files.contains("half.txt") && files.contains("d.txt"), "{files}");
    assert_eq!(epic.git(&["show", "handover/failed/1-1-a:half.txt"]), "x");
}

/// Three stories at once, one of which needs a fix and one of which is blocked.
fn eventful() -> Epic {
    super::killed::eventful(THREE)
}

/// Everything that a run leaves behind, without what depends on who was faster: the order in which stories
/// came to their end, and the base of what was put aside.
fn end_state(epic: &Epic) -> Vec<String> {
    let (branch, aside) = ("handover/epic-1", "handover/failed/1-2-b");
    let mut state = epic.subjects(branch);
    state.extend(epic.subjects(aside).into_iter().filter(|line| line.starts_with("wip")));
    state.sort();
    state.extend(epic.states());
    state.extend(lines(epic, branch));
    state.push(epic.git(&["show", &format!("{aside}:half.txt")]));
    state.extend(around(epic));
    state
}

pub(super) const SCENE: Scene = Scene {
    flags: &["--parallel", "3"],
    code: 3,
    entries: 35,
    may_end: true,
    ..Scene::new(eventful, end_state)
};

mod dying {
    crate::runs::killed::killed!(super::super::SCENE, 3: first 1, second 2, third 3);
}

/// Killed and asked to stop while three agents work that cannot be asked to end.
#[test]
fn resume_kills_several_orphans() {
    for signal in ["-KILL", "-TERM"] {
        let epic = Epic::new(THREE);
        let ready = epic.env.folder().join("ready");
        fs_err::create_dir_all(&ready).unwrap();
        epic.script(&format!(
            "* dev 1 | write late.txt half spawn-quiet 'setsid append-forever late.txt' ignore-term write {}/{{HANDOVER_STORY}} x hang",
            ready.display()
        ));
        let mut engine = epic.env.start(epic.args(&["--parallel", "3"]));
        for id in THREE {
            super::crashes::wait_for(&ready.join(id));
        }
        let pid = engine.id().to_string();
        assert!(
            std::process::Command::new("kill").args([signal, &pid]).status().unwrap().success()
        );
        engine.wait().unwrap();
        assert_eq!(epic.states(), ["running", "running", "running"]);
        epic.script("");
        epic.run(&["--resume"]).ok();
        let run = epic.status()["id"].as_str().unwrap().to_owned();
        assert_eq!(processes_with("HANDOVER_RUN", &run), Vec::<u32>::new());
        let files = epic.git(&["ls-tree", "-r", "--name-only", "handover/epic-1"]);
        assert!(!files.contains("late") && files.contains("1-3-c.txt"), "{files}");
    }
}

/// Every agent says that it cost 0.4: no two of them are started if one is all that is left for.
#[test]
fn parallel_agents_stay_within_the_budget() {
    let epic = Epic::new(THREE);
    let result = |phase: &str, verdict: &str| {
        format!(
            "result '{{\"nonce\":\"{{HANDOVER_NONCE}}\",\"story\":\"{{HANDOVER_STORY}}\",\"phase\":\"{phase}\",\"verdict\":\"{verdict}\",\"usage\":{{\"cost_usd\":0.4}}}}'"
        )
    };
    epic.script(&format!(
        "* dev * | write {{HANDOVER_STORY}}.txt x {}\n* review * | {}",
        result("dev", "complete"),
        result("review", "passed")
    ));
    epic.run(&["--parallel", "3", "--max-cost", "1.3"]).fails(4);
    let status = epic.status();
    assert_eq!(status["state"], "budget");
    let cost = status["cost_usd"].as_f64().unwrap();
    assert!((1.1..=1.3).contains(&cost), "{cost}");
    epic.run(&["--resume", "--max-cost", "5"]).ok();
    assert_eq!(epic.states(), ["done", "done", "done"]);
}

#[test]
fn a_terminal_shows_all_running_agents() {
    let epic = Epic::new(THREE);
    let meeting = meeting(&epic);
    let work = "write {HANDOVER_STORY}.txt x print \"IMPLEMENTATION COMPLETE: {HANDOVER_STORY}\"";
    epic.script(&format!("* dev 1 | {meeting} {work}"));
    let shown = epic.in_terminal(&["--parallel", "3"]);
    // One picture has all three.
    let pictures = shown.split("RUN epic 1  ");
    let all = |picture: &str| picture.matches("dev 1 00:0").count() == THREE.len();
    assert!(pictures.into_iter().any(all), "{shown}");
}
