//! The layers of the configuration.

use serde_json::{Value, json};

use crate::empty;

fn entry(output: &Value, key: &str) -> (Value, String) {
    let all = output["config"].as_array().unwrap();
    let entry = all.iter().find(|entry| entry["key"] == key).unwrap();
    (entry["value"].clone(), entry["source"]["kind"].as_str().unwrap().to_owned())
}

#[test]
fn higher_layers_win_and_values_name_their_source() {
    let mut env = empty();
    env.run(["init"]).ok();
    let show = |env: &handover_testkit::TestEnv, args: &[&str]| {
        let mut all = vec!["config", "show", "--json"];
        all.extend(args);
        env.run(all).ok().json()
    };
    let warn = "packages.warn_bytes";
    assert_eq!(entry(&show(&env, &[]), warn), (json!(50_000), "default".into()));
    assert_eq!(entry(&show(&env, &[]), "project.id"), (json!("project"), "project_file".into()));
    let user = env.folder().join("home/.config/handover/config.toml");
    fs_err::create_dir_all(user.parent().unwrap()).unwrap();
    fs_err::write(&user, "[packages]\nwarn_bytes = 1\nmax_bytes = 9\n").unwrap();
    assert_eq!(entry(&show(&env, &[]), warn), (json!(1), "user_file".into()));
    env.write(".handover/config.toml", "[packages]\nwarn_bytes = 2\n");
    assert_eq!(entry(&show(&env, &[]), warn), (json!(2), "project_file".into()));
    assert_eq!(entry(&show(&env, &[]), "packages.max_bytes"), (json!(9), "user_file".into()));
    env.set("HANDOVER_PACKAGES_WARN_BYTES", "3");
    assert_eq!(entry(&show(&env, &[]), warn), (json!(3), "environment".into()));
    let flagged = show(&env, &["--config", "packages.warn_bytes=4"]);
    assert_eq!(entry(&flagged, warn), (json!(4), "flag".into()));
}

#[test]
fn warns_about_unknown_keys_with_a_suggestion() {
    let env = empty();
    env.run(["init"]).ok();
    env.write(".handover/config.toml", "[packages]\nwarn_byte = 2\n\n[colour]\nx = 1\n");
    let output = env.run(["session", "list"]).ok();
    assert!(
        output.stderr.contains("`packages.warn_byte`")
            && output.stderr.contains("`packages.warn_bytes`?"),
        "{output}"
    );
    assert!(output.stderr.contains("`colour.x`"), "{output}");
    assert_eq!(env.run(["session", "list", "--quiet"]).ok().stderr, "");
}

#[test]
fn names_a_broken_file() {
    let env = empty();
    env.run(["init"]).ok();
    for text in
        ["[packages", "[packages]\nwarn_bytes = \"many\"\n", "[redaction]\nmode = \"maybe\"\n"]
    {
        env.write(".handover/config.toml", text);
        let error = env.run(["session", "list", "--json"]).fails(2).error();
        assert_eq!(error["code"], "invalid_config");
        assert!(error["message"].as_str().unwrap().contains(".handover/config.toml"), "{error}");
    }
}

#[test]
fn redaction_follows_the_configuration() {
    let env = crate::project();
    let add = |args: &[&str]| {
        let mut all = vec![
            "reasoning",
            "add",
            "--role",
            "developer",
            "--phase",
            "risks",
            "password=correct-horse",
            "--json",
        ];
        all.extend(args);
        env.run(all).ok().json()["reasoning"]["redactions"].clone()
    };
    assert_eq!(add(&[]), 1);
    assert_eq!(add(&["--config", "redaction.allow=[\"correct-horse\"]"]), 0);
    assert_eq!(add(&["--config", "redaction.mode=off"]), 0);
}
