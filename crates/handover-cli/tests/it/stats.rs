//! `handover stats`: totals of what was recorded.

use serde_json::json;

use crate::project;

#[test]
fn counts_everything_once() {
    let env = project();
    env.run(["session", "new", "other", "--project-id", "elsewhere"]).ok();
    env.write("docs/a.md", "# A\n## Summary\nTokens live ten minutes.\n");
    env.write("docs/b.md", "# B\nNobody gets this.\n");
    let in_s1 = |args: &[&str]| env.run(args.iter().chain(&["--session", "s1"])).ok();
    in_s1(&["package", "add", "docs/a.md", "--kind", "research", "--group", "P1"]);
    in_s1(&["package", "add", "docs/b.md", "--kind", "research", "--consumer", "nobody"]);
    in_s1(&["assemble", "--role", "developer", "--group", "P1", "--deliver"]);
    in_s1(&["assemble", "--role", "developer", "--group", "P1"]);
    in_s1(&["error", "resolve", "--message", "boom 7", "--solution", "wait"]);
    in_s1(&["error", "record", "--message", "boom 8"]);
    let stats = env.run(["stats", "--json"]).ok().json()["stats"].clone();
    assert_eq!(stats["sessions"], json!({"active": 1}));
    assert_eq!(stats["receipts"], json!({"assembled": 1, "delivered": 1}));
    assert_eq!(stats["packages"], json!({"total": 2, "never_delivered": 1, "never_read": 1}));
    assert_eq!(stats["errors"], json!({"patterns": 1, "solved": 1, "occurrences": 2}));
    assert!(stats["tokens"]["delivered"].as_u64().unwrap() > 0);
    let people = env.run(["stats"]).ok().stdout;
    assert!(people.contains("2, 1 never delivered, 1 never opened"), "{people}");
    let later = env.run(["stats", "--since", "2999-01-01T00:00:00Z", "--json"]).ok().json();
    assert_eq!(later["stats"]["receipts"], json!({}));
    assert_eq!(later["stats"]["packages"]["total"], 0);
    let recent = env.run(["stats", "--since", "1h", "--json"]).ok().json();
    assert_eq!(recent["stats"]["packages"]["total"], 2);
    env.run(["stats", "--since", "soon"]).fails(2);
}
