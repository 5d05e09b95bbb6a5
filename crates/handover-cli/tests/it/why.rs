//! `handover why`: what became of a package, a note or a file for one agent, and what would change it.

use handover_testkit::TestEnv;
use serde_json::Value;

use crate::project;

/// Three packages for developers of group `login`, one for testers, one of another group.
fn shop() -> TestEnv {
    let env = project();
    for (name, front, text) in [
        ("oauth", "consumers: [developer]\npriority: high", "Refresh tokens rotate on every use"),
        ("tests", "consumers: [qa_expert]", "Refresh tokens are tested with a fake clock"),
        ("cart", "group_id: cart", "The cart keeps refresh tokens away"),
    ] {
        let text = format!(
            "---\ntype: research\n{front}\nfiles: [src/{name}.rs]\n---\n# {name}\n\n{text}.\n"
        );
        env.write(&format!("docs/{name}.md"), text);
        env.run(["package", "add", &format!("docs/{name}.md")]).ok();
    }
    env
}

fn brief(env: &TestEnv) {
    let brief = ["brief", "--role", "developer", "--group", "login", "--task", "Refresh tokens"];
    env.run(brief.into_iter().chain(["--deliver"])).ok();
}

#[track_caller]
fn finding(env: &TestEnv, args: &[&str]) -> Value {
    let why = env.run(["why"].iter().chain(args).chain(&["--json"])).ok().json()["why"].clone();
    assert_eq!(why["found"], true, "{why}");
    assert_eq!(why["findings"].as_array().unwrap().len(), 1, "{why}");
    why["findings"][0].clone()
}

#[test]
fn a_receipt_says_what_was_included_and_what_was_not() {
    let env = shop();
    brief(&env);
    let told = finding(&env, &["docs/oauth.md"]);
    assert_eq!((&told["included"], &told["candidate"]), (&true.into(), &true.into()), "{told}");
    let other = finding(&env, &["2", "--receipt", "latest"]);
    assert_eq!(other["included"], false, "{other}");
    assert!(other["fixes"][0].as_str().unwrap().contains("--consumer developer"), "{other}");
    let other = finding(&env, &["docs/cart.md"]);
    assert!(other["explanation"].as_str().unwrap().contains("another group"), "{other}");
    // A file leads to what is about it.
    assert_eq!(finding(&env, &["src/oauth.rs"])["id"], "1");
    assert_eq!(finding(&env, &["fake", "clock"])["id"], "2");
}

#[test]
fn what_is_not_there_is_said_to_be_unknown() {
    let env = shop();
    let none = env.run(["why", "docs/nowhere.md"]).fails(2);
    assert!(none.stderr.contains("no receipts yet"), "{none}");
    brief(&env);
    let unknown = env.run(["why", "zeppelin", "--json"]).fails(1).json();
    assert_eq!(unknown["why"]["found"], false);
}

#[test]
fn what_was_delivered_already_is_explained_and_can_be_had_again() {
    let env = shop();
    brief(&env);
    let again = [
        "brief",
        "--role",
        "developer",
        "--group",
        "login",
        "--task",
        "Refresh tokens",
        "--iteration",
        "0",
    ];
    let second = env.run(again).ok();
    assert!(second.stderr.contains("--iteration 1` gives everything again"), "{second}");
    let gone = finding(&env, &["1"]);
    assert_eq!(gone["reason"], "delivered already", "{gone}");
    assert_eq!(gone["included"], false);
}

#[test]
fn packages_of_other_sessions_and_retired_ones_say_so() {
    let env = shop();
    env.run(["session", "new", "two"]).ok();
    let other = ["--session", "two", "why", "docs/oauth.md", "--role", "developer"];
    let why = env.run(other).ok();
    assert!(why.stdout.contains("belongs to session s1"), "{why}");
    assert!(why.stdout.contains("`handover package add docs/oauth.md --session two`"), "{why}");
    env.run(["package", "retire", "1"]).ok();
    let retired =
        env.run(["--session", "s1", "why", "1", "--role", "developer", "--group", "login"]).ok();
    assert!(retired.stdout.contains("`handover package restore 1` uses it again"), "{retired}");
    // Nothing was recorded by asking.
    assert_eq!(
        env.run(["receipt", "list", "--json"]).ok().json()["receipts"],
        serde_json::json!([])
    );
}

#[test]
fn a_note_is_explained_for_an_agent_that_has_no_receipt_yet() {
    let env = project();
    let note =
        env.run(["note", "add", "Refresh tokens are kept in the keychain", "--json"]).ok().json();
    let id = note["note"]["id"].as_str().unwrap().to_owned();
    let agent = ["--role", "developer", "--task", "Where are refresh tokens kept"];
    let shown = finding(&env, &[&[&id[id.len() - 6..]][..], &agent].concat());
    assert_eq!((&shown["kind"], &shown["included"]), (&"note".into(), &true.into()), "{shown}");
    env.run(["note", "retire", "latest"]).ok();
    let retired = finding(&env, &[&["latest"][..], &agent].concat());
    assert!(retired["explanation"].as_str().unwrap().contains("retired"), "{retired}");
}

/// Sections of a document, each a note.
fn with_sections(sections: impl Iterator<Item = (String, String)>) -> TestEnv {
    let env = project();
    env.git("", &["init", "-q"]);
    let sections = sections.map(|(title, text)| format!("## {title}\n\n{text}\n\n"));
    env.write("docs/guide.md", format!("# Guide\n\n{}", sections.collect::<String>()));
    env.git("", &["add", "."]);
    env.git("", &["commit", "-q", "-m", "Guide"]);
    env.run(["learn", "docs"]).ok();
    env
}

fn notes(env: &TestEnv) -> Vec<(String, String)> {
    let list = env.run(["note", "list", "--limit", "500", "--json"]).ok().json();
    let text = |note: &Value, key: &str| note[key].as_str().unwrap().to_owned();
    let notes = list["notes"].as_array().unwrap().iter();
    notes.map(|note| (text(note, "id"), text(note, "title"))).collect()
}

#[test]
fn a_note_that_others_beat_is_not_said_to_have_nothing_to_do_with_the_task() {
    let mut sections: Vec<(String, String)> = (0..90)
        .map(|n| {
            let (title, what) = (format!("Pushing bookmarks {n}"), format!("remote{n}"));
            (title, format!("Git push should refuse conflicted bookmarks of {what}."))
        })
        .collect();
    let far = "Parsers of dates are generated by a script that runs once a week.";
    sections.push(("How do I deal with bookmarks".to_owned(), format!("They move. {far}")));
    sections.push(("Dates".to_owned(), far.to_owned()));
    let env = with_sections(sections.into_iter());
    let all = notes(&env);
    let id = |title: &str| &all.iter().find(|(_, of)| of.contains(title)).unwrap().0;
    let task = "git push should refuse conflicted bookmarks";
    let why = |id: &str, rest: &[&str]| {
        let agent = ["--role", "developer"];
        finding(&env, &[&[id][..], &agent, rest].concat())["explanation"].clone()
    };
    let beaten = why(id("deal with"), &["--task", task]);
    let beaten = beaten.as_str().unwrap();
    assert!(beaten.contains("it matches 1 word of the task, but 90 other notes match"), "{beaten}");
    let none = why(id("Dates"), &["--task", task]);
    assert!(none.as_str().unwrap().contains("it has nothing to do with the task"), "{none}");
    let no_task = why(id("Dates"), &[]);
    assert!(
        no_task.as_str().unwrap().contains("chosen by the task, and there is none"),
        "{no_task}"
    );
    let off = why(id("deal with"), &["--task", task, "--config", "brief.notes=false"]);
    assert!(off.as_str().unwrap().contains("such an agent gets no notes"), "{off}");
}

#[test]
fn a_part_of_a_note_s_id_may_be_nothing_but_digits() {
    let env = with_sections((0..120).map(|n| {
        (
            format!("Part {n}"),
            format!("Fact number {n} of this guide, which is long enough to be a note."),
        )
    }));
    let all = notes(&env);
    let mut named = all.iter().map(|(id, _)| &id[id.len() - 4..]);
    let digits = named
        .find(|end| {
            let is_number = end.bytes().all(|byte| byte.is_ascii_digit());
            let matches = |id: &str| id.ends_with(end) || id.starts_with(&format!("n_{end}"));
            is_number && all.iter().filter(|(id, _)| matches(id)).count() == 1
        })
        .expect("one of so many ids ends in digits");
    let shown = finding(&env, &[digits, "--role", "developer", "--task", "Part"]);
    assert!(shown["id"].as_str().unwrap().ends_with(digits), "{shown}");
    // A number that nothing has is unknown, and no error.
    let unknown = env.run(["why", "99887766", "--role", "developer", "--json"]).fails(1).json();
    assert_eq!(unknown["why"]["found"], false);
}
