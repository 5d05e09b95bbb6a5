//! Many processes at once.

use std::collections::BTreeSet;

use handover_testkit::TestEnv;

use crate::{empty, on_postgres, project, shared_project};

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(ToOwned::to_owned).collect()
}

#[test]
fn sixteen_concurrent_inits_succeed() {
    sixteen_inits(&empty());
}

#[test]
fn sixteen_concurrent_inits_of_a_shared_store_succeed() {
    let mut env = empty();
    on_postgres(&mut env);
    sixteen_inits(&env);
}

fn sixteen_inits(env: &TestEnv) {
    for output in env.at_once(16, |_| words("init --json")) {
        output.ok().json();
    }
    env.run(["doctor"]).ok();
}

#[test]
fn thirty_two_concurrent_writers_lose_nothing() {
    thirty_two_writers(&project());
}

#[test]
fn thirty_two_concurrent_writers_of_a_shared_store_lose_nothing() {
    thirty_two_writers(&shared_project());
}

fn thirty_two_writers(env: &TestEnv) {
    for n in 0..32 {
        env.write(&format!("docs/{n}.md"), format!("text {n}"));
    }
    type Args<'a> = &'a dyn Fn(usize) -> Vec<String>;
    let rounds: [(&str, Args<'_>); 5] = [
        ("package", &|n| words(&format!("package add docs/{n}.md --kind research --json"))),
        ("reasoning", &|n| {
            words(&format!("reasoning add --role developer --phase risks thought{n} --json"))
        }),
        ("error", &|_| words("error record --message boom --json")),
        ("group", &|_| words("group set P1 --count revisions --json")),
        ("same file", &|_| words("package add docs/0.md --kind decisions --json")),
    ];
    for (what, args) in rounds {
        for output in env.at_once(32, args) {
            assert_eq!(output.code, Some(0), "{what}: {output}");
        }
    }
    let counts =
        env.run(["session", "show", "s1", "--json"]).ok().json()["session"]["counts"].clone();
    assert_eq!(counts["packages"], 33);
    assert_eq!(counts["reasoning"], 32);
    let errors = env.run(["error", "list", "--json"]).ok().json();
    assert_eq!(errors["errors"][0]["occurrences"], 32);
    let group = env.run(["group", "show", "P1", "--json"]).ok().json();
    assert_eq!(group["group"]["counters"]["revisions"], 32);
    env.run(["doctor"]).ok();
}

#[test]
fn iterations_are_distinct_with_and_without_role_and_group() {
    distinct_iterations(&project());
}

#[test]
fn iterations_are_distinct_in_a_shared_store() {
    distinct_iterations(&shared_project());
}

fn distinct_iterations(env: &TestEnv) {
    for extra in ["", " --role developer --group P1"] {
        let children: Vec<_> = (0..32)
            .map(|_| {
                let mut command = env.command();
                command
                    .args(words(&format!("skill-output save scan --json{extra}")))
                    .stdin(std::process::Stdio::piped())
                    .stdout(std::process::Stdio::piped())
                    .stderr(std::process::Stdio::piped());
                let mut child = command.spawn().unwrap();
                std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"{}").unwrap();
                child
            })
            .collect();
        let iterations: BTreeSet<u64> = children
            .into_iter()
            .map(|child| {
                env.output(child).ok().json()["skill_output"]["iteration"].as_u64().unwrap()
            })
            .collect();
        assert_eq!(iterations, (1..=32).collect(), "{extra}");
    }
}
