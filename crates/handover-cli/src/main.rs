//! The command line of Handover. Only this crate reads arguments, the environment and the clock, and
//! picks the store.

mod app;
mod brought;
mod cli;
mod commands;
mod config;
#[cfg(feature = "mcp")]
mod context_provider;
mod env;
mod error;
mod help;
mod host_transcripts;
mod input;
mod learn;
mod local_time;
mod logging;
mod overview;
mod pager;
mod project;
mod store;
mod store_file;
#[cfg(feature = "telemetry")]
mod telemetry;
mod terminal;
mod trust;
mod typos;
mod ui;

fn main() -> std::process::ExitCode {
    // Hitting the file size limit should be an error, not a signal that kills us in the middle of a write.
    let size_limit = std::sync::Arc::default();
    let _ = signal_hook::flag::register(libc::SIGXFSZ, size_limit);
    let args: Vec<std::ffi::OsString> = std::env::args_os().collect();
    cli::run(args, input::Stdin::Process).into()
}
