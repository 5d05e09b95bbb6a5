//! The arguments for Codex.

use std::ffi::OsString;

use handover_model::Profile;

use crate::Invocation;

pub(super) fn args(invocation: &Invocation) -> Vec<OsString> {
    let sandbox = match invocation.profile {
        Profile::ReadOnly => "read-only",
        Profile::Edit => "workspace-write",
        Profile::Full => "danger-full-access",
    };
    let mut args: Vec<OsString> = ["exec", "--json", "--skip-git-repo-check", "--sandbox", sandbox]
        .map(OsString::from)
        .into();
    if invocation.profile == Profile::Edit && !invocation.writable.is_empty() {
        // A list of strings in JSON is also one in TOML.
        let folders: Vec<String> =
            invocation.writable.iter().map(|folder| folder.display().to_string()).collect();
        let roots = serde_json::Value::from(folders);
        let setting = format!("sandbox_workspace_write.writable_roots={roots}");
        args.extend(["-c".into(), setting.into()]);
    }
    if let Some(model) = &invocation.model {
        args.extend(["--model".into(), model.into()]);
    }
    args.extend(invocation.args.iter().cloned());
    if let Some(session) = &invocation.resume {
        args.extend(["resume".into(), session.into()]);
    }
    args.push("-".into());
    args
}
