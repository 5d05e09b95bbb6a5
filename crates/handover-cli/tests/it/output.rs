//! What every command prints, for people and for scripts, as one snapshot per noun.

use std::os::unix::fs::symlink;

use handover_testkit::TestEnv;

use crate::help::leaf_commands;
use crate::transcript::Transcript;
use crate::{empty, project};

/// Commands without a snapshot of their output, and where they are tested instead.
const EXEMPT: &[(&str, &str)] = &[
    ("completions", "scripts for shells; people.rs"),
    ("demo", "plays commands that have snapshots; people.rs, watch.rs"),
    ("man", "pages made by clap; people.rs"),
    ("mcp", "speaks a protocol; mcp/"),
    ("open", "serves until interrupted; web/"),
    ("serve", "serves until interrupted; serve/"),
    ("watch", "a live view; watch.rs"),
];

const OAUTH: &str = "\
---
type: research
group_id: login
producer: requirements_engineer
consumers: [developer]
priority: high
files: [src/auth.rs]
---
# OAuth at the identity provider

## Summary
Refresh tokens rotate on every use.

## Details
The test tenant accepts password=correct-horse-battery for the demo user.
";

/// An agent that does nothing and reports that it is done.
const AGENT: &str = "\
#!/bin/sh
cat > /dev/null
echo 'The test is there.'
echo '```handover'
echo 'verdict: complete'
echo 'summary: Two parallel refreshes are covered by a test.'
echo 'reasoning:'
echo '  decisions: both refreshes start behind a barrier'
echo '```'
";

/// A developer whose second story needs an answer, and a reviewer that finds nothing.
const DEVELOPER: &str = r#"#!/bin/sh
nonce=$(sed -n 's/^{"nonce": "\([^"]*\)".*/\1/p' | tail -n 1)
verdict=complete; summary=Done.
case "$HANDOVER_PHASE" in
  dev) echo work > "$HANDOVER_STORY.txt"
       case "$HANDOVER_STORY" in 1-2*) verdict=escalate; summary='Which port should it use?';; esac;;
  review) verdict=passed; summary='No findings.';;
esac
printf '{"nonce":"%s","story":"%s","phase":"%s","verdict":"%s","summary":"%s","usage":{"cost_usd":0.25,"tokens":900,"turns":3}}' \
  "$nonce" "$HANDOVER_STORY" "$HANDOVER_PHASE" "$verdict" "$summary" > "$HANDOVER_RESULT"
"#;

const SCENARIOS: &str = r#"{"epic": "1", "scenarios": [
  {"id": "UAT-1", "title": "The work is there", "criterion": "1-1-cart AC1", "kind": "auto",
   "argv": ["cat", "README.md"], "expect": {"text": "shop"}},
  {"id": "UAT-2", "title": "It is friendly", "criterion": "Goal", "kind": "manual",
   "steps": ["Read the page"], "expected": "A smile"}
]}"#;

/// A project with one package in group `login`.
fn with_package() -> TestEnv {
    let env = project();
    env.write("docs/oauth.md", OAUTH);
    env.run(["package", "add", "docs/oauth.md"]).ok();
    env
}

/// Hides every program except these, so that output does not depend on what is installed.
fn with_programs_only(mut env: TestEnv, names: &[&str]) -> TestEnv {
    let folder = env.folder().join("bin");
    fs_err::create_dir_all(&folder).unwrap();
    let path = std::env::var_os("PATH").unwrap_or_default();
    for name in names {
        let found = std::env::split_paths(&path).map(|folder| folder.join(name));
        symlink(found.into_iter().find(|path| path.is_file()).unwrap(), folder.join(name)).unwrap();
    }
    let folder = folder.display().to_string();
    env.set("PATH", &folder);
    env
}

#[test]
fn init() {
    let mut t = Transcript::new(empty());
    t.both("init");
    t.run("init --project nowhere");
    t.run("session list --project /");
    t.assert_matches("init");
}

#[test]
fn session() {
    let mut t = Transcript::new(empty());
    t.env.run(["init"]).ok();
    t.run("session list");
    t.run("package list");
    t.run(r#"session new login --metadata '{"ticket": "SHOP-42"}'"#);
    t.run("session new login --json");
    t.run("session new bad --metadata 7");
    t.run("session new other");
    t.run("package list");
    t.both("session list");
    t.both("session show login");
    t.run("session show nosuch");
    t.run("session close login --status active");
    t.both("session close login");
    t.both("session reopen login");
    t.run("session purge other");
    t.run("session purge other --yes");
    t.run("session purge login --yes --json");
    t.assert_matches("session");
}

#[test]
fn undo_and_gc() {
    let mut t = Transcript::new(with_package());
    t.run("package retire 1 --reason outdated");
    t.both("undo --list");
    t.both("undo");
    t.run("undo --list");
    t.run("session close s1");
    t.run("--session s1 brief --role developer --task 'Refresh tokens'");
    t.run("undo");
    t.run("undo nosuch");
    t.both("data gc --dry-run");
    t.both("data gc --older-than 0");
    t.run("undo");
    t.assert_matches("undo");
}

#[test]
fn group() {
    let mut t = Transcript::new(with_package());
    t.both("group list");
    t.both("group set login --title 'Login form' --status in_progress --ref 1 --specialization rust --count qa_attempts");
    t.both("group show login");
    t.both("group list");
    t.run("group show nosuch");
    t.run("group set login --status finished");
    t.assert_matches("group");
}

#[test]
fn package() {
    let mut t = Transcript::new(project());
    t.run("package list");
    t.env.write("docs/oauth.md", OAUTH);
    t.both("package add docs/oauth.md");
    t.run("package add docs/oauth.md --priority low");
    t.env.write("docs/oauth.md", OAUTH.replace("on every use", "after a grace period"));
    t.both("package show 1");
    t.both("package update 1 docs/oauth.md --priority critical");
    t.run("package show 2 --body");
    t.env.write("docs/qa_failures_group_login.md", "Two parallel refreshes sign the user out.");
    t.both("package scan");
    let line = r#"{"kind": "decisions", "producer": "developer", "priority": "low", "summary": "Use a lock", "body": "Why"}"#;
    t.pipe(line, "package import -");
    t.pipe(line, "package import - --json");
    t.pipe("{}", "package import -");
    t.both("package list");
    t.both("package list --all-versions --limit 1");
    t.env.write("docs/plain.md", "text");
    t.both("package retire 4 --reason 'we use a queue now'");
    t.both("package list --state retired");
    t.run("package show 4");
    t.both("package restore 4");
    t.run("package retire 9");
    t.both("package validate docs/oauth.md docs/plain.md");
    t.run("package confirm 1");
    t.both("package confirm 1 --by 2");
    t.run("package reject 1 --by 2");
    t.run("package reject 1 --by 1");
    t.run("package add docs/plain.md");
    t.run("package add docs/plain.md --kind reserch");
    t.run("package add docs/plain.md --kind research --global --group login");
    t.run("package add docs/nosuch.md");
    t.run("package add ..");
    t.run("package show 7");
    t.assert_matches("package");
}

#[test]
fn reasoning() {
    let mut t = Transcript::new(project());
    t.run("reasoning list");
    t.run("reasoning add --role developer --phase decisions --group login 'Behind a lock; DB_PASSWORD=tr0ub4dor-and-3'");
    t.pipe("Covered by a test", "reasoning add --role qa_expert --phase completion --json");
    t.both("reasoning list");
    t.both("reasoning timeline");
    t.run("reasoning add --role developer --phase decisions ''");
    t.run("reasoning add --role developer --phase thinking x");
    t.assert_matches("reasoning");
}

#[test]
fn skill_output() {
    let mut t = Transcript::new(project());
    t.run("skill-output latest lint");
    t.pipe(r#"{"warnings": 3}"#, "skill-output save lint --role developer");
    t.pipe(r#"{"warnings": 1}"#, "skill-output save lint --json");
    t.pipe("no json", "skill-output save lint");
    t.both("skill-output latest lint");
    t.both("skill-output list lint");
    t.assert_matches("skill-output");
}

#[test]
fn error() {
    let mut t = Transcript::new(project());
    t.run("error list");
    t.both("error record --message 'ECONNREFUSED: connect 127.0.0.1:5432' --command 'cargo test'");
    t.both("error resolve --message 'ECONNREFUSED: connect 127.0.0.1:5432' --solution 'start the database first'");
    t.both("error match 'test failed: connect ECONNREFUSED 10.0.0.7:5433'");
    t.run("error match 'all is well'");
    t.both("error list");
    let hash = t.env.run(["error", "list", "--json"]).ok().json()["errors"][0]["hash"].clone();
    let hash = hash.as_str().unwrap();
    t.both(&format!("error confirm {hash}"));
    t.both(&format!("error reject {hash}"));
    t.both(&format!("error retire {hash} --reason 'fixed upstream'"));
    t.run("error list --state retired");
    t.both(&format!("error restore {hash}"));
    t.run("error confirm ffffffff");
    t.run("error resolve --message x --solution ''");
    t.assert_matches("error");
}

#[test]
fn strategy() {
    let mut t = Transcript::new(project());
    t.run("strategy list");
    let add = ["reasoning", "add", "--role", "developer", "--phase", "completion", "--group"];
    t.env.run(add.iter().chain(&["login", "One refresh at a time, behind a lock"])).ok();
    t.run("strategy extract");
    t.both("strategy extract --group login --lang rust");
    t.both("strategy list");
    let id = t.env.run(["strategy", "list", "--json"]).ok().json()["strategies"][0]["id"].clone();
    let id = id.as_str().unwrap();
    t.both(&format!("strategy retire {id} --reason 'too general'"));
    t.run("strategy list --state retired");
    t.both(&format!("strategy restore {id}"));
    t.run("strategy restore nosuch");
    t.assert_matches("strategy");
}

#[test]
fn event() {
    let mut t = Transcript::new(project());
    t.run("event list");
    t.pipe(r#"{"verdict": "approved"}"#, "event log verdict --group login --key review-2");
    t.pipe(r#"{"verdict": "approved"}"#, "event log verdict --group login --key review-2 --json");
    t.pipe("no json", "event log verdict");
    t.both("event list");
    t.assert_matches("event");
}

#[test]
fn search() {
    let mut t = Transcript::new(with_package());
    t.both("search refreshing tokens");
    t.run("search nothing-like-it");
    t.run("search ''");
    t.env.write("docs/oauth.md", "changed");
    t.run("search rotate");
    t.assert_matches("search");
}

#[test]
fn note() {
    let mut t = Transcript::new(project());
    t.run("note list");
    t.both("note add 'Prices are stored in cents: floats lost one per thousand orders'");
    t.pipe(
        "The tenant accepts password=correct-horse-battery",
        "note add --title Tenant --path src/auth.rs",
    );
    t.run("note add ''");
    t.both("note list");
    t.run("note list --kind doc");
    let listed = t.env.run(["note", "list", "--json"]).ok().json();
    let id = listed["notes"][0]["id"].as_str().unwrap().to_owned();
    t.run(&format!("note show {id}"));
    t.run("note show nosuchnote");
    t.run(&format!("note retire {id} --reason 'not true any more'"));
    t.run(&format!("note confirm {id}"));
    t.run(&format!("note reject {id}"));
    t.run(&format!("note restore {id}"));
    t.run(&format!("note purge {id}"));
    t.assert_matches("note");
}

#[test]
fn learn() {
    let mut t = Transcript::new(project());
    t.run("learn git");
    t.env.git("", &["init", "-q"]);
    t.env.write(
        "docs/prices.md",
        "# Prices\n\nPrices are stored in cents, because floats lost one per thousand orders.\n",
    );
    t.env.git("", &["add", "docs"]);
    t.env.git(
        "",
        &["commit", "-q", "-m", "Store prices in cents\n\nFloats lost a cent per thousand orders."],
    );
    t.run("learn docs --dry-run");
    t.both("learn docs git");
    t.run("learn docs --path nowhere");
    t.run("learn --path docs");
    t.run("learn --forget docs");
    t.run("learn --forget nowhere.md");
    t.assert_matches("learn");
}

#[test]
fn where_to_look() {
    let mut t = Transcript::new(project());
    t.run("where refresh tokens");
    t.env.git("", &["init", "-q"]);
    t.env.write("src/auth.rs", "pub fn refresh_token() {}\n");
    t.env.write("src/session.rs", "pub struct Session;\n");
    t.env.write("src/cart.rs", "pub fn total() {}\n");
    t.env.git("", &["add", "src/cart.rs"]);
    t.env.git("", &["commit", "-qm", "Start with a cart"]);
    t.env.git("", &["add", "src"]);
    t.env.git("", &["commit", "-qm", "Keep people logged in"]);
    t.both("where refresh tokens expire too early");
    t.pipe("People are logged out", "where --limit 1");
    t.run("where gargoyles");
    t.run("where ''");
    t.assert_matches("where");
}

#[test]
fn context() {
    let mut t = Transcript::new(with_package());
    t.env.write("Cargo.toml", "[package]\nname = \"shop\"\nrust-version = \"1.85\"\n");
    t.run("project stack");
    t.run("project stack --evidence");
    t.run("project stack --json");
    t.both("specialize --role developer --budget 120");
    t.run("assemble --role developer --group login --task 'Make refreshes safe' --explain");
    t.run("assemble --role developer --group login --explain --json");
    t.both("brief --role developer --group login --task 'Make refreshes safe'");
    t.run("brief --role developer");
    t.run("brief --role 'not a role' --task x");
    t.run("brief --role devloper --task x");
    t.run("brief --role developer --task x --model sonet");
    t.assert_matches("context");
}

#[test]
fn spawn() {
    let mut t = Transcript::new(with_package());
    t.env.write("agent.sh", AGENT);
    let spawn = "spawn --host command --agent-command 'sh agent.sh' --role developer --group login --task 'Add a test'";
    t.both(spawn);
    t.both("receipt list");
    t.both("receipt show");
    t.run("receipt show --text");
    t.both("why docs/oauth.md");
    t.run("why zeppelin");
    let receipts = t.env.run(["receipt", "list", "--json"]).ok().json();
    let id = receipts["receipts"][0]["id"].as_str().unwrap().to_owned();
    t.both(&format!("receipt diff {id}"));
    t.pipe("another text", &format!("receipt verify {id} -"));
    t.pipe("another text", &format!("receipt verify {id} - --json"));
    let message = "Done.\n\n```handover\nverdict: complete\nsummary: Done.\n```\n";
    t.pipe(message, "debrief --role developer --group login");
    t.pipe(message, &format!("debrief --receipt {id} --json"));
    t.pipe("Done.", "debrief --role developer");
    t.run("spawn --host command --agent-command 'no-such-program' --role developer --task x");
    t.run("receipt show r_nosuch");
    t.both("stats");
    t.run("stats --since yesterday");
    t.assert_matches("spawn");
}

#[test]
fn template() {
    let mut t = Transcript::new(project());
    t.both("project template list --type framework");
    t.env.write("ours.md", "no header");
    t.both("project template validate ours.md");
    t.run("project template show nosuch");
    t.both("project template show rust");
    t.assert_matches("template");
}

#[test]
fn persona() {
    let mut t = Transcript::new(project());
    t.both("project persona list");
    t.both("project persona show winston");
    t.run("project persona show nosuch");
    t.assert_matches("persona");
}

#[test]
fn run() {
    let mut t = Transcript::new(repository());
    t.run("run 7");
    t.both("run 1 --dry-run");
    t.run("status");
    t.run("run abandon");
    t.run("run 1 --agent-command 'sh developer.sh'");
    t.both("status");
    t.run("run status --quiet");
    t.run("run journal");
    t.both("run answer");
    t.run("run answer 'Use 8080'");
    t.run("run answer 'Use 8080'");
    t.run("run 1 --resume --agent-command 'sh developer.sh' --quiet");
    t.run("run uat 1 --gate skip");
    t.both("run uat 1");
    t.run("run uat 2");
    t.both("run 2 1 --dry-run");
    t.run("run report --html report.html");
    t.run("report --html report.html --json");
    t.assert_matches("run");
}

/// A repository with two epics, and agents that are shell scripts.
fn repository() -> TestEnv {
    let env = empty();
    env.git("", &["init", "--quiet"]);
    env.run(["init"]).ok();
    env.write("README.md", "a shop\n");
    env.write("developer.sh", DEVELOPER);
    env.write("docs/epics/epic-1-shop.md", "# Epic 1: Shop\n");
    env.write("docs/epics/epic-2-search.md", "# Epic 2: Search\n\nDepends on: Epic 1\n");
    for (id, title) in [("1-1-cart", "Cart"), ("1-2-mail", "Mail"), ("2-1-box", "Box")] {
        let text = format!("# {title}\n\nStatus: ready-for-dev\n\n## Tasks\n\n- [ ] {title}\n");
        env.write(&format!("docs/stories/{id}.md"), text);
    }
    env.write("docs/uat/epic-1-uat.json", SCENARIOS);
    let config = fs_err::read_to_string(env.path(".handover/config.toml")).unwrap();
    env.write(".handover/config.toml", config + "\n[uat]\nallow = [\"cat\"]\n");
    env.git("", &["add", "--all"]);
    env.git("", &["commit", "--quiet", "--message", "base"]);
    env
}

#[test]
fn prove() {
    let mut t = Transcript::new(repository());
    t.run("prove nosuch.toml");
    t.run("prove init");
    let task = |id: &str| {
        format!(
            "[[task]]\nid = \"{id}\"\nstart = \"main\"\nprompt = \"Write the {id}\"\njudge = [\"test\", \"-e\", \"{id}.txt\"]\n"
        )
    };
    t.env.write("tasks.toml", format!("{}\n{}", task("cart"), task("mail")));
    t.env.write("agent.sh", "grep -q 'Write the cart' && echo done > cart.txt\nexit 0\n");
    let agent = t.env.path("agent.sh").display().to_string();
    t.run("prove tasks.toml --arms bare,lucky");
    t.run("prove tasks.toml --resume");
    // The path of the agent differs from run to run.
    let command = format!("sh {agent}");
    let options = ["--repeat", "1", "--agent-command", &command];
    let output = t.env.run(["prove", "tasks.toml"].into_iter().chain(options));
    t.record("prove tasks.toml --repeat 1 --agent-command 'sh agent.sh'", &output);
    t.both("prove tasks.toml --show");
    t.assert_matches("prove");
}

#[test]
fn text() {
    let mut t = Transcript::new(empty());
    t.pipe("DB_PASSWORD=tr0ub4dor-and-3\n", "redact");
    t.pipe("DB_PASSWORD=tr0ub4dor-and-3\n", "redact --json");
    t.pipe("{\"text\": \"token=tr0ub4dor-and-3\"}\n", "redact --jsonl");
    t.pipe("no json\n", "redact --jsonl");
    t.pipe("one two three", "tokens");
    t.env.write("prompt.md", "one two three");
    t.run("tokens prompt.md");
    t.run("redact nosuch.md");
    t.pipe("one two three", "tokens --model gpt-5 --json");
    t.pipe("{\"text\": \"one\"}\n{\"text\": \"two\"}\n", "tokens --jsonl");
    t.assert_matches("text");
}

#[test]
fn hosts() {
    let mut t = Transcript::new(with_programs_only(project(), &["git", "sh"]));
    t.both("host list");
    t.both("coverage");
    t.run("host install claude --json");
    t.both("host install claude");
    t.both("doctor");
    t.run("host install nosuch");
    t.pipe(r#"{"hook_event_name": "Nonsense"}"#, "hook claude");
    t.both("host uninstall claude");
    t.assert_matches("hosts");
}

#[test]
fn config() {
    let mut t = Transcript::new(project());
    t.both("config show");
    t.both("config get guard.mode");
    t.both("config set packages.warn_bytes 2000");
    t.run("config set packages.warn_bytes many");
    t.run("config set packages.warn_bytes --unset");
    t.env.set("EDITOR", "true");
    t.both("config edit");
    t.run("config show --config redaction.mod=off");
    t.run("config show --config redaction.mode=loose");
    t.env.write(".handover/config.toml", "[redaction]\nmod = \"off\"\n");
    t.run("session list");
    t.run("session list --json");
    t.run("doctor --quiet");
    t.env.write(".handover/config.toml", "[redaction\n");
    t.run("session list");
    t.assert_matches("config");
}

#[test]
fn moving() {
    let mut t = Transcript::new(with_package());
    t.both("data export project.jsonl");
    t.both("data import project.jsonl");
    t.run("data import");
    t.env.write("bad.jsonl", "no header\n");
    t.run("data import bad.jsonl");
    t.run("data import bazinga nosuch.db");
    t.run("data import bazinga bad.jsonl");
    t.both("data copy .handover/store.db backup.db");
    t.both("data reindex");
    t.both("data upgrade");
    t.both("data backup");
    t.both("data redact --dry-run");
    t.run("data copy nosuch.db backup.db");
    t.run("data copy mysql://x backup.db");
    t.assert_matches("moving");
}

#[test]
fn token() {
    let mut t = Transcript::new(project());
    t.run("token list");
    t.both("token create --scope write --name build-server --days 30");
    t.both("token link --scope read");
    t.both("token list");
    let tokens = t.env.run(["token", "list", "--json"]).ok().json();
    let id = tokens["tokens"][0]["id"].as_str().unwrap().to_owned();
    t.both(&format!("token revoke {id}"));
    t.run("token revoke 000000000000");
    t.assert_matches("token");
}

#[test]
fn usage() {
    let mut t = Transcript::new(project());
    t.run("");
    t.run("--json");
    t.both("nosuch");
    t.both("search");
    t.both("package add --nosuch");
    t.assert_matches("usage");
}

#[test]
fn trust() {
    let mut env = project();
    env.trust_nothing();
    let config = "[agents]\nprograms = {claude = \"./wrapper\"}\n[gates]\n\
         commands = [{name = \"lint\", argv = [\"make\", \"lint\"]}]\n";
    env.write(".handover/config.toml", config);
    env.write(".handover/personas/murat.toml", "style = \"short\"\n");
    let mut t = Transcript::new(env);
    t.run("session list");
    t.run("session list --json");
    t.run("trust --list --json");
    t.run("run 1");
    t.run("run 1 --json");
    t.run("trust");
    t.run("trust --json");
    t.run("trust --list");
    t.run("doctor --quiet");
    t.env.write(".handover/config.toml", config.replace("lint", "test"));
    t.run("doctor --quiet");
    t.run("untrust");
    t.run("untrust --json");
    t.run("trust --list");
    t.assert_matches("trust");
}

#[test]
fn every_command_has_an_output_snapshot() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/snapshots");
    let mut commands = String::new();
    for entry in fs_err::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy();
        if name.ends_with(".snap") && !name.starts_with("help") {
            commands.push_str(&fs_err::read_to_string(&path).unwrap());
        }
    }
    let has_snapshot = |command: &str| {
        let start = format!("$ handover {command}");
        commands.lines().any(|line| line == start || line.starts_with(&format!("{start} ")))
    };
    for command in leaf_commands(&empty()) {
        let exempt = EXEMPT.iter().any(|(name, _)| *name == command);
        assert!(
            has_snapshot(&command) != exempt,
            "{command}: add it to a transcript, or exempt it"
        );
    }
}
