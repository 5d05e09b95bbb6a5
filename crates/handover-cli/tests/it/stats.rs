//! `handover stats`: totals of what was recorded.

use handover_testkit::{FakeAgent, TestEnv};
use serde_json::json;

use crate::moving::database;
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

/// Delivers a brief to an agent that uses none of its items, and is seen to its end.
pub(crate) fn ignored(env: &TestEnv, group: &str) {
    let actions =
        "print \"```handover\" print \"verdict: complete\" print \"summary: done\" print \"```\"";
    let command = format!("{} {actions}", FakeAgent::program().display());
    let args = ["spawn", "--host", "command", "--agent-command", &command, "--role", "developer"];
    let task = ["--task", "Change how the gateway retries", "--group", group];
    env.run(args.iter().chain(&task)).ok();
}

/// Makes everything in the store so many days older.
pub(crate) fn age(env: &TestEnv, days: i64) {
    let store = database(env);
    for table in ["package", "receipt"] {
        let sql = format!("UPDATE {table} SET created_at = created_at - ?1");
        store.execute(&sql, [days * 86_400_000_000]).unwrap();
    }
}

#[test]
fn use_is_shown_over_time_and_what_is_never_used_is_offered_for_retirement() {
    let env = project();
    for (name, priority) in [("gateway", "high"), ("rule", "critical")] {
        let path = format!("docs/{name}.md");
        let text = format!("# T\n## Summary\nThe gateway retries twice, says {name}.\n");
        env.write(&path, text);
        let add = ["package", "add", &path, "--kind", "research", "--priority", priority];
        env.run(add.iter().chain(&["--session", "s1"])).ok();
    }
    for n in 0..5 {
        ignored(&env, &format!("g{n}"));
    }
    let stats = |env: &TestEnv| env.run(["stats", "--json"]).ok().json()["stats"].clone();
    let young = stats(&env);
    assert_eq!(young["use"]["used"], 0, "{young}");
    let periods = young["use_over_time"].as_array().unwrap();
    assert_eq!(
        (&periods[0]["period"], &periods[0]["items"]),
        (&json!("last_week"), &young["use"]["items"])
    );
    assert_eq!((&periods[1]["items"], &periods[2]["items"]), (&json!(0), &json!(0)));
    assert!(periods[0]["delivered"].as_u64().unwrap() > 0);
    assert_eq!(young["never_used"], json!([]), "both are young");
    let items = young["use_by_item"].as_array().unwrap();
    assert_eq!((&items[0]["kind"], &items[0]["briefs"]), (&json!("package"), &json!(5)));
    assert_eq!(items[0]["used"], 0);

    age(&env, 20);
    let old = stats(&env);
    let periods = old["use_over_time"].as_array().unwrap();
    assert_eq!((&periods[0]["items"], &periods[1]["items"]), (&json!(0), &young["use"]["items"]));
    let idle = old["never_used"].as_array().unwrap();
    assert_eq!(idle.len(), 1, "not the critical one: {idle:?}");
    assert_eq!((&idle[0]["title"], &idle[0]["judged"]), (&json!("docs/gateway.md"), &json!(5)));
    let people = env.run(["stats", "--items"]).ok().stdout;
    assert!(
        people.contains("when     7–30 days") && people.contains("Never used 1 item, "),
        "{people}"
    );
    let command = idle[0]["command"].as_str().unwrap();
    assert!(people.contains(&format!("  {command}  # docs/gateway.md")), "{people}");
    assert!(
        people.contains("package 1") && people.contains("Learning   packages not yet"),
        "{people}"
    );
    // What was never used is so whenever that was; a period has only its own briefs.
    let lately = env.run(["stats", "--since", "1d", "--json"]).ok().json()["stats"].clone();
    assert_eq!(lately["never_used"], old["never_used"]);
    assert_eq!(lately["use_by_item"], json!([]));
    // Roles and sections have a history, too.
    ignored(&env, "late");
    let people = env.run(["stats"]).ok().stdout;
    for part in ["role     developer", "section  packages"] {
        let line = people.lines().find(|line| line.contains(part)).unwrap_or_default();
        assert!(line.ends_with("; 7 days 0 %, 7–30 days 0 %"), "{people}");
    }
    // So has each item.
    let item = &stats(&env)["use_by_item"][0];
    let part = |period: &str| &item["over_time"][period]["items"];
    assert_eq!((part("last_week"), part("last_month")), (&json!(1), &json!(5)), "{item:#}");
    assert_eq!(item["over_time"].get("before"), None, "{item:#}");
    let people = env.run(["stats", "--items"]).ok().stdout;
    let line = people.lines().find(|line| line.contains("package 1")).unwrap_or_default();
    assert!(line.ends_with("(0 of 6 items); 7 days 0 %, 7–30 days 0 %"), "{people}");
    // The command does what it says.
    let words: Vec<&str> = command.split(" --reason ").next().unwrap().split(' ').skip(1).collect();
    env.run(&words).ok();
    assert_eq!(stats(&env)["never_used"], json!([]));
}
