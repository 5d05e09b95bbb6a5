//! The command line of Handover: the only place that reads arguments, environment and clock, and
//! that picks the store.

mod app;
mod cli;
mod commands;
mod config;
mod env;
mod error;
mod input;
mod project;
mod ui;

fn main() -> std::process::ExitCode {
    let args: Vec<std::ffi::OsString> = std::env::args_os().collect();
    cli::run(args, input::Stdin::Process).into()
}
