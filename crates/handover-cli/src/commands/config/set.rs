//! `handover config set`

use serde_json::json;

use super::{FileArgs, say_if_untrusted};
use crate::app::App;
use crate::commands::Outcome;
use crate::config::KeyPath;
use crate::error::Exit;

/// Set a key in the project's configuration, or in yours with --user
///
/// Comments and order of the file stay. A value that could do harm takes effect in this project after
/// `handover trust`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SetArgs {
    /// Key, such as `redaction.mode`; `handover config show` lists them
    key: String,

    /// Value: text, a number, true or false, or a list or table in TOML
    #[arg(required_unless_present = "unset", allow_hyphen_values = true)]
    value: Option<String>,

    /// Remove the key from the file, so that its default counts
    #[arg(long, conflicts_with = "value")]
    unset: bool,

    #[command(flatten)]
    file: FileArgs,
}

const EXAMPLES: &str = "\
Examples:
  handover config set guard.mode strict
  handover config set assembly.roles.developer.limit 5
  handover config set agents.timeout 3600 --user
  handover config set guard.mode --unset";

pub(crate) fn run(app: &App, args: SetArgs) -> Outcome {
    let path = KeyPath::parse(&args.key)?;
    let file = args.file.file(app)?;
    let before = file.read()?;
    let text = file.with(&path, args.value.as_deref())?;
    let changed = text != before;
    if changed {
        let value = args.value.as_deref().unwrap_or_default();
        file.write(&text).map_err(|error| file.refused(&before, &path, value, error))?;
    }
    let answer = json!({
        "key": args.key, "file": file.path(), "changed": changed, "set": args.value.is_some(),
    });
    app.ui.answer("config", &answer, |ui| {
        let (key, file) = (&args.key, file.path());
        match (changed, args.unset) {
            (false, _) => ui.line(format_args!("Unchanged: {}", file.display())),
            (true, true) => ui.line(format_args!("Removed {key} from {}", file.display())),
            (true, false) => ui.line(format_args!("Set {key} in {}", file.display())),
        }
    })?;
    say_if_untrusted(app, &file, Some(path.key.name));
    Ok(Exit::Done)
}
