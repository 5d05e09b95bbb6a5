//! Notes: learned from a repository, written by hand, searched, and given to agents.

use std::path::{Path, PathBuf};

use handover_testkit::TestEnv;
use serde_json::{Value, json};

use crate::project;

const DECISION: &str =
    "Payments are retried at most twice, with the idempotency key of the gateway.";

fn git(env: &TestEnv, args: &[&str]) {
    env.git("", args);
}

/// A repository with a document and a commit that say something.
fn repository() -> TestEnv {
    let env = project();
    git(&env, &["init", "-q"]);
    env.write(
        "docs/payments.md",
        format!(
            "# Payments\n\n## Retries\n\n{DECISION}\n\n## Colors\n\nButtons of the shop are blue.\n"
        ),
    );
    git(&env, &["add", "docs"]);
    git(
        &env,
        &[
            "commit",
            "-q",
            "-m",
            "Store prices in cents\n\nFloats lost a cent per thousand orders, so every price is an integer now.",
        ],
    );
    env
}

/// Every file below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs_err::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

fn learned(env: &TestEnv, args: &[&str]) -> Vec<Value> {
    let all: Vec<&str> = ["learn"].iter().chain(args).chain(&["--json"]).copied().collect();
    env.run(all).ok().json()["learned"].as_array().unwrap().clone()
}

fn notes(env: &TestEnv, args: &[&str]) -> Vec<Value> {
    let all: Vec<&str> = ["note", "list"].iter().chain(args).chain(&["--json"]).copied().collect();
    env.run(all).ok().json()["notes"].as_array().unwrap().clone()
}

#[test]
fn a_repository_is_learned_once() {
    let env = repository();
    let first = learned(&env, &["docs", "git"]);
    assert_eq!((&first[0]["source"], &first[0]["new"]), (&json!("docs"), &json!(1)));
    assert_eq!((&first[1]["source"], &first[1]["found"]), (&json!("git"), &json!(1)));
    for tally in &first {
        for key in ["found", "new", "changed", "unchanged", "skipped", "redactions"] {
            assert!(tally[key].is_u64(), "{key} of {tally}");
        }
    }
    for tally in learned(&env, &["docs", "git"]) {
        assert_eq!((&tally["new"], &tally["changed"]), (&json!(0), &json!(0)), "{tally}");
        assert_eq!(tally["unchanged"], tally["found"]);
    }
    let docs = notes(&env, &["--kind", "doc"]);
    assert!(docs.iter().any(|note| note["text"].as_str().unwrap().contains(DECISION)));
    let commits = notes(&env, &["--kind", "commit"]);
    assert_eq!(commits.len(), 1);
    for key in ["id", "kind", "origin", "title", "text", "trust", "state", "created_at"] {
        assert!(commits[0][key].is_string(), "{key} of {}", commits[0]);
    }
    // A changed document is read anew.
    env.write("docs/payments.md", "# Payments\n\n## Retries\n\nPayments are never retried.\n");
    git(&env, &["commit", "-q", "-am", "x"]);
    assert_eq!(learned(&env, &["docs"])[0]["changed"], 1);
    let docs = notes(&env, &["--kind", "doc"]);
    assert!(docs.iter().all(|note| !note["text"].as_str().unwrap().contains(DECISION)));
}

#[test]
fn a_preview_stores_nothing() {
    let env = repository();
    let shown = learned(&env, &["docs", "--dry-run"]);
    let texts: Vec<&str> = shown[0]["preview"]
        .as_array()
        .unwrap()
        .iter()
        .map(|note| note["text"].as_str().unwrap())
        .collect();
    assert!(texts.iter().any(|text| text.contains(DECISION)), "{texts:?}");
    assert!(notes(&env, &[]).is_empty());
    assert_eq!(learned(&env, &["docs"])[0]["new"], 1);
}

#[test]
fn secrets_never_reach_a_note() {
    let env = repository();
    let secret = "ghp_0123456789abcdefghijklmnopqrstuvwxyzAB";
    env.write(
        "docs/setup.md",
        format!("# Setup\n\nThe token of the test account is {secret} for now.\n"),
    );
    git(&env, &["add", "docs"]);
    git(&env, &["commit", "-q", "-m", "x"]);
    let docs = learned(&env, &["docs"]);
    assert!(docs[0]["redactions"].as_u64().unwrap() > 0, "{docs:?}");
    let all = serde_json::to_string(&notes(&env, &[])).unwrap();
    assert!(all.contains("test account") && !all.contains(secret), "{all}");
}

#[test]
fn what_is_known_is_in_the_brief() {
    let env = repository();
    learned(&env, &["docs", "git"]);
    let task = "Retry payments that fail at the gateway";
    let brief = env.run(["brief", "--role", "developer", "--task", task, "--json"]).ok().json();
    assert!(brief["text"].as_str().unwrap().contains(DECISION), "{}", brief["text"]);
    let note = &brief["notes"][0];
    for key in ["id", "kind", "origin", "text", "trust", "state"] {
        assert!(note[key].is_string(), "{key} of {note}");
    }
    assert!(note["tokens"].is_u64() && note["score"].is_f64());
    let receipt = brief["receipt"].as_str().unwrap();
    let kept = env.run(["receipt", "show", receipt, "--json"]).ok().json();
    let items = kept["receipt"]["items"].as_array().unwrap();
    assert!(items.iter().any(|item| item["kind"] == "note" && item["id"] == note["id"]));
    let context = env
        .run(["assemble", "--role", "developer", "--task", task, "--explain", "--json"])
        .ok()
        .json();
    assert!(context["markdown"].as_str().unwrap().contains("### What is already known ("));
    let explained = context["candidates"].as_array().unwrap();
    assert!(explained.iter().any(|c| c["kind"] == "note" && c["included"] == true));
    let off =
        ["brief", "--role", "developer", "--task", task, "--config", "brief.notes=false", "--json"];
    assert_eq!(env.run(off).ok().json()["notes"], json!([]));
}

#[test]
fn notes_are_written_retired_and_restored() {
    let env = project();
    let added = env.run(["note", "add", "Prices are cents", "--json"]).ok().json()["note"].clone();
    assert_eq!((&added["kind"], &added["state"]), (&json!("manual"), &json!("live")));
    // Nobody sits at a terminal here.
    assert_eq!(added["trust"], "agent");
    let id = added["id"].as_str().unwrap();
    let end = &id[id.len() - 6..];
    let retired =
        env.run(["note", "retire", end, "--reason", "wrong", "--json"]).ok().json()["note"].clone();
    assert_eq!((&retired["state"], &retired["reason"]), (&json!("retired"), &json!("wrong")));
    assert_eq!(notes(&env, &["--state", "retired"]).len(), 1);
    assert!(notes(&env, &["--state", "live"]).is_empty());
    let found = env.run(["search", "cents", "--json"]).ok().json();
    assert_eq!(found["results"], json!([]));
    assert_eq!(env.run(["note", "restore", id, "--json"]).ok().json()["note"]["state"], "live");
    assert_eq!(
        env.run(["note", "show", end, "--json"]).ok().json()["note"]["text"],
        "Prices are cents"
    );
    env.run(["note", "confirm", end, "--json"]).fails(2).error();
    env.run(["note", "show", "abc", "--json"]).fails(2).error();
    env.run(["note", "show", "nosuchnote", "--json"]).fails(2).error();
    env.run(["note", "add", &"x ".repeat(900), "--json"]).fails(2).error();
}

#[test]
fn purging_and_forgetting_erase_the_text() {
    let env = repository();
    learned(&env, &["docs"]);
    let task = "Retry payments that fail at the gateway";
    let brief = env.run(["brief", "--role", "developer", "--task", task, "--json"]).ok().json();
    let (id, receipt) =
        (brief["notes"][0]["id"].as_str().unwrap(), brief["receipt"].as_str().unwrap());
    env.run(["doctor"]).ok();
    let purged = env.run(["note", "purge", id, "--json"]).ok().json()["note"].clone();
    assert_eq!((&purged["text"], &purged["state"]), (&json!(""), &json!("retired")));
    assert!(purged["hash"].as_str().unwrap().len() > 20);
    let kept = env.run(["receipt", "show", receipt, "--json"]).ok().stdout;
    assert!(!kept.contains(DECISION));
    // Neither the store nor its last good copy has a trace of it.
    for file in files(&env.path(".handover")) {
        let bytes = fs_err::read(&file).unwrap();
        let traces = bytes.windows(DECISION.len()).any(|part| part == DECISION.as_bytes());
        assert!(!traces, "{}", file.display());
    }
    env.run(["note", "restore", id, "--json"]).fails(2).error();
    // It is not learned again, even if everything is read anew.
    env.write("docs/payments.md", format!("# Payments\n\n## Retries\n\n{DECISION}\n"));
    git(&env, &["commit", "-q", "-am", "x"]);
    learned(&env, &["docs"]);
    assert!(notes(&env, &["--state", "live"]).iter().all(|note| note["text"] != DECISION));
    let forgotten = env.run(["learn", "--forget", "docs", "--json"]).ok().json();
    assert_eq!(forgotten["forgotten"]["source"], "docs");
    assert!(notes(&env, &[]).is_empty());
    env.run(["learn", "--forget", "nothing.md", "--json"]).fails(1).error();
}

#[test]
fn search_covers_everything() {
    let env = repository();
    learned(&env, &["docs", "git"]);
    env.run(["note", "add", "The café of the office opens at nine"]).ok();
    env.write(
        "a.md",
        "---\ntype: research\n---\n# Gateway\n\n## Summary\nThe gateway answers slowly.\n",
    );
    env.run(["package", "add", "a.md"]).ok();
    env.run([
        "reasoning",
        "add",
        "--role",
        "developer",
        "--phase",
        "decisions",
        "The gateway gets a queue",
    ])
    .ok();
    env.run(["error", "resolve", "--message", "gateway closed", "--solution", "open it"]).ok();
    let search = |args: &[&str]| {
        let all: Vec<&str> = ["search"].iter().chain(args).chain(&["--json"]).copied().collect();
        env.run(all).ok().json()["results"].as_array().unwrap().clone()
    };
    let types = |found: &[Value]| {
        let mut types: Vec<String> =
            found.iter().map(|hit| hit["type"].as_str().unwrap().to_owned()).collect();
        types.sort();
        types.dedup();
        types
    };
    let all = search(&["gateway"]);
    assert_eq!(types(&all), ["error", "note", "package", "reasoning"]);
    for hit in &all {
        for key in ["type", "id", "session", "path", "origin", "score", "snippet"] {
            assert!(hit.get(key).is_some(), "{key} of {hit}");
        }
    }
    assert_eq!(search(&["cafe"])[0]["snippet"], "The café of the office opens at nine");
    // A mistyped word is forgiven, and the answer says so.
    let mistyped = env.run(["search", "ofifce", "--json"]).ok().json();
    assert_eq!(mistyped["results"][0]["snippet"], "The café of the office opens at nine");
    assert_eq!(mistyped["assumed"], json!([{"word": "ofifce", "meant": ["office"]}]));
    let shown = env.run(["search", "ofifce"]).ok();
    assert!(shown.stderr.contains("Nothing has `ofifce`; searched for office."), "{shown}");
    assert_eq!(env.run(["search", "office", "--json"]).ok().json()["assumed"], json!([]));
    assert_eq!(types(&search(&["gateway", "--type", "note"])), ["note"]);
    assert_eq!(types(&search(&["gateway", "--kind", "research"])), ["package"]);
    assert_eq!(search(&["gateway", "--since", "2999-01-01"]), [Value::Null; 0]);
    // Another session finds it, too; the variable does not narrow, the flag does.
    env.run(["session", "new", "other"]).ok();
    assert_eq!(types(&search(&["gateway"])).len(), 4);
    assert!(search(&["gateway", "--session", "other"]).is_empty());
    env.run(["search", "x", "--type", "verdict"]).fails(2);
    env.run(["search", "x", "--since", "yesterday"]).fails(2);
}

#[test]
fn sources_can_be_switched_off() {
    let env = repository();
    let named: Vec<Value> =
        learned(&env, &["--config", "learn.git=false", "--config", "learn.transcripts=false"])
            .iter()
            .map(|tally| tally["source"].clone())
            .collect();
    assert_eq!(named, [json!("docs"), json!("memories")]);
    env.run(["learn", "--path", "docs"]).fails(2);
    env.run(["learn", "docs", "--path", "nowhere"]).fails(2);
    let only = learned(&env, &["docs", "--path", "docs/payments.md"]);
    assert_eq!(only[0]["found"], 1);
}

/// Ids and hashes of the notes of a project.
fn identities(env: &TestEnv, folder: &str) -> Vec<(String, String)> {
    let listed = env.run_in(folder, ["note", "list", "--json"]).ok().json();
    let text = |note: &Value, key: &str| note[key].as_str().unwrap().to_owned();
    let notes = listed["notes"].as_array().unwrap();
    let mut all: Vec<_> = notes.iter().map(|note| (text(note, "id"), text(note, "hash"))).collect();
    all.sort();
    all
}

#[test]
fn a_clone_a_worktree_and_another_machine_learn_the_same() {
    let env = repository();
    env.write("docs/deep/queue.md", "# Queue\n\nJobs of the queue are kept for thirty days and deleted after that, because the auditors ask for a month.\n");
    git(&env, &["add", "docs"]);
    git(
        &env,
        &["commit", "-q", "-m", "Keep jobs for thirty days\n\nThe auditors ask for a month."],
    );
    // A worktree uses the store of its main checkout.
    git(&env, &["worktree", "add", "-q", "../tree"]);
    env.run_in("../tree", ["learn", "docs", "git", "--json"]).ok();
    let of_worktree = identities(&env, "../tree");
    assert_eq!(of_worktree.len(), 4, "{of_worktree:?}");
    assert_eq!(identities(&env, ""), of_worktree);
    let again = learned(&env, &["docs", "git"]);
    assert!(again.iter().all(|tally| tally["new"] == 0 && tally["changed"] == 0), "{again:?}");
    // A clone elsewhere, below its root, by another user with another home.
    let source = format!("file://{}", env.path("").display());
    let mut other = crate::empty();
    other.set("TZ", "Asia/Tokyo");
    other.set("LANG", "C");
    other.git("", &["clone", "-q", &source, "clone"]);
    other.run_in("clone", ["init"]).ok();
    other.run_in("clone/docs/deep", ["learn", "docs", "git"]).ok();
    assert_eq!(identities(&other, "clone"), of_worktree);
    // The index of files is there, too.
    let found = other.run_in("clone", ["where", "thirty days in the queue", "--json"]).ok().json();
    assert_eq!(found["places"][0]["path"], "docs/deep/queue.md", "{found}");
}

#[test]
fn purging_reaches_receipts_that_wait_in_the_spool() {
    let env = repository();
    learned(&env, &["docs"]);
    let task = "Retry payments that fail at the gateway";
    let brief = env.run(["brief", "--role", "developer", "--task", task, "--json"]).ok().json();
    let (id, receipt) =
        (brief["notes"][0]["id"].as_str().unwrap(), brief["receipt"].as_str().unwrap());
    // As if the store had been locked: the receipt waits in a file, under another name.
    let mut kept = env.run(["receipt", "show", receipt, "--json"]).ok().json()["receipt"].clone();
    assert!(kept["text"].as_str().unwrap().contains(DECISION));
    kept["id"] = json!("r_spooled");
    env.write(".handover/spool/r_spooled.json", kept.to_string());
    env.run(["note", "purge", id]).ok();
    for file in files(&env.path(".handover")) {
        let bytes = fs_err::read(&file).unwrap();
        let traces = bytes.windows(DECISION.len()).any(|part| part == DECISION.as_bytes());
        assert!(!traces, "{}", file.display());
    }
    // It is still a receipt, and gets into the store.
    env.run(["doctor"]).ok();
    let late = env.run(["receipt", "show", "r_spooled", "--json"]).ok().json();
    assert!(late["receipt"]["text"].as_str().unwrap().contains("erased"), "{late}");
    assert_eq!(late["receipt"]["items"][0]["id"], id);
}

#[test]
fn what_an_agent_program_loads_by_itself_is_not_repeated() {
    let env = repository();
    env.write("CLAUDE.md", format!("# Shop\n\n## Retries\n\n{DECISION}\n"));
    fs_err::remove_file(env.path("docs/payments.md")).unwrap();
    git(&env, &["add", "--all"]);
    learned(&env, &["docs"]);
    let task = "Retry payments that fail at the gateway";
    let brief = env.run(["brief", "--role", "developer", "--task", task]).ok().stdout;
    assert!(brief.contains(DECISION), "{brief}");
    let input = json!({"description": "d", "prompt": task, "subagent_type": "developer"});
    let event = json!({
        "session_id": "c-1", "cwd": env.path(""), "hook_event_name": "PreToolUse",
        "transcript_path": env.path("lead.jsonl"), "tool_name": "Agent", "tool_input": input,
    });
    let answer = env.run_with(event.to_string(), ["hook", "claude"]).ok().stdout;
    assert!(answer.contains("handover:receipt") && !answer.contains(DECISION), "{answer}");
}

/// A conversation of Claude Code about this project.
fn conversation(env: &TestEnv, name: &str, said: &str) -> PathBuf {
    let root = fs_err::canonicalize(env.path("")).unwrap();
    let slug: String = root
        .to_string_lossy()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    let file = env.folder().join("home/.claude/projects").join(slug).join(format!("{name}.jsonl"));
    fs_err::create_dir_all(file.parent().unwrap()).unwrap();
    let line = |number: u32, kind: &str, content: Value| {
        json!({
            "type": kind, "message": {"role": kind, "content": content}, "cwd": root,
            "sessionId": name, "uuid": format!("{name}-{number}"), "parentUuid": null,
            "isSidechain": false, "version": "2.1.197", "userType": "external",
            "timestamp": format!("2026-03-01T10:0{number}:00.000Z"),
        })
        .to_string()
    };
    let text = [
        line(0, "user", json!(said)),
        line(1, "assistant", json!([{"type": "text", "text": "Understood, I will do that."}])),
    ];
    fs_err::write(&file, text.join("\n") + "\n").unwrap();
    file
}

const SAID: &str =
    "We decided to keep audit logs for ninety days, never longer, because the law asks for it.";

#[test]
fn one_conversation_or_all_can_be_forgotten() {
    let env = repository();
    conversation(&env, "one", SAID);
    conversation(
        &env,
        "two",
        "We decided that invoices are immutable; a correction is a new invoice.",
    );
    learned(&env, &["transcripts", "docs"]);
    let talks = notes(&env, &["--kind", "conversation"]);
    assert_eq!(talks.len(), 2, "{talks:?}");
    let of_one =
        talks.iter().find(|note| note["text"].as_str().unwrap().contains("audit")).unwrap();
    let unit = of_one["source"].as_str().unwrap();
    let gone = env.run(["learn", "--forget", unit, "--json"]).ok().json();
    assert_eq!(gone["forgotten"]["notes"], 1);
    let left = notes(&env, &["--kind", "conversation"]);
    assert_eq!(left.len(), 1);
    for file in files(&env.path(".handover")) {
        let bytes = fs_err::read(&file).unwrap();
        assert!(
            !bytes.windows(20).any(|part| part == &SAID.as_bytes()[..20]),
            "{}",
            file.display()
        );
    }
    // Forgotten is not purged: it can be learned again.
    learned(&env, &["transcripts"]);
    assert_eq!(notes(&env, &["--kind", "conversation"]).len(), 2);
    env.run(["learn", "--forget", "transcripts"]).ok();
    assert!(notes(&env, &["--kind", "conversation"]).is_empty());
    assert!(!notes(&env, &["--kind", "doc"]).is_empty());
}

#[test]
fn what_an_agent_committed_is_marked() {
    let env = repository();
    let message = "Retry payments at most twice\n\nThe bank counts attempts.\n\nCo-Authored-By: Claude <noreply@anthropic.com>";
    git(&env, &["commit", "-q", "--allow-empty", "-m", message]);
    learned(&env, &["git"]);
    let trust = |title: &str| {
        let all = notes(&env, &["--kind", "commit"]);
        all.iter().find(|note| note["title"] == title).unwrap()["trust"].clone()
    };
    assert_eq!(trust("Retry payments at most twice"), "agent");
    assert_eq!(trust("Store prices in cents"), "project");
}

/// Commits what was added, at a time.
fn commit_at(env: &TestEnv, time: &str) {
    let mut git = env.tool("git");
    git.args(["-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-q", "-m", "x"]);
    git.env("GIT_AUTHOR_DATE", time).env("GIT_COMMITTER_DATE", time);
    assert!(git.status().unwrap().success());
}

#[test]
fn what_is_said_twice_counts_once() {
    let env = repository();
    let long = "The gateway retries a payment at most twice, because the bank counts every attempt as a new one.";
    env.write("docs/a.md", format!("# A\n\n{long}\n"));
    git(&env, &["add", "docs"]);
    commit_at(&env, "2026-01-01T00:00:00Z");
    env.write(
        "docs/b.md",
        format!("# B\n\n{}\n", long.replace("at most twice", "at most twice now")),
    );
    git(&env, &["add", "docs"]);
    commit_at(&env, "2026-02-01T00:00:00Z");
    learned(&env, &["docs"]);
    let of = |file: &str| {
        let all = notes(&env, &["--kind", "doc"]);
        all.iter().find(|note| note["source"] == file).cloned().unwrap()
    };
    let (older, newer) = (of("docs/a.md"), of("docs/b.md"));
    assert_eq!((&older["state"], &newer["state"]), (&json!("amended"), &json!("live")));
    let reason = format!("repeated by {}", newer["id"].as_str().unwrap());
    assert_eq!(older["reason"], reason.as_str());
    // Once the newer one is gone, the older one counts again.
    git(&env, &["rm", "-q", "docs/b.md"]);
    env.write("docs/c.md", "# C\n\nA document about something else that nobody has said before.\n");
    git(&env, &["add", "docs"]);
    git(&env, &["commit", "-q", "-m", "z"]);
    learned(&env, &["docs"]);
    assert_eq!(of("docs/a.md")["state"], "live");
}
