//! Real teammates: Claude Code 2.1.325 on a terminal with agent teams switched on. There a named subagent is one that
//! reports its name as its kind, gets its task in a message, and has no call in what is kept of it.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use handover_testkit::{Answer, Lock, ModelRequest, Script};
use serde_json::{Value, json};

use crate::real_hosts::{DEBRIEF, LEAD, Real, briefs, is_lead, turns_of};
use crate::real_matrix::{DENIES, REWRITES, add_hook, is_covered};
use crate::real_versions::Version;

/// The longest that anything may take.
const LONGEST: Duration = Duration::from_secs(60);

/// The call that starts a teammate.
fn mate(name: &str, kind: &str, task: &str) -> (String, Value) {
    let input = json!({"description": "work", "prompt": task, "subagent_type": kind, "name": name});
    ("Agent".to_owned(), input)
}

/// A request of the teammate with this task: the lead's conversation tells of it, too.
fn of(task: &'static str) -> impl Fn(&ModelRequest) -> bool + Send + Sync + 'static {
    move |request| {
        let has = |text: &str| request.conversation_contains(text);
        has("<teammate-message teammate_id=") && has(task) && !has(LEAD)
    }
}

/// Claude Code with a lead that starts these teammates in one turn.
fn claude(script: Script, mates: Vec<(String, Value)>) -> Real {
    let first = Answer::Tools(String::new(), mates);
    let script = script
        .when(|r| is_lead(r) && turns_of(r) == 0, first)
        .when(is_lead, Answer::text("All done."));
    let mut real = Real::claude(script);
    real.host = Version::Other.of(real.host);
    real.host.args = vec!["--dangerously-skip-permissions".to_owned()];
    for (name, value) in [("CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS", "1"), ("TERM", "xterm-256color")]
    {
        real.host.vars.push((name.to_owned(), value.to_owned()));
    }
    // What it would ask at its first start.
    let project = real.env.path("").display().to_string();
    let known = json!({
        "hasCompletedOnboarding": true,
        "customApiKeyResponses": {"approved": ["scripted"], "rejected": []},
        "projects": {project.trim_end_matches('/'): {"hasTrustDialogAccepted": true}},
    });
    fs_err::create_dir_all(&real.host.config).unwrap();
    fs_err::write(real.host.config.join(".claude.json"), known.to_string()).unwrap();
    let settings = json!({"skipDangerousModePermissionPrompt": true});
    fs_err::write(real.host.config.join("settings.json"), settings.to_string()).unwrap();
    // Their tasks distinguish them, so none may read of another's.
    real.env.run(["config", "set", "brief.beside", "false"]).ok();
    let package = ["package", "add", "docs/oauth.md", "--kind", "research", "--priority", "high"];
    real.env.run(package).ok();
    real
}

/// Starts it on a terminal.
fn start(real: &Real, prompt: &str) -> OnTerminal {
    let program = real.host.command();
    let line: Vec<String> = std::iter::once(program.get_program())
        .chain(program.get_args())
        .map(|word| shell_words(&word.to_string_lossy()))
        .collect();
    let command = format!("stty cols 160 rows 50; exec {} {prompt}", line.join(" "));
    let mut script = Command::new("script");
    script
        .args(["-qec", &command, "/dev/null"])
        .env_clear()
        .envs(real.host.vars.iter().map(|(name, value)| (name, value)))
        .current_dir(real.env.path(""))
        .stdin(Stdio::piped())
        .stdout(Stdio::null());
    OnTerminal(script.spawn().unwrap())
}

fn shell_words(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

fn waits_until(what: &str, holds: impl Fn() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < LONGEST, "never: {what}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// A program on a terminal, which is closed in the end.
struct OnTerminal(Child);

impl Drop for OnTerminal {
    fn drop(&mut self) {
        let _ = self.0.kill().and_then(|()| self.0.wait());
    }
}

fn lead_is_asked(real: &Real) -> OnTerminal {
    start(real, &format!("'Do the {LEAD}.'"))
}

/// The conversation goes on, without a terminal.
fn goes_on(real: &mut Real) {
    let args = ["-p", "--continue", "--dangerously-skip-permissions"];
    real.host.args = args.map(str::to_owned).to_vec();
    let output = real.host.command().arg("GO ON").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

/// The requests of a teammate, of which each holds everything before it.
fn requests(real: &Real, task: &'static str) -> Vec<ModelRequest> {
    real.server.requests().into_iter().filter(of(task)).collect()
}

fn ended(real: &Real) -> usize {
    real.events("debrief").len()
}

#[test]
fn a_teammate_is_briefed_unless_a_rule_exempts_it() {
    let script = Script::new()
        .when(of("CHILD-MATE"), Answer::text(DEBRIEF))
        .when(of("CHILD-MARKED"), Answer::text("Marked."))
        .when(of("CHILD-KIND"), Answer::text("Of this kind."));
    let mates = vec![
        mate("mate", "general-purpose", "CHILD-MATE: refresh the tokens"),
        mate(
            "marked",
            "general-purpose",
            "CHILD-MARKED: refresh\n<!-- handover:exempt trivial -->",
        ),
        mate("scout", "claude", "CHILD-KIND: look around"),
    ];
    let real = claude(script, mates);
    let rules = "[hooks]\nexempt_marker = true\nexempt = { claude = \"it only looks\" }\n";
    real.env.write("../home/.config/handover/config.toml", rules);
    let program = lead_is_asked(&real);
    waits_until("the end of the teammate", || ended(&real) == 1);
    let exempt = ["CHILD-MARKED", "CHILD-KIND"];
    waits_until("the others", || exempt.iter().all(|task| !requests(&real, task).is_empty()));
    // They stop now, and nothing asks them for more.
    std::thread::sleep(Duration::from_secs(2));
    drop(program);
    assert_eq!(real.states(), [("developer".to_owned(), "confirmed".to_owned())]);
    let briefed = requests(&real, "CHILD-MATE");
    assert_eq!(briefs(&briefed[0]), [real.receipts()[0].2.clone()]);
    for task in exempt {
        let all = requests(&real, task);
        assert!(all.iter().all(|one| briefs(one).is_empty()), "{task} was briefed");
    }
    let coverage = real.env.run(["coverage", "--json"]).ok().json();
    let counts = json!({"briefed": 1, "exempt": 2, "refused": 0, "missed": 0});
    assert_eq!(coverage["counts"], counts, "{coverage}");
    let kinds = |state: &str| -> Vec<&str> {
        let all = coverage["spawns"].as_array().unwrap().iter();
        let mut kinds: Vec<&str> = all
            .filter(|one| one["state"] == state)
            .map(|one| one["kind"].as_str().unwrap())
            .collect();
        kinds.sort_unstable();
        kinds
    };
    assert_eq!(kinds("briefed"), ["general-purpose"]);
    assert_eq!(kinds("exempt"), ["claude", "general-purpose"]);
}

#[test]
fn a_teammate_whose_brief_another_hook_removed_gets_it_late() {
    let script = Script::new().when(of("CHILD-MATE"), Answer::text(DEBRIEF));
    let task = "CHILD-MATE: refresh the tokens";
    let real = claude(script, vec![mate("mate", "general-purpose", task)]);
    add_hook(&real, REWRITES);
    let program = lead_is_asked(&real);
    waits_until("the end of the teammate", || ended(&real) == 1);
    drop(program);
    let all = requests(&real, "CHILD-MATE");
    assert!(briefs(&all[0]).is_empty(), "the other hook has the last word");
    assert_eq!(briefs(&all[all.len() - 1]), [real.receipts()[0].2.clone()]);
    is_covered(&real, "second hook", [1, 0, 0, 0]);
}

#[test]
fn a_teammate_that_another_hook_denies_delivers_nothing() {
    let script = Script::new().when(of("CHILD-MATE"), Answer::text(DEBRIEF));
    let task = "CHILD-MATE: refresh the tokens";
    let mut real = claude(script, vec![mate("mate", "general-purpose", task)]);
    add_hook(&real, DENIES);
    let program = lead_is_asked(&real);
    let turns = || real.server.requests().iter().filter(|request| is_lead(request)).count();
    waits_until("the end of the turn", || turns() > 1);
    std::thread::sleep(Duration::from_secs(1));
    drop(program);
    goes_on(&mut real);
    assert_eq!(real.states(), [("developer".to_owned(), "failed".to_owned())]);
    assert!(requests(&real, "CHILD-MATE").is_empty());
    is_covered(&real, "denied", [0, 1, 0, 0]);
}

/// Its receipt waits in the spool, and its host keeps no call of it.
#[test]
fn a_teammate_that_works_while_the_store_is_locked_has_its_brief() {
    let script = Script::new()
        .when(of("CHILD-MATE"), Answer::text(DEBRIEF))
        .when(|r| is_lead(r) && r.conversation_contains("GO ON"), Answer::text("All done."));
    let task = "CHILD-MATE: refresh the tokens";
    let mut real = claude(script, vec![mate("mate", "general-purpose", task)]);
    let lock = Lock::take(&real.env);
    let program = lead_is_asked(&real);
    waits_until("the teammate", || !requests(&real, "CHILD-MATE").is_empty());
    waits_until("its transcript", || crate::real_matrix::written(&real) == 1);
    // It stops now.
    std::thread::sleep(Duration::from_secs(2));
    drop(program);
    lock.release();
    goes_on(&mut real);
    let receipts = real.receipts();
    let states: Vec<&str> = receipts.iter().map(|(_, state, _)| state.as_str()).collect();
    assert!(matches!(states[..], ["delivered" | "confirmed"]), "{states:?}");
    let all = requests(&real, "CHILD-MATE");
    assert_eq!(briefs(&all[0]), [receipts[0].2.clone()]);
    is_covered(&real, "locked", [1, 0, 0, 0]);
}

#[test]
fn a_teammate_is_settled_after_the_program_was_killed() {
    let script = Script::new()
        .when(of("CHILD-MATE"), Answer::Silence)
        .when(|r| is_lead(r) && r.conversation_contains("GO ON"), Answer::text("All done."));
    let task = "CHILD-MATE: refresh the tokens";
    let mut real = claude(script, vec![mate("mate", "general-purpose", task)]);
    let program = lead_is_asked(&real);
    waits_until("the teammate", || !requests(&real, "CHILD-MATE").is_empty());
    waits_until("its transcript", || crate::real_matrix::written(&real) == 1);
    drop(program);
    goes_on(&mut real);
    assert_eq!(real.states(), [("developer".to_owned(), "confirmed".to_owned())]);
    assert_eq!(ended(&real), 1);
    is_covered(&real, "killed", [1, 0, 0, 0]);
}
