//! Invalid input: the form of the error, the exit code, and no changes.

use serde_json::Value;

use crate::{empty, project};

#[test]
fn errors_name_the_bad_value_and_the_rule() {
    let env = project();
    env.write("a.md", "text");
    env.write("bad-yaml.md", "---\ntype: [research\n---\nx");
    env.write("open.md", "---\ntype: research\nx");
    env.write("rumour.md", "---\ntype: rumour\n---\nx");
    env.write("foreign.md", "---\ntype: research\nsession_id: other\n---\nx");
    env.write("handoff-developer-qa_expert-P1.md", "---\nconsumers: [tech_lead]\n---\nx");
    env.write("bytes.md", b"ab\xff\xfe");
    env.write("empty.md", "");
    env.write("big.md", vec![b'x'; 5_000_001]);
    fs_err::create_dir_all(env.path("folder")).unwrap();
    fs_err::write(env.folder().join("outside.md"), "secret").unwrap();
    std::os::unix::fs::symlink(env.folder().join("outside.md"), env.path("link.md")).unwrap();
    let bomb: String = (1..12)
        .map(|n| format!("a{n}: &a{n} [{}]\n", vec![format!("*a{}", n - 1); 9].join(",")))
        .collect();
    env.write("bomb.md", format!("---\na0: &a0 [x,x,x,x,x,x,x,x,x]\n{bomb}files: *a11\n---\nx"));

    let cases: &[(&[&str], &[&str])] = &[
        (&["package", "add", "a.md", "--kind", "rumour"], &["rumour", "research"]),
        (&["package", "add", "a.md"], &["a.md", "kind"]),
        (
            &["package", "add", "a.md", "--kind", "research", "--priority", "urgent"],
            &["urgent", "critical"],
        ),
        (&["package", "add", "a.md", "--kind", "research", "--group", "a/b"], &["a/b"]),
        (
            &["package", "add", "a.md", "--kind", "research", "--group", "P1", "--global"],
            &["--global"],
        ),
        (&["package", "add", "a.md", "--kind", "research", "--summary", ""], &["summary"]),
        (
            &["package", "add", "a.md", "--kind", "research", "--producer", "QA Expert"],
            &["QA Expert"],
        ),
        (&["package", "add", "a.md", "--kind", "research", "--supersedes", "-1"], &["-1"]),
        (&["package", "add", "a.md", "--kind", "research", "--supersedes", "99"], &["99"]),
        (&["package", "add", "none.md", "--kind", "research"], &["none.md"]),
        (&["package", "add", "bad-yaml.md"], &["bad-yaml.md", "front matter"]),
        (&["package", "add", "open.md"], &["open.md", "---"]),
        (&["package", "add", "rumour.md"], &["rumour"]),
        (&["package", "add", "foreign.md"], &["session", "other", "s1"]),
        (&["package", "add", "handoff-developer-qa_expert-P1.md"], &["tech_lead", "qa_expert"]),
        (&["package", "add", "bomb.md", "--kind", "research"], &["bomb.md"]),
        (&["package", "add", "bytes.md", "--kind", "research"], &["UTF-8"]),
        (&["package", "add", "empty.md", "--kind", "research"], &["empty.md"]),
        (&["package", "add", "big.md", "--kind", "research"], &["5000001"]),
        (&["package", "add", "folder", "--kind", "research"], &["folder"]),
        (&["package", "add", "../outside.md", "--kind", "research"], &["outside"]),
        (&["package", "add", "link.md", "--kind", "research"], &["outside"]),
        (&["package", "add", "/dev/zero", "--kind", "research"], &["/dev/zero"]),
        (&["package", "add", ".handover/config.toml", "--kind", "research"], &["Handover itself"]),
        (&["package", "add", ".", "--kind", "research"], &["folder"]),
        (&["package", "list", "--session", "nobody"], &["nobody"]),
        (&["package", "show", "99"], &["99"]),
        (&["package", "show", "one"], &["one"]),
        (&["package", "update", "99", "a.md"], &["99"]),
        (&["session", "new", "a/b"], &["a/b"]),
        (&["session", "new", ""], &["empty"]),
        (&["session", "new", ".."], &[".."]),
        (&["session", "new", "s2", "--metadata", "[1]"], &["object"]),
        (&["session", "new", "s2", "--metadata", "{"], &["JSON"]),
        (&["session", "new", "s1", "--project-id", "elsewhere"], &["elsewhere"]),
        (&["session", "show", "nobody"], &["nobody"]),
        (&["session", "close", "s1", "--status", "done"], &["done"]),
        (&["session", "close", "s1", "--status", "active"], &["active"]),
        (&["session", "purge", "nobody", "--yes"], &["nobody"]),
        (&["group", "set", "global"], &["global"]),
        (&["group", "set", "P1", "--status", "busy"], &["busy", "pending"]),
        (&["group", "set", "P1", "--ref", "99"], &["99"]),
        (&["group", "set", "P1", "--count", ""], &["counter"]),
        (&["group", "show", "none"], &["none"]),
        (
            &["reasoning", "add", "--role", "developer", "--phase", "thinking", "x"],
            &["thinking", "completion"],
        ),
        (&["reasoning", "add", "--role", "developer", "--phase", "risks", " "], &["empty"]),
        (
            &[
                "reasoning",
                "add",
                "--role",
                "developer",
                "--phase",
                "risks",
                "--iteration",
                "-1",
                "x",
            ],
            &["-1"],
        ),
        (
            &[
                "reasoning",
                "add",
                "--role",
                "developer",
                "--phase",
                "risks",
                "--session",
                "nobody",
                "x",
            ],
            &["nobody"],
        ),
        (&["reasoning", "list", "--limit", "-5"], &["-5"]),
        (&["error", "record", "--message", ""], &["empty"]),
        (&["error", "resolve", "--message", "x", "--solution", " "], &["empty"]),
        (&["error", "confirm", "zz"], &["zz"]),
        (&["error", "confirm", ""], &["empty"]),
        (&["search", " "], &["empty"]),
        (&["search", "x", "--limit", "many"], &["many"]),
        (&["event", "log", "a b"], &["a b"]),
        (&["frobnicate"], &["frobnicate"]),
        (&["package"], &[]),
        (&["session", "list", "--color", "blue"], &["blue"]),
        (&["session", "list", "--config", "redaction.mod=off"], &["redaction.mod"]),
        (&["session", "list", "--config", "redaction.mode=sometimes"], &["sometimes"]),
        (&["session", "list", "--project", "nowhere"], &["nowhere"]),
    ];
    let before = env.run(["session", "show", "s1", "--json"]).ok().json();
    for (args, words) in cases {
        let mut all = args.to_vec();
        all.push("--json");
        let output = env.run(&all);
        assert_eq!(output.code, Some(2), "{args:?}: {output}");
        let text = output.error().to_string();
        for word in *words {
            assert!(text.contains(word), "{args:?}: no `{word}` in {text}");
        }
        // Without `--json`: an error, and nothing on standard output.
        let plain = env.run(*args).fails(2);
        assert_eq!(plain.stdout, "", "{args:?}");
        assert!(plain.stderr.contains("error:") || args.len() == 1, "{args:?}: {plain}");
    }
    assert_eq!(env.run(["session", "show", "s1", "--json"]).ok().json(), before);
}

#[test]
fn rejects_bad_standard_input() {
    let env = project();
    let bad: &[(&[u8], &[&str])] = &[
        (b"{not json", &["skill-output", "save", "scan"]),
        (b"", &["skill-output", "save", "scan"]),
        (b"{not json", &["event", "log", "verdict"]),
        (b"\xff\xfe", &["reasoning", "add", "--role", "developer", "--phase", "risks"]),
        (b"", &["reasoning", "add", "--role", "developer", "--phase", "risks"]),
        (b"{\"kind\":\"research\"}", &["package", "import", "-"]),
        (b"{}\n[]", &["package", "import", "-"]),
    ];
    for (stdin, args) in bad {
        let mut all = args.to_vec();
        all.push("--json");
        env.run_with(stdin, all).fails(2).error();
    }
}

#[test]
fn an_import_is_all_or_nothing_and_names_the_line() {
    let env = project();
    let good = r#"{"kind":"research","producer":"developer","priority":"low","summary":"A","body":"text","name":"a"}"#;
    for (bad, words) in [
        ("{\"kind\":\"rumour\"}", "rumour"),
        (r#"{"kind":"research","producer":"developer","priority":"low","summary":"A"}"#, "body"),
        (
            r#"{"kind":"research","producer":"developer","priority":"low","summary":"A","body":"x","path":"y"}"#,
            "body",
        ),
        (
            r#"{"kind":"research","producer":"developer","priority":"low","summary":"A","path":"../up.md"}"#,
            "..",
        ),
        (
            r#"{"kind":"research","producer":"developer","priority":"low","summary":"A","path":"none.md"}"#,
            "none.md",
        ),
        (
            r#"{"kind":"research","producer":"developer","priority":"low","summary":"A","body":"x","name":"../../x"}"#,
            "../../x",
        ),
        (
            r#"{"kind":"research","producer":"developer","priority":"low","summary":"A","body":"other","name":"a"}"#,
            "line 1",
        ),
        (
            r#"{"kind":"research","producer":"developer","priority":"low","summary":"","body":"x"}"#,
            "summary",
        ),
        (
            r#"{"kind":"research","producer":"developer","priority":"low","summary":"A","body":"x","scope":"group"}"#,
            "group",
        ),
        (
            r#"{"kind":"research","producer":"developer","priority":"low","summary":"A","body":"x","created_at":"yesterday"}"#,
            "yesterday",
        ),
        (
            r#"{"kind":"research","producer":"developer","priority":"low","summary":"A","body":"x","colour":"red"}"#,
            "colour",
        ),
    ] {
        let error = env
            .run_with(format!("{good}\n{bad}\n"), ["package", "import", "-", "--json"])
            .fails(2)
            .error();
        let message = error["message"].as_str().unwrap();
        assert!(message.contains("line 2") && message.contains(words), "{bad}: {message}");
        let files = fs_err::read_dir(env.path(".handover/artifacts/s1/context")).unwrap().count();
        assert_eq!(files, 0, "{bad}: a file was left behind");
    }
    let counts = env.run(["session", "show", "--json"]).ok().json()["session"]["counts"].clone();
    assert_eq!(counts["package_versions"], 0);
}

#[test]
fn hints_at_init_outside_a_project() {
    let env = empty();
    let error = env.run(["session", "list", "--json"]).fails(2).error();
    assert_eq!(error["code"], "no_project");
    assert!(error["hint"].as_str().unwrap().contains("handover init"));
    env.run(["init"]).ok();
    let error = env.run(["package", "list", "--json"]).fails(2).error();
    assert!(error["hint"].as_str().unwrap().contains("handover session new"));
}

#[test]
fn rejects_huge_files_without_reading_them() {
    let env = project();
    let file = fs_err::File::create(env.path("huge.md")).unwrap();
    file.set_len(100_000_000).unwrap();
    let error =
        env.run(["package", "add", "huge.md", "--kind", "research", "--json"]).fails(2).error();
    assert!(error["message"].as_str().unwrap().contains("100000000"));
    assert_eq!(error.get("hint").map(Value::is_string), Some(true));
}

#[test]
fn a_file_that_is_not_there_is_named_in_plain_words() {
    let env = project();
    env.run(["brief", "--role", "developer", "--task", "x"]).ok();
    for command in [
        &["tokens", "nofile"][..],
        &["redact", "nofile"],
        &["where", "--file", "nofile"],
        &["note", "add", "--file", "nofile"],
        &["package", "import", "nofile"],
        &["receipt", "verify", "latest", "nofile"],
        &["event", "log", "verdict", "nofile"],
        &["data", "import", "nofile"],
    ] {
        let refused = env.run(command).fails(2);
        let said = "error: there is no file `nofile`\nhint: Check the path; it is relative";
        assert!(refused.stderr.starts_with(said), "{command:?}: {refused}");
    }
}

#[test]
fn numbers_are_asked_for_in_plain_words() {
    let env = project();
    for (command, said) in [
        (&["receipt", "list", "--limit", "x"][..], "expected a whole number"),
        (&["search", "x", "--limit", "99999999999999999999"], "the number is too large"),
        (&["config", "set", "packages.max_bytes", "abc"], "expected a whole number"),
        (&["config", "set", "brief.notes", "maybe"], "expected true or false"),
    ] {
        let refused = env.run(command).fails(2);
        assert!(refused.stderr.contains(said), "{command:?}: {refused}");
        // The file is fine: nothing was written.
        assert!(!refused.stderr.contains("config.toml"), "{refused}");
    }
}
