//! Every kind of subagent of the real Claude Code under every fault, in both versions: none is missing from `coverage`,
//! and no receipt is in a wrong state.
//!
//! Teammates exist on a terminal only: `real_teammates`. The other programs have matrices of their own:
//! `other_hosts::matrix`.
//!
//! One conversation spawns every kind, one after the other. [`expected`] is the table of what becomes of each, and names
//! the combinations that do not exist.
//!
//! What once broke "every spawn carries a receipt", and where it is tested besides this matrix (`agents` is
//! `handover-agents/tests/it`, everything else is in this crate):
//!
//! | what went wrong | tests |
//! |---|---|
//! | a second hook that rewrites the prompt removed the brief | `real_spawns::claude_delivers_a_brief_that_another_hook_removed`, `tickets::a_brief_that_another_hook_removed_is_delivered_late`, `other_hosts::copilot::gets_a_brief_that_another_hook_removed` |
//! | agents of runs could not write their result or run the gates | `runs::real::claude_runs_the_gates_and_writes_its_result_in_the_default_profile`, `runs::real::codex_does_a_story` |
//! | a denied spawn counted as delivered | `real_spawns::claude_that_denies_a_spawn_delivers_nothing`, `tickets::a_spawn_that_fails_delivers_nothing` |
//! | workflow agents and skill forks got nothing | `real_spawns::claude_briefs_agents_that_no_agent_call_announces`, `late_briefs` |
//! | the debrief of a continued subagent was lost | `real_spawns::claude_keeps_every_debrief_of_a_continued_subagent`, `real_hosts::codex_keeps_every_debrief_of_a_continued_subagent`, `tickets::a_continued_subagent_keeps_its_ticket` |
//! | teammates never confirmed | `real_teammates`, `tickets::a_teammate_is_known_by_its_name` |
//! | money and tokens after resuming, of several results, of background children | `agents::accounting` |
//! | no event at a limit of turns or after a kill: delivered for ever | `real_spawns::claude_that_asks_or_stops_early_leaves_no_ticket_open`, `sweep` |
//! | kinds without a role were left alone | `real_spawns::claude_briefs_every_kind_of_agent`, `late_briefs::every_kind_of_agent_is_briefed` |
//! | plugin and hooks together made two receipts | `real_spawns::claude_with_hooks_and_plugin_is_answered_once`, `tickets::hooks_that_are_registered_twice_answer_once`, `host_install::the_plugin_is_seen_where_settings_enable_it` |
//! | a locked store: seconds of waiting, then no brief | `durability::a_locked_store_gives_a_subagent_its_whole_brief`, `sweep::who_started_while_the_store_was_locked_is_settled_when_it_is_free` |
//! | Gemini ended in a folder that it does not trust | `agents::real::gemini_answers_in_a_folder_where_it_was_never_started` |
//! | Copilot ran the hooks of Claude Code and was answered in the wrong words | `other_hosts::copilot::is_answered_in_its_own_words_and_once` |
//! | Codex skipped untrusted hooks without a word | `agents::real::codex_says_which_hooks_it_trusts`, `host_install::reports_hooks_that_would_not_run` |
//! | checkpoints without a conversation, no `read_at`, settings with a byte order mark | `tickets::a_checkpoint_names_its_conversation`, `hooks::records_that_a_package_was_read`, `host_install::settings_with_a_byte_order_mark_stay_as_they_are` |
//! | the second of two in the background knew nothing of the first | `beside` |

use std::time::{Duration, Instant};

use handover_testkit::{Answer, Lock, ModelRequest, Script};
use serde_json::{Value, json};

use crate::real_hosts::{BARE, DEBRIEF, LEAD, Real, briefs, turns_of};
use crate::real_versions::Version;

/// A way to start a subagent. Both versions start a named one as an ordinary subagent when they run without a terminal,
/// whether teams are switched on or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Continued,
    BuiltIn,
    Custom,
    Fork,
    Outer,
    Nested,
    Teammate,
    Workflow,
    SkillFork,
    Background,
    /// It only reads.
    Explore,
    Plan,
    /// A rule of the user exempts its kind.
    Exempt,
}

/// What goes wrong meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    Nothing,
    /// Another hook rewrites every prompt, and has the last word.
    SecondHook,
    /// Another hook denies every call of the tool that spawns subagents.
    Deny,
    /// Another program holds the write lock of the store all the time.
    Lock,
    /// The store is no database.
    CorruptStore,
    /// Our program is gone.
    MissingBinary,
}

/// What becomes of a subagent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Becomes {
    Briefed,
    Exempt,
    Refused,
    Missed,
    /// There is none.
    NotThere,
}

impl Kind {
    const ALL: [Self; 13] = [
        Self::Continued,
        Self::BuiltIn,
        Self::Custom,
        Self::Fork,
        Self::Outer,
        Self::Nested,
        Self::Teammate,
        Self::Workflow,
        Self::SkillFork,
        Self::Background,
        Self::Explore,
        Self::Plan,
        Self::Exempt,
    ];

    /// The word in its task.
    fn word(self) -> &'static str {
        match self {
            Self::Continued => "CHILD-CONTINUED",
            Self::BuiltIn => "CHILD-BUILTIN",
            Self::Custom => "CHILD-CUSTOM",
            Self::Fork => "CHILD-FORK",
            Self::Outer => "CHILD-OUTER",
            Self::Nested => "CHILD-NESTED",
            Self::Teammate => "CHILD-TEAMMATE",
            Self::Workflow => "CHILD-WORKFLOW",
            Self::SkillFork => "CHILD-SKILL",
            Self::Background => "CHILD-BACKGROUND",
            Self::Explore => "CHILD-EXPLORE",
            Self::Plan => "CHILD-PLAN",
            Self::Exempt => "CHILD-EXEMPT",
        }
    }

    /// Whether the lead calls the tool `Agent` for it.
    fn is_called(self) -> bool {
        !matches!(self, Self::Nested | Self::Workflow | Self::SkillFork)
    }

    /// The call that starts it; none if another one does.
    fn call(self) -> Option<(String, Value)> {
        let agent = |kind: &str| {
            let prompt = format!("{}: refresh the tokens", self.word());
            json!({"description": "work", "prompt": prompt, "subagent_type": kind, "run_in_background": false})
        };
        let (tool, input) = match self {
            Self::Continued | Self::BuiltIn | Self::Outer => ("Agent", agent("general-purpose")),
            Self::Custom => ("Agent", agent("token-smith")),
            Self::Explore => ("Agent", agent("Explore")),
            Self::Plan => ("Agent", agent("Plan")),
            Self::Exempt => ("Agent", agent("chore")),
            Self::Fork => ("Agent", agent("fork")),
            Self::Teammate => {
                let mut input = agent("general-purpose");
                input["name"] = "mate".into();
                ("Agent", input)
            }
            Self::Background => {
                let mut input = agent("general-purpose");
                input["run_in_background"] = true.into();
                ("Agent", input)
            }
            Self::Workflow => {
                let script = format!(
                    "export const meta = {{name: 'w', description: 'd', phases: [{{title: 'p'}}]}}\n\
                     phase('p')\nreturn await agent('{}: refresh', {{label: 'one'}})",
                    self.word()
                );
                ("Workflow", json!({"script": script}))
            }
            Self::SkillFork => ("Skill", json!({"skill": "forked"})),
            Self::Nested => return None,
        };
        Some((tool.to_owned(), input))
    }

    /// Whether a request is one of this subagent.
    fn sent(self, request: &ModelRequest) -> bool {
        let has = |text: &str| request.conversation_contains(text);
        if self == Self::Fork {
            return is_fork(request);
        }
        let is_outer = self == Self::Nested && has(Self::Outer.word());
        has(self.word()) && !has(LEAD) && !is_outer
    }
}

/// A fork has the conversation of its lead.
fn is_fork(request: &ModelRequest) -> bool {
    request.conversation_contains("</fork-boilerplate>")
}

fn is_lead(request: &ModelRequest) -> bool {
    request.conversation_contains(LEAD) && !is_fork(request)
}

/// The table: what becomes of a kind of subagent under a fault.
fn expected(kind: Kind, fault: Fault, version: Version) -> Becomes {
    match (kind, fault, version) {
        // 2.1.197 has no such kind.
        (Kind::Fork, _, Version::Pinned) => Becomes::NotThere,
        // Who is denied spawns nobody.
        (Kind::Nested, Fault::Deny, _) => Becomes::NotThere,
        (_, Fault::Deny, _) if kind.is_called() => Becomes::Refused,
        (Kind::Exempt, Fault::MissingBinary, _) => Becomes::Missed,
        // What exempts it needs no store.
        (Kind::Exempt, _, _) => Becomes::Exempt,
        (_, Fault::CorruptStore | Fault::MissingBinary, _) => Becomes::Missed,
        (_, Fault::Nothing | Fault::SecondHook | Fault::Deny | Fault::Lock, _) => Becomes::Briefed,
    }
}

/// What a subagent is continued with.
const MORE: &str = "AND THE REST";

fn sends_message(request: &ModelRequest) -> Answer {
    let text = request.body.to_string();
    let id = text.split("agentId: ").nth(1).unwrap_or_default();
    let id: String = id.chars().take_while(char::is_ascii_alphanumeric).collect();
    Answer::tool("SendMessage", json!({"to": id, "summary": "more", "message": MORE}))
}

/// The model: every subagent leaves a debrief; the lead starts those that there are.
fn script(fault: Fault, version: Version) -> Script {
    let nested = json!({"description": "work", "prompt": "CHILD-NESTED: refresh the tokens",
        "subagent_type": "general-purpose", "run_in_background": false});
    let mut script = Script::new()
        .when(is_fork, Answer::text(DEBRIEF))
        .when(
            |r| Kind::Outer.sent(r) && turns_of(r) == 0,
            Answer::Tools(String::new(), vec![("Agent".to_owned(), nested)]),
        )
        .when(|r| Kind::ALL.iter().any(|kind| kind.sent(r)), Answer::text(DEBRIEF));
    let mut turns = Vec::new();
    for kind in Kind::ALL {
        let there = expected(kind, fault, version) != Becomes::NotThere;
        let Some(call) = kind.call().filter(|_| there) else { continue };
        turns.push(Answer::Tools(String::new(), vec![call]));
        if kind == Kind::Continued && fault != Fault::Deny {
            turns.push(Answer::Computed(sends_message));
        }
    }
    for (turn, answer) in turns.into_iter().enumerate() {
        script = script.when(move |r| is_lead(r) && turns_of(r) == turn, answer);
    }
    script.when(is_lead, Answer::text("All done."))
}

fn claude(version: Version, script: Script) -> Real {
    let mut real = Real::claude(script);
    real.host = version.of(real.host);
    real.host.vars.push(("CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS".to_owned(), "1".to_owned()));
    let files = [
        (
            ".claude/agents/token-smith.md",
            "name: token-smith\ndescription: Makes tokens.",
            "You make tokens.",
        ),
        (
            ".claude/agents/chore.md",
            "name: chore\ndescription: Does small things.",
            "You do small things.",
        ),
        (
            ".claude/agents/limited.md",
            "name: limited\ndescription: Stops early.\nmaxTurns: 1",
            "You stop early.",
        ),
        (
            ".claude/skills/forked/SKILL.md",
            "name: forked\ndescription: Refreshes.\ncontext: fork\nagent: general-purpose",
            "CHILD-SKILL: refresh",
        ),
    ];
    for (path, head, text) in files {
        real.env.write(path, format!("---\n{head}\n---\n{text}\n"));
    }
    let rule = "[hooks]\nexempt = { chore = \"it is small\" }\n";
    real.env.write("../home/.config/handover/config.toml", rule);
    // Their tasks distinguish them, so none may read of another's.
    real.env.run(["config", "set", "brief.beside", "false"]).ok();
    let package = ["package", "add", "docs/oauth.md", "--kind", "research", "--priority", "high"];
    real.env.run(package).ok();
    real
}

/// Registers a hook of somebody else for the tool that spawns subagents.
pub(crate) fn add_hook(real: &Real, script: &str) {
    let file = real.env.path("other.py");
    fs_err::write(&file, script).unwrap();
    let path = real.env.path(".claude/settings.json");
    let text = fs_err::read_to_string(&path).unwrap();
    let mut settings: Value = serde_json::from_str(&text).unwrap();
    let hook = json!({"type": "command", "command": format!("python3 {}", file.display())});
    let group = json!({"matcher": "Agent", "hooks": [hook]});
    settings["hooks"]["PreToolUse"].as_array_mut().unwrap().push(group);
    fs_err::write(&path, settings.to_string()).unwrap();
}

pub(crate) const REWRITES: &str = "import json, sys, time\n\
    call = json.load(sys.stdin)['tool_input']\n\
    call['prompt'] = 'OTHER HOOK. ' + call['prompt']\n\
    time.sleep(1)\n\
    print(json.dumps({'hookSpecificOutput': {'hookEventName': 'PreToolUse', 'permissionDecision': 'allow', 'updatedInput': call}}))\n";

pub(crate) const DENIES: &str = "import json\n\
    print(json.dumps({'hookSpecificOutput': {'hookEventName': 'PreToolUse', 'permissionDecision': 'deny', 'permissionDecisionReason': 'not now'}}))\n";

/// Runs the conversation while something is wrong, and makes it right again.
fn run(real: &Real, fault: Fault) {
    let store = real.env.path(".handover/store.db");
    match fault {
        Fault::Nothing => drop(real.start()),
        Fault::SecondHook => {
            add_hook(real, REWRITES);
            real.start();
        }
        Fault::Deny => {
            add_hook(real, DENIES);
            real.start();
        }
        Fault::Lock => {
            let lock = Lock::take(&real.env);
            real.start();
            lock.release();
            // The conversation goes on: what had to wait is taken in, and what nobody could settle is settled.
            let output = real.host.command().args(["--continue", "GO ON"]).output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        }
        Fault::CorruptStore => {
            let kept = fs_err::read(&store).unwrap();
            fs_err::write(&store, "garbage ".repeat(2_000)).unwrap();
            real.start();
            for name in ["store.db-wal", "store.db-shm"] {
                let _ = fs_err::remove_file(real.env.path(&format!(".handover/{name}")));
            }
            fs_err::write(&store, kept).unwrap();
        }
        Fault::MissingBinary => {
            let path = real.env.path(".claude/settings.json");
            let text = fs_err::read_to_string(&path).unwrap();
            fs_err::write(&path, text.replace(crate::handover(), "/gone/handover")).unwrap();
            real.start();
        }
    }
}

/// Compares what became of every subagent with the table.
fn check(fault: Fault) {
    for version in Version::BOTH {
        let real = claude(version, script(fault, version));
        run(&real, fault);
        let (mut counts, mut briefed) = ([0_u64; 4], Vec::new());
        for kind in Kind::ALL {
            let all: Vec<ModelRequest> =
                real.server.requests().into_iter().filter(|r| kind.sent(r)).collect();
            let got: Vec<String> = all.last().map(briefs).unwrap_or_default();
            let case = format!("{kind:?} {fault:?} {version:?}");
            match expected(kind, fault, version) {
                Becomes::Briefed => {
                    assert_eq!(got.len(), 1, "{case}: {got:?}");
                    counts[0] += 1;
                    briefed.extend(got);
                }
                Becomes::Refused => {
                    assert!(all.is_empty(), "{case}: it started");
                    counts[1] += 1;
                }
                Becomes::Missed => {
                    assert!(!all.is_empty() && got.is_empty(), "{case}: {} {got:?}", all.len());
                    counts[2] += 1;
                }
                Becomes::Exempt => {
                    assert!(!all.is_empty() && got.is_empty(), "{case}: {} {got:?}", all.len());
                    counts[3] += 1;
                }
                Becomes::NotThere => assert!(all.is_empty(), "{case}"),
            }
        }
        is_covered(&real, &format!("{fault:?} {version:?}"), counts);
        let receipts = real.receipts();
        for (_, state, id) in &receipts {
            let case = format!("{fault:?} {version:?}: {receipts:?}");
            let expected = if briefed.contains(id) { "confirmed" } else { "failed" };
            assert_eq!(state, expected, "{case}");
        }
        let is_known = |id: &String| receipts.iter().any(|(_, _, known)| known == id);
        assert!(briefed.iter().all(is_known), "{briefed:?}");
    }
}

pub(crate) fn is_covered(real: &Real, case: &str, [briefed, refused, missed, exempt]: [u64; 4]) {
    let coverage = real.env.run(["coverage", "--json"]);
    let coverage = (if missed == 0 { coverage.ok() } else { coverage.fails(1) }).json();
    let counts =
        json!({"briefed": briefed, "exempt": exempt, "refused": refused, "missed": missed});
    assert_eq!(coverage["counts"], counts, "{case}: {coverage}");
}

#[test]
fn every_kind_without_a_fault() {
    check(Fault::Nothing);
}

#[test]
fn every_kind_with_a_second_hook_that_rewrites() {
    check(Fault::SecondHook);
}

#[test]
fn every_kind_with_a_hook_that_denies() {
    check(Fault::Deny);
}

#[test]
fn every_kind_with_a_locked_store() {
    check(Fault::Lock);
}

#[test]
fn every_kind_with_a_corrupt_store() {
    check(Fault::CorruptStore);
}

#[test]
fn every_kind_without_our_program() {
    check(Fault::MissingBinary);
}

/// The program is killed while a subagent works, and the conversation goes on later. Of several subagents only those
/// that are at work then matter, so each kind has a conversation of its own; a nested one takes its parent with it.
#[test]
fn every_kind_when_the_program_is_killed() {
    for version in Version::BOTH {
        for kind in [
            Kind::Continued,
            Kind::BuiltIn,
            Kind::Custom,
            Kind::Fork,
            Kind::Nested,
            Kind::Workflow,
            Kind::SkillFork,
            Kind::Background,
            Kind::Explore,
        ] {
            if expected(kind, Fault::Nothing, version) != Becomes::NotThere {
                is_settled_after_a_kill(kind, version, Moment::Written);
            }
        }
    }
}

/// The same before the program has written what the subagent was asked.
#[test]
fn every_kind_when_the_program_is_killed_at_once() {
    for version in Version::BOTH {
        for kind in [Kind::BuiltIn, Kind::Nested, Kind::SkillFork, Kind::Background] {
            is_settled_after_a_kill(kind, version, Moment::Asked);
        }
    }
}

/// When a program is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Moment {
    /// As soon as the subagent asks the model.
    Asked,
    /// Once the conversation of the subagent is in its file.
    Written,
}

/// How many files of subagents below the home of the program hold a brief.
pub(crate) fn written(real: &Real) -> usize {
    let mut folders = vec![real.env.folder().to_owned()];
    let mut found = 0;
    while let Some(folder) = folders.pop() {
        // The program creates and deletes files meanwhile.
        for entry in fs_err::read_dir(folder).into_iter().flatten().flatten() {
            let (path, Ok(kind)) = (entry.path(), entry.file_type()) else { continue };
            let name = entry.file_name().to_string_lossy().into_owned();
            if kind.is_dir() && name != "node_modules" {
                folders.push(path);
            } else if name.starts_with("agent-") && name.ends_with(".jsonl") {
                let text = fs_err::read_to_string(path).unwrap_or_default();
                found += usize::from(text.contains("handover:receipt "));
            }
        }
    }
    found
}

fn is_settled_after_a_kill(kind: Kind, version: Version, moment: Moment) {
    let case = format!("{kind:?} {version:?} {moment:?}");
    let nested = json!({"description": "work", "prompt": "CHILD-NESTED: refresh the tokens",
        "subagent_type": "general-purpose", "run_in_background": false});
    let first = if kind == Kind::Nested { Kind::Outer } else { kind };
    let agents = if kind == Kind::Nested { 2 } else { 1 };
    let call = first.call().unwrap();
    let is_continued = kind == Kind::Continued;
    let begins = move |r: &ModelRequest| is_continued && !r.conversation_contains(MORE);
    let script = Script::new()
        .when(move |r| kind.sent(r) && begins(r), Answer::text(DEBRIEF))
        .when(move |r| kind.sent(r), Answer::Silence)
        .when(
            move |r| is_lead(r) && is_continued && turns_of(r) == 1,
            Answer::Computed(sends_message),
        )
        .when(
            |r| Kind::Outer.sent(r),
            Answer::Tools(String::new(), vec![("Agent".to_owned(), nested)]),
        )
        .when(|r| is_lead(r) && turns_of(r) == 0, Answer::Tools(String::new(), vec![call]))
        .when(|r| is_lead(r) && r.conversation_contains("GO ON"), Answer::text("All done."))
        // A lead whose subagent works in the background must not end before.
        .when(is_lead, Answer::Silence);
    let mut real = claude(version, script);
    let mut program = real
        .host
        .command()
        .arg(format!("Do the {LEAD}."))
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let started = Instant::now();
    let works =
        || real.server.requests().iter().any(|request| kind.sent(request) && !begins(request));
    let waits = || match moment {
        Moment::Asked => !works(),
        Moment::Written => written(&real) < agents || !works(),
    };
    while waits() {
        assert!(started.elapsed() < Duration::from_secs(60), "{case}: it never started");
        std::thread::sleep(Duration::from_millis(20));
    }
    program.kill().unwrap();
    program.wait().unwrap();
    let confirmed = written(&real);
    real.host.args.push("--continue".to_owned());
    let output = real.host.command().arg("GO ON").output().unwrap();
    assert!(output.status.success(), "{case}: {}", String::from_utf8_lossy(&output.stdout));
    let states: Vec<String> = real.states().into_iter().map(|(_, state)| state).collect();
    // Of a subagent that left no trace, it is only known that it started.
    let delivered = states.iter().filter(|state| *state == "delivered").count();
    assert_eq!((states.len(), delivered), (agents, agents - confirmed), "{case}: {states:?}");
    assert!(states.iter().all(|state| state != "assembled" && state != "failed"), "{case}");
    // Either way its ticket is closed: its ending is recorded, without a word from it.
    let endings = real.events("debrief");
    assert_eq!(endings.len(), agents, "{case}: {endings:?}");
    let coverage = real.env.run(["coverage", "--json"]).ok().json();
    assert_eq!(coverage["counts"]["missed"], 0, "{case}: {coverage}");
    if moment == Moment::Written {
        is_covered(&real, &case, [agents as u64, 0, 0, 0]);
    }
}

/// Only a custom kind can have a limit of turns; it may be the lead's, a nested one, or one in the background.
#[test]
fn every_kind_that_can_have_a_limit_of_turns() {
    for version in Version::BOTH {
        let limited = |word: &str, background: bool| {
            let prompt = format!("{word}: refresh the tokens");
            let input = json!({"description": "work", "prompt": prompt, "subagent_type": "limited",
                "run_in_background": background});
            Answer::Tools(String::new(), vec![("Agent".to_owned(), input)])
        };
        let works = || Answer::tool("Bash", json!({"command": "echo hi", "description": "d"}));
        let outer = Kind::Outer.call().unwrap();
        let script = Script::new()
            .when(
                |r| Kind::Custom.sent(r) || Kind::Nested.sent(r) || Kind::Background.sent(r),
                works(),
            )
            .when(|r| Kind::Outer.sent(r) && turns_of(r) == 0, limited("CHILD-NESTED", false))
            .when(|r| Kind::Outer.sent(r), Answer::text(DEBRIEF))
            .when(|r| is_lead(r) && turns_of(r) == 0, limited("CHILD-CUSTOM", false))
            .when(|r| is_lead(r) && turns_of(r) == 1, Answer::Tools(String::new(), vec![outer]))
            .when(|r| is_lead(r) && turns_of(r) == 2, limited("CHILD-BACKGROUND", true))
            .when(is_lead, Answer::text(BARE));
        let real = claude(version, script);
        real.start();
        let states: Vec<String> = real.states().into_iter().map(|(_, state)| state).collect();
        assert_eq!(states, ["confirmed"; 4], "{version:?}");
        is_covered(&real, &format!("{version:?}"), [4, 0, 0, 0]);
    }
}
