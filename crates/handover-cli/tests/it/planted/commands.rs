//! Arguments, standard input and files of every command that takes text.

use handover_testkit::TestEnv;
use serde_json::json;

use super::{Planted, list_everything};
use crate::help::leaf_commands;
use crate::{empty, project};

/// Where a command takes its secret: in an argument, or on standard input.
pub(crate) const IN_ARGUMENTS: &[&str] = &[
    "event log @",
    "event log note --key @",
    "session new @",
    "session new s3 --project-id @",
    "session show @",
    "session close @",
    "group set @",
    "group set g1 --title @",
    "group set g1 --specialization @",
    "group set g1 --component @",
    "group set g1 --ref @",
    "group set g1 --count @=1",
    "group show @",
    "package add docs/research_a.md --producer @",
    "package add docs/research_a.md --consumer @",
    "package add docs/research_a.md --kind @",
    "package add docs/research_a.md --summary @",
    "package add docs/research_a.md --supersedes @",
    "package add docs/missing-@.md",
    "package show @",
    "reasoning add --role @ --phase decisions text",
    "reasoning add --role developer --phase @ text",
    "reasoning add --role developer --phase decisions @",
    "reasoning add --role developer --phase decisions --agent-id @ text",
    "reasoning add --role developer --phase decisions --reference @ text",
    "reasoning add --role developer --phase decisions --confidence @ text",
    "skill-output save @",
    "skill-output save lint --role @",
    "skill-output latest @",
    "error record --message @",
    "error record --message boom --type @",
    "error record --message boom --command @",
    "error record --message boom --lang @",
    "error record --message boom --role @",
    "error record --message boom --hint @",
    "error resolve --message @ --solution wait",
    "error resolve --message boom --solution @",
    "error match @",
    "strategy extract --lang @",
    "strategy extract --framework @",
    "search @",
    "token create --scope read --name @",
    "token create --scope read --project-id @",
    "token revoke @",
    "assemble --role @",
    "assemble --role developer --task @",
    "assemble --role developer --model @",
    "specialize --role @",
    "debrief --role @",
    "debrief --role developer --agent-id @",
    "debrief --receipt @",
    "receipt show @",
    "receipt diff @",
    "persona show @",
    "template show @",
    "stack --component @",
    "status @",
    "journal @",
    "report @ --html -",
    "answer @ 1-1-a yes",
    "run @",
    "run 1 --agent-command @",
    "chain @",
    "uat @",
    "config show --config agents.model=@",
    "config show --config @=1",
    "config show --config redaction.mode=@",
    "import @",
    "store copy @ @",
    "hook @",
    "host install @",
    "export --session @",
    "@",
    "event list --session @",
    "event list --group @",
    "note add @",
    "note add text --title @",
    "note add text --path @",
    "note show @",
    "note list --kind @",
    "note retire @",
    "note purge @",
    "learn @",
    "learn docs --path @",
    "learn docs --since @",
    "learn --forget @",
    "where @",
    "where --file @",
    "where work --limit @",
    "learn --since @",
    "learn git --since @",
    "brief --role @ --task work",
    "brief --role developer --task-file @",
    "why @",
    "why work --receipt @",
    "why work --role @",
    "why work --role developer --task @",
    "undo @",
    "untrust @",
    "trust --session @",
    "coverage --path @",
    "coverage --host @",
    "coverage --since @",
    "receipt verify @ docs/research_a.md",
    "receipt verify 1 @",
    "receipt list --group @",
    "package list --kind @",
    "package import @",
    "package scan --session @",
    "package validate docs/research_a.md --group @",
    "package update @ docs/research_a.md",
    "package retire @",
    "package retire 1 --reason @",
    "package restore @",
    "package confirm @",
    "package reject @",
    "error list --lang @",
    "error confirm @",
    "error reject @",
    "error retire @",
    "error retire abcd --reason @",
    "error restore @",
    "strategy list --session @",
    "strategy retire @",
    "strategy retire abcd --reason @",
    "strategy restore @",
    "note confirm @",
    "note confirm abcd --by @",
    "note reject @",
    "note restore @",
    "config get @",
    "config set @ 1",
    "config set runs.model @",
    "config set runs.env [@]",
    "config edit --session @",
    "data export @",
    "data import @",
    "data import bazinga @",
    "data backup --session @",
    "data copy @ @",
    "data redact --session @",
    "data reindex --session @",
    "data gc --older-than @",
    "data upgrade --session @",
    "project stack --component @",
    "project template list --session @",
    "project template show @",
    "project template validate --session @",
    "project persona list --session @",
    "project persona show @",
    "session list --session @",
    "session reopen @",
    "session purge @",
    "group list --session @",
    "reasoning list --role @",
    "reasoning timeline --group @",
    "skill-output list --session @",
    "token link --session @",
    "token list --session @",
    "host install claude --scope @",
    "host uninstall @",
    "host list --session @",
    "init --project @",
    "demo --epic @",
    "open @",
    "watch @",
    "doctor --session @",
    "stats --since @",
    "report @",
    "serve --bind @",
    "mcp @",
    "man --to @",
    "completions @",
    "redact @",
    "tokens @",
    "tokens docs/research_a.md --model @",
    "prove @",
    "prove init @",
    "prove @ --dry-run",
    "spawn --role @ --task work",
    "spawn --role developer --task work --host @",
    "run @ --resume",
    "run @ --start-from 1-1",
    "run 1 --start-from @",
    "run 1 --model @",
    "run docs/epics/@.md",
    "run 1 @",
    "run abandon @",
    "run status @",
    "run journal @",
    "run report @",
    "run answer @",
    "run answer @ 1-1-a yes",
    "run uat @",
    "chain 1 @",
    "help @",
    "--project @ session list",
    "--color @ session list",
];

/// In a git repository, where runs get further; `shared.rs` does the same outside of one.
#[test]
fn arguments() {
    let env = project();
    env.git("", &["init", "--quiet"]);
    env.git("", &["commit", "--quiet", "--allow-empty", "--message", "base"]);
    // What `why` is about.
    env.run(["brief", "--role", "developer", "--task", "work"]).ok();
    let mut planted = Planted::default();
    every_argument(&mut planted, &env);
    planted.nowhere(&env);
}

#[test]
fn every_command_has_a_secret_among_its_arguments() {
    let about_runs = ["answer", "journal", "status", "uat", "chain"].map(str::to_owned);
    for command in leaf_commands(&empty()).into_iter().chain(about_runs) {
        let is_called =
            |line: &&&str| line.strip_prefix(&command).is_some_and(|rest| rest.starts_with(' '));
        let line = IN_ARGUMENTS.iter().find(is_called);
        assert!(
            line.is_some_and(|line| line.contains('@')),
            "{command}: plant a secret in an argument of it"
        );
    }
}

/// An epic's id is stored, and a part of the names of branches.
#[test]
fn epics_are_not_named_by_a_secret() {
    let env = project();
    env.git("", &["init", "--quiet"]);
    env.git("", &["commit", "--quiet", "--allow-empty", "--message", "base"]);
    let token = Planted::default().token("epic");
    for args in [
        &["run", &token][..],
        &["run", &token, "--resume"],
        &["run", &token, "--start-from", "1-1-a"],
        &["run", &format!("docs/epics/{token}.md")],
        &["run", "abandon", &token],
        &["run", "1", &token],
        &["run", &token, "1"],
        &["run", "uat", &token],
    ] {
        let error = env.run(args.iter().chain(&["--json"])).fails(2).error();
        let message = error["message"].as_str().unwrap();
        assert!(message.contains("the epic looks like a secret"), "{args:?}: {message}");
        assert!(!message.contains(&token), "{message}");
    }
}

pub(super) fn every_argument(planted: &mut Planted, env: &TestEnv) {
    env.write("docs/research_a.md", "# A\n## Summary\nNothing.\n");
    for line in IN_ARGUMENTS {
        let token = planted.token(line);
        let args = line.split(' ').map(|word| word.replace('@', &token));
        planted.run(env, "{}", args);
    }
    list_everything(planted, env);
}

#[test]
fn standard_input() {
    let env = project();
    let mut planted = Planted::default();
    every_input(&mut planted, &env);
    planted.nowhere(&env);
}

pub(super) fn every_input(p: &mut Planted, env: &TestEnv) {
    let object = |p: &mut Planted, what: &str| {
        let (key, value) = (p.token(&format!("{what}, key")), p.token(&format!("{what}, value")));
        let (key_2, list) = (p.private_key(&format!("{what}, key 2")), p.kubernetes(what));
        json!({key: 1, "plain": value, "inner": {"list": [list, key_2]}}).to_string()
    };
    for command in ["event log note", "skill-output save lint"] {
        let (text, broken) =
            (object(p, command), format!("{{{}", p.token(&format!("{command}, broken"))));
        p.run(env, &text, command.split(' '));
        p.run(env, &broken, command.split(' '));
    }
    let metadata = object(p, "metadata");
    p.run(env, "", ["session", "new", "s2", "--metadata", &metadata]);
    for command in [
        "reasoning add --role developer --phase decisions -",
        "redact",
        "package import -",
        "import -",
        "assemble --role developer --task-file -",
    ] {
        let text = format!(
            "{}\n{}\n{}\n{{\"kind\": \"{}\"}}\n",
            p.token(command),
            p.private_key(command),
            p.kubernetes(command),
            p.token(&format!("{command}, JSON"))
        );
        p.run(env, &text, command.split(' '));
    }
    list_everything(p, env);
}

/// The last message of an agent, with a secret in every field.
pub(super) fn debrief(p: &mut Planted, channel: &str) -> String {
    let mut field = |name: &str| p.token(&format!("{channel}, {name}"));
    format!(
        "I used {}.\n\n```handover\nverdict: complete\nsummary: \"{}\"\nreasoning:\n  decisions: \"{}\"\n  risks: |\n    {}\n\
         packages:\n  - {{path: \"docs/{}.md\", kind: decisions, summary: \"{}\", consumers: [\"{}\"]}}\n\
         errors:\n  - {{message: \"{}\", solution: \"{}\"}}\n{}: 1\n```\n",
        field("text"),
        field("summary"),
        field("decisions"),
        field("risks"),
        field("path"),
        field("package"),
        field("consumer"),
        field("error"),
        field("solution"),
        field("key"),
    )
}

#[test]
fn debriefs() {
    let env = project();
    let mut planted = Planted::default();
    every_debrief(&mut planted, &env);
    planted.nowhere(&env);
}

pub(super) fn every_debrief(planted: &mut Planted, env: &TestEnv) {
    let good = debrief(planted, "debrief");
    planted.run(env, &good, ["debrief", "--role", "developer"]);
    let bad = format!(
        "```handover\nverdict: {}\nsummary: [{}]\nreceipt: {}\nreasoning: {}\n```\n",
        planted.token("verdict"),
        planted.token("summary"),
        planted.token("receipt"),
        planted.token("reasoning"),
    );
    planted.run(env, &bad, ["debrief", "--role", "developer"]);
    list_everything(planted, env);
}

#[test]
fn package_files() {
    let env = project();
    let mut planted = Planted::default();
    every_package_file(&mut planted, &env);
    planted.nowhere(&env);
}

pub(super) fn every_package_file(p: &mut Planted, env: &TestEnv) {
    let text = format!(
        "---\ntitle: {}\ntags: [{}]\nconsumers: [{}]\n{}: x\n---\n# {}\n## Summary\n{}\n\n{}\n\n```yaml\n{}\n```\n",
        p.token("title"),
        p.token("tag"),
        p.token("consumer"),
        p.token("key"),
        p.token("heading"),
        p.token("text"),
        p.private_key("package"),
        p.kubernetes("package"),
    );
    env.write("docs/research_a.md", &text);
    let plain = format!(
        "# {}\n## Summary\n{}\n\n{}\n",
        p.token("heading 2"),
        p.token("text 2"),
        p.private_key("package 2")
    );
    env.write("docs/research_b.md", &plain);
    let named = format!("docs/research_{}.md", p.token("file name"));
    env.write(&named, "# Name\n");
    for file in ["docs/research_a.md", "docs/research_b.md", &named] {
        p.run(env, "", ["package", "add", file, "--producer", "developer", "--group", "g1"]);
    }
    p.run(env, "", ["package", "validate", "docs/research_a.md", "docs/research_b.md"]);
    p.run(env, "", ["package", "scan"]);
    for id in ["1", "2", "3"] {
        p.run(env, "", ["package", "show", id, "--body"]);
    }
    p.run(env, "", ["search", "summary", "heading"]);
    p.run(env, "", ["assemble", "--role", "qa_expert", "--group", "g1"]);
    list_everything(p, env);
}

#[test]
fn logging() {
    let mut env = project();
    env.set("HANDOVER_LOG", "trace");
    let mut planted = Planted::default();
    let text = planted.token("log");
    planted.run(
        &env,
        &text,
        ["reasoning", "add", "--role", "developer", "--phase", "decisions", "-"],
    );
    let payload = json!({"k": planted.token("log payload")}).to_string();
    planted.run(&env, &payload, ["event", "log", "note"]);
    let task = planted.token("log task");
    planted.run(&env, "", ["assemble", "--role", "developer", "--task", &task]);
    let good = debrief(&mut planted, "logged debrief");
    planted.run(&env, &good, ["debrief", "--role", "developer"]);
    planted.nowhere(&env);
}
