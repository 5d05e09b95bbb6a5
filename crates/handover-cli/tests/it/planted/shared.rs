//! A store that is not a file: a database, and a service on another machine.

use handover_testkit::{Service, TestEnv};

use super::Planted;
use super::commands::{every_argument, every_debrief, every_input, every_package_file};
use super::knowledge::every_source;
use crate::{empty, project};

fn everything(planted: &mut Planted, env: &TestEnv) {
    every_argument(planted, env);
    every_input(planted, env);
    every_debrief(planted, env);
    every_package_file(planted, env);
    every_source(planted, env);
}

/// A project in the tests' database, and its id.
fn in_database() -> (TestEnv, String) {
    let (mut env, id) = (empty(), format!("t{}", &uuid::Uuid::now_v7().simple().to_string()[..31]));
    env.set("HANDOVER_STORE", &handover_testkit::postgres());
    env.set("HANDOVER_PROJECT_ID", &id);
    env.run(["init"]).ok();
    env.run(["session", "new", "s1"]).ok();
    (env, id)
}

/// All that the database contains about a project, as its own tool writes it.
fn dump(env: &TestEnv, project: &str) -> String {
    let mut tool = env.tool("pg_dump");
    tool.arg("--dbname").arg(handover_testkit::postgres()).arg("--inserts");
    tool.arg("--schema").arg(format!("*{project}*"));
    let output = tool.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_database() {
    let (env, id) = in_database();
    let mut planted = Planted::default();
    everything(&mut planted, &env);
    let dump = dump(&env, &id);
    assert!(dump.contains("[REDACTED-1]"), "nothing was stored");
    planted.printed("pg_dump", dump);
    planted.nowhere(&env);
}

#[test]
fn a_service() {
    let theirs = project();
    let service = Service::start(&theirs, &[]);
    let mut env = empty();
    env.set("HANDOVER_STORE", &service.url);
    env.run(["init"]).ok();
    let mut planted = Planted::default();
    everything(&mut planted, &env);
    let output = service.stop(&theirs);
    planted.output("serve", &output);
    planted.nowhere(&env);
    planted.nowhere(&theirs);
}

#[test]
fn the_dump_has_what_is_stored() {
    let (env, id) = in_database();
    env.run(["reasoning", "add", "--role", "developer", "--phase", "risks", "a plain word"]).ok();
    assert!(dump(&env, &id).contains("a plain word"));
}
