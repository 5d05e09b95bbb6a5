//! The command line as a user's script sees it: the real program, real files, real processes.

#![expect(clippy::unwrap_used, reason = "these are tests")]

mod alive;
mod amended;
mod as_written;
mod assemble;
mod bad_input;
mod beside;
mod brief;
mod brief_corpus;
mod concurrency;
mod config;
mod content;
mod contract;
mod contract_second;
mod coverage;
mod crash;
mod demo;
mod docs;
mod durability;
mod forgetting;
mod garbage;
mod handoffs;
mod help;
mod hook_learning;
mod hooks;
mod host_install;
mod late_briefs;
mod learning;
mod links;
mod logging;
mod mcp;
mod moving;
mod names;
mod notes;
mod other_hosts;
mod output;
mod packages;
mod people;
mod personas;
mod planted;
mod planted_store;
mod project;
mod prove;
mod prove_limits;
mod prove_noise;
mod real_codex;
mod real_hosts;
mod real_kills;
mod real_matrix;
mod real_spawns;
mod real_teammates;
mod real_versions;
mod returns;
mod runs;
mod serve;
mod setup;
mod shared;
mod spawn;
mod specialize;
mod stats;
mod sweep;
mod telemetry;
mod text;
mod tickets;
mod transcript;
mod trust;
mod upgrading;
mod uses;
mod watch;
mod web;
mod why;

use handover_testkit::TestEnv;

/// The program under test: the one just built, or another commit's (see `scripts/against`).
fn handover() -> &'static str {
    handover_testkit::binary(env!("CARGO_BIN_EXE_handover"))
}

/// A project with an open session `s1`.
fn project() -> TestEnv {
    TestEnv::new(handover())
}

/// Gives the program its own project in the tests' PostgreSQL.
fn on_postgres(env: &mut TestEnv) {
    env.set("HANDOVER_STORE", &handover_testkit::postgres());
    env.set("HANDOVER_PROJECT_ID", &format!("t{}", uuid::Uuid::now_v7().simple()));
}

/// A project with an open session `s1` in a shared store.
fn shared_project() -> TestEnv {
    let mut env = empty();
    on_postgres(&mut env);
    env.run(["init"]).ok();
    env.run(["session", "new", "s1"]).ok();
    env
}

/// Compiles C into a library that replaces functions of the C library, for `LD_PRELOAD`.
fn shim(env: &TestEnv, source: &str) -> std::path::PathBuf {
    let (file, library) = (env.folder().join("shim.c"), env.folder().join("shim.so"));
    fs_err::write(&file, source).unwrap();
    // Plain declarations of functions that have variable arguments.
    let mut compiler = env.tool("cc");
    compiler.args(["-w", "-fno-builtin", "-shared", "-fPIC", "-o"]).arg(&library).arg(&file);
    assert!(compiler.status().unwrap().success());
    library
}

/// An empty folder.
fn empty() -> TestEnv {
    TestEnv::empty(handover())
}
