//! `handover demo --web`: a project with a history, shown in the dashboard.

mod packages;
mod past;
mod runs;

use std::ffi::OsString;
use std::path::Path;

use super::shop::SESSION;
use crate::app::App;
use crate::commands::CommandLine;
use crate::commands::init;
use crate::error::{CommandError, Exit};
use crate::input::Stdin;

/// Creates the project and serves the dashboard until interrupted.
pub(super) fn show(
    app: &App,
    line: CommandLine,
    root: &Path,
    port: Option<u16>,
    still: bool,
) -> Result<(), CommandError> {
    app.ui.note("Creating a project with an afternoon of work in it …");
    let project = App::new_at(app, root);
    runs::write(root)?;
    init::make(&project)?;
    runs::commit(root)?;
    past::write(&project)?;
    runs::story(root)?;
    runs::run(root, "1")?;
    if !still {
        let root = root.to_owned();
        std::thread::spawn(move || {
            // Give the user time to open the page, then show a live run.
            std::thread::sleep(std::time::Duration::from_secs(8));
            let _ = runs::run(&root, "2");
        });
    }
    app.ui.note(format_args!(
        "The story of `handover demo` is the session `{SESSION}`. Everything is in a temporary folder, which Ctrl-C deletes."
    ));
    let mut argv: Vec<OsString> = vec!["handover".into(), "serve".into()];
    if let Some(port) = port {
        argv.extend(["--port".into(), port.to_string().into()]);
    }
    if app.ui.is_json() {
        argv.push("--json".into());
    }
    let exit = (line.run)(argv, Stdin::Text(String::new()));
    if exit == Exit::Done {
        return Ok(());
    }
    Err(CommandError::new(exit, "demo", "the service failed"))
}
