//! The reader of endings: it takes whatever agents write, and makes up nothing.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn block(text: &str) -> Debrief {
    read_ending(&format!("Done.\n\n```handover\n{text}\n```\n"))
}

fn verdict(word: &str) -> Option<Verdict> {
    block(&format!("verdict: {word}\nsummary: x")).verdict
}

#[test]
fn verdicts_have_many_spellings() {
    for (words, expected) in [
        (
            "complete COMPLETED done Success READY_FOR_QA ready-for-review Implemented root_cause_found \
             planning_complete **complete**",
            Verdict::Complete,
        ),
        ("passed PASS approved approve accept accepted ok", Verdict::Passed),
        ("passed_with_fixes approved_with_notes pass-with-fixes", Verdict::PassedWithFixes),
        ("failed FAIL changes_requested rejected reject error", Verdict::Failed),
        (
            "escalate escalate_senior escalated spawn_investigator needs_clarification",
            Verdict::Escalate,
        ),
        ("skip skipped", Verdict::Skip),
        ("blocked BLOCKED", Verdict::Blocked),
        ("retry", Verdict::Retry),
    ] {
        for word in words.split_whitespace() {
            assert_eq!(verdict(word), Some(expected), "{word}");
        }
    }
    assert_eq!(verdict("passed with fixes"), Some(Verdict::PassedWithFixes));
    for unknown in ["magnificent", "not passed", "failing", "complet"] {
        assert_eq!(verdict(unknown), None, "{unknown}");
    }
}

#[test]
fn verdicts_may_have_other_keys() {
    for key in ["verdict", "status", "result", "Verdict", "STATUS"] {
        assert_eq!(block(&format!("{key}: passed")).verdict, Some(Verdict::Passed), "{key}");
    }
    let object = block("verdict: {a: 1}");
    assert_eq!(
        (object.verdict, object.problems),
        (None, vec!["the verdict is not text".to_owned()])
    );
    let unknown = block(&format!("verdict: {}", "x".repeat(100)));
    assert_eq!(unknown.problems, [format!("`{}` is no verdict", "x".repeat(60))]);
}

#[test]
fn a_sentence_may_state_the_verdict_if_there_is_no_block() {
    for line in [
        "Verdict: passed",
        "**Status:** PASS",
        "- Status: passed",
        "### Report Status: `approved`",
        "final status: Passed.",
    ] {
        assert_eq!(
            read_ending(&format!("All good.\n{line}\n")).verdict,
            Some(Verdict::Passed),
            "{line}"
        );
    }
    for line in
        ["> Status: passed", "The status: passed", "Status passed", "```\nStatus: passed\n```"]
    {
        assert_eq!(read_ending(line).verdict, None, "{line}");
    }
    // A block that says nothing about it is not completed from prose.
    assert_eq!(read_ending("Status: passed\n```handover\nsummary: x\n```").verdict, None);
    let both = read_ending("Status: passed\nStatus: failed");
    assert_eq!(both.verdict, None);
    assert_eq!(both.problems, ["it has several verdicts: passed, failed"]);
}

#[test]
fn what_is_missing_is_named() {
    let missing = |text: &str| read_ending(text).missing;
    assert_eq!(missing("hello"), ["block", "verdict", "summary", "reasoning"]);
    assert_eq!(missing("```handover\nverdict: passed\n```"), ["summary", "reasoning"]);
    assert_eq!(
        missing("```handover\nverdict: passed\nsummary: x\nreasoning: {decisions: y}\n```"),
        [""; 0]
    );
    assert!(!read_ending("hello").says_something());
    assert!(read_ending("Status: done").says_something());
    assert!(read_ending("```handover\nsummary: x\n```").says_something());
}

#[test]
fn nothing_in_any_spelling_is_nothing() {
    for nothing in ["", "…", "...", "-", "none", "None.", "N/A", "na", "null", "nothing", "\"\""]
    {
        let debrief = block(&format!(
            "verdict: complete\nsummary: {nothing}\nerrors: {nothing}\npackages: {nothing}"
        ));
        assert_eq!(debrief.summary, None, "{nothing}");
        assert_eq!((debrief.errors.len(), debrief.packages.len()), (0, 0), "{nothing}");
    }
    assert_eq!(block("summary: nothing else").summary.as_deref(), Some("nothing else"));
}

#[test]
fn reasoning_has_three_forms() {
    let phases = |text: &str| block(text).reasoning;
    assert_eq!(
        phases("reasoning:\n  decisions: one\n  Completion: two"),
        BTreeMap::from([
            (Phase::Decisions, "one".to_owned()),
            (Phase::Completion, "two".to_owned())
        ])
    );
    assert_eq!(
        phases(
            "reasoning:\n  - phase: risks\n    content: one\n  - phase: risks\n    text: two\n  - three"
        ),
        BTreeMap::from([
            (Phase::Risks, "one\ntwo".to_owned()),
            (Phase::Completion, "three".to_owned())
        ])
    );
    assert_eq!(
        phases("reasoning: all of it"),
        BTreeMap::from([(Phase::Completion, "all of it".to_owned())])
    );
    assert_eq!(
        phases("reasoning:\n  decisions:\n    - one\n    - 2\n    - true"),
        BTreeMap::from([(Phase::Decisions, "one\n2\ntrue".to_owned())])
    );
    let unknown = block("reasoning: {mood: great, decisions: ok}");
    assert_eq!(unknown.reasoning.len(), 1);
    assert!(
        unknown.problems[0].starts_with("`mood` is not a reasoning phase"),
        "{:?}",
        unknown.problems
    );
}

#[test]
fn packages_have_many_forms() {
    let debrief = block(
        "packages:\n  - docs/a.md\n  - {file: docs/b.md, type: Research, priority: HIGH, description: how, consumers: \"qa_expert, Tech_Lead,\"}\n  - {summary: no path}\n  - {path: docs/c.md, kind: poem}\n  - {path: docs/d.md, consumers: [developer, 7up]}",
    );
    assert_eq!(debrief.packages.len(), 2, "{:?}", debrief.packages);
    assert_eq!(
        debrief.packages[0],
        PackageNote { path: "docs/a.md".to_owned(), ..PackageNote::default() }
    );
    let second = &debrief.packages[1];
    assert_eq!((second.path.as_str(), second.kind), ("docs/b.md", Some(PackageKind::Research)));
    assert_eq!((second.priority, second.summary.as_deref()), (Some(Priority::High), Some("how")));
    let consumers: Vec<&str> = second.consumers.iter().map(Role::as_str).collect();
    assert_eq!(consumers, ["qa_expert", "tech_lead"]);
    assert_eq!(debrief.problems.len(), 2, "{:?}", debrief.problems);
    assert!(debrief.problems[0].starts_with("package `docs/c.md`: `poem` is not a package kind"));
    assert!(debrief.problems[1].starts_with("package `docs/d.md`: `7up` is not a valid role"));
    let one = block("context_packages: {path: docs/e.md}");
    assert_eq!(one.packages[0].path, "docs/e.md");
}

#[test]
fn findings_are_sentences() {
    let findings =
        |text: &str| block(&format!("verdict: failed\nfindings:\n  - {text}\n")).findings;
    for (written, read) in [
        (
            "{severity: High, place: a.rs:3, text: slow, and it leaks}",
            "[high] a.rs:3: slow, and it leaks",
        ),
        ("{severity: low, text: it fails: timeout, always}", "[low] it fails: timeout, always"),
        (
            "{text: errors are logged, not returned: return them}",
            "errors are logged, not returned: return them",
        ),
        ("src/a.rs:3: slow, and it leaks", "src/a.rs:3: slow, and it leaks"),
    ] {
        assert_eq!(findings(written), [read], "{written}");
    }
    let packages = block(
        "packages:\n  - {path: a.md, consumers: [qa_expert, tech_lead], summary: why: one lock, not two}",
    );
    assert_eq!(packages.packages[0].summary.as_deref(), Some("why: one lock, not two"));
    assert_eq!(packages.packages[0].consumers.len(), 2);
}

#[test]
fn errors_have_many_forms() {
    for key in ["errors", "errors_solved", "solved"] {
        let debrief = block(&format!(
            "{key}:\n  - ENOENT\n  - {{error: EACCES, fix: chmod}}\n  - {{message: EPERM}}\n  - {{solution: none of it}}"
        ));
        let errors: Vec<(&str, Option<&str>)> =
            debrief.errors.iter().map(|e| (e.message.as_str(), e.solution.as_deref())).collect();
        assert_eq!(errors, [("ENOENT", None), ("EACCES", Some("chmod")), ("EPERM", None)], "{key}");
    }
}

#[test]
fn amounts_are_limited() {
    let many = |key: &str| {
        let lines: String = (0..80).map(|n| format!("  - item{n}\n")).collect();
        block(&format!("{key}:\n{lines}"))
    };
    assert_eq!(many("packages").packages.len(), 50);
    assert_eq!(many("errors").errors.len(), 50);
    assert_eq!(many("reasoning").reasoning[&Phase::Completion].lines().count(), 50);
    let long = block(&format!("summary: {}", "word ".repeat(2_000)));
    assert!(long.summary.unwrap().chars().count() <= 4_000);
    let huge = block(&format!("verdict: passed\nsummary: {}", "x".repeat(70_000)));
    assert_eq!(huge.summary, None);
    assert_eq!(huge.problems, ["the block has more than 65536 bytes"]);
}

#[test]
fn a_block_that_is_no_yaml_is_read_by_line() {
    let debrief =
        block("receipt: r_7\nverdict: failed\nsummary: \"it broke\nreasoning: [\n  x: ]\n- y");
    assert_eq!(debrief.verdict, Some(Verdict::Failed));
    assert_eq!(debrief.receipt.as_ref().map(ReceiptId::as_str), Some("r_7"));
    assert_eq!(debrief.summary.as_deref(), Some("it broke"));
    assert!(
        debrief.problems[0].ends_with("only its plain lines were read"),
        "{:?}",
        debrief.problems
    );
    let nothing = block("[\n  {");
    assert!(nothing.problems[0].starts_with("the block is not YAML: "), "{:?}", nothing.problems);
}

#[test]
fn fences_close_only_with_their_own_kind() {
    let text = "~~~~handover extra\nverdict: passed\nsummary: |\n  ```\n  ~~~\n  code\n~~~~\nVerdict: failed";
    let debrief = read_ending(text);
    assert_eq!(debrief.verdict, Some(Verdict::Passed));
    assert_eq!(debrief.summary.as_deref(), Some("```\n~~~\ncode"));
    assert!(!read_ending("```handovers\nverdict: passed\n```").has_block());
    assert!(!read_ending("``handover\nverdict: passed\n``").has_block());
    assert!(read_ending("  ``` handover\nverdict: passed\n  ```").has_block());
    let closed = "```handover\nverdict: passed\n``` x\nsummary: y\n```";
    assert_eq!(read_ending(closed).verdict, Some(Verdict::Passed));
}

#[test]
fn invalid_receipts_are_none() {
    assert_eq!(block("receipt: ../x\nverdict: passed").receipt, None);
    assert_eq!(block("receipt: 12\nverdict: passed").receipt.unwrap().as_str(), "12");
}

#[test]
fn fields_of_a_result_leave_the_verdict_to_their_reader() {
    let debrief = read_fields(&json!({
        "Summary": "done", "verdict": "magnificent", "status": "x", "result": 7, "ERRORS": ["ENOENT"], "other": 1,
    }));
    assert_eq!((debrief.summary.as_deref(), debrief.errors.len()), (Some("done"), 1));
    assert_eq!((debrief.verdict, debrief.problems.len(), debrief.missing.len()), (None, 0, 0));
    for other in [json!(null), json!([1]), json!("x")] {
        assert_eq!(read_fields(&other), Debrief::default());
    }
}

#[test]
fn the_request_for_a_debrief_is_no_debrief_but_shows_one() {
    let receipt = ReceiptId::new("r_1").unwrap();
    let text = request_for_debrief(&receipt);
    assert!(text.contains("receipt: r_1\n") && text.contains("do no further work"), "{text}");
    let echoed = read_ending(&text);
    assert_eq!((echoed.verdict, echoed.summary), (None, None));
}

#[test]
fn the_schema_is_json_and_knows_every_verdict() {
    let schema: Value = serde_json::from_str(DEBRIEF_SCHEMA).unwrap();
    let text = schema.to_string();
    for word in ["receipt", "verdict", "summary", "reasoning", "packages", "errors"] {
        assert!(text.contains(&format!("\"{word}\"")), "{word}");
    }
}

#[test]
fn steps_of_a_run_are_distinguished() {
    let step = RunStep {
        run: RunId::new("run-1").unwrap(),
        story: "1.1".to_owned(),
        phase: RunPhase::Dev,
        attempt: 0,
        voice: None,
        status: None,
    };
    assert_eq!(step.key(), "run-1-1.1-dev-0");
    let others = [
        RunStep { attempt: 1, ..step.clone() },
        RunStep { phase: RunPhase::Fix, ..step.clone() },
        RunStep { story: "1.2".to_owned(), ..step.clone() },
        RunStep { voice: Some(json!("ann")), ..step.clone() },
    ];
    for other in others {
        assert_ne!(other.key(), step.key());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_message_is_read(text in "(\\PC|[\\n`~:{}\\[\\]\"'#>|-]){0,200}", inside in any::<bool>()) {
        let text = if inside { format!("```handover\n{text}\n```") } else { text };
        let debrief = read_ending(&text);
        prop_assert_eq!(debrief.missing.contains(&"verdict"), debrief.verdict.is_none());
        prop_assert_eq!(debrief.missing.contains(&"summary"), debrief.summary.is_none());
        prop_assert_eq!(read_ending(&text), debrief);
    }

    /// What an agent writes as JSON is read back, whatever is in it.
    #[test]
    fn json_is_read_back(
        summary in "[a-zA-Z\"'\\\\:{}#\u{e4} ]{1,40}x", decision in "[a-z:\n`# ]{1,40}x", message in "[a-z:\"]{1,20}x",
        verdict in prop::sample::select(Verdict::ALL.to_vec()),
    ) {
        let fields = json!({
            "receipt": "r_1", "verdict": verdict, "summary": summary, "reasoning": {"decisions": decision},
            "errors": [{"message": message, "solution": summary}],
        });
        let debrief = block(&fields.to_string());
        prop_assert_eq!(debrief.verdict, Some(verdict));
        prop_assert_eq!(debrief.summary.as_deref(), Some(summary.trim()));
        prop_assert_eq!(&debrief.reasoning[&Phase::Decisions], decision.trim());
        prop_assert_eq!(&debrief.errors[0].message, message.trim());
        prop_assert_eq!(debrief.problems.len(), 0, "{:?}", debrief.problems);
    }

    /// A plain line keeps its words, with whatever punctuation is in them.
    #[test]
    fn plain_lines_are_read_back(summary in "[A-Z][a-zA-Z0-9:{}@%&*!,?'\" ]{1,60}[a-z]") {
        let debrief = block(&format!("verdict: complete\nsummary: {summary}"));
        prop_assert_eq!(debrief.summary.as_deref(), Some(summary.as_str()));
        prop_assert_eq!(debrief.verdict, Some(Verdict::Complete));
    }
}

#[test]
fn plain_sentences_with_colons_are_read_at_every_level() {
    let debrief = block(
        "verdict: complete\nsummary: one lock: it is enough\nreasoning:\n  decisions: hold a lock: it is simple\n\
         packages:\n  - path: docs/a.md\n    summary: rotation: how it works\n",
    );
    assert_eq!(debrief.summary.as_deref(), Some("one lock: it is enough"));
    assert_eq!(debrief.reasoning[&Phase::Decisions], "hold a lock: it is simple");
    assert_eq!(debrief.packages[0].summary.as_deref(), Some("rotation: how it works"));
    assert_eq!(debrief.problems, [""; 0]);
}

#[test]
fn of_a_broken_block_only_plain_lines_count() {
    let debrief = block("verdict: failed\nsummary:\n[unclosed\nconfidence: high");
    assert_eq!((debrief.verdict, debrief.summary), (Some(Verdict::Failed), None));
    assert_eq!((debrief.confidence, debrief.findings.len()), (None, 0));
    assert!(
        debrief.problems[0].ends_with("only its plain lines were read"),
        "{:?}",
        debrief.problems
    );
}

#[test]
fn a_package_that_is_announced_and_listed_is_one_package() {
    let text = "### Context Package Created\n- **File:** `docs/a.md`\n- **Type:** research\n\n\
                ### Context Package Created\n- **File:** `docs/b.md`\n- **Type:** research\n\n\
                ```handover\nverdict: complete\npackages:\n  - path: docs/a.md\n    kind: decisions\n```\n";
    let paths: Vec<String> =
        read_ending(text).packages.into_iter().map(|package| package.path).collect();
    assert_eq!(paths, ["docs/a.md", "docs/b.md"]);
}
