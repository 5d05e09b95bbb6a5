//! Whether a program runs the hooks of a project when it is started where nobody can be asked: some do that only in
//! folders that they trust.

use std::ffi::OsString;
use std::path::Path;

use serde_json::Value;

use crate::settings::{SettingsFolders, without_comments};

/// How a program is started, and how to see what it keeps.
#[derive(Clone, Copy)]
pub struct Start<'a> {
    /// The folder, without links.
    pub folder: &'a Path,
    /// The arguments that its user adds.
    pub args: &'a [OsString],
    /// Where its own files are.
    pub folders: SettingsFolders<'a>,
    /// The text of a file; none if it cannot be read.
    pub read: &'a dyn Fn(&Path) -> Option<String>,
}

impl Start<'_> {
    /// A file of the program as JSON, which may have comments.
    pub(crate) fn json(&self, path: &Path) -> Value {
        let text = (self.read)(path).unwrap_or_default();
        serde_json::from_str(&without_comments(&text)).unwrap_or_default()
    }

    /// A variable of the environment.
    pub(crate) fn variable(&self, name: &str) -> Option<String> {
        (self.folders.variables)(name)
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use handover_model::Host;

    use super::*;
    use crate::Registry;

    /// Whether a host runs hooks in `/work/shop`, with one argument, one variable and one file.
    fn runs(host: Host, arg: &str, variable: &str, file: (&str, &str)) -> bool {
        let args = [OsString::from(arg)];
        let variables = |name: &str| {
            let (known, value) = variable.split_once('=')?;
            (known == name).then(|| value.to_owned())
        };
        let read = |path: &Path| (path == Path::new(file.0)).then(|| file.1.to_owned());
        let home = PathBuf::from("/home/me");
        let folders = SettingsFolders { project: None, home: Some(&home), variables: &variables };
        let start = Start { folder: Path::new("/work/shop"), args: &args, folders, read: &read };
        Registry::built_in().find(host).unwrap().runs_project_hooks(&start)
    }

    #[test]
    fn copilot_runs_hooks_where_it_was_told_to_trust() {
        let copilot = Host::from_static("copilot");
        let file = |text: &'static str| ("/home/me/.copilot/config.json", text);
        let listed = "// Managed.\n{\"trustedFolders\": [\"/work\"]}";
        for (arg, variable, file, expected) in [
            ("", "", file(""), false),
            ("--allow-all", "", file("{"), false),
            ("--trust-folder", "", file(""), true),
            ("", "COPILOT_ALLOW_ALL=true", file(""), true),
            ("", "COPILOT_ALLOW_ALL=1", file(""), false),
            ("", "", file(listed), true),
            ("", "", file(r#"{"trusted_folders": ["/work/shop"]}"#), true),
            ("", "", file(r#"{"trustedFolders": ["/work/sho", "/work/shop/inner"]}"#), false),
            ("", "COPILOT_HOME=/moved", file(listed), false),
            ("", "COPILOT_HOME=/moved", ("/moved/config.json", listed), true),
        ] {
            assert_eq!(runs(copilot, arg, variable, file), expected, "{arg} {variable} {file:?}");
        }
    }

    #[test]
    fn gemini_runs_hooks_where_it_was_told_to_trust() {
        let trusted = |text: &'static str| ("/home/me/.gemini/trustedFolders.json", text);
        let settings = |text: &'static str| ("/home/me/.gemini/settings.json", text);
        let work = r#"{"/work": "TRUST_FOLDER"}"#;
        let off = r#"{"security": {"folderTrust": {"enabled": false}}}"#;
        for (variable, file, expected) in [
            ("", trusted(""), false),
            ("GEMINI_CLI_TRUST_WORKSPACE=true", trusted(""), true),
            ("GEMINI_CLI_TRUST_WORKSPACE=false", trusted(work), false),
            ("", trusted(work), true),
            ("", trusted(r#"{"/work/shop/inner": "TRUST_PARENT"}"#), true),
            ("", trusted(r#"{"/work/sho": "TRUST_FOLDER"}"#), false),
            ("", trusted(r#"{"/work": "TRUST_FOLDER", "/work/shop": "DO_NOT_TRUST"}"#), false),
            ("", settings(off), true),
            ("GEMINI_CLI_HOME=/moved", trusted(work), false),
            ("GEMINI_CLI_HOME=/moved", ("/moved/.gemini/trustedFolders.json", work), true),
            ("GEMINI_CLI_TRUSTED_FOLDERS_PATH=/else.json", ("/else.json", work), true),
        ] {
            // Handover passes it, and it comes too late for hooks.
            assert_eq!(
                runs(Host::GEMINI, "--skip-trust", variable, file),
                expected,
                "{variable} {file:?}"
            );
        }
    }

    #[test]
    fn others_run_hooks_everywhere() {
        for host in Registry::built_in().iter().map(|host| host.name()) {
            let asks = [Host::GEMINI, Host::from_static("copilot")].contains(&host);
            assert_eq!(runs(host, "", "", ("", "")), !asks, "{host}");
        }
    }
}
