//! The command line as a user's script sees it: the real program, real files, real processes.

#![expect(clippy::unwrap_used, reason = "these are tests")]

mod assemble;
mod bad_input;
mod brief;
mod concurrency;
mod config;
mod contract;
mod crash;
mod hooks;
mod host_install;
mod learning;
mod mcp;
mod packages;
mod people;
mod project;
mod real_hosts;
mod runs;
mod serve;
mod spawn;
mod specialize;
mod text;
mod web;

use handover_testkit::TestEnv;

/// A project with an open session `s1`.
fn project() -> TestEnv {
    TestEnv::new(env!("CARGO_BIN_EXE_handover"))
}

/// A folder with nothing in it.
fn empty() -> TestEnv {
    TestEnv::empty(env!("CARGO_BIN_EXE_handover"))
}
