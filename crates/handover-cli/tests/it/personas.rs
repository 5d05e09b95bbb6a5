//! `persona list` and `persona show`.

use handover_testkit::TestEnv;

fn env() -> TestEnv {
    let env = TestEnv::empty(crate::handover());
    env.git("", &["init", "--quiet"]);
    env.run(["init"]).ok();
    env
}

#[test]
fn personas_are_layered() {
    let env = env();
    let listed = env.run(["persona", "list", "--json"]).ok().json();
    let names: Vec<&str> =
        listed["personas"].as_array().unwrap().iter().map(|p| p["id"].as_str().unwrap()).collect();
    assert_eq!(names, ["amelia", "bob", "mary", "murat", "winston"]);
    env.write(".handover/personas/winston.toml", "style = \"short\"\n");
    env.write(
        ".handover/personas/quinn.toml",
        "name = \"Quinn\"\ntitle = \"Operator\"\nfocus = \"what happens at night\"\n",
    );
    env.write(".handover/config.toml", "[party.personas.winston]\nmodel = \"small\"\n");
    let show =
        |name: &str| env.run(["persona", "show", name, "--json"]).ok().json()["persona"].clone();
    let winston = show("Winston");
    assert_eq!((&winston["style"], &winston["model"]), (&"short".into(), &"small".into()));
    assert_eq!(winston["title"], "System Architect");
    let kinds: Vec<&str> =
        winston["layers"].as_array().unwrap().iter().map(|l| l["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["built_in", "project", "configuration"]);
    assert_eq!(show("quinn")["permissions"], "read_only");
    let text = env.run(["persona", "show", "quinn"]).ok().stdout;
    assert!(text.starts_with("Quinn, Operator (the project's)\n"), "{text}");
    // They are tracked by git.
    let ignored = std::process::Command::new("git")
        .args(["check-ignore", "--quiet", ".handover/personas/quinn.toml"])
        .current_dir(env.path(""))
        .status()
        .unwrap();
    assert!(!ignored.success());
}

#[test]
fn reports_a_bad_persona_with_line_and_rule() {
    let env = env();
    env.write(".handover/personas/quinn.toml", "name = \"Quinn\"\ncolour = \"red\"\n");
    let error = env.run(["persona", "show", "quinn", "--json"]).fails(2).error();
    assert_eq!(error["code"], "invalid_persona");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("quinn.toml:2: field: unknown field `colour`"), "{message}");
    // The others can still be listed, whatever the files are called.
    env.write(".handover/personas/not a name.toml", "name = \"Quinn\"\n");
    let listed = env.run(["persona", "list"]).ok();
    assert!(
        listed.stdout.contains("winston") && listed.stderr.contains("quinn.toml:2"),
        "{listed}"
    );
    assert!(listed.stderr.contains("not a name.toml"), "{listed}");
    let error = env.run(["persona", "show", "nobody", "--json"]).fails(2).error();
    assert!(error["message"].as_str().unwrap().contains("winston"), "{error}");
    env.run(["persona", "show", "../x"]).fails(2);
}
