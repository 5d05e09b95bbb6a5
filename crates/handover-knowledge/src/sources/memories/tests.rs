use std::path::PathBuf;

use super::*;
use crate::testing::{Home, Repository, Tables, learn_in};

/// What was learned, as origin, trust and text.
fn learned(
    home: &Home,
    root: &Path,
    paths: &[PathBuf],
) -> (Vec<(String, Trust, String)>, Vec<Skipped>) {
    let (homes, checkouts) = (home.homes(), [root.to_owned()]);
    let context = SourceContext {
        root,
        git: None,
        checkouts: &checkouts,
        homes: &homes,
        paths,
        since: None,
        tables: Some(&Tables),
        stop: &|| false,
    };
    let all = learn_in(&Memories, &context);
    let drafts = all.drafts.into_iter().map(|draft| (draft.origin, draft.trust, draft.text));
    (drafts.collect(), all.skipped)
}

#[test]
fn claudes_memory_of_this_project_is_learned() {
    let home = Home::new();
    let memory = "# Memory\n\n## Tests\n\nRun `cargo nextest`, never `cargo test`, because of the harness.\n";
    home.write(".claude/projects/-home-ada-settings/memory/MEMORY.md", memory);
    home.write(".claude/projects/-home-ada-settings/memory/notes.txt", memory);
    home.write(".claude/projects/-home-ada-other/memory/MEMORY.md", memory);
    let (notes, _) = learned(&home, Path::new("/home/ada/settings"), &[]);
    let [(origin, trust, text)] = notes.as_slice() else { panic!("{notes:?}") };
    assert_eq!((origin.as_str(), *trust), ("claude-memory:MEMORY.md#Tests", Trust::Agent));
    assert!(text.starts_with("Run `cargo nextest`"));
}

#[test]
fn claude_mem_is_known_by_the_name_of_the_folder() {
    let home = Home::new();
    let rows = r#"{"observations":[
        {"id":1,"project":"settings","type":"decision","title":"WAL mode","narrative":"Two processes write.","facts":"[\"one\",\"two\"]","files_modified":"[\"src/db.rs\",\"/abs/x\"]","created_at_epoch":1794940207541},
        {"id":2,"project":"other","title":"Secret of another project","text":"x","created_at_epoch":1}],
        "session_summaries":[{"id":3,"project":"settings","request":"Tune it","learned":"Checkpoints are slow","created_at_epoch":1794940207542}]}"#;
    home.write(".claude-mem/claude-mem.db", rows);
    let (notes, _) = learned(&home, Path::new("/home/ada/settings"), &[]);
    assert_eq!(
        notes,
        [
            (
                "claude-mem:settings#observation-1".to_owned(),
                Trust::Outside,
                "WAL mode\n\nTwo processes write.\n\n- one\n- two".to_owned()
            ),
            (
                "claude-mem:settings#summary-3".to_owned(),
                Trust::Outside,
                "Tune it\n\nCheckpoints are slow".to_owned()
            ),
        ]
    );
}

#[test]
fn issues_and_memories_of_beads_are_learned() {
    let repository = Repository::new();
    let lines = [
        r#"{"id":"bd-1","title":"Cache sessions","description":"Use an LRU in src/lru.rs.","status":"closed","close_reason":"Done in 2000 entries","updated_at":"2026-05-01T10:00:00Z"}"#,
        r#"{"id":"bd-2","title":"Only a title","status":"open"}"#,
        r#"{"id":"bd-3","title":"Deleted","description":"x","status":"tombstone"}"#,
        r#"{"_type":"memory","key":"tests","value":"Tests need a running PostgreSQL"}"#,
        "broken",
    ];
    repository.write(".beads/issues.jsonl", &lines.join("\n"));
    let home = Home::new();
    let (notes, _) = learned(&home, repository.root(), &[]);
    let expected = "Cache sessions\n\nUse an LRU in src/lru.rs.\n\nClosed: Done in 2000 entries";
    assert_eq!(notes[0], ("beads:issues.jsonl#bd-1".to_owned(), Trust::Agent, expected.to_owned()));
    assert_eq!(notes[1].2, "Tests need a running PostgreSQL");
    assert_eq!(notes.len(), 2);
}

#[test]
fn an_export_is_learned_when_asked_for() {
    let home = Home::new();
    let lines = [
        r#"{"handover":"export","version":1,"project":"other"}"#,
        r#"{"kind":"error_pattern","project":"other","hash":"h1","message":"port in use","created_at":1}"#,
        r#"{"kind":"error_solution","project":"other","hash":"h1","solution":"stop the old server","last_used":1794940207541000}"#,
        r#"{"kind":"strategy","id":"s1","insight":"Write the migration first","last_seen":1794940207541000}"#,
        r#"{"kind":"package","id":7,"title":"Auth","summary":"Tokens are signed","created_at":1794940207541000}"#,
        r#"{"kind":"reasoning","id":8,"content":"private thought"}"#,
    ];
    home.write("other.jsonl", &lines.join("\n"));
    home.write("foreign.bin", "x");
    let asked = [home.path("other.jsonl"), home.path("foreign.bin")];
    let (notes, skipped) = learned(&home, Path::new("/home/ada/settings"), &asked);
    let texts: Vec<_> =
        notes.iter().map(|(origin, _, text)| (origin.as_str(), text.as_str())).collect();
    assert_eq!(
        texts,
        [
            ("export:other#error_solution-h1", "Error: port in use\nSolution: stop the old server"),
            ("export:other#strategy-s1", "Write the migration first"),
            ("export:other#package-7", "Auth\n\nTokens are signed"),
        ]
    );
    assert!(notes.iter().all(|(_, trust, _)| *trust == Trust::Outside));
    assert_eq!(skipped, [Skipped { what: "foreign.bin".to_owned(), reason: SkipReason::Foreign }]);
}

#[test]
fn links_out_of_the_checkout_are_not_followed() {
    let repository = Repository::new();
    let elsewhere = Home::new();
    elsewhere.write(
        "issues.jsonl",
        r#"{"id":"bd-1","title":"Secret","description":"of somebody else"}"#,
    );
    repository.write(".beads/x", "");
    std::os::unix::fs::symlink(
        elsewhere.path("issues.jsonl"),
        repository.root().join(".beads/issues.jsonl"),
    )
    .unwrap();
    assert_eq!(learned(&Home::new(), repository.root(), &[]).0, []);
}
