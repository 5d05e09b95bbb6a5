//! What is checked before the first agent is paid, and that gates check the worktree.

use super::Epic;
use super::gates::{tools, use_toolchain, verdicts};

/// How often agents were called.
pub(super) fn counted(epic: &Epic) -> std::path::PathBuf {
    let calls = epic.env.folder().join("calls");
    epic.script(&format!(
        "* dev * | append {} x write a.txt x print \"IMPLEMENTATION COMPLETE: 1-1-a\"",
        calls.display()
    ));
    calls
}

/// Why a run stopped before its first agent.
pub(super) fn refused(epic: &Epic, more: &[&str]) -> String {
    let output = epic.run(&[&["--json"], more].concat()).fails(5);
    let error: serde_json::Value = serde_json::from_str(output.stderr.trim()).unwrap();
    error["error"]["message"].as_str().unwrap().to_owned()
}

/// R13: broken test set-ups are found before anybody is paid.
#[test]
fn a_broken_test_setup_is_found_before_an_agent_is_paid() {
    let epic = Epic::new(&["1-1-a"]);
    epic.env.write("package.json", r#"{"name":"shop","scripts":{"test":"jest --ci"}}"#);
    epic.commit_all("npm");
    let calls = counted(&epic);
    let message = refused(&epic, &[]);
    assert!(message.contains("gate `npm` fails before any work"), "{message}");
    assert!(message.contains("jest"), "{message}");
    assert!(!calls.exists(), "nobody was paid");
    assert_eq!(epic.git(&["worktree", "list"]).lines().count(), 1);
    // Once it is fixed, the same command starts: there is nothing to resume.
    epic.env.write("package.json", r#"{"name":"shop","scripts":{"test":"node --test"}}"#);
    epic.commit_all("fixed");
    epic.run(&[]).ok();
    assert!(calls.exists());
}

/// What was never installed is not a fault of the project.
#[test]
fn packages_that_were_never_installed_are_named() {
    let epic = Epic::new(&["1-1-a"]);
    let manifest =
        r#"{"name":"shop","scripts":{"test":"jest --ci"},"devDependencies":{"jest":"30.0.0"}}"#;
    epic.env.write("package.json", manifest);
    epic.commit_all("npm");
    let message = refused(&epic, &[]);
    assert!(message.contains("`npm install` first?"), "{message}");
    fs_err::create_dir_all(epic.env.path("node_modules")).unwrap();
    let message = refused(&epic, &[]);
    assert!(!message.contains("`npm install` first?"), "{message}");
}

/// R13: the missing thing is named, not its interpreter.
#[test]
fn a_missing_pytest_is_named() {
    let epic = Epic::new(&["1-1-a"]);
    epic.env.write("test_a.py", "def test_a():\n    pass\n");
    epic.env.write(".gitignore", ".venv\n");
    epic.commit_all("python");
    // A virtual environment without pytest.
    let made = std::process::Command::new("python3")
        .args(["-m", "venv", "--without-pip"])
        .arg(epic.env.path(".venv"))
        .status()
        .unwrap();
    assert!(made.success());
    let calls = counted(&epic);
    let message = refused(&epic, &[]);
    assert!(message.contains("needs pytest") && message.contains("pip install"), "{message}");
    assert!(!calls.exists());
    // A person who knows better can start.
    refused(&epic, &["--skip-base-check"]);
    assert!(calls.exists());
}

/// Tests that fail on the base are recorded and said, and nobody is blamed.
#[test]
fn failing_tests_of_the_base_are_recorded() {
    let epic = Epic::new(&["1-1-a"]);
    epic.env.write("package.json", r#"{"name":"shop","scripts":{"test":"node --test"}}"#);
    epic.env.write(
        "old.test.js",
        "require('node:test')('broken since ever', () => { throw new Error('x') });\n",
    );
    epic.commit_all("npm");
    let output = epic.run(&[]).ok();
    assert!(output.stderr.contains("the base fails 1 test, which will not count"), "{output}");
    assert_eq!(verdicts(&epic), ["dev complete", "gates passed", "review passed"]);
}

/// A virtual environment with pytest in a folder of the checkout; returns where packages are installed.
fn virtual_environment(epic: &Epic, folder: &str) -> std::path::PathBuf {
    let place = epic.env.path(folder).join(".venv");
    let made = std::process::Command::new("python3")
        .args(["-m", "venv", "--without-pip"])
        .arg(&place)
        .status()
        .unwrap();
    assert!(made.success());
    let site = |of: std::path::PathBuf| {
        std::fs::read_dir(of).unwrap().next().unwrap().unwrap().path().join("site-packages")
    };
    let (site, own) = (site(place.join("lib")), site(tools().join("python/lib")));
    fs_err::write(site.join("tools.pth"), format!("{}\n", own.display())).unwrap();
    site
}

/// A Python project with a `src` layout, installed in the `.venv` of the checkout as `pip install -e .` does.
fn editable(style: Editable) -> Epic {
    let epic = Epic::new(&["1-1-a"]);
    epic.env.write(
        "pyproject.toml",
        "[project]\nname = \"shop\"\nversion = \"1\"\n[tool.pytest.ini_options]\n",
    );
    epic.env.write("src/shop/__init__.py", "def total():\n    return 3\n");
    epic.env.write(
        "tests/test_shop.py",
        "import shop\n\ndef test_total():\n    assert shop.total() == 3\n",
    );
    epic.env.write(".gitignore", ".venv\n__pycache__\n");
    epic.commit_all("python");
    let site = virtual_environment(&epic, "");
    let source = epic.env.path("src");
    match style {
        Editable::No => {
            fs_err::create_dir_all(site.join("shop")).unwrap();
            fs_err::copy(source.join("shop/__init__.py"), site.join("shop/__init__.py")).unwrap();
            let about = site.join("shop-1.dist-info");
            fs_err::create_dir_all(&about).unwrap();
            let metadata = "Metadata-Version: 2.1\nName: shop\nVersion: 1\n";
            fs_err::write(about.join("METADATA"), metadata).unwrap();
            fs_err::write(about.join("RECORD"), "shop/__init__.py,,\n").unwrap();
            let url =
                format!(r#"{{"dir_info": {{}}, "url": "file://{}"}}"#, epic.env.path("").display());
            fs_err::write(about.join("direct_url.json"), url).unwrap();
        }
        Editable::BuildHook => {
            let finder = format!(
                "import sys\nfrom importlib.util import spec_from_file_location\n\
                 class ScikitBuildRedirectingFinder:\n    @classmethod\n    def find_spec(cls, name, path=None, target=None):\n\
                 \x20       if name == 'shop':\n            return spec_from_file_location(name, '{}/shop/__init__.py')\n\
                 def install():\n    sys.meta_path.insert(0, ScikitBuildRedirectingFinder)\n",
                source.display()
            );
            fs_err::write(site.join("_shop_editable.py"), finder).unwrap();
            let start = "import _shop_editable; _shop_editable.install()\n";
            fs_err::write(site.join("_shop_editable.pth"), start).unwrap();
        }
        Editable::Path => {
            fs_err::write(site.join("_shop.pth"), format!("{}\n", source.display())).unwrap();
        }
        Editable::Hook { first } => {
            let place = if first { "insert(0, Finder)" } else { "append(Finder)" };
            let hook = format!(
                "import sys\nfrom importlib.util import spec_from_file_location\n\
                 MAPPING = {{'shop': '{0}/shop'}}\n\
                 class Finder:\n    @classmethod\n    def find_spec(cls, name, path=None, target=None):\n\
                 \x20       if name in MAPPING:\n            return spec_from_file_location(name, MAPPING[name] + '/__init__.py')\n\
                 def install():\n    sys.meta_path.{place}\n",
                source.display()
            );
            fs_err::write(site.join("__editable___shop_finder.py"), hook).unwrap();
            let start = "import __editable___shop_finder; __editable___shop_finder.install()\n";
            fs_err::write(site.join("__editable__.shop.pth"), start).unwrap();
        }
    }
    epic
}

#[derive(Clone, Copy)]
enum Editable {
    /// A copy, as `pip install .` makes it.
    No,
    /// The import hook of scikit-build and of meson-python, which nothing comes before.
    BuildHook,
    /// A folder in a `.pth` file.
    Path,
    /// An import hook, before or after the usual ones.
    Hook { first: bool },
}

/// R1: the gate imports the worktree's code, although the checkout is installed.
#[test]
fn gates_check_the_worktree_despite_an_editable_install() {
    for style in [Editable::Path, Editable::Hook { first: false }, Editable::No] {
        let epic = editable(style);
        epic.script(
            "* dev 1 | write src/shop/__init__.py 'def total(): return 4' print \"IMPLEMENTATION COMPLETE: 1-1-a\"\n\
             * fix 1 | write src/shop/__init__.py 'def total(): return 3' write src/shop/new.py 'x = 1' write tests/test_new.py 'def test_x(): from shop.new import x; assert x == 1' print \"IMPLEMENTATION COMPLETE: 1-1-a\"",
        );
        epic.run(&[]).ok();
        assert_eq!(
            verdicts(&epic),
            ["dev complete", "gates failed", "fix complete", "gates passed", "review passed"]
        );
    }
}

/// R1: a manager runs gates with the environment that is active, where the checkout is installed.
#[test]
fn gates_of_a_manager_check_the_worktree() {
    let mut epic = editable(Editable::Path);
    let poetry = tools().join("poetry/bin/poetry");
    assert!(poetry.exists(), "run scripts/tools: {} is not there", poetry.display());
    epic.env.write(
        ".handover/config.toml",
        format!(
            "[gates]\ncommands = [{{ name = \"tests\", argv = [\"{}\", \"run\", \"python\", \"-m\", \"pytest\", \"-q\"] }}]\n",
            poetry.display()
        ),
    );
    epic.commit_all("poetry");
    let active = epic.env.path(".venv").display().to_string();
    epic.env.set("VIRTUAL_ENV", &active);
    epic.script(
        "* dev 1 | write src/shop/__init__.py 'def total(): return 4' print \"IMPLEMENTATION COMPLETE: 1-1-a\"\n\
         * fix 1 | write src/shop/__init__.py 'def total(): return 3' print \"IMPLEMENTATION COMPLETE: 1-1-a\"",
    );
    epic.run(&[]).ok();
    assert_eq!(
        verdicts(&epic),
        ["dev complete", "gates failed", "fix complete", "gates passed", "review passed"]
    );
}

/// R1: where it cannot be had, the run says so before anybody is paid.
#[test]
fn gates_that_cannot_check_the_worktree_are_refused() {
    for style in [Editable::Hook { first: true }, Editable::BuildHook] {
        let epic = editable(style);
        let calls = counted(&epic);
        let message = refused(&epic, &[]);
        assert!(message.contains("instead of the worktree"), "{message}");
        assert!(message.contains("the Python module `shop`"), "{message}");
        assert!(!calls.exists());
    }
}

/// R1: a component has a virtual environment of its own, with what it needs and a copy of its code.
#[test]
fn gates_of_a_component_use_its_own_python() {
    let epic = Epic::new(&["1-1-a"]);
    for (name, value) in [("backend", 3), ("worker", 5)] {
        epic.env.write(&format!("{name}/pyproject.toml"), "[project]\nname = \"app\"\n");
        let code = |value| format!("def total():\n    return {value}\n");
        epic.env.write(&format!("{name}/src/app/__init__.py"), code(value));
        let test = format!(
            "import app, only_{name}\n\ndef test_total():\n    assert app.total() == {value}\n"
        );
        epic.env.write(&format!("{name}/tests/test_app.py"), test);
    }
    epic.env.write(".gitignore", ".venv\n__pycache__\n");
    epic.commit_all("python");
    for name in ["backend", "worker"] {
        let site = virtual_environment(&epic, name);
        fs_err::write(site.join(format!("only_{name}.py")), "").unwrap();
        fs_err::create_dir_all(site.join("app")).unwrap();
        let code = epic.env.path(&format!("{name}/src/app/__init__.py"));
        fs_err::copy(code, site.join("app/__init__.py")).unwrap();
    }
    epic.script(
        "* dev 1 | write worker/src/app/__init__.py 'def total(): return 6' print \"IMPLEMENTATION COMPLETE: 1-1-a\"\n\
         * fix 1 | write worker/src/app/__init__.py 'def total(): return 4 + 1' print \"IMPLEMENTATION COMPLETE: 1-1-a\"",
    );
    let output = epic.run(&[]).ok();
    assert_eq!(
        verdicts(&epic),
        ["dev complete", "gates failed", "fix complete", "gates passed", "review passed"],
        "{output}"
    );
}

/// What passes in the checkout and fails in a worktree is not a test that fails on the base.
#[test]
fn a_gate_that_only_passes_in_the_checkout_is_refused() {
    let epic = Epic::new(&["1-1-a"]);
    epic.env.write("package.json", r#"{"name":"shop","scripts":{"test":"node --test"}}"#);
    epic.env.write(
        "a.test.js",
        "const test = require('node:test');\ntest('reads its settings', () => require('node:fs').readFileSync(`${__dirname}/settings.json`));\n\
         test('broken since ever', () => { throw new Error('x') });\n",
    );
    epic.env.write(".gitignore", "settings.json\n");
    epic.commit_all("npm");
    epic.env.write("settings.json", "{}");
    let calls = counted(&epic);
    let message = refused(&epic, &[]);
    assert!(message.contains("passes in your checkout and fails in a fresh worktree"), "{message}");
    assert!(message.contains("(reads its settings)"), "{message}");
    assert!(!calls.exists(), "nobody was paid");
    // Nothing of that is remembered: once it is gone there as well, both are old failures.
    fs_err::remove_file(epic.env.path("settings.json")).unwrap();
    let output = epic.run(&[]).ok();
    assert!(output.stderr.contains("the base fails 2 tests"), "{output}");
}

/// Packages of a folder below the root are found although the root has none.
#[test]
fn gates_find_what_is_installed_in_a_folder_of_the_project() {
    let epic = Epic::new(&["1-1-a"]);
    epic.env.write("backend/go.mod", "module backend\n\ngo 1.19\n");
    epic.env.write("backend/a.go", "package backend\n");
    let manifest = r#"{"name":"frontend","scripts":{"test":"runner"},"dependencies":{"three":"1.0.0","lib":"file:../lib"}}"#;
    epic.env.write("frontend/package.json", manifest);
    epic.env.write("lib/package.json", r#"{"name":"lib","version":"1.0.0","main":"index.js"}"#);
    epic.env.write("lib/index.js", "module.exports = () => 3;\n");
    epic.env.write(
        "frontend/app.test.js",
        "const test = require('node:test'); const assert = require('node:assert');\n\
         test('total', () => assert.equal(require('lib')(), require('three')));\n",
    );
    epic.env.write(".gitignore", "node_modules/\n");
    epic.commit_all("npm");
    // What `npm install` does in `frontend`: a package, its program, and a link to a folder of the project.
    epic.env
        .write("frontend/node_modules/three/package.json", r#"{"name":"three","main":"three.js"}"#);
    epic.env.write("frontend/node_modules/three/three.js", "module.exports = 3;\n");
    epic.env.write(
        "frontend/node_modules/three/runner.sh",
        "#!/bin/sh\nexec node --test --test-reporter=tap\n",
    );
    let runner = epic.env.path("frontend/node_modules/three/runner.sh");
    let all = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(runner, all).unwrap();
    fs_err::create_dir_all(epic.env.path("frontend/node_modules/.bin")).unwrap();
    let link = |to: &str, at: &str| std::os::unix::fs::symlink(to, epic.env.path(at)).unwrap();
    link("../three/runner.sh", "frontend/node_modules/.bin/runner");
    link("../../lib", "frontend/node_modules/lib");
    epic.script(
        "* dev 1 | write lib/index.js 'module.exports = () => 4' print \"IMPLEMENTATION COMPLETE: 1-1-a\"\n\
         * fix 1 | write lib/index.js 'module.exports = () => 3.0' print \"IMPLEMENTATION COMPLETE: 1-1-a\"",
    );
    let output = epic.run(&[]).ok();
    assert_eq!(
        verdicts(&epic),
        ["dev complete", "gates failed", "fix complete", "gates passed", "review passed"],
        "{output}"
    );
    let files = epic.git(&["ls-tree", "-r", "--name-only", "handover/epic-1"]);
    assert!(!files.contains("node_modules"), "{files}");
}

/// R1: agents see the same code as the gates.
#[test]
fn agents_import_the_worktree_too() {
    let epic = editable(Editable::Path);
    let seen = epic.env.folder().join("seen");
    let ask = epic.env.folder().join("ask.py");
    let text = format!("import shop; open('{}', 'w').write(shop.__file__)", seen.display());
    fs_err::write(&ask, text).unwrap();
    epic.script(&format!(
        "* dev 1 | run '{} {}' write a.txt x print \"IMPLEMENTATION COMPLETE: 1-1-a\"",
        epic.env.path(".venv/bin/python").display(),
        ask.display()
    ));
    epic.run(&[]).ok();
    let place = fs_err::read_to_string(&seen).unwrap();
    assert!(place.contains("/worktrees/"), "{place}");
}

/// R1: packages of a workspace are links in `node_modules`.
#[test]
fn gates_check_the_packages_of_the_worktree() {
    let epic = Epic::new(&["1-1-a"]);
    epic.env.write(
        "package.json",
        r#"{"name":"shop","private":true,"workspaces":["packages/*"],"scripts":{"test":"node --test"}}"#,
    );
    epic.env.write(
        "packages/lib/package.json",
        r#"{"name":"@shop/lib","version":"1.0.0","main":"index.js"}"#,
    );
    epic.env.write("packages/lib/index.js", "module.exports = () => 3;\n");
    epic.env.write(
        "packages/app/package.json",
        r#"{"name":"@shop/app","version":"1.0.0","dependencies":{"@shop/lib":"1.0.0"}}"#,
    );
    epic.env.write(
        "packages/app/app.test.js",
        "require('node:test')('total', () => require('node:assert').equal(require('@shop/lib')(), 3));\n",
    );
    epic.env.write(".gitignore", "node_modules\n");
    epic.commit_all("npm");
    // What `npm install` does in a workspace.
    fs_err::create_dir_all(epic.env.path("node_modules/@shop")).unwrap();
    for name in ["lib", "app"] {
        let link = epic.env.path(&format!("node_modules/@shop/{name}"));
        std::os::unix::fs::symlink(format!("../../packages/{name}"), link).unwrap();
    }
    epic.script(
        "* dev 1 | write packages/lib/index.js 'module.exports = () => 4' print \"IMPLEMENTATION COMPLETE: 1-1-a\"\n\
         * fix 1 | write packages/lib/index.js 'module.exports = () => 3.0' print \"IMPLEMENTATION COMPLETE: 1-1-a\"",
    );
    epic.run(&[]).ok();
    assert_eq!(
        verdicts(&epic),
        ["dev complete", "gates failed", "fix complete", "gates passed", "review passed"]
    );
    let files = epic.git(&["ls-tree", "-r", "--name-only", "handover/epic-1"]);
    assert!(!files.contains("node_modules"), "{files}");
}

/// R1: a `go.work` that is not committed names modules of the checkout.
#[test]
fn gates_check_the_modules_of_the_worktree() {
    let epic = Epic::new(&["1-1-a"]);
    epic.env.write("lib/go.mod", "module shop/lib\n\ngo 1.19\n");
    epic.env.write("lib/lib.go", "package lib\n\nfunc Total() int { return 3 }\n");
    epic.env.write("app/go.mod", "module shop/app\n\ngo 1.19\n");
    epic.env.write(
        "app/app_test.go",
        "package app\n\nimport (\n\t\"shop/lib\"\n\t\"testing\"\n)\n\nfunc TestTotal(t *testing.T) { if lib.Total() != 3 { t.Fail() } }\n",
    );
    epic.env.write(".gitignore", "go.work\n");
    epic.commit_all("go");
    epic.env.write("go.work", "go 1.19\n\nuse (\n\t./lib\n\t./app\n)\n");
    epic.script(
        "* dev 1 | write lib/lib.go 'package lib; func Total() int { return 4 }' print \"IMPLEMENTATION COMPLETE: 1-1-a\"\n\
         * fix 1 | write lib/lib.go 'package lib; func Total() int { return 1 + 2 }' print \"IMPLEMENTATION COMPLETE: 1-1-a\"",
    );
    epic.run(&[]).ok();
    assert_eq!(
        verdicts(&epic),
        ["dev complete", "gates failed", "fix complete", "gates passed", "review passed"]
    );
}

/// R1: a patch in the checkout's own configuration of Cargo counts in worktrees, too.
#[test]
fn cargo_must_not_build_packages_of_the_checkout() {
    let mut epic = Epic::new(&["1-1-a"]);
    use_toolchain(&mut epic);
    let package = |name: &str, rest: &str| {
        format!("[package]\nname = \"{name}\"\nversion = \"1.0.0\"\nedition = \"2021\"\n{rest}")
    };
    epic.env.write("Cargo.toml", package("shop", "[dependencies]\nshop_lib_of_handover = \"1\"\n"));
    epic.env.write(
        "src/lib.rs",
        "#[test]\nfn total() { assert_eq!(shop_lib_of_handover::total(), 3) }\n",
    );
    epic.env.write("lib/Cargo.toml", package("shop_lib_of_handover", "[workspace]\n"));
    epic.env.write("lib/src/lib.rs", "pub fn total() -> u32 { 3 }\n");
    epic.env.write(".gitignore", ".cargo\ntarget\nCargo.lock\n");
    epic.commit_all("cargo");
    let patch = "[patch.crates-io]\nshop_lib_of_handover = { path = \"lib\" }\n";
    epic.env.write(".cargo/config.toml", patch);
    let calls = counted(&epic);
    let message = refused(&epic, &[]);
    assert!(message.contains("the package `shop_lib_of_handover`"), "{message}");
    assert!(message.contains("checkout instead of the worktree"), "{message}");
    assert!(!calls.exists(), "nobody was paid");
    // A configuration that is committed leads to the worktree.
    epic.env.write(".gitignore", "target\nCargo.lock\n");
    epic.commit_all("configuration");
    epic.script(
        "* dev 1 | write lib/src/lib.rs 'pub fn total() -> u32 { 4 }' print \"IMPLEMENTATION COMPLETE: 1-1-a\"\n\
         * fix 1 | write lib/src/lib.rs 'pub fn total() -> u32 { 1 + 2 }' print \"IMPLEMENTATION COMPLETE: 1-1-a\"",
    );
    epic.run(&[]).ok();
    assert_eq!(
        verdicts(&epic),
        ["dev complete", "gates failed", "fix complete", "gates passed", "review passed"]
    );
}

/// R1: where nothing can redirect a tool, the run says so before anybody is paid.
#[test]
fn tools_that_cannot_be_redirected_are_refused() {
    let pom = |artifact: &str, rest: &str| {
        format!(
            "<project><groupId>shop</groupId><artifactId>{artifact}</artifactId>{rest}</project>"
        )
    };
    let needs_core = "<dependencies><dependency><groupId>shop</groupId><artifactId>core</artifactId></dependency></dependencies>";
    let gradle =
        |rest: &str| format!("plugins {{ id 'java' }}\nrepositories {{ mavenLocal() }}\n{rest}\n");
    let published = "apply plugin: 'maven-publish'\ngroup = 'shop'";
    let cases: [(&[(&str, String)], &str); 4] = [
        // Maven takes a sibling that is not built together from its local repository.
        (
            &[("app/pom.xml", pom("app", needs_core)), ("core/pom.xml", pom("core", ""))],
            "`app` is not built together with `core`",
        ),
        // So does Gradle, if a sibling was published there.
        (
            &[
                (
                    "app/build.gradle",
                    gradle("dependencies { implementation 'shop:core:1.0-SNAPSHOT' }"),
                ),
                ("app/settings.gradle", String::new()),
                ("core/build.gradle", gradle(published)),
                ("core/settings.gradle", "rootProject.name = 'core'\n".to_owned()),
            ],
            "`app` takes `shop:core` from Maven's local repository (`mavenLocal()`)",
        ),
        // A composite build of Gradle by its absolute path.
        (
            &[("settings.gradle", "includeBuild('{checkout}/lib')\n".to_owned())],
            "the absolute path in `settings.gradle`",
        ),
        // Yarn's Plug'n'Play without its table of packages.
        (
            &[
                ("package.json", r#"{"name":"shop","scripts":{"test":"node --test"}}"#.to_owned()),
                ("yarn.lock", String::new()),
                (".gitignore", ".pnp.cjs\n".to_owned()),
                (".pnp.cjs", "module.exports = {};\n".to_owned()),
            ],
            "Yarn's `.pnp.cjs`, which is not committed",
        ),
    ];
    for (files, word) in cases {
        let epic = Epic::new(&["1-1-a"]);
        let checkout = fs_err::canonicalize(epic.env.path("")).unwrap().display().to_string();
        for (path, text) in files {
            epic.env.write(path, text.replace("{checkout}", &checkout));
        }
        let published = epic.env.folder().join("home/.m2/repository/shop/core");
        fs_err::create_dir_all(published).unwrap();
        epic.commit_all("files");
        let calls = counted(&epic);
        let message = refused(&epic, &[]);
        assert!(message.contains(word), "{word}: {message}");
        assert!(!calls.exists(), "nobody was paid");
    }
}

/// R1: pnpm links packages of a workspace into the folder of each package that needs them.
#[test]
fn gates_check_the_packages_of_the_worktree_with_pnpm() {
    let epic = Epic::new(&["1-1-a"]);
    epic.env.write(
        "package.json",
        r#"{"name":"shop","private":true,"scripts":{"test":"node --test"}}"#,
    );
    epic.env.write("pnpm-workspace.yaml", "packages:\n  - packages/*\n");
    epic.env.write(
        "packages/lib/package.json",
        r#"{"name":"@shop/lib","version":"1.0.0","main":"index.js"}"#,
    );
    epic.env.write("packages/lib/index.js", "module.exports = () => 3;\n");
    epic.env.write(
        "packages/app/package.json",
        r#"{"name":"@shop/app","version":"1.0.0","dependencies":{"@shop/lib":"workspace:*"}}"#,
    );
    epic.env.write(
        "packages/app/app.test.js",
        "require('node:test')('total', () => require('node:assert').equal(require('@shop/lib')(), 3));\n",
    );
    epic.env.write(".gitignore", "node_modules\n");
    epic.commit_all("pnpm");
    // What `pnpm install` does; the root has a store of its own and no links to packages.
    fs_err::create_dir_all(epic.env.path("node_modules/.pnpm")).unwrap();
    epic.env.write("node_modules/.modules.yaml", "layoutVersion: 5\n");
    fs_err::create_dir_all(epic.env.path("packages/app/node_modules/@shop")).unwrap();
    let link = epic.env.path("packages/app/node_modules/@shop/lib");
    std::os::unix::fs::symlink("../../../lib", link).unwrap();
    epic.script(
        "* dev 1 | write packages/lib/index.js 'module.exports = () => 4' print \"IMPLEMENTATION COMPLETE: 1-1-a\"\n\
         * fix 1 | write packages/lib/index.js 'module.exports = () => 3.0' print \"IMPLEMENTATION COMPLETE: 1-1-a\"",
    );
    epic.run(&[]).ok();
    assert_eq!(
        verdicts(&epic),
        ["dev complete", "gates failed", "fix complete", "gates passed", "review passed"]
    );
}
