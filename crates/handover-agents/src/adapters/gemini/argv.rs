//! The arguments for Gemini CLI. Without a terminal it reads its prompt from standard input.

use std::ffi::OsString;

use handover_model::Profile;

use crate::Invocation;

pub(super) fn args(invocation: &Invocation) -> Vec<OsString> {
    let approval = match invocation.profile {
        // Without a terminal, whatever needs confirmation is denied.
        Profile::ReadOnly => "default",
        Profile::Edit => "auto_edit",
        Profile::Full => "yolo",
    };
    let mut args: Vec<OsString> =
        ["--output-format", "stream-json", "--approval-mode", approval].map(OsString::from).into();
    // In a folder that the user never opened with it, such as a new worktree, it would refuse to start.
    args.push("--skip-trust".into());
    if invocation.profile == Profile::Edit && !invocation.commands.is_empty() {
        let rules: Vec<String> = invocation
            .commands
            .iter()
            .map(|command| format!("run_shell_command({command})"))
            .collect();
        args.push(format!("--allowed-tools={}", rules.join(",")).into());
    }
    if let Some(model) = &invocation.model {
        args.extend(["--model".into(), model.into()]);
    }
    if let Some(session) = &invocation.resume {
        args.extend(["--resume".into(), session.into()]);
    }
    args.extend(invocation.args.iter().cloned());
    args
}
