//! `handover config edit`

use std::io::Write as _;
use std::process::Command;

use serde_json::json;

use super::{FileArgs, say_if_untrusted};
use crate::app::App;
use crate::commands::Outcome;
use crate::env;
use crate::error::{CommandError, Exit, io};

/// Open a configuration file in your editor and check it before it counts
///
/// The editor is $VISUAL, else $EDITOR, else vi. What you write replaces the file only if it can be read;
/// otherwise it is kept beside it, and the file stays as it was.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover config edit\n  EDITOR=nano handover config edit --user"
)]
pub(crate) struct EditArgs {
    #[command(flatten)]
    file: FileArgs,
}

pub(crate) fn run(app: &App, args: EditArgs) -> Outcome {
    let file = args.file.file(app)?;
    let is_chosen = ["VISUAL", "EDITOR"].iter().any(|name| env::var(name).is_some());
    if !is_chosen && !app.stdin.is_terminal() {
        return Err(CommandError::new(Exit::Usage, "usage", "there is no terminal for an editor")
            .hinted("Set EDITOR, or use `handover config set KEY VALUE`."));
    }
    let before = file.read()?;
    let failed = |error: &std::io::Error| io(error);
    let mut draft = tempfile::Builder::new()
        .prefix("handover-config-")
        .suffix(".toml")
        .tempfile()
        .map_err(|error| failed(&error))?;
    draft.write_all(before.as_bytes()).map_err(|error| failed(&error))?;
    edit(draft.path())?;
    let after = fs_err::read_to_string(draft.path()).map_err(|error| failed(&error))?;
    let changed = after != before;
    if changed && let Err(error) = file.write(&after) {
        let kept = draft.keep().map(|(_, path)| path.display().to_string()).unwrap_or_default();
        return Err(error.hinted(format!(
            "{} was not changed; what you wrote is in {kept}.",
            file.path().display()
        )));
    }
    app.ui.answer("config", &json!({"file": file.path(), "changed": changed}), |ui| {
        let word = if changed { "Changed" } else { "Unchanged:" };
        ui.line(format_args!("{word} {}", file.path().display()))
    })?;
    if changed {
        say_if_untrusted(app, &file, None);
    }
    Ok(Exit::Done)
}

/// Waits until the user has closed the editor.
fn edit(path: &std::path::Path) -> Result<(), CommandError> {
    let editor =
        env::var("VISUAL").or_else(|| env::var("EDITOR")).unwrap_or_else(|| "vi".to_owned());
    let words = shell_words::split(&editor).unwrap_or_default();
    let failed = |message: String| {
        CommandError::new(Exit::Environment, "editor", message)
            .hinted("Set EDITOR to a program that waits until the file is closed.")
    };
    let [program, args @ ..] = words.as_slice() else {
        return Err(failed(format!("`{editor}` is not a program")));
    };
    let status = Command::new(program).args(args).arg(path).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(failed(format!("`{editor}` ended with {status}"))),
        Err(error) => Err(failed(format!("`{editor}` could not be started: {error}"))),
    }
}
