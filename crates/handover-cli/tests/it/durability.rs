//! Stores that are locked, cannot be written, or lose a file: what is read, what is kept, what is said.

use std::time::{Duration, Instant};

use handover_testkit::{Disk, Lock, TestEnv, power_failures};
use serde_json::{Value, json};

use crate::project;

const SUMMARY: &str = "Refresh tokens rotate after a grace period";

fn with_package() -> TestEnv {
    let env = project();
    env.write("docs/oauth.md", format!("# OAuth\n## Summary\n{SUMMARY}.\n"));
    env.run(["package", "add", "docs/oauth.md", "--kind", "research", "--priority", "critical"])
        .ok();
    env
}

fn spooled(env: &TestEnv) -> usize {
    fs_err::read_dir(env.path(".handover/spool")).map_or(0, Iterator::count)
}

fn receipt_state(env: &TestEnv, receipt: &str) -> Value {
    let shown = env.run(["receipt", "show", receipt, "--json"]).ok().json();
    shown["receipt"]["state"].clone()
}

#[test]
fn a_locked_store_gives_the_whole_context() {
    let env = with_package();
    let lock = Lock::take(&env);
    let mut receipts = Vec::new();
    for deliver in [&[][..], &["--deliver"]] {
        let args = [&["assemble", "--role", "developer", "--json"], deliver].concat();
        let output = env.run(args).ok();
        let document = output.json();
        assert!(document["markdown"].as_str().unwrap().contains(SUMMARY), "{document}");
        assert!(
            output.stderr.contains("holds the store's lock") && output.stderr.contains("spool"),
            "{output}"
        );
        receipts.push(document["receipt"].as_str().unwrap().to_owned());
    }
    assert_eq!(spooled(&env), 2);
    lock.release();
    env.run(["doctor"]).ok();
    assert_eq!(spooled(&env), 0);
    assert_eq!(receipt_state(&env, &receipts[0]), "assembled");
    assert_eq!(receipt_state(&env, &receipts[1]), "delivered");
}

#[test]
fn a_locked_store_gives_the_whole_brief() {
    let env = with_package();
    let lock = Lock::take(&env);
    let brief = |extra: &[&str]| {
        let args = ["brief", "--role", "developer", "--task", "Refresh tokens", "--json"];
        env.run([&args[..], extra].concat()).ok().json()
    };
    let (draft, delivered) = (brief(&[]), brief(&["--deliver"]));
    for document in [&draft, &delivered] {
        assert!(document["text"].as_str().unwrap().contains(SUMMARY), "{document}");
        assert_eq!(document["provided"]["context"]["state"], "present", "{document}");
    }
    lock.release();
    env.run(["doctor"]).ok();
    assert_eq!(receipt_state(&env, draft["receipt"].as_str().unwrap()), "assembled");
    assert_eq!(receipt_state(&env, delivered["receipt"].as_str().unwrap()), "delivered");
}

fn spawn_event(env: &TestEnv) -> String {
    let input = json!({"description": "d", "prompt": "Refresh tokens", "subagent_type": "worker"});
    json!({
        "session_id": "c-1", "cwd": env.path(""), "hook_event_name": "PreToolUse",
        "transcript_path": env.path("lead.jsonl"), "tool_name": "Agent", "tool_input": input,
    })
    .to_string()
}

#[test]
fn a_locked_store_gives_a_subagent_its_whole_brief() {
    let env = with_package();
    let lock = Lock::take(&env);
    let started = Instant::now();
    let output = env.run_with(spawn_event(&env), ["hook", "claude"]).ok();
    let took = started.elapsed();
    assert!(took < Duration::from_secs(1), "{took:?}");
    let answer: Value = serde_json::from_str(output.stdout.trim()).unwrap();
    let prompt = answer["hookSpecificOutput"]["updatedInput"]["prompt"].as_str().unwrap();
    assert!(prompt.contains(SUMMARY), "{prompt}");
    let notice = answer["systemMessage"].as_str().unwrap();
    assert_eq!(
        notice,
        "handover: another process holds the store's lock; this subagent has its brief, its receipt is stored later"
    );
    // The subagent has its brief, and gets no second one.
    let started = json!({
        "session_id": "c-1", "cwd": env.path(""), "hook_event_name": "SubagentStart",
        "agent_id": "a1", "agent_type": "worker",
    });
    let output = env.run_with(started.to_string(), ["hook", "claude"]).ok();
    assert_eq!(output.stdout, "");
    lock.release();
    assert_eq!(spooled(&env), 1);
    env.run(["doctor"]).fails(1);
    assert_eq!(spooled(&env), 0);
}

#[test]
fn a_disk_that_cannot_be_written_gives_the_whole_context() {
    for disk in [Disk::ReadOnly, Disk::Full] {
        let env = with_package();
        for rest in [&[][..], &["store.db-wal", "store.db-shm"]] {
            for file in rest {
                let _ = fs_err::remove_file(env.path(".handover").join(file));
            }
            let output = env.run_on(disk, "", ["assemble", "--role", "developer", "--json"]).ok();
            let document = output.json();
            assert!(
                document["markdown"].as_str().unwrap().contains(SUMMARY),
                "{disk:?} without {rest:?}: {output}"
            );
            assert!(output.stderr.contains("not recorded anywhere"), "{disk:?}: {output}");
            let list = env.run_on(disk, "", ["package", "list", "--json"]).ok().json();
            assert_eq!(list["packages"].as_array().unwrap().len(), 1, "{disk:?} {rest:?}");
        }
    }
}

#[test]
fn deleting_the_log_of_an_idle_store_loses_nothing() {
    let env = with_package();
    env.run(["reasoning", "add", "--role", "developer", "--phase", "risks", "Two clocks"]).ok();
    for file in ["store.db-wal", "store.db-shm"] {
        let _ = fs_err::remove_file(env.path(".handover").join(file));
    }
    let counts = env.run(["session", "show", "--json"]).ok().json()["session"]["counts"].clone();
    assert_eq!((&counts["packages"], &counts["reasoning"]), (&json!(1), &json!(1)));
    env.run(["doctor"]).ok();
}

#[test]
fn a_flipped_bit_in_the_log_of_an_idle_store_loses_nothing() {
    let env = with_package();
    for n in 0..5 {
        let thought = format!("thought {n}");
        env.run(["reasoning", "add", "--role", "developer", "--phase", "risks", &thought]).ok();
    }
    let log = env.path(".handover/store.db-wal");
    let mut bytes = fs_err::read(&log).unwrap_or_default();
    let middle = bytes.len() / 2;
    if let Some(byte) = bytes.get_mut(middle) {
        *byte ^= 1;
        fs_err::write(&log, bytes).unwrap();
    }
    let counts = env.run(["session", "show", "--json"]).ok().json()["session"]["counts"].clone();
    assert_eq!((&counts["packages"], &counts["reasoning"]), (&json!(1), &json!(5)));
}

/// The result of one check of `handover doctor`.
fn check(doctor: &Value, name: &str) -> Value {
    let checks = doctor["checks"].as_array().unwrap();
    checks.iter().find(|check| check["name"] == name).cloned().unwrap_or_default()
}

#[test]
fn doctor_sees_a_disk_that_cannot_be_written() {
    let env = with_package();
    for disk in [Disk::ReadOnly, Disk::Full] {
        let doctor = env.run_on(disk, "", ["doctor", "--json"]).fails(1).json();
        let writing = check(&doctor, "writing");
        assert_eq!(writing["ok"], false, "{disk:?}: {doctor}");
        assert!(!writing["fix"].is_null(), "{writing}");
        // It can be read, and it is in order.
        assert_eq!(check(&doctor, "store integrity")["ok"], true, "{disk:?}: {doctor}");
    }
    let doctor = env.run(["doctor", "--json"]).ok().json();
    assert_eq!(check(&doctor, "writing")["ok"], true, "{doctor}");
    let left: Vec<_> = fs_err::read_dir(env.path(".handover")).unwrap().flatten().collect();
    assert!(!left.iter().any(|entry| entry.file_name().to_string_lossy().contains("doctor")));
}

#[test]
fn doctor_sees_weakened_protection() {
    let mut env = with_package();
    let protection = |env: &TestEnv| check(&env.run(["doctor", "--json"]).json(), "protection");
    assert_eq!(protection(&env)["ok"], true);
    // In the user's own file it is a decision, in the project's a finding.
    env.write("../home/.config/handover/config.toml", "[guard]\nmode = \"warn\"\n");
    let own = protection(&env);
    assert_eq!(own["ok"], true, "{own}");
    assert!(own["detail"].as_str().unwrap().contains("guard.mode = warn"), "{own}");
    env.set("HANDOVER_REDACTION_MODE", "off");
    let weak = protection(&env);
    assert_eq!(weak["ok"], false, "{weak}");
    assert!(weak["detail"].as_str().unwrap().contains("redaction.mode = off"), "{weak}");
}

/// Copies the store while a reader keeps its log, as a machine that crashed leaves it.
fn with_log() -> TestEnv {
    let env = with_package();
    #[expect(clippy::disallowed_methods, reason = "the test plays another program")]
    let reader = rusqlite::Connection::open(env.path(".handover/store.db")).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM session").unwrap();
    for n in 0..8 {
        let thought = format!("thought {n}");
        env.run(["reasoning", "add", "--role", "developer", "--phase", "risks", &thought]).ok();
    }
    for end in ["", "-wal", "-shm"] {
        fs_err::copy(
            env.path(&format!(".handover/store.db{end}")),
            env.path(&format!("copy.db{end}")),
        )
        .unwrap();
    }
    drop(reader);
    for end in ["", "-wal", "-shm"] {
        let _ = fs_err::remove_file(env.path(&format!(".handover/store.db{end}")));
        fs_err::rename(
            env.path(&format!("copy.db{end}")),
            env.path(&format!(".handover/store.db{end}")),
        )
        .unwrap();
    }
    env
}

fn thoughts(env: &TestEnv) -> usize {
    let list = env.run(["reasoning", "list", "--json"]).ok().json();
    list["reasoning"].as_array().unwrap().len()
}

#[test]
fn a_damaged_log_is_found_and_its_readable_records_are_restored() {
    let env = with_log();
    let log = env.path(".handover/store.db-wal");
    let mut bytes = fs_err::read(&log).unwrap();
    // A byte of the content of an early page: whatever follows is unreadable to SQLite.
    let at = 32 + 24 + 4096 - 10;
    bytes[at] ^= 0x40;
    fs_err::write(&log, &bytes).unwrap();
    let found = env.run(["doctor", "--json"]).fails(1).json();
    assert_eq!(check(&found, "store log")["ok"], false, "{found}");
    let doctor = env.run(["doctor", "--json", "--fix"]).json();
    assert!(check(&doctor, "fix")["detail"].as_str().unwrap().starts_with("restored"), "{doctor}");
    assert_eq!(check(&doctor, "store log")["ok"], true, "{doctor}");
    assert_eq!(thoughts(&env), 8);
    env.run(["doctor"]).ok();
}

#[test]
fn a_missing_or_cut_log_is_found() {
    for cut in [true, false] {
        let env = with_log();
        let log = env.path(".handover/store.db-wal");
        let bytes = fs_err::read(&log).unwrap();
        match cut {
            true => fs_err::write(&log, &bytes[..bytes.len() / 2]).unwrap(),
            false => fs_err::remove_file(&log).unwrap(),
        }
        let doctor = env.run(["doctor", "--json"]).fails(1).json();
        assert_eq!(check(&doctor, "store log")["ok"], false, "{doctor}");
    }
}

/// Where a text stands in the store's file.
fn position(env: &TestEnv, text: &str) -> usize {
    // Ours is there already; other versions may leave it in the log.
    #[expect(clippy::disallowed_methods, reason = "the test plays another program")]
    let other = rusqlite::Connection::open(env.path(".handover/store.db")).unwrap();
    let _ = other.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
    drop(other);
    let bytes = fs_err::read(env.path(".handover/store.db")).unwrap();
    bytes.windows(text.len()).rposition(|part| part == text.as_bytes()).unwrap()
}

fn flip(env: &TestEnv, at: usize) {
    let path = env.path(".handover/store.db");
    let mut bytes = fs_err::read(&path).unwrap();
    bytes[at] ^= 1;
    fs_err::write(path, bytes).unwrap();
}

#[test]
fn a_flipped_bit_in_a_record_is_an_error_and_never_an_answer() {
    let env = with_package();
    let thought = "a thought that is long enough to be found";
    env.run(["reasoning", "add", "--role", "developer", "--phase", "risks", thought]).ok();
    env.run(["reasoning", "add", "--role", "developer", "--phase", "risks", "another one"]).ok();
    env.run(["doctor"]).ok();
    flip(&env, position(&env, thought) + 5);
    let error = env.run(["reasoning", "list", "--json"]).fails(5).error();
    assert_eq!(error["code"], "store_damaged", "{error}");
    assert!(error["hint"].as_str().unwrap().contains("doctor --fix"), "{error}");
    let doctor = env.run(["doctor", "--json"]).fails(1).json();
    assert!(check(&doctor, "store records")["detail"].as_str().unwrap().contains("reasoning 1"));
    // The last good copy has it.
    let doctor = env.run(["doctor", "--json", "--fix"]).ok().json();
    let fixed = check(&doctor, "fix")["detail"].as_str().unwrap().to_owned();
    assert!(fixed.contains("1 of them from the last good copy"), "{fixed}");
    let list = env.run(["reasoning", "list", "--json"]).ok().json();
    let texts: Vec<&str> = list["reasoning"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| r["content"].as_str().unwrap())
        .collect();
    assert_eq!(texts, ["another one", thought]);
    assert_eq!(
        env.run(["search", "grace period", "--json"]).ok().json()["results"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

#[test]
fn flipped_bits_anywhere_are_errors_or_change_nothing() {
    let env = with_package();
    for n in 0..3 {
        let thought = format!("thought {n} {}", "with some more words ".repeat(9));
        env.run(["reasoning", "add", "--role", "developer", "--phase", "risks", &thought]).ok();
    }
    let reads: [&[&str]; 4] = [
        &["reasoning", "list", "--json"],
        &["package", "list", "--json"],
        &["package", "show", "1", "--json"],
        &["session", "show", "--json"],
    ];
    let answers = |env: &TestEnv| reads.map(|args| env.run(args));
    let good: Vec<String> = answers(&env).iter().map(|output| output.stdout.clone()).collect();
    let path = env.path(".handover/store.db");
    let whole = fs_err::read(&path).unwrap();
    // Where records are: pages with much that is not zero.
    let full: Vec<usize> = (1..whole.len() / 4096)
        .filter(|page| whole[page * 4096..][..4096].iter().filter(|byte| **byte != 0).count() > 400)
        .collect();
    for n in 0..40_usize {
        let page = full[n * 7 % full.len()];
        let used: Vec<usize> =
            (page * 4096..(page + 1) * 4096).filter(|at| whole[*at] != 0).collect();
        let mut bytes = whole.clone();
        bytes[used[n * 7919 % used.len()]] ^= 1 << (n % 8);
        fs_err::write(&path, bytes).unwrap();
        for end in ["-wal", "-shm"] {
            let _ = fs_err::remove_file(env.path(&format!(".handover/store.db{end}")));
        }
        for (output, good) in answers(&env).iter().zip(&good) {
            if output.code != Some(0) || output.stdout == *good {
                continue;
            }
            // A record that cannot be found is missing, which doctor sees. What is found is as it was.
            let good = serde_json::from_str(good).unwrap();
            assert!(is_part_of(&output.json(), &good, ""), "flip {n} in page {page}: {output}");
            assert_eq!(env.run(["doctor"]).code, Some(1), "flip {n} in page {page}: {output}");
        }
    }
}

/// Whether an answer has nothing that another one has not: the same values, in lists that may lack some of them. Of
/// records there may be fewer, but not more.
fn is_part_of(answer: &Value, whole: &Value, key: &str) -> bool {
    match (answer, whole) {
        (Value::Object(answer), Value::Object(whole)) => {
            let is_part = |key: &String| is_part_of(&answer[key], &whole[key], key);
            answer.keys().eq(whole.keys()) && answer.keys().all(is_part)
        }
        (Value::Array(answer), Value::Array(whole)) => {
            answer.iter().all(|item| whole.iter().any(|other| is_part_of(item, other, key)))
        }
        (Value::Number(answer), Value::Number(whole)) if COUNTED.contains(&key) => {
            answer.as_u64() <= whole.as_u64()
        }
        (answer, whole) => answer == whole,
    }
}

/// Numbers of records, in `session show`.
const COUNTED: [&str; 7] =
    ["groups", "packages", "package_versions", "reasoning", "skill_outputs", "events", "receipts"];

#[test]
fn a_lost_store_comes_back_from_its_copy() {
    let env = with_package();
    env.run(["store", "backup"]).ok();
    for file in ["store.db", "store.db-wal", "store.db-shm"] {
        let _ = fs_err::remove_file(env.path(".handover").join(file));
    }
    let doctor = env.run(["doctor", "--fix", "--json"]).ok().json();
    assert!(
        check(&doctor, "fix")["detail"].as_str().unwrap().contains("last good copy"),
        "{doctor}"
    );
    let list = env.run(["package", "list", "--json"]).ok().json();
    assert_eq!(list["packages"].as_array().unwrap().len(), 1);
}

#[test]
fn half_a_store_keeps_what_can_be_read() {
    let env = with_package();
    for n in 0..60 {
        env.write(
            &format!("docs/{n}.md"),
            format!("# Page {n}\n## Summary\nFact {n}.\n{}", "text ".repeat(300)),
        );
    }
    for n in 0..60 {
        env.run(["package", "add", &format!("docs/{n}.md"), "--kind", "research"]).ok();
    }
    let path = env.path(".handover/store.db");
    let whole = fs_err::read(&path).unwrap();
    fs_err::write(&path, &whole[..whole.len() / 2 / 4096 * 4096]).unwrap();
    let doctor = env.run(["doctor", "--fix", "--json"]).json();
    let fixed = check(&doctor, "fix");
    assert_eq!(fixed["ok"], true, "{doctor}");
    for part in ["store integrity", "store records", "store references", "store text index"] {
        assert_eq!(check(&doctor, part)["ok"], true, "{doctor}");
    }
    let aside = fs_err::read_dir(env.path(".handover/backup")).unwrap().flatten();
    let aside = aside.map(|entry| entry.path()).find(|path| path.is_dir()).unwrap();
    let kept = fs_err::read(aside.join("store.db")).unwrap();
    assert_eq!(kept.len(), whole.len() / 2 / 4096 * 4096);
}

#[test]
fn a_damaged_store_does_not_replace_its_good_copy() {
    let env = with_package();
    env.run(["store", "backup"]).ok();
    let copy = env.path(".handover/backup/store.db");
    let good = fs_err::read(&copy).unwrap();
    flip(&env, position(&env, SUMMARY) + 3);
    let error = env.run(["store", "backup", "--json"]).fails(5).error();
    assert_eq!(error["code"], "store_damaged", "{error}");
    assert_eq!(fs_err::read(&copy).unwrap(), good);
    let left = fs_err::read_dir(env.path(".handover/backup")).unwrap().count();
    assert_eq!(left, 1);
}

#[test]
fn a_copy_is_not_written_through_a_link() {
    let env = with_package();
    let elsewhere = env.folder().join("elsewhere");
    fs_err::create_dir_all(&elsewhere).unwrap();
    fs_err::write(elsewhere.join("store.db"), "precious").unwrap();
    std::os::unix::fs::symlink(&elsewhere, env.path(".handover/backup")).unwrap();
    env.run(["store", "backup"]).fails(5);
    env.run(["doctor"]).fails(1);
    assert_eq!(fs_err::read_to_string(elsewhere.join("store.db")).unwrap(), "precious");
}

#[test]
fn a_day_old_copy_is_renewed_by_a_command_that_writes() {
    let env = with_package();
    let copy = env.path(".handover/backup/store.db");
    assert!(!copy.exists(), "a new project has nothing to lose");
    let day = Duration::from_secs(25 * 60 * 60);
    let age = |path: &std::path::Path| {
        let file = std::fs::File::options().append(true).open(path).unwrap();
        file.set_modified(file.metadata().unwrap().modified().unwrap() - day).unwrap();
    };
    age(&env.path(".handover/.gitignore"));
    env.run(["session", "show"]).ok();
    assert!(!copy.exists(), "a command that only reads writes nothing");
    env.run(["group", "set", "P1"]).ok();
    env.run(["session", "new", "s2"]).ok();
    assert!(copy.exists());
    age(&copy);
    let old = fs_err::metadata(&copy).unwrap().modified().unwrap();
    env.run(["session", "new", "s3"]).ok();
    assert!(fs_err::metadata(&copy).unwrap().modified().unwrap() > old + day / 2);
}

#[test]
fn new_rules_apply_to_what_is_stored() {
    redacts(&with_package());
}

#[test]
fn new_rules_apply_to_what_is_stored_in_a_shared_store() {
    redacts(&crate::shared_project());
}

fn redacts(env: &TestEnv) {
    let say = |text: &str| {
        env.run(["reasoning", "add", "--role", "developer", "--phase", "risks", text]).ok();
    };
    say("the codename is Bluebird");
    say("harmless");
    env.run(["error", "record", "--message", "Bluebird failed"]).ok();
    let rule = "[[redaction.rules]]\nname = \"codename\"\npattern = \"Bluebird\"\n";
    env.write("../home/.config/handover/config.toml", rule);
    let dry = env.run(["store", "redact", "--dry-run", "--json"]).ok().json()["redacted"].clone();
    assert_eq!(dry["kinds"]["reasoning"], 1, "{dry}");
    assert_eq!(dry["kinds"]["error_pattern"], 1, "{dry}");
    // The error is kept as a signature and as it was said.
    assert_eq!(dry["rules"]["codename"], 3, "{dry}");
    let listed = |env: &TestEnv| env.run(["reasoning", "list"]).ok().stdout;
    assert!(listed(env).contains("Bluebird"));
    let done = env.run(["store", "redact", "--json"]).ok().json()["redacted"].clone();
    assert_eq!(done["records"], dry["records"]);
    assert!(!listed(env).contains("Bluebird") && listed(env).contains("harmless"));
    assert!(!env.run(["export", "-"]).stdout.contains("Bluebird"));
    let again = env.run(["store", "redact", "--json"]).ok().json();
    assert_eq!(again["redacted"]["records"], 0);
    env.run(["doctor"]).ok();
}

#[test]
fn power_failures_lose_nothing_that_was_promised() {
    power_failures(std::path::Path::new(crate::handover()), 60, 7);
}
