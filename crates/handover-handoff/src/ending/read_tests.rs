use super::*;

#[test]
fn a_whole_block() {
    let text = "All done.\n\n```handover\nreceipt: r_1\nverdict: complete\nsummary: Tokens rotate.\n\
            reasoning:\n  decisions: one lock\n  completion: all green\npackages:\n  - {path: docs/a.md, kind: research, \
            summary: How, consumers: [qa_expert]}\nerrors:\n  - {message: ECONNREFUSED, solution: start it}\n```\n";
    let debrief = read_ending(text);
    assert_eq!(debrief.receipt.unwrap().as_str(), "r_1");
    assert_eq!(debrief.verdict, Some(Verdict::Complete));
    assert_eq!(debrief.reasoning[&Phase::Decisions], "one lock");
    assert_eq!(debrief.packages[0].consumers, [Role::new("qa_expert").unwrap()]);
    assert_eq!(debrief.errors[0].solution.as_deref(), Some("start it"));
    assert_eq!((debrief.missing.len(), debrief.problems.len()), (0, 0));
}

#[test]
fn scalars_are_as_written() {
    let text = "```handover\nverdict: complete\nsummary: y\nreasoning:\n  decisions: 1.10\n\
            packages:\n  - path: 010\nerrors:\n  - {message: no, solution: 1e3}\n```";
    let debrief = read_ending(text);
    assert_eq!(debrief.summary.as_deref(), Some("y"));
    assert_eq!(debrief.reasoning[&Phase::Decisions], "1.10");
    assert_eq!(debrief.packages[0].path, "010");
    assert_eq!(debrief.errors[0].message, "no");
    assert_eq!(debrief.errors[0].solution.as_deref(), Some("1e3"));
}

#[test]
fn an_example_is_no_debrief() {
    let block = "```handover\nverdict: complete\nsummary: All of it.\n```\n";
    let with = |prefix: &str| -> String {
        block.lines().map(|line| format!("{prefix}{line}\n")).collect()
    };
    for text in [
        with("> "),
        with("    "),
        with("\t"),
        format!("It should end like this:\n\n{}\nbut I could not.", with("    ")),
        format!("````markdown\n{block}````\n"),
        format!("~~~\n{block}~~~\n"),
        format!("1. Like this:\n\n{}", with("        ")),
    ] {
        let debrief = read_ending(&text);
        assert!(!debrief.has_block() && debrief.verdict.is_none(), "{text}\n{debrief:?}");
    }
    for text in [block.to_owned(), with("  "), format!("- Done:\n\n{}", with("    "))] {
        assert!(read_ending(&text).has_block(), "{text}");
    }
}

#[test]
fn findings_are_lines_or_objects() {
    let text = "```handover\nverdict: failed\nsummary: Two tests fail.\nfindings:\n  - refresh accepts \
            expired tokens\n  - {severity: High, file: src/auth.rs, line: 41, issue: exp is not checked}\n  \
            - {place: 'src/b.rs:7', text: no test}\n  - {severity: low}\n```";
    assert_eq!(
        read_ending(text).findings,
        [
            "refresh accepts expired tokens",
            "[high] src/auth.rs:41: exp is not checked",
            "src/b.rs:7: no test"
        ]
    );
    let one = read_ending("```handover\nverdict: failed\nfindings: the form is empty\n```");
    assert_eq!(one.findings, ["the form is empty"]);
}

#[test]
fn json_and_sloppy_forms() {
    let json = "```handover\n{\"Verdict\": \"APPROVED\", \"summary\": \"fine\", \"reasoning\": [{\"phase\": \
            \"Decisions\", \"content\": \"kept\"}], \"packages\": \"docs/a.md\"}\n```";
    let debrief = read_ending(json);
    assert_eq!(debrief.verdict, Some(Verdict::Passed));
    assert_eq!(debrief.reasoning[&Phase::Decisions], "kept");
    assert_eq!(debrief.packages[0].path, "docs/a.md");
    let colon = read_ending("```handover\nverdict: failed\nsummary: Error: it: broke: {\n```");
    assert_eq!(colon.verdict, Some(Verdict::Failed));
    assert_eq!(colon.summary.as_deref(), Some("Error: it: broke: {"));
    let cut_off = read_ending("~~~handover\nverdict: blocked\nsummary: no access");
    assert_eq!(cut_off.verdict, Some(Verdict::Blocked));
}

#[test]
fn two_verdicts_are_none() {
    let debrief =
        read_ending("```handover\nverdict: passed\n```\n```handover\nverdict: failed\n```");
    assert_eq!(debrief.verdict, None);
    assert!(debrief.missing.contains(&"verdict"), "{debrief:?}");
    let twice = read_ending("```handover\nverdict: failed\nverdict: complete\n```");
    assert_eq!(twice.verdict, None, "{twice:?}");
    let same = read_ending("```handover\nverdict: passed\n```\n```handover\nverdict: passed\n```");
    assert_eq!(same.verdict, Some(Verdict::Passed));
}

#[test]
fn sentences_with_colons_and_quotes_are_kept() {
    let text = "```handover\nverdict: complete\nsummary: s\nreasoning:\n  decisions: chose Redis: it is fast\n  \
            approach: `lock` per user\n\tcompletion: @done, \"mostly\npackages:\n  - {path: docs/n.md, summary: hello}\n  - path: \
            docs/m.md\n    summary: two: parts\nerrors:\n  - message: Error: x\n    solution: y: z\n```";
    let debrief = read_ending(text);
    assert_eq!(debrief.problems, [""; 0]);
    assert_eq!(debrief.reasoning[&Phase::Decisions], "chose Redis: it is fast");
    assert_eq!(debrief.reasoning[&Phase::Approach], "`lock` per user");
    assert_eq!(debrief.reasoning[&Phase::Completion], "@done, \"mostly");
    assert_eq!(debrief.packages.len(), 2);
    assert_eq!(debrief.errors[0].solution.as_deref(), Some("y: z"));
}

#[test]
fn the_form_of_the_prompt_is_no_debrief() {
    let receipt = ReceiptId::new("r_1").unwrap();
    let role = handover_model::Role::new("developer").unwrap();
    let prompt =
        crate::brief::role_section(&role, &receipt, &handover_model::SessionId::new("s").unwrap());
    assert!(!read_ending(&prompt).has_block());
    let answer = format!("{prompt}\n```handover\nverdict: blocked\nsummary: no access\n```\n");
    let debrief = read_ending(&answer);
    assert_eq!((debrief.verdict, debrief.errors.len()), (Some(Verdict::Blocked), 0));
    assert!(debrief.reasoning.is_empty());
}

#[test]
fn nothing_is_nothing() {
    let debrief = read_ending(
        "```handover\nverdict: complete\nsummary: x\nerrors: none\npackages:\n  - N/A\n```",
    );
    assert_eq!((debrief.errors.len(), debrief.packages.len()), (0, 0));
}

#[test]
fn examples_and_quotes_are_not_debriefs() {
    let inside = "````markdown\n```handover\nverdict: passed\n```\n````";
    assert!(!read_ending(inside).has_block());
    let quoted = "> ```handover\n> verdict: passed\n> ```\n> Status: passed";
    assert_eq!((read_ending(quoted).verdict, read_ending(quoted).has_block()), (None, false));
}

#[test]
fn without_a_block_the_prose_is_read() {
    let text = "**Status:** READY_FOR_QA\n\n## Context Package Created\n**File:** `docs/r.md`\n**Type:** research\n";
    let debrief = read_ending(text);
    assert_eq!(debrief.verdict, Some(Verdict::Complete));
    assert_eq!(debrief.packages[0].path, "docs/r.md");
    assert_eq!(debrief.missing, [BLOCK, "summary", "reasoning"]);
}

#[test]
fn reports_unknown_words() {
    let debrief = read_ending("```handover\nverdict: magnificent\nreasoning: {mood: great}\n```");
    assert_eq!(debrief.problems.len(), 2, "{:?}", debrief.problems);
}

#[test]
fn survives_hostile_input() {
    let bomb = format!("```handover\na: &a [x,x]\nb: &b [{}]\n```", "*a,".repeat(5_000));
    let deep = format!("```handover\n{}\n```", "[".repeat(20_000));
    let large = format!("```handover\nsummary: {}\n```", "x".repeat(1_000_000));
    for text in [bomb.as_str(), &deep, &large, "```handover", "\u{0}```handover\n\u{1}"] {
        read_ending(text);
    }
}
