//! `handover prove` as it goes in practice: agents know what the files say that their prompt names, chance decides a
//! part of their trials, and a project may not be set up for its own tests.

use serde_json::Value;

use crate::empty;
use crate::prove::{
    PAST, SUBJECTS, arm, commit, decided, difference, new_crate, oracle, prove, write_tasks,
};

/// An agent that opens the files that its prompt names, and knows only what they say. Of ten trials one succeeds and
/// one fails whatever it read; a checksum of the task and of how often it was worked on decides which.
const OPENER: &str = r#"#!/bin/sh
prompt=$(cat)
subject=$(printf '%s\n' "$prompt" | sed -n 's/^Configure \([a-z]*\) for production.*/\1/p' | tail -n 1)
echo "$subject" >> "$HOME/worked.txt"
times=$(grep -c "^$subject$" "$HOME/worked.txt")
coin=$(($(printf '%s %s' "$subject" "$times" | cksum | cut -d ' ' -f 1) % 10))
[ "$coin" = 9 ] && exit 0
if [ "$coin" = 0 ]; then
  printf '%s' "$subject" | od -An -v -tu1 | tr -s ' ' '\n' | awk '{ sum += $1 } END { print sum }' > answer.txt
  exit 0
fi
for file in $(printf '%s\n' "$prompt" | grep -o '[a-z/]*\.conf' | sort -u); do
  sed -n "s/^$subject: retries exactly \([0-9]*\) times$/\1/p" "$file" >> answer.txt
done
"#;

/// What the tasks need is in files that are no documents: a brief can only point to them.
#[test]
fn what_an_agent_reads_because_its_brief_names_the_file_is_an_effect_of_places() {
    let mut env = empty();
    for name in ["GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"] {
        env.set(name, PAST);
    }
    env.git("", &["init", "--quiet"]);
    env.run(["init"]).ok();
    for subject in SUBJECTS {
        let text = format!("{subject}: retries exactly {} times\n", decided(subject));
        env.write(&format!("services/{subject}/production.conf"), text);
    }
    env.git("", &["add", "--all"]);
    env.git("", &["commit", "--quiet", "--message", "Add what services use in production"]);
    write_tasks(&env, 10, OPENER);
    let arms = "bare,placebo,brief,brief-without-places";
    let document = prove(&env, &["--arms", arms, "--repeat", "2"]).ok().json();
    let passed = |name: &str| arm(&document, name)["passed"].as_u64().unwrap();
    assert_eq!(arm(&document, "brief")["trials"], 20, "{document:#}");
    // Chance is at work in every arm.
    assert!((12..20).contains(&passed("brief")), "{document:#}");
    assert!(passed("bare") + passed("placebo") + passed("brief-without-places") > 0);
    for other in ["bare", "placebo", "brief-without-places"] {
        assert!(passed(other) < 7, "{document:#}");
        let one = difference(&document, "brief", other);
        assert_eq!(one["verdict"], "better", "{document:#}");
    }
    for (a, b) in [("placebo", "bare"), ("brief-without-places", "bare")] {
        let claimed = document["differences"].as_array().unwrap().iter().any(|one: &Value| {
            one["a"] == a
                && one["b"] == b
                && ["better", "worse"].contains(&one["verdict"].as_str().unwrap())
        });
        assert!(!claimed, "{document:#}");
    }
}

/// An agent that reads nothing: a checksum of the task and of how often it was worked on decides whether it succeeds.
const GUESSER: &str = r#"#!/bin/sh
subject=$(sed -n 's/^Configure \([a-z]*\) for production.*/\1/p' | tail -n 1)
echo "$subject" >> "$HOME/worked.txt"
times=$(grep -c "^$subject$" "$HOME/worked.txt")
coin=$(($(printf '%s %s' "$subject" "$times" | cksum | cut -d ' ' -f 1) % 10))
[ "$coin" -lt 5 ] || exit 0
printf '%s' "$subject" | od -An -v -tu1 | tr -s ' ' '\n' | awk '{ sum += $1 } END { print sum }' > answer.txt
"#;

/// The seed decides the order of arms, and so which arm meets which coin: the outcome is the same every time.
#[test]
fn an_absent_effect_is_not_claimed() {
    let env = oracle(12, GUESSER);
    let arms = ["bare", "placebo", "brief"];
    let document =
        prove(&env, &["--arms", &arms.join(","), "--repeat", "1", "--seed", "4"]).ok().json();
    assert_eq!(document["experiment"]["trials"], 36, "{document:#}");
    for name in arms {
        assert!(
            (3..=9).contains(&arm(&document, name)["passed"].as_u64().unwrap()),
            "{document:#}"
        );
    }
    // A claim was possible: if one of the two had won all tasks in which they differ, three comparisons would not
    // have kept it from being one.
    let differ = |task: &&Value| task["passed"][0] != task["passed"][2];
    let tasks = document["tasks"].as_array().unwrap();
    let differing = i32::try_from(tasks.iter().filter(differ).count()).unwrap();
    assert!(3.0 * 2.0 * 0.5_f64.powi(differing) <= 0.05, "{document:#}");
    let differences = document["differences"].as_array().unwrap();
    assert_eq!(differences.len(), 3);
    for one in differences {
        assert_eq!(one["verdict"], "too_small", "{one:#}");
    }
    assert!(document["answer"].as_str().unwrap().contains("too small"), "{document:#}");
}

#[test]
fn a_project_that_cannot_run_its_tests_here_is_noticed_early() {
    let env = new_crate();
    for n in 0..20 {
        env.write("src/lib.rs", format!("pub fn number() -> u32 {{\n    {n}\n}}\n"));
        env.write(
            "tests/number.rs",
            format!("use nowhere::check;\n\n#[test]\nfn is_{n}() {{\n    check(sums::number(), {n});\n}}\n"),
        );
        commit(&env, &format!("Fix wrong number {n}\n\nIt must be {n}, or totals are wrong."));
    }
    let output = env.run(["prove", "init", "found.toml", "--json"]);
    assert_eq!(output.code, Some(1), "{output:?}");
    let found = output.json();
    assert_eq!(found["found"]["tried"], 12, "{found:#}");
    let (cause, count) = found["found"]["causes"].as_object().unwrap().iter().next().unwrap();
    assert!(cause.contains("unresolved import `nowhere`") && *count == 12, "{found:#}");
    assert!(
        output.stderr.contains("12 tests failed to load for the same reason")
            && output.stderr.contains("--setup"),
        "{output:?}"
    );
}
