//! What a story changes about how it is tested: test commands, gates and CI. The reviewer sees it, because
//! an agent that makes its tests pass by replacing them looks like one that did its work.

use serde_json::Value;

use handover_model::config::GateCommand;

/// Which part of a file decides how the project is tested.
enum RelevantPart {
    /// Any change.
    All,
    /// These fields of a JSON object.
    Json(&'static [&'static str]),
    /// These tables and keys of a TOML document.
    Toml(&'static [&'static str]),
    /// Its existence: without it, a gate is not found.
    Existence,
}

/// Files by name (`*` stands for anything) or folder (`ends/with/a/slash/`), and the part that matters.
const TABLE: &[(&[&str], RelevantPart)] = &[
    (
        &["package.json"],
        RelevantPart::Json(&[
            "scripts",
            "jest",
            "mocha",
            "ava",
            "vitest",
            "nyc",
            "c8",
            "tap",
            "packageManager",
            "workspaces",
        ]),
    ),
    (
        &[
            "jest.config.*",
            "vitest.config.*",
            "vitest.workspace.*",
            "vite.config.*",
            ".mocharc*",
            "karma.conf.*",
            "ava.config.*",
            "playwright.config.*",
            "cypress.config.*",
            ".nycrc*",
            ".taprc",
            ".npmrc",
            ".yarnrc",
            ".yarnrc.yml",
            ".pnpmfile.cjs",
            "bunfig.toml",
            "deno.json*",
            "nx.json",
            "turbo.json",
            "lerna.json",
        ],
        RelevantPart::All,
    ),
    (
        &["Cargo.toml"],
        RelevantPart::Toml(&[
            "lib",
            "bin",
            "test",
            "bench",
            "example",
            "profile",
            "lints",
            "workspace.members",
            "workspace.default-members",
            "workspace.exclude",
            "package.build",
            "package.autotests",
            "package.autobins",
            "package.autoexamples",
            "package.autobenches",
        ]),
    ),
    (
        &[".cargo/", ".config/nextest.toml", "rust-toolchain", "rust-toolchain.toml"],
        RelevantPart::All,
    ),
    (
        &["pyproject.toml"],
        RelevantPart::Toml(&[
            "build-system",
            "tool.pytest",
            "tool.tox",
            "tool.nox",
            "tool.coverage",
            "tool.hatch",
            "tool.poe",
            "tool.taskipy",
            "tool.pdm.scripts",
            "tool.setuptools",
            "tool.uv.workspace",
        ]),
    ),
    (
        &[
            "pytest.ini",
            ".pytest.ini",
            "tox.ini",
            "setup.cfg",
            "conftest.py",
            "noxfile.py",
            "sitecustomize.py",
            "usercustomize.py",
            ".coveragerc",
        ],
        RelevantPart::All,
    ),
    (&["go.mod"], RelevantPart::Existence),
    (&["go.work", ".golangci.y*ml"], RelevantPart::All),
    (
        &[
            "build.gradle",
            "build.gradle.kts",
            "settings.gradle",
            "settings.gradle.kts",
            "gradle.properties",
            "gradlew",
            "gradle/",
            "buildSrc/",
            "pom.xml",
            "mvnw",
            ".mvn/",
        ],
        RelevantPart::All,
    ),
    (
        &[
            "Makefile",
            "makefile",
            "GNUmakefile",
            "*.mk",
            "justfile",
            "Justfile",
            ".justfile",
            "Taskfile.y*ml",
            "Rakefile",
            "CMakeLists.txt",
            "meson.build",
            "WORKSPACE",
            "MODULE.bazel",
            ".bazelrc",
            "phpunit.xml*",
            ".rspec",
        ],
        RelevantPart::All,
    ),
    (
        &[
            ".github/workflows/",
            ".github/actions/",
            ".gitlab-ci.yml",
            ".gitlab/",
            ".circleci/",
            ".buildkite/",
            ".woodpecker/",
            ".woodpecker.y*ml",
            ".drone.yml",
            ".travis.yml",
            "Jenkinsfile*",
            "azure-pipelines.y*ml",
            "bitbucket-pipelines.yml",
            "cloudbuild.y*ml",
            "appveyor.yml",
            ".appveyor.yml",
            ".pre-commit-config.yaml",
            "lefthook.yml",
            ".husky/",
        ],
        RelevantPart::All,
    ),
    (&[".handover/", ".gitattributes", ".gitmodules"], RelevantPart::All),
];

/// Reads a file as a document.
type ParseDocument = fn(&[u8]) -> Option<Value>;

/// The maximum length of a displayed value.
const SHOWN: usize = 120;

/// One changed file: its content before and after, if it exists.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ChangedFile<'a> {
    /// Its path from the project's folder.
    pub(crate) path: &'a str,
    pub(crate) before: Option<&'a [u8]>,
    pub(crate) after: Option<&'a [u8]>,
}

/// Whether changes to a file can change how the project is tested. Only then is its content needed.
pub(crate) fn concerns(path: &str, gates: &[GateCommand]) -> bool {
    row(path).is_some() || gate_of(path, gates).is_some()
}

/// How a change affects testing, one line each; empty if it does not.
pub(crate) fn describe(file: ChangedFile<'_>, gates: &[GateCommand]) -> Vec<String> {
    let ChangedFile { path, before, after } = file;
    if let Some(gate) = gate_of(path, gates) {
        return vec![format!("{path}: {}, and the gate `{}` uses it", how(file), gate.name)];
    }
    let Some(part) = row(path) else { return Vec::new() };
    let (keys, read): (_, ParseDocument) = match part {
        RelevantPart::Existence if before.is_none() == after.is_none() => return Vec::new(),
        RelevantPart::All | RelevantPart::Existence => {
            return vec![format!("{path}: {}", how(file))];
        }
        RelevantPart::Json(keys) => (keys, |bytes| serde_json::from_slice(bytes).ok()),
        RelevantPart::Toml(keys) => {
            (keys, |bytes| toml::from_str(std::str::from_utf8(bytes).ok()?).ok())
        }
    };
    let value = |side: Option<&[u8]>| side.map_or(Some(Value::Null), read);
    match (value(before), value(after)) {
        _ if after.is_none() => vec![format!("{path}: {}", how(file))],
        (Some(before), Some(after)) => {
            keys.iter().flat_map(|key| differences(path, key, &before, &after)).collect()
        }
        _ => vec![format!("{path}: {}, and it cannot be read", how(file))],
    }
}

fn how(file: ChangedFile<'_>) -> &'static str {
    match (file.before, file.after) {
        (None, _) => "added",
        (_, None) => "deleted",
        (Some(_), Some(_)) => "changed",
    }
}

/// The differences below one key, by its own keys if it has some.
fn differences(path: &str, key: &str, before: &Value, after: &Value) -> Vec<String> {
    let pointer = format!("/{}", key.replace('.', "/"));
    let (before, after) = (before.pointer(&pointer), after.pointer(&pointer));
    if before == after {
        return Vec::new();
    }
    let line = |key: &str, before: Option<&Value>, after: Option<&Value>| match (before, after) {
        (None, Some(now)) => format!("{path}: `{key}` is new: {}", shown(now)),
        (Some(was), None) => format!("{path}: `{key}` is gone; it was {}", shown(was)),
        (was, now) => {
            let [was, now] = [was, now].map(|value| value.map(shown).unwrap_or_default());
            format!("{path}: `{key}` is now {now}; it was {was}")
        }
    };
    let empty = serde_json::Map::new();
    let object =
        |value: Option<&Value>| value.map_or(Some(empty.clone()), |v| v.as_object().cloned());
    let (Some(before_keys), Some(after_keys)) = (object(before), object(after)) else {
        return vec![line(key, before, after)];
    };
    let names: std::collections::BTreeSet<&String> =
        before_keys.keys().chain(after_keys.keys()).collect();
    names
        .into_iter()
        .filter(|name| before_keys.get(*name) != after_keys.get(*name))
        .map(|name| line(&format!("{key}.{name}"), before_keys.get(name), after_keys.get(name)))
        .collect()
}

fn shown(value: &Value) -> String {
    handover_text::cut::cut(&value.to_string(), SHOWN)
}

fn row(path: &str) -> Option<&'static RelevantPart> {
    let found = TABLE.iter().find(|(names, _)| names.iter().any(|name| matches(path, name)));
    found.map(|(_, part)| part)
}

/// Whether a path has a name of the table, in any folder.
fn matches(path: &str, name: &str) -> bool {
    let in_any_folder = |tail: &str| {
        path.strip_suffix(tail).is_some_and(|folder| folder.is_empty() || folder.ends_with('/'))
    };
    if name.ends_with('/') {
        return path.starts_with(name) || path.contains(&format!("/{name}"));
    }
    match name.split_once('*') {
        None => in_any_folder(name),
        Some((start, end)) => {
            let file = path.rsplit('/').next().unwrap_or(path);
            file.len() >= name.len() - 1 && file.starts_with(start) && file.ends_with(end)
        }
    }
}

/// The configured gate that runs a file or reads it as its report.
fn gate_of<'g>(path: &str, gates: &'g [GateCommand]) -> Option<&'g GateCommand> {
    let is_it = |word: &String| word.trim_start_matches("./") == path;
    gates.iter().find(|gate| gate.argv.iter().any(is_it) || gate.report.iter().any(is_it))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &str, before: Option<&str>, after: Option<&str>) -> Vec<String> {
        let file = ChangedFile {
            path,
            before: before.map(str::as_bytes),
            after: after.map(str::as_bytes),
        };
        assert_eq!(row(path).is_some(), concerns(path, &[]));
        describe(file, &[])
    }

    #[test]
    fn a_replaced_test_command_is_named_with_both_values() {
        let before = r#"{"name":"x","scripts":{"test":"node --test","build":"tsc"}}"#;
        let after =
            r#"{"name":"y","scripts":{"test":"true","build":"tsc"},"dependencies":{"a":"1"}}"#;
        assert_eq!(
            lines("package.json", Some(before), Some(after)),
            [r#"package.json: `scripts.test` is now "true"; it was "node --test""#]
        );
        assert_eq!(
            lines("web/package.json", Some(before), Some(r#"{"name":"x"}"#)),
            [
                r#"web/package.json: `scripts.build` is gone; it was "tsc""#,
                r#"web/package.json: `scripts.test` is gone; it was "node --test""#
            ]
        );
        assert_eq!(
            lines("package.json", None, Some(after)),
            [
                r#"package.json: `scripts.build` is new: "tsc""#,
                r#"package.json: `scripts.test` is new: "true""#
            ]
        );
    }

    #[test]
    fn ordinary_changes_of_a_manifest_are_not_named() {
        let plain = r#"{"name":"x","scripts":{"test":"t"},"dependencies":{"a":"1"}}"#;
        let more = r#"{"scripts":{"test":"t"},"name":"z","dependencies":{"a":"2","b":"1"}}"#;
        assert_eq!(lines("package.json", Some(plain), Some(more)), [""; 0]);
        let cargo = "[package]\nname = \"a\"\n[dependencies]\nb = \"1\"\n";
        let other = "[package]\nname = \"a\"\n[dependencies]\nb = \"2\"\nc = \"1\"\n";
        assert_eq!(lines("Cargo.toml", Some(cargo), Some(other)), [""; 0]);
        assert_eq!(lines("go.mod", Some("module a"), Some("module a\nrequire b v1")), [""; 0]);
        for path in
            ["src/main.rs", "README.md", "tests/it.rs", "docs/Makefile.md", "a/package.jsonc"]
        {
            assert_eq!(lines(path, Some("a"), Some("b")), [""; 0], "{path}");
        }
    }

    #[test]
    fn parts_of_toml_are_compared_by_key() {
        let cargo = "[package]\nname = \"a\"\n";
        let off = "[package]\nname = \"a\"\nautotests = false\n[lib]\ntest = false\n";
        assert_eq!(
            lines("crates/a/Cargo.toml", Some(cargo), Some(off)),
            [
                "crates/a/Cargo.toml: `lib.test` is new: false",
                "crates/a/Cargo.toml: `package.autotests` is new: false"
            ]
        );
        let python = "[tool.pytest.ini_options]\naddopts = \"-q\"\n";
        let less = "[tool.pytest.ini_options]\naddopts = \"-q -k nothing\"\n";
        let named = lines("pyproject.toml", Some(python), Some(less));
        assert!(named[0].contains("-k nothing") && named.len() == 1, "{named:?}");
    }

    #[test]
    fn a_manifest_that_is_deleted_or_cannot_be_read_is_named() {
        assert_eq!(lines("package.json", Some("{}"), None), ["package.json: deleted"]);
        assert_eq!(lines("go.mod", Some("module a"), None), ["go.mod: deleted"]);
        let broken = lines("Cargo.toml", Some("[package]"), Some("[package"));
        assert_eq!(broken, ["Cargo.toml: changed, and it cannot be read"]);
        let binary = ChangedFile { path: "Cargo.toml", before: None, after: Some(b"\xff\xfe") };
        assert_eq!(describe(binary, &[]), ["Cargo.toml: added, and it cannot be read"]);
    }

    #[test]
    fn files_that_decide_as_a_whole_are_named_in_any_folder() {
        for path in [
            "Makefile",
            "a/b/Makefile",
            "rules.mk",
            "jest.config.ts",
            "web/.mocharc.json",
            ".npmrc",
            ".cargo/config.toml",
            "crates/x/.cargo/config",
            ".config/nextest.toml",
            "conftest.py",
            "a/tests/conftest.py",
            "pytest.ini",
            "tox.ini",
            "setup.cfg",
            "go.work",
            "pom.xml",
            "build.gradle.kts",
            "gradle/wrapper/gradle-wrapper.properties",
            "gradlew",
            "mvnw",
            ".mvn/jvm.config",
            ".github/workflows/ci.yml",
            ".gitlab-ci.yml",
            ".circleci/config.yml",
            "Jenkinsfile",
            "Jenkinsfile.nightly",
            "azure-pipelines.yaml",
            ".handover/config.toml",
            ".gitattributes",
            "sub/.gitattributes",
        ] {
            assert_eq!(lines(path, Some("a"), Some("b")), [format!("{path}: changed")], "{path}");
            assert_eq!(lines(path, None, Some("b")), [format!("{path}: added")], "{path}");
            assert_eq!(lines(path, Some("a"), None), [format!("{path}: deleted")], "{path}");
        }
    }

    #[test]
    fn files_of_a_configured_gate_are_named() {
        let gate = |argv: &[&str], report: Option<&str>| GateCommand {
            name: "unit".to_owned(),
            argv: argv.iter().map(|&word| word.to_owned()).collect(),
            format: handover_model::GateFormat::None,
            report: report.map(str::to_owned),
        };
        let gates =
            [gate(&["sh", "./scripts/test.sh"], None), gate(&["make"], Some("out/junit.xml"))];
        for path in ["scripts/test.sh", "out/junit.xml"] {
            let file = ChangedFile { path, before: Some(b"a"), after: Some(b"b") };
            assert!(concerns(path, &gates));
            assert_eq!(
                describe(file, &gates),
                [format!("{path}: changed, and the gate `unit` uses it")]
            );
        }
        assert!(!concerns("scripts/other.sh", &gates));
    }

    #[test]
    fn a_long_value_is_cut() {
        let before = r#"{"scripts":{"test":"a"}}"#;
        let after = format!(r#"{{"scripts":{{"test":"{}"}}}}"#, "x".repeat(5_000));
        let named = lines("package.json", Some(before), Some(&after));
        assert!(named[0].len() < 300, "{named:?}");
    }
}
