use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::*;

/// A project, a folder of programs that do nothing, and an allowlist.
struct Fixture {
    folder: tempfile::TempDir,
    programs: Vec<String>,
}

impl Fixture {
    fn new(programs: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for below in ["project", "bin"] {
            fs_err::create_dir_all(folder.path().join(below)).unwrap();
        }
        let fixture =
            Self { folder, programs: programs.iter().map(|&name| name.to_owned()).collect() };
        for name in programs.iter().filter(|name| !name.contains('/')) {
            fixture.program(&format!("bin/{name}"), "#!/bin/true\n");
        }
        fixture.program("project/main.py", "");
        fixture.program("project/cli.js", "");
        fixture
    }

    fn program(&self, path: &str, text: &str) {
        let path = self.folder.path().join(path);
        fs_err::write(&path, text).unwrap();
        fs_err::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn check(&self, argv: &[&str]) -> Result<PathBuf, Refused> {
        let argv: Vec<String> = argv.iter().map(|&word| word.to_owned()).collect();
        let folder = self.folder.path().join("project");
        let path = self.folder.path().join("bin");
        Allowed { programs: &self.programs, folder: &folder, path: path.as_os_str() }.check(&argv)
    }

    #[track_caller]
    fn refused(&self, argv: &[&str], part: &str) {
        match self.check(argv) {
            Ok(path) => panic!("{argv:?} would start {}", path.display()),
            Err(refused) => assert!(refused.to_string().contains(part), "{argv:?}: {refused}"),
        }
    }

    #[track_caller]
    fn fine(&self, argv: &[&str]) {
        self.check(argv).unwrap_or_else(|refused| panic!("{argv:?}: {refused}"));
    }
}

#[test]
fn shells_are_refused_under_any_name() {
    // Not even an allowlist entry allows a shell.
    let all =
        ["sh", "bash", "env", "xargs", "bash5.2", "busybox", "timeout", "find", "./run", "cargo"];
    let fixture = Fixture::new(&all);
    for argv in [
        &["sh", "-c", "touch pwned"][..],
        &["bash", "-c", "touch pwned"],
        &["/bin/sh", "-c", "x"],
        &["/usr/bin/env", "sh"],
        &["env", "cargo", "test"],
        &["xargs", "touch"],
        &["bash5.2", "-c", "x"],
        &["busybox", "sh"],
        &["timeout", "5", "cargo", "test"],
        &["find", ".", "-exec", "sh", "{}", ";"],
        &["../../../bin/sh", "-c", "x"],
        &["./sh", "-c", "x"],
        &["SH", "-c", "x"],
        &["sh.exe", "-c", "x"],
    ] {
        fixture.refused(argv, "runs arbitrary code");
    }
    fixture.refused(&["/usr/bin/cargo", "test"], "outside");
    fixture.refused(&["../cargo", "test"], "outside");
}

#[test]
fn links_copies_and_scripts_are_detected() {
    let fixture = Fixture::new(&["./tool", "./greet", "./copy", "./other", "linked", "./far"]);
    let project = fixture.folder.path().join("project");
    symlink("/bin/sh", project.join("tool")).unwrap();
    fixture.refused(&["./tool", "-c", "x"], "runs arbitrary code");
    symlink("/bin/sh", fixture.folder.path().join("bin/linked2")).unwrap();
    fs_err::rename(
        fixture.folder.path().join("bin/linked2"),
        fixture.folder.path().join("bin/linked"),
    )
    .unwrap();
    fixture.refused(&["linked", "-c", "x"], "runs arbitrary code");
    fs_err::copy("/bin/sh", project.join("copy")).unwrap();
    fixture.refused(&["./copy", "-c", "x"], "runs arbitrary code");
    for line in ["#!/bin/sh", "#!/usr/bin/env bash", "#! /usr/bin/env -S A=1 dash -e", "#!/bin/env"]
    {
        fixture.program("project/greet", &format!("{line}\ntouch pwned\n"));
        fixture.refused(&["./greet"], "runs arbitrary code");
        fixture.refused(&["greet"], "not one of the programs");
    }
    fixture.program("project/greet", "#!/usr/bin/env python3\n");
    fixture.fine(&["./greet", "anything; $(at all)"]);
    symlink("/bin/true", project.join("far")).unwrap();
    fixture.refused(&["./far"], "outside");
    fixture.refused(&["./other"], "not found");
}

#[test]
fn programs_off_the_allowlist_are_refused() {
    let fixture = Fixture::new(&["cargo"]);
    for argv in
        [&["curl", "http://x"][..], &["rm", "-rf", "."], &["./cargo"], &[""], &["cargo; sh"]]
    {
        assert!(fixture.check(argv).is_err(), "{argv:?}");
    }
    assert!(fixture.check(&[]).is_err());
    fixture.refused(&["curl"], "(cargo)");
    fixture.fine(&["cargo", "run", "--quiet", "--", "add", "$(touch pwned); /etc/passwd"]);
}

#[test]
fn code_is_not_accepted_as_an_argument() {
    let fixture = Fixture::new(&[
        "python3",
        "python3.12",
        "node",
        "perl",
        "ruby",
        "php",
        "cargo",
        "go",
        "npm",
        "make",
        "pytest",
    ]);
    fixture.program("project/app.py", "");
    fixture.program("project/story.md", "import os\n");
    for argv in [
        &["python3", "main.py", "-c", "an argument of the script"][..],
        &["python3", "-u", "-m", "app", "x"],
        &["python3.12", "-m", "pytest", "-q"],
        &["node", "cli.js", "--eval"],
        &["node", "--test"],
        &["node", "--test", "cli.js"],
        &["pytest", "-q", "tests"],
        &["cargo", "test"],
        &["cargo", "run", "--", "--config", "/etc"],
        &["go", "test", "./..."],
        &["npm", "run", "smoke", "--silent"],
        &["make", "check"],
    ] {
        fixture.fine(argv);
    }
    for argv in [
        &["python3", "-c", "import os"][..],
        &["python3", "-Ic", "import os"],
        &["python3.12", "-c", "x"],
        &["python3"],
        &["python3", "-"],
        &["python3", "-m", "timeit", "x"],
        &["python3", "-m", "os.path;x"],
        &["python3", "../main.py"],
        &["python3", "/etc/passwd"],
        &["python3", "story.md"],
        &["node", "--test", "cli.js", "story.md"],
        &["python3", "-m", "pytest", "--doctest-glob=*.md", "story.md"],
        &["pytest", "-c", "story.md"],
        &["pytest", "-pstory"],
        &["node", "-e", "x"],
        &["node", "-pe", "x"],
        &["node", "--eval=x"],
        &["node", "--import", "data:text/javascript,x"],
        &["node", "--test", "-e", "x"],
        &["perl", "-e", "x"],
        &["ruby", "-e", "x"],
        &["php", "-r", "x"],
        &["cargo", "--config", "x"],
        &["cargo", "run", "--config=target.x.runner='sh'"],
        &["cargo", "test", "-Zunstable"],
        &["cargo", "install", "x"],
        &["cargo", "build", "--manifest-path=/tmp/Cargo.toml"],
        &["cargo", "build", "--manifest-path", "../x/Cargo.toml"],
        &["go", "test", "-exec", "sh"],
        &["go", "test", "--exec=sh", "./..."],
        &["go", "generate"],
        &["npm", "exec", "x"],
        &["npm", "run", "x", "--script-she", "./x"],
        &["npm", "test", "--", "$(touch pwned)"],
        &["npm", "run", "a b"],
        &["make", "SHELL=./x"],
        &["make", "--eval=x"],
        &["make", "-f", "x"],
        &["make", "`x`"],
    ] {
        fixture.refused(argv, "is not started with");
    }
}

#[test]
fn a_projects_own_tools_are_allowed() {
    let folder = tempfile::tempdir().unwrap();
    assert!(programs_of(folder.path()).is_empty());
    for (file, program) in
        [("Cargo.toml", "cargo"), ("package.json", "npm"), ("go.mod", "go"), ("x.py", "python3")]
    {
        fs_err::write(folder.path().join(file), "").unwrap();
        assert!(programs_of(folder.path()).contains(&program.to_owned()), "{file}");
    }
}

#[test]
fn options_are_known_in_every_spelling() {
    assert!(is_option("--config", "--config") && is_option("--config=x", "--config"));
    assert!(is_option("-Z", "-Z") && is_option("-Zunstable", "-Z"));
    assert!(!is_option("--configure", "--config"));
    assert!(!is_option("config", "--config"));
    assert!(!is_option("-exec", "--exec"));
}

#[test]
fn a_listed_path_is_not_a_name_and_a_name_not_a_path() {
    assert!(same("cargo", "cargo") && same("./run", "./run") && same("./bin/run", "bin/run"));
    assert!(!same("./cargo", "cargo") && !same("cargo", "./cargo") && !same("run", "walk"));
}

#[test]
fn the_first_line_of_a_script_names_its_interpreter() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("script");
    for (line, found) in [
        ("#!/bin/sh", Some("sh")),
        ("#! /usr/bin/python3 -u", Some("python3")),
        ("#!/usr/bin/env node", Some("node")),
        ("#!/usr/bin/env -S A=1 -i dash -e", Some("dash")),
        ("#!/usr/bin/env", Some("env")),
        ("#!", None),
        ("no script", None),
        ("", None),
    ] {
        fs_err::write(&path, format!("{line}\nrest /bin/sh\n")).unwrap();
        assert_eq!(interpreter(&path).as_deref(), found, "{line}");
    }
    assert_eq!(interpreter(&folder.path().join("missing")), None);
}

#[test]
fn paths_of_arguments_stay_inside() {
    let fixture = Fixture::new(&["cargo", "go"]);
    for argv in [
        &["cargo", "test", "--target-dir=/tmp/x"][..],
        &["cargo", "test", "../other"],
        &["go", "build", "-o=../../x"],
        &["go", "vet", "/etc"],
    ] {
        fixture.refused(argv, "the path is outside the project");
    }
    fixture.fine(&["go", "build", "-o", "bin/app", "./cmd/app"]);
    fixture.refused(&["cargo"], "a command is expected");
    fixture.refused(&["cargo", "publish"], "unknown subcommand");
}

#[test]
fn modules_are_those_of_the_project_or_of_tests() {
    let fixture = Fixture::new(&["python3", "node"]);
    fs_err::create_dir_all(fixture.folder.path().join("project/src/shop")).unwrap();
    fs_err::create_dir_all(fixture.folder.path().join("project/tool")).unwrap();
    fixture.program("project/src/shop/cli.py", "");
    fixture.program("project/tool/__main__.py", "");
    for argv in [
        &["python3", "-m", "shop.cli", "add"][..],
        &["python3", "-m", "tool"],
        &["python3", "-m", "unittest"],
        &["python3", "--version"],
        &["python3", "-m", "main"],
    ] {
        fixture.fine(argv);
    }
    for argv in [
        &["python3", "-m", "http.server"][..],
        &["python3", "-m", "shop..cli"],
        &["python3", "-m", ""],
        &["python3", "-m"],
        &["python3", "-m", "pytest", "-p", "evil"],
        &["node", "-m", "main"],
    ] {
        assert!(fixture.check(argv).is_err(), "{argv:?}");
    }
}

#[test]
fn refusals_name_what_is_refused() {
    let fixture = Fixture::new(&["cargo"]);
    assert_eq!(
        fixture.check(&["./x/../../y"]).unwrap_err().to_string(),
        "`./x/../../y` is outside the project; name programs without their path"
    );
    assert_eq!(
        fixture.check(&["bash"]).unwrap_err().to_string(),
        "`bash` runs arbitrary code, so it is never started"
    );
    let missing = Fixture { programs: vec!["cargo".to_owned(), "gone".to_owned()], ..fixture };
    assert_eq!(
        missing.check(&["gone"]).unwrap_err().to_string(),
        "the program `gone` was not found"
    );
}

#[test]
fn every_ecosystem_brings_its_own_tools() {
    let programs = |files: &[&str]| {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            fs_err::write(folder.path().join(file), "").unwrap();
        }
        programs_of(folder.path())
    };
    assert_eq!(programs(&["Cargo.toml"]), ["cargo"]);
    assert_eq!(programs(&["package.json"]), ["node", "npm"]);
    assert_eq!(programs(&["package.json", "pnpm-lock.yaml"]), ["node", "npm", "pnpm"]);
    assert_eq!(programs(&["package.json", "yarn.lock"]), ["node", "npm", "yarn"]);
    for file in
        ["pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "pytest.ini", "x.py"]
    {
        assert_eq!(programs(&[file]), ["python3", "python", "pytest"], "{file}");
    }
    assert_eq!(programs(&["go.mod", "Cargo.toml"]), ["cargo", "go"]);
    assert_eq!(programs(&["README.md"]), [""; 0]);
}

#[test]
fn a_missing_file_is_named_as_such() {
    let fixture = Fixture::new(&["node", "python3"]);
    fixture.refused(&["node", "main.js"], "there is no such file in the project");
    fixture.refused(&["python3", "src/gone.py"], "there is no such file in the project");
    fixture.refused(&["node", "notes.md"], "expected a file with one of the project's programs");
    fixture.fine(&["node", "cli.js"]);
}
