//! The project's own tools decide.

use super::Epic;

/// An npm project with an old failing test.
fn npm() -> Epic {
    let epic = Epic::new(&["1-1-a"]);
    epic.env.write("package.json", r#"{"name":"shop","scripts":{"test":"node --test"}}"#);
    epic.env.write(
        "old.test.js",
        "const test = require('node:test'); const assert = require('node:assert');\n\
         test('broken since ever', () => assert.equal(1, 2));\ntest('fine', () => {});\n",
    );
    epic.commit_all("npm");
    epic
}

/// New work fails its test, then does not even compile, then passes.
const MENDED_TWICE: [&str; 7] = [
    "dev complete",
    "gates failed",
    "fix complete",
    "gates failed",
    "fix complete",
    "gates passed",
    "review passed",
];

pub(super) fn verdicts(epic: &Epic) -> Vec<String> {
    epic.status()["stories"][0]["phases"]
        .as_array()
        .unwrap()
        .iter()
        .map(|p| format!("{} {}", p["phase"].as_str().unwrap(), p["verdict"].as_str().unwrap()))
        .collect()
}

const TEST: &str = "const test = require(\"node:test\"); const assert = require(\"node:assert\"); test(\"new\", () => assert.equal(require(\"./sum.js\")(1, 2), 3));";

#[test]
fn npm_counts_only_new_failures() {
    let epic = npm();
    epic.script(&format!(
        "* dev 1 | write new.test.js '{TEST}' write sum.js 'module.exports = (a, b) => a - b' print \"IMPLEMENTATION COMPLETE: 1-1-a\"\n\
         * fix 1 | echo-prompt {} write sum.js 'module.exports = (a, b) => a + b' print \"IMPLEMENTATION COMPLETE: 1-1-a\"",
        epic.env.folder().join("fix").display()
    ));
    epic.run(&[]).ok();
    assert_eq!(
        verdicts(&epic),
        ["dev complete", "gates failed", "fix complete", "gates passed", "review passed"]
    );
    let prompt = fs_err::read_to_string(epic.env.folder().join("fix")).unwrap();
    let found = prompt.split("### What was found").nth(1).unwrap().split("###").next().unwrap();
    assert!(found.contains("new") && !found.contains("broken since ever"), "{found}");
}

#[test]
fn never_commits_work_that_fails_its_tests() {
    let epic = npm();
    epic.script(&format!(
        "* dev 1 | write new.test.js '{TEST}' write sum.js 'module.exports = (a, b) => a - b' print \"IMPLEMENTATION COMPLETE: 1-1-a\"\n\
         * fix * | append sum.js ';' print \"IMPLEMENTATION COMPLETE: 1-1-a\""
    ));
    epic.run(&["--max-fixes", "1"]).fails(1);
    assert_eq!(epic.states(), ["failed"]);
    assert_eq!(epic.git(&["branch", "--list", "handover/epic-1"]), "");
    assert!(epic.git(&["show", "handover/failed/1-1-a:sum.js"]).contains("a - b"));
}

/// Uses the real toolchain of Rust despite the test's own home.
pub(super) fn use_toolchain(epic: &mut Epic) {
    let home = std::path::PathBuf::from(std::env::var_os("HOME").unwrap());
    for (name, folder) in [("RUSTUP_HOME", ".rustup"), ("CARGO_HOME", ".cargo")] {
        let place = std::env::var_os(name).map_or_else(|| home.join(folder), Into::into);
        epic.env.set(name, place.to_str().unwrap());
    }
}

#[test]
fn cargo_tests_and_compiler_errors_count() {
    let mut epic = Epic::new(&["1-1-a"]);
    use_toolchain(&mut epic);
    epic.env.write("Cargo.toml", "[package]\nname = \"shop\"\nedition = \"2021\"\n");
    epic.env.write("src/lib.rs", "#[test]\nfn old() { assert!(false) }\n");
    epic.env.write(".gitignore", "target\nCargo.lock\n");
    epic.commit_all("cargo");
    epic.script(
        "* dev 1 | append src/lib.rs '#[test] fn new() { missing() }' print \"IMPLEMENTATION COMPLETE: 1-1-a\"\n\
         * fix 1 | append src/lib.rs 'fn missing() { panic!() }' print \"IMPLEMENTATION COMPLETE: 1-1-a\"\n\
         * fix 2 | write src/lib.rs '#[test] fn old() { assert!(false) } #[test] fn new() {}' print \"IMPLEMENTATION COMPLETE: 1-1-a\"",
    );
    epic.run(&[]).ok();
    assert_eq!(verdicts(&epic), MENDED_TWICE);
    // Build output is not committed.
    let files = epic.git(&["ls-tree", "-r", "--name-only", "handover/epic-1"]);
    assert!(!files.contains("target"), "{files}");
}

#[test]
fn configured_commands_count_and_unknown_failures_are_failures() {
    let epic = Epic::new(&["1-1-a"]);
    epic.env.write(
        ".handover/config.toml",
        "[gates]\ncommands = [{ name = \"check\", argv = [\"sh\", \"-c\", \"cat tap.txt; test ! -e bad\"], format = \"tap\" }]\n",
    );
    epic.env.write("tap.txt", "1..1\nnot ok 1 - old\n");
    epic.commit_all("gate");
    // The same failures as before.
    epic.script("* dev 1 | write a.txt x print \"IMPLEMENTATION COMPLETE: 1-1-a\"");
    epic.run(&[]).ok();
    // Only an exit code.
    let epic2 = Epic::new(&["1-1-a"]);
    epic2.env.write(
        ".handover/config.toml",
        "[gates]\ncommands = [{ name = \"check\", argv = [\"sh\", \"-c\", \"test ! -e bad\"] }]\n",
    );
    epic2.script("* dev 1 | write bad x print \"IMPLEMENTATION COMPLETE: 1-1-a\"");
    epic2.run(&["--max-fixes", "0"]).fails(1);
    assert!(epic2.reason(0).contains("check: exit code 1"), "{}", epic2.reason(0));
}

/// Without a terminal, a long gate is not mistaken for a run that hangs.
#[test]
fn what_takes_long_is_still_at_work() {
    let mut epic = Epic::new(&["1-1-a"]);
    epic.env.set("HANDOVER_TEST_QUIET", "1");
    epic.env.write(
        ".handover/config.toml",
        "[gates]\ncommands = [{ name = \"check\", argv = [\"sh\", \"-c\", \"grep -q shop README.md && sleep 4\"] }]\n",
    );
    epic.commit_all("slow");
    // Nor is an agent that prints nothing.
    epic.script("* dev 1 | sleep 3000 write a.txt x print \"IMPLEMENTATION COMPLETE: 1-1-a\"");
    let output = epic.run(&[]).ok();
    for what in ["gates on the base", "1-1-a dev 1", "1-1-a gates 1"] {
        assert!(output.stderr.contains(&format!("still at work: {what}\n")), "{what}: {output}");
    }
}

#[test]
fn stops_at_a_hanging_or_missing_gate() {
    let gate = |argv: &str| {
        format!("[gates]\ntimeout = 1\ncommands = [{{ name = \"check\", argv = {argv} }}]\n")
    };
    let epic = Epic::new(&["1-1-a"]);
    let hangs = "test ! -e 1-1-a.txt || sleep 600";
    epic.env.write(".handover/config.toml", gate(&format!("[\"sh\", \"-c\", \"{hangs}\"]")));
    epic.run(&["--max-fixes", "0"]).fails(1);
    assert!(epic.reason(0).contains("time limit"), "{}", epic.reason(0));
    let epic = Epic::new(&["1-1-a"]);
    epic.env.write(".handover/config.toml", gate("[\"no-such-tool\"]"));
    epic.run(&[]).fails(5);
    epic.env.write(".handover/config.toml", "");
    epic.run(&["--resume"]).ok();
}

/// Where `scripts/tools` put them. A missing one fails the test; it never skips.
pub(super) fn tools() -> std::path::PathBuf {
    let folder = std::env::var_os("HANDOVER_TEST_TOOLS").map_or_else(
        || {
            std::path::Path::new(&std::env::var_os("HOME").unwrap())
                .join(".cache/handover/test-tools")
        },
        Into::into,
    );
    assert!(
        folder.join("installed").exists(),
        "run scripts/tools: {} is not there",
        folder.display()
    );
    folder
}

#[test]
fn pytest_counts_only_new_failures() {
    let epic = Epic::new(&["1-1-a"]);
    epic.env
        .write("test_old.py", "def test_old():\n    assert False\n\ndef test_fine():\n    pass\n");
    epic.env.write(".gitignore", ".venv\n");
    epic.commit_all("python");
    std::os::unix::fs::symlink(tools().join("python"), epic.env.path(".venv")).unwrap();
    epic.script(
        "* dev 1 | write test_new.py 'def test_new(): assert 1 == 2' print \"IMPLEMENTATION COMPLETE: 1-1-a\"\n\
         * fix 1 | write test_new.py 'import nothing' print \"IMPLEMENTATION COMPLETE: 1-1-a\"\n\
         * fix 2 | write test_new.py 'def test_new(): pass' print \"IMPLEMENTATION COMPLETE: 1-1-a\"",
    );
    epic.run(&[]).ok();
    assert_eq!(verdicts(&epic), MENDED_TWICE);
}

#[test]
fn go_counts_only_new_failures() {
    let epic = Epic::new(&["1-1-a"]);
    epic.env.write("go.mod", "module shop\n\ngo 1.19\n");
    epic.env.write(
        "old_test.go",
        "package shop\n\nimport \"testing\"\n\nfunc TestOld(t *testing.T) { t.Fail() }\n",
    );
    epic.commit_all("go");
    let test = |body: &str| {
        format!("package shop; import \"testing\"; func TestNew(t *testing.T) {{ {body} }}")
    };
    epic.script(&format!(
        "* dev 1 | write new_test.go '{}' print \"IMPLEMENTATION COMPLETE: 1-1-a\"\n\
         * fix 1 | write new_test.go '{}' print \"IMPLEMENTATION COMPLETE: 1-1-a\"\n\
         * fix 2 | write new_test.go '{}' print \"IMPLEMENTATION COMPLETE: 1-1-a\"",
        test("t.Fail()"),
        test("missing()"),
        test("")
    ));
    epic.run(&[]).ok();
    assert_eq!(verdicts(&epic), MENDED_TWICE);
}

/// The real package managers that lock files select.
#[test]
fn lock_file_selects_pnpm_or_yarn() {
    let bin = tools().join("node/node_modules/.bin");
    assert!(bin.exists(), "run scripts/tools: {} is not there", bin.display());
    for (manager, lock, text) in [
        ("pnpm", "pnpm-lock.yaml", "lockfileVersion: '9.0'\n"),
        ("yarn", "yarn.lock", "# yarn lockfile v1\n"),
    ] {
        let mut epic = npm();
        let path = std::env::var_os("PATH").unwrap().into_string().unwrap();
        epic.env.set("PATH", &format!("{}:{path}", bin.display()));
        epic.env.write(lock, text);
        epic.commit_all("lock");
        epic.script(&format!(
            "* dev 1 | write new.test.js '{TEST}' write sum.js 'module.exports = (a, b) => a - b' print \"IMPLEMENTATION COMPLETE: 1-1-a\"\n\
             * fix 1 | write sum.js 'module.exports = (a, b) => a + b' print \"IMPLEMENTATION COMPLETE: 1-1-a\""
        ));
        let plan = epic.run(&["--dry-run", "--json"]).ok().json();
        assert_eq!(plan["plan"]["gates"][0], manager);
        let output = epic.run(&[]).ok();
        assert_eq!(
            verdicts(&epic),
            ["dev complete", "gates failed", "fix complete", "gates passed", "review passed"],
            "{output}"
        );
    }
}

/// A repository without tests at its root.
#[test]
fn runs_gates_of_components() {
    let epic = Epic::new(&["1-1-a"]);
    let manifest = r#"{"name":"x","scripts":{"test":"node --test"}}"#;
    epic.env.write("packages/web/package.json", manifest);
    epic.env.write("packages/web/inner/package.json", manifest);
    epic.env.write("packages/node_modules/other/package.json", manifest);
    epic.env.write("tests/fixtures/app/package.json", manifest);
    epic.env.write("services/api/go.mod", "module api\n\ngo 1.19\n");
    epic.env.write("services/api/api.go", "package api\n");
    let old = "const test = require('node:test'); const assert = require('node:assert');\n\
               test('broken since ever', () => assert.equal(1, 2));\n";
    epic.env.write("packages/web/old.test.js", old);
    epic.commit_all("components");
    let plan = epic.run(&["--dry-run", "--json"]).ok().json();
    let gates: Vec<&str> = plan["plan"]["gates"]
        .as_array()
        .unwrap()
        .iter()
        .map(|gate| gate.as_str().unwrap())
        .collect();
    assert_eq!(gates, ["npm in packages/web", "go in services/api"]);
    epic.script(&format!(
        "* dev 1 | write packages/web/new.test.js '{TEST}' write packages/web/sum.js 'module.exports = (a, b) => a - b' print \"IMPLEMENTATION COMPLETE: 1-1-a\"\n\
         * fix 1 | write packages/web/sum.js 'module.exports = (a, b) => a + b' print \"IMPLEMENTATION COMPLETE: 1-1-a\""
    ));
    epic.run(&[]).ok();
    assert_eq!(
        verdicts(&epic),
        ["dev complete", "gates failed", "fix complete", "gates passed", "review passed"]
    );
}

/// A test file that cannot be loaded is named after its path, which is another one in every worktree.
#[test]
fn names_with_the_path_of_a_worktree_are_compared() {
    let epic = npm();
    // As versions before 22 name it even without such a path.
    let script =
        r#"node --test --test-reporter=tap \"$PWD/old.test.js\" \"$PWD/sub/broken.test.js\""#;
    let manifest = format!(r#"{{"name":"shop","scripts":{{"test":"{script}"}}}}"#);
    epic.env.write("package.json", manifest);
    epic.env.write("sub/broken.test.js", "require('./gone.js');\n");
    epic.commit_all("a file that cannot be loaded");
    let output = epic.run(&[]).ok();
    assert_eq!(verdicts(&epic), ["dev complete", "gates passed", "review passed"], "{output}");
    assert!(output.stderr.contains("the base fails 2 tests"), "{output}");
}

/// One test file that cannot be imported on the base must not switch off all other tests.
#[test]
fn pytest_runs_all_tests_despite_an_old_collection_error() {
    let epic = Epic::new(&["1-1-a"]);
    epic.env.write("test_broken.py", "import nothing\n");
    epic.env.write("sum.py", "def sum(a, b):\n    return a + b\n");
    epic.env.write(
        "test_sum.py",
        "from sum import sum\n\ndef test_sum():\n    assert sum(1, 2) == 3\n",
    );
    // Nor does a setting that stops at the first failure.
    epic.env.write("pytest.ini", "[pytest]\naddopts = -x\n");
    epic.env.write(".gitignore", ".venv\n");
    epic.commit_all("python");
    std::os::unix::fs::symlink(tools().join("python"), epic.env.path(".venv")).unwrap();
    epic.script(
        "* dev 1 | write sum.py 'def sum(a, b): return a - b' print \"IMPLEMENTATION COMPLETE: 1-1-a\"\n\
         * fix 1 | write sum.py 'def sum(a, b): return b + a' print \"IMPLEMENTATION COMPLETE: 1-1-a\"",
    );
    let output = epic.run(&[]).ok();
    assert_eq!(
        verdicts(&epic),
        ["dev complete", "gates failed", "fix complete", "gates passed", "review passed"],
        "{output}"
    );
}

/// Gates that pass because hardly anything ran are reported to the reviewer and to people.
#[test]
fn far_fewer_tests_than_on_the_base_are_reported() {
    let epic = npm();
    epic.env.write(
        "many.test.js",
        "for (let n = 0; n < 9; n++) require('node:test')(`t${n}`, () => {});\n",
    );
    epic.commit_all("more tests");
    let prompt = epic.env.folder().join("review");
    epic.script(&format!(
        "* dev 1 | write many.test.js 'require(`node:test`)(`t0`, () => {{}});' print \"IMPLEMENTATION COMPLETE: 1-1-a\"\n\
         * review 1 | echo-prompt {} print \"REVIEW PASSED: 1-1-a\"",
        prompt.display()
    ));
    let output = epic.run(&[]).ok();
    let line = "gate `npm` ran 3 of the 11 tests that ran on the base";
    assert!(output.stderr.contains(line), "{output}");
    assert!(fs_err::read_to_string(prompt).unwrap().contains(line));
    assert_eq!(epic.status()["stories"][0]["test_setup"], serde_json::json!([line]));
}
