//! `stack`, `specialize`, `template`: guidance for the technology stack.

use handover_testkit::TestEnv;
use serde_json::{Value, json};

use crate::{empty, project};

const TEMPLATE: &str = "---\nname: ours\ntype: framework\npriority: 1\ndetect: [gin]\n---\n# Ours\n## Patterns to Apply\n- Use our wrapper.\n\
    <!-- version: go >= 1.22 -->\n- Range over integers.\n<!-- version: go < 1.22 -->\n- Copy the loop variable.\n<!-- /version -->\n\
    ## Checklist\n- [ ] `make check`\n";

fn shop(env: &TestEnv) {
    env.write("go.mod", "module x\ngo 1.22.1\nrequire github.com/gin-gonic/gin v1.9.1\n");
    env.write(
        "web/package.json",
        r#"{"dependencies": {"react": "^18.2.0"}, "devDependencies": {"typescript": "5.4.5"}}"#,
    );
    env.write("docker-compose.yml", "services: {db: {image: 'postgres:15-alpine'}}\n");
    env.write(".handover/specializations/ours.md", TEMPLATE);
}

#[test]
fn stack_shows_components_with_evidence() {
    let env = project();
    shop(&env);
    let stack = env.run(["stack", "--json"]).ok().json();
    let components = stack["components"].as_array().unwrap();
    assert_eq!(components.len(), 2);
    let root = &components[0];
    assert_eq!(
        (&root["path"], &root["language"], &root["version"]),
        (&json!("."), &json!("go"), &json!("1.22"))
    );
    assert_eq!(root["frameworks"], json!(["gin"]));
    assert_eq!(root["databases"], json!(["postgresql"]));
    assert_eq!(root["infrastructure"], json!(["docker"]));
    assert_eq!(root["versions"]["postgresql"], "15");
    let evidence = root["evidence"].as_array().unwrap();
    assert!(
        evidence
            .contains(&json!({"name": "go", "file": "go.mod", "key": "go", "version": "1.22.1"})),
        "{root}"
    );
    assert!(root["templates"].as_array().unwrap().contains(&json!("ours")));
    assert_eq!(components[1]["language"], "typescript");
    assert_eq!(components[1]["frameworks"], json!(["react"]));
    insta::assert_snapshot!(env.run(["stack", "--quiet"]).ok().stdout, @r"
    COMPONENT  LANGUAGE        FRAMEWORKS  DATABASES      INFRASTRUCTURE  TESTING
    .          go 1.22         gin 1.9     postgresql 15  docker          –
    web        typescript 5.4  react 18.2  postgresql 15  docker          –
    ");
    let table = env.run(["stack", "--evidence"]).ok().stdout;
    assert!(table.contains("services.db.image") && table.contains("15-alpine"), "{table}");
}

#[test]
fn stack_notices_changes_and_keeps_its_cache_out_of_git() {
    let env = project();
    env.git("", &["init", "-q"]);
    let language = |env: &TestEnv| {
        env.run(["stack", "--json"]).ok().json()["components"][0]["version"].clone()
    };
    env.write("go.mod", "module x\ngo 1.21\n");
    assert_eq!(language(&env), "1.21");
    assert!(env.path(".handover/stack-cache.json").is_file());
    env.write("go.mod", "module x\ngo 1.22\n");
    assert_eq!(language(&env), "1.22");
    env.git("", &["add", "."]);
    let tracked = std::process::Command::new("git")
        .args(["ls-files", ".handover"])
        .current_dir(env.path(""))
        .output()
        .unwrap();
    assert!(!String::from_utf8_lossy(&tracked.stdout).contains("stack-cache"));
}

#[test]
fn stack_works_outside_a_project_and_without_manifests() {
    let env = empty();
    let nothing = env.run(["stack", "--json"]).ok().json();
    assert_eq!(nothing["components"], json!([]));
    assert!(env.run(["stack"]).ok().stdout.contains("No manifests found"));
    env.write("Cargo.toml", "[package]\nrust-version = \"1.80\"\n");
    env.write("broken/package.json", "{");
    let output = env.run(["stack"]).ok();
    assert!(output.stdout.contains("rust 1.80"), "{output}");
    assert!(output.stderr.contains("broken/package.json"), "{output}");
    assert!(!env.path(".handover").exists());
}

#[test]
fn specialize_prints_the_block_and_saves_it() {
    let env = project();
    shop(&env);
    let text = env.run(["specialize", "--role", "developer", "--component", "."]).ok().stdout;
    assert!(text.starts_with("## SPECIALIZATION GUIDANCE (Advisory)\n"), "{text}");
    assert!(
        text.contains("**You are a Go 1.22 Backend Developer specialized in Gin 1.9.**"),
        "{text}"
    );
    assert!(text.contains("- Range over integers.") && !text.contains("loop variable"), "{text}");
    assert!(
        text.contains("### Patterns to Apply") && text.contains("- [ ] `make check`"),
        "{text}"
    );

    let made = env
        .run(["specialize", "--role", "developer", "--group", "P1", "--model", "opus", "--json"])
        .ok()
        .json();
    for field in [
        "receipt",
        "tokens",
        "sections",
        "trimmed",
        "text",
        "templates",
        "identity",
        "versions",
        "budget",
    ] {
        assert!(made.get(field).is_some(), "{field} in {made}");
    }
    assert_eq!(made["sections"]["specialization"], made["tokens"]);
    assert_eq!(made["budget"], 1_080);
    assert!(made["tokens"].as_u64().unwrap() <= 1_080);
    let kept = env
        .run(["skill-output", "latest", "specialization", "--group", "P1", "--json"])
        .ok()
        .json();
    let record = &kept["skill_output"]["output"];
    assert_eq!(record["token_count"], made["tokens"]);
    assert_eq!((&record["agent_type"], &record["group_id"]), (&json!("developer"), &json!("P1")));
    assert_eq!(record["composed_identity"], made["identity"]);
    let again = env
        .run(["specialize", "--role", "developer", "--group", "P1", "--model", "opus", "--json"])
        .ok()
        .json();
    assert_eq!(again["text"], made["text"]);
    let all = env.run(["skill-output", "list", "specialization", "--json"]).ok().json();
    assert_eq!(all["skill_outputs"].as_array().unwrap().len(), 3);
    let events = env.run(["event", "list", "--type", "specialization", "--json"]).ok().json();
    assert_eq!(events["events"].as_array().unwrap().len(), 3);
}

#[test]
fn specialize_works_with_a_damaged_store() {
    let env = project();
    shop(&env);
    env.write(".handover/store.db", "not a database");
    let output = env.run(["specialize", "--role", "developer"]).ok();
    assert!(output.stdout.starts_with("## SPECIALIZATION GUIDANCE"), "{output}");
    assert!(output.stderr.contains("will not be saved"), "{output}");
}

#[test]
fn uses_the_templates_and_component_of_the_group() {
    let env = project();
    shop(&env);
    env.run([
        "group",
        "set",
        "P1",
        "--specialization",
        "ours",
        "--specialization",
        "no-such",
        "--component",
        "web/src",
    ])
    .ok();
    let output = env.run(["specialize", "--role", "developer", "--group", "P1", "--json"]).ok();
    let made = output.json();
    let names: Vec<&Value> =
        made["templates"].as_array().unwrap().iter().map(|t| &t["name"]).collect();
    assert_eq!(names, [&json!("ours")]);
    assert_eq!(
        made["identity"],
        "You are a TypeScript 5.4 Frontend Developer specialized in React 18.2."
    );
    assert!(output.stderr.contains("no-such"), "{output}");
    assert_eq!(made["skipped"][0]["name"], "no-such");
}

#[test]
fn specialize_works_without_session_and_project() {
    let env = empty();
    let text = env.run(["specialize", "--role", "qa_expert"]).ok().stdout;
    assert!(text.contains("**You are a QA Specialist.**"), "{text}");
    env.run(["init"]).ok();
    let made = env.run(["specialize", "--role", "tech_lead", "--json"]).ok().json();
    assert!(made["text"].as_str().unwrap().contains("Tech Lead"));
    // A given session must exist.
    env.run(["specialize", "--role", "tech_lead", "--session", "nowhere"]).fails(2);
    env.run(["specialize", "--role", "Tech Lead"]).fails(2);
    env.run(["specialize", "--role", "developer", "--testing-mode", "some"]).fails(2);
}

#[test]
fn reads_budgets_and_switches_from_the_configuration() {
    let env = project();
    shop(&env);
    let budget = |args: &[&str]| {
        let mut all = vec!["specialize", "--role", "developer", "--json"];
        all.extend(args);
        let made = env.run(all).ok().json();
        assert!(made["tokens"].as_u64() <= made["budget"].as_u64(), "{made}");
        made["budget"].clone()
    };
    assert_eq!(budget(&[]), 720);
    assert_eq!(budget(&["--model", "haiku"]), 540);
    assert_eq!(budget(&["--config", "brief.medium=500"]), 300);
    assert_eq!(budget(&["--budget", "5"]), 5);
    for off in ["specialization.enabled=false", "specialization.roles_disabled=[\"developer\"]"] {
        let output = env.run(["specialize", "--role", "developer", "--config", off]).ok();
        assert_eq!(output.stdout, "");
        let made =
            env.run(["specialize", "--role", "developer", "--config", off, "--json"]).ok().json();
        assert_eq!((&made["text"], &made["tokens"]), (&json!(""), &json!(0)));
        assert!(off.starts_with(made["disabled"].as_str().unwrap()));
    }
    let qa = [
        "specialize",
        "--role",
        "qa_expert",
        "--config",
        "specialization.testing_mode=disabled",
        "--json",
    ];
    let made = env.run(qa).ok().json();
    let types: Vec<&Value> =
        made["templates"].as_array().unwrap().iter().map(|t| &t["category"]).collect();
    assert!(!types.contains(&&json!("testing")), "{made}");
}

#[test]
fn user_and_project_templates_override_built_in_ones() {
    let mut env = empty();
    env.run(["init"]).ok();
    let text = |who: &str| {
        format!("---\nname: mine\ntype: domain\ndetect: []\n---\n# M\n## Checklist\n- [ ] {who}\n")
    };
    let config = env.folder().join("config");
    fs_err::create_dir_all(config.join("handover/specializations")).unwrap();
    fs_err::write(config.join("handover/specializations/mine.md"), text("user")).unwrap();
    let source = |env: &TestEnv| {
        env.run(["template", "show", "mine", "--json"]).ok().json()["template"]["source"].clone()
    };
    env.run(["template", "show", "mine"]).fails(2);
    env.set("XDG_CONFIG_HOME", &config.display().to_string());
    assert_eq!(source(&env), "user");
    env.write(".handover/specializations/deep/mine.md", text("project"));
    assert_eq!(source(&env), "project");
    assert_eq!(env.run(["template", "show", "mine"]).ok().stdout, text("project"));
    let list = env.run(["template", "list", "--json"]).ok().json();
    let mine = list["templates"].as_array().unwrap().iter().find(|t| t["name"] == "mine").unwrap();
    assert_eq!((&mine["type"], &mine["source"]), (&json!("domain"), &json!("project")));
    let table = env.run(["template", "list", "--type", "domain"]).ok().stdout;
    assert!(table.contains("every role"), "{table}");
}

#[test]
fn validation_names_file_line_and_rule() {
    let env = empty();
    env.write("good.md", "---\nname: good\ntype: domain\n---\n# G\n## Checklist\n- [ ] x\n");
    env.write("bad.md", "---\nname: bad\ntype: domain\n---\n# B\n## Ideas\n- x\n## Checklist\n<!-- version: jwt >= rfc9068 -->\n- [ ] y\n");
    insta::assert_snapshot!(env.run(["template", "validate", "good.md", "bad.md", "missing.md"]).fails(2), @r"
    exit code: 2
    ----- stdout -----
    ok    good.md
    error bad.md:6: section: there is no section `Ideas`
    error bad.md:9: guard: `rfc9068` is no version
    error missing.md:1: file: there is no such file
    ----- stderr -----
    ");
    let json = env.run(["template", "validate", "good.md", "--json"]).ok().json();
    assert_eq!(json["templates"][0]["ok"], true);
}
