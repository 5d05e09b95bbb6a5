//! The command line of Handover: the only place that reads arguments, environment and clock, and
//! that picks the store.

mod app;
mod cli;
mod commands;
mod config;
mod desk;
mod env;
mod error;
mod input;
mod project;
mod store;
mod ui;

fn main() -> std::process::ExitCode {
    // A file that must not grow is an error to report, not a reason to die in the middle of a write.
    let size_limit = std::sync::Arc::default();
    let _ = signal_hook::flag::register(libc::SIGXFSZ, size_limit);
    let args: Vec<std::ffi::OsString> = std::env::args_os().collect();
    cli::run(args, input::Stdin::Process).into()
}
