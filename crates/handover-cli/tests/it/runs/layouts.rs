//! Where projects keep their epics and stories.

use serde_json::Value;

use super::{Epic, story};

/// A project whose documents were written by something else: nothing in the usual folders.
fn project(files: &[(&str, &str)]) -> Epic {
    let epic = Epic::new(&[]);
    fs_err::remove_file(epic.env.path("docs/epics/epic-1-shop.md")).unwrap();
    for (path, text) in files {
        epic.env.write(path, *text);
    }
    epic.commit_all("documents");
    epic
}

fn plan(epic: &Epic) -> Value {
    epic.run(&["--dry-run", "--json"]).ok().json()["plan"].clone()
}

fn ids(plan: &Value) -> Vec<&str> {
    plan["stories"].as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap()).collect()
}

const EPICS: &str = "# Shop: epics\n\n## Epic 1: Cart\n\nPeople fill a cart.\n\n### Story 1.1: Add\n\n## Epic 2: Pay\n\nPeople pay.\n";

/// R5: what BMAD 6 writes by default.
#[test]
fn finds_the_layout_of_bmad_6() {
    let text = story("1-1-cart");
    let epic = project(&[
        ("_bmad-output/planning-artifacts/epics.md", EPICS),
        ("_bmad-output/planning-artifacts/architecture.md", "# Architecture\n"),
        ("_bmad-output/implementation-artifacts/1-1-cart.md", &text),
        ("_bmad-output/implementation-artifacts/2-1-pay.md", &story("2-1-pay")),
        ("_bmad-output/implementation-artifacts/epic-1-retro.md", "# Retro\n"),
        (
            "_bmad-output/implementation-artifacts/sprint-status.yaml",
            "development_status:\n  epic-1: backlog\n  1-1-cart: ready-for-dev\n",
        ),
    ]);
    let plan = plan(&epic);
    assert_eq!(ids(&plan), ["1-1-cart"]);
    assert_eq!(plan["epic_file"], "_bmad-output/planning-artifacts/epics.md");
    let others = plan["others"].to_string();
    assert!(others.contains("2-1-pay.md") && others.contains("of another epic"), "{others}");
    let shown = epic.run(&["--dry-run"]).ok().stdout;
    assert!(shown.contains("2-1-pay.md (of another epic)"), "{shown}");
    let prompt = epic.env.folder().join("prompt");
    epic.script(&format!(
        "* dev 1 | echo-prompt {} write a.txt x print \"IMPLEMENTATION COMPLETE: 1-1-cart\"",
        prompt.display()
    ));
    epic.run(&[]).ok();
    let prompt = fs_err::read_to_string(prompt).unwrap();
    assert!(prompt.contains("People fill a cart") && !prompt.contains("People pay"), "{prompt}");
    assert!(prompt.contains("_bmad-output/planning-artifacts/architecture.md"), "{prompt}");
    let status = epic
        .git(&["show", "handover/epic-1:_bmad-output/implementation-artifacts/sprint-status.yaml"]);
    assert!(status.contains("1-1-cart: done") && status.contains("epic-1: done"), "{status}");
}

/// Right after planning, BMAD 6 has an `epics.md` and no story files.
#[test]
fn stories_that_are_only_listed_are_named() {
    let epic = project(&[(
        "_bmad-output/planning-artifacts/epics.md",
        "# Epics\n\n## Epic 1: Cart\n\n### Story 1.1: Add\n\n### Story 1.2: Remove\n\n## Epic 2: Pay\n\n### Story 2.1: Card\n",
    )]);
    let error = epic.run(&["--json"]).fails(2).error();
    assert_eq!(
        error["message"],
        "`_bmad-output/planning-artifacts/epics.md` lists 1.1, 1.2, but they have no files yet"
    );
    assert!(error["hint"].as_str().unwrap().contains("create-story"), "{error}");
}

/// R5: sharded documents of BMAD 4, stories in folders of their own, plain folders.
#[test]
fn finds_sharded_and_plain_layouts() {
    for (epic_file, story_file) in [
        ("docs/prd/epic-1-cart.md", "docs/stories/epic-1/1.1.cart.md"),
        ("docs/epics.md", "docs/stories/1-1-cart/1-1-cart.md"),
        ("epics/epic-1.md", "stories/1-1-cart.md"),
    ] {
        let text = if epic_file.ends_with("epics.md") { EPICS } else { "# Epic 1: Cart\n" };
        let epic = project(&[(epic_file, text), (story_file, &story("1-1-cart"))]);
        let plan = plan(&epic);
        assert_eq!(plan["epic_file"], epic_file);
        assert_eq!(plan["stories"][0]["path"], story_file);
    }
}

/// R5: any folder, by configuration; the error says how.
#[test]
fn configured_folders_are_searched() {
    let epic = project(&[
        ("plan/items/1-1-cart.md", &story("1-1-cart")),
        ("plan/epic-1.md", "# Epic 1\n"),
    ]);
    let error = epic.run(&["--json"]).fails(2).error();
    assert!(error["hint"].as_str().unwrap().contains("runs.stories"), "{error}");
    epic.env.write(
        ".handover/config.toml",
        "[runs]\nstories = [\"plan/items\"]\nepics = [\"plan/\"]\n",
    );
    let plan = plan(&epic);
    assert_eq!(
        (ids(&plan), &plan["epic_file"]),
        (vec!["1-1-cart"], &Value::from("plan/epic-1.md"))
    );
    epic.run(&[]).ok();
}

/// Only stories that are ready are run, unless asked for.
#[test]
fn drafts_and_done_stories_are_not_run_unless_asked_for() {
    let epic = Epic::new(&["1-1-a", "1-2-b", "1-3-c"]);
    for (id, status) in [("1-1-a", "Done"), ("1-2-b", "Draft")] {
        let text = story(id).replace("ready-for-dev", status);
        epic.env.write(&format!("docs/stories/{id}.md"), text);
    }
    let bare = "# Story 1.4\n\nNo status of its own.\n";
    epic.env.write("docs/stories/1-4-d.md", bare);
    epic.env.write("docs/sprint-status.yaml", "development_status:\n  1-4-d: backlog\n");
    epic.commit_all("statuses");
    let skips = |more: &[&str]| -> Vec<String> {
        let plan = epic.run(&[&["--dry-run", "--json"], more].concat()).ok().json();
        let stories = plan["plan"]["stories"].as_array().unwrap().clone();
        stories.iter().map(|it| it["skip"].as_str().unwrap_or("run").to_owned()).collect()
    };
    assert_eq!(skips(&[]), ["done already", "not ready yet", "run", "not ready yet"]);
    assert_eq!(skips(&["--all"]), ["run", "run", "run", "run"]);
    epic.run(&[]).ok();
    assert_eq!(epic.states(), ["skipped", "skipped", "done", "skipped"]);
    // Running it again costs nothing and fails nothing, and says what there would be to do.
    let again = epic.run(&[]).ok();
    assert_eq!(epic.states(), ["skipped", "skipped", "skipped", "skipped"]);
    let why = "Nothing to do: 2 drafts, 2 done. Set the status of what should be done to \
               `ready-for-dev`, or use `--all`.";
    assert!(again.stderr.contains(why), "{again}");
}

/// Where the terminal is narrow, too, the preview says which file became which story and why.
#[test]
fn a_narrow_preview_names_every_file() {
    let mut epic = Epic::new(&[]);
    let id = "1-1-a-customer-can-pay-with-a-voucher-that-somebody-gave-away";
    epic.env.write(&format!("docs/stories/{id}.md"), story(id));
    epic.env.write("docs/stories/notes-on-2.md", "# Notes\n");
    epic.commit_all("stories");
    epic.env.set("COLUMNS", "80");
    let shown = epic.run(&["--dry-run"]).ok().stdout;
    assert!(shown.contains(&format!("  {id}: docs/stories/{id}.md (by its name)\n")), "{shown}");
}

/// The name of a story may end like that of a document about one.
#[test]
fn a_story_may_be_called_like_a_companion() {
    let epic = Epic::new(&["1-1-a", "1-2-seller-metrics", "1-3-landing-page-design"]);
    for (name, text) in [
        ("1-1-a-validation-report.md", "# Validation Report\n\n- **Status**: PASS\n"),
        ("1-1-a.context.md", "# Context\n"),
        ("1-1-a-first-look.md", "# What I saw\n"),
        ("1-1-a-metrics.md", "# Story 1.1: Metrics\n\nStatus: done\n"),
        ("1-4-d-decisions.md", "# Decisions\n"),
    ] {
        epic.env.write(&format!("docs/stories/{name}"), text);
    }
    epic.commit_all("documents");
    assert_eq!(ids(&plan(&epic)), ["1-1-a", "1-2-seller-metrics", "1-3-landing-page-design"]);
    let output = epic.run(&[]).ok();
    assert_eq!(epic.states(), ["done", "done", "done"]);
    for name in ["1-1-a-validation-report", "1-1-a.context", "1-1-a-first-look", "1-4-d-decisions"]
    {
        let line = format!("not a story: docs/stories/{name}.md (written about a story)");
        assert!(output.stderr.contains(&line), "{line}\n{}", output.stderr);
    }
    // Two files that both say that they are story 1.1 are an error.
    epic.env.write("docs/stories/1-1-a-again.md", story("1-1-a-again"));
    epic.run(&[]).fails(2);
}

/// Done, blocked and draft count in the file of a story and in `sprint-status.yaml`.
#[test]
fn the_sprint_status_counts_in_both_directions() {
    let epic = Epic::new(&["1-1-a", "1-2-b", "1-3-c", "1-4-d", "1-5-e"]);
    let later = story("1-5-e").replace("\n\n## Tasks", "\nDepends on: 1.2\n\n## Tasks");
    epic.env.write("docs/stories/1-5-e.md", later);
    let status = "development_status:\n  1-1-a: done\n  1-2-b: backlog\n  1-3-c: ready-for-dev\n  \
                  1-4-d: ready-for-dev\n  1-5-e: ready-for-dev\n";
    epic.env.write("docs/sprint-status.yaml", status);
    epic.commit_all("sprint");
    let shown = epic.run(&["--dry-run"]).ok().stdout;
    assert!(shown.contains("blocked: waits for `1-2-b`, which is a draft"), "{shown}");
    assert!(shown.contains("File of the epic: docs/epics/epic-1-shop.md"), "{shown}");
    epic.script("1-3-c dev * | write half.txt x print \"IMPLEMENTATION BLOCKED: 1-3-c - no key\"");
    epic.run(&[]).fails(3);
    assert_eq!(epic.states(), ["skipped", "skipped", "blocked", "done", "blocked"]);
    let kept = epic.git(&["show", "handover/epic-1:docs/sprint-status.yaml"]);
    for line in
        ["1-1-a: done", "1-2-b: backlog", "1-3-c: blocked", "1-4-d: done", "1-5-e: ready-for-dev"]
    {
        assert!(kept.contains(line), "{line}: {kept}");
    }
    // What a run has listed as blocked is tried again; what a person has, is not.
    epic.git(&["merge", "--quiet", "handover/epic-1"]);
    assert_eq!(plan(&epic)["stories"][2]["skip"], Value::Null);
    epic.git(&["branch", "-D", "handover/failed/1-3-c"]);
    assert_eq!(plan(&epic)["stories"][2]["skip"], "blocked");
}

/// What an agent skips is listed with the next commit, and the next run tries it again.
#[test]
fn a_story_that_an_agent_skips_is_listed_as_skipped() {
    let epic = Epic::new(&["1-1-a", "1-2-b"]);
    let status = "development_status:\n  epic-1: in-progress\n  1-1-a: ready-for-dev\n  1-2-b: ready-for-dev\n";
    epic.env.write("docs/sprint-status.yaml", status);
    epic.commit_all("sprint");
    let skip = "result '{\"nonce\":\"{HANDOVER_NONCE}\",\"story\":\"1-1-a\",\"phase\":\"dev\",\"verdict\":\"skip\",\"summary\":\"not wanted\"}'";
    epic.script(&format!("1-1-a dev * | {skip}"));
    epic.run(&[]).fails(1);
    assert_eq!(epic.states(), ["skipped", "done"]);
    let kept = epic.git(&["show", "handover/epic-1:docs/sprint-status.yaml"]);
    assert!(kept.contains("1-1-a: skipped") && kept.contains("1-2-b: done"), "{kept}");
    epic.git(&["merge", "--quiet", "handover/epic-1"]);
    assert_eq!(plan(&epic)["stories"][0]["skip"], Value::Null);
}

/// R18: every dependency of a line counts, versions are no stories, numbers are unique.
#[test]
fn dependencies_are_read_as_people_write_them() {
    let epic = Epic::new(&["1-1-a", "1-2-b", "1-3-c"]);
    let with =
        |line: &str| story("1-3-c").replace("\n\n## Tasks", &format!("\n{line}\n\n## Tasks"));
    epic.env.write("docs/stories/1-3-c.md", with("Depends on: Story 1.1 and Story 1.2"));
    assert_eq!(plan(&epic)["stories"][2]["waits_for"], serde_json::json!(["1-1-a", "1-2-b"]));
    epic.env.write("docs/stories/1-3-c.md", with("Depends on: 1.5.0 of the library"));
    assert_eq!(plan(&epic)["stories"][2]["waits_for"], serde_json::json!([]));
    epic.env.write("docs/stories/1-1-other.md", story("1-1-other"));
    let error = epic.run(&["--json"]).fails(2).error();
    assert_eq!(error["code"], "ambiguous");
    assert!(error["message"].as_str().unwrap().contains("story number 1"), "{error}");
}

/// Features of spec-kit: one list of tasks each, named by its folder.
#[test]
fn finds_the_layout_of_spec_kit() {
    let tasks = "# Tasks: Cart\n\n## Phase 1\n\n- [ ] T001 add a cart\n- [ ] T002 empty it\n";
    let epic = project(&[
        ("specs/001-cart/spec.md", "# Feature: Cart\n\nPeople fill a cart.\n"),
        ("specs/001-cart/plan.md", "# Plan\n"),
        ("specs/001-cart/tasks.md", tasks),
        ("specs/001-cart/contracts/tasks.md", "# Not these\n"),
        ("specs/002-pay/spec.md", "# Feature: Pay\n"),
        ("specs/002-pay/tasks.md", "# Tasks: Pay\n"),
    ]);
    let plan = plan(&epic);
    assert_eq!(ids(&plan), ["001-cart"]);
    assert_eq!(plan["epic_file"], "specs/001-cart/spec.md");
    assert_eq!(plan["stories"][0]["path"], "specs/001-cart/tasks.md");
    let others = plan["others"].to_string();
    assert!(others.contains("002-pay/tasks.md") && others.contains("of another epic"), "{others}");
    epic.script(
        "* dev 1 | write cart.txt x run \"sed -i 's/^- ... T/- [x] T/' specs/001-cart/tasks.md\" print \"IMPLEMENTATION COMPLETE: 001-cart\"",
    );
    epic.run(&[]).ok();
    let done = epic.git(&["show", "handover/epic-1:specs/001-cart/tasks.md"]);
    assert!(done.contains("Status: done") && done.contains("- [x] T002 empty it"), "{done}");
    // It is done, also for those who call it by its name.
    let again = epic.env.run(["run", "001-cart", "--dry-run", "--json"]).ok().json();
    assert_eq!(again["plan"]["stories"][0]["id"], "001-cart", "{again}");
}

/// Issues as files: the milestone is the epic, and what is closed is not run.
#[test]
fn finds_issues_of_a_milestone() {
    let issue = |title: &str, milestone: &str, state: &str| {
        format!("---\ntitle: {title}\nmilestone: {milestone}\nstate: {state}\n---\n\nPlease.\n")
    };
    let epic = project(&[
        ("issues/12-empty-cart.md", &issue("Empty the cart", "1", "open")),
        ("issues/7-add.md", &issue("Add to the cart", "1", "closed")),
        ("issues/9-pay.md", &issue("Pay", "2", "open")),
    ]);
    let plan = plan(&epic);
    let mut found = ids(&plan);
    found.sort_unstable();
    assert_eq!(found, ["12-empty-cart", "7-add"]);
    let of = |id: &str| {
        let all = plan["stories"].as_array().unwrap();
        all.iter().find(|story| story["id"] == id).unwrap().clone()
    };
    assert_eq!(of("12-empty-cart")["title"], "Empty the cart");
    assert_eq!(of("12-empty-cart")["skip"], Value::Null);
    assert!(of("7-add")["skip"].is_string());
    epic.run(&[]).ok();
    let done = epic.git(&["show", "handover/epic-1:issues/12-empty-cart.md"]);
    assert!(
        done.starts_with("---\ntitle: Empty the cart\nmilestone: 1\nstate: done\n---"),
        "{done}"
    );
}
