//! The arguments for Claude Code.

use std::ffi::OsString;

use handover_model::Profile;

use crate::Invocation;

pub(super) fn args(invocation: &Invocation) -> Vec<OsString> {
    let mut args: Vec<OsString> =
        ["-p", "--output-format", "stream-json", "--verbose"].map(OsString::from).into();
    let profile: &[&str] = match invocation.profile {
        // Tools that write are not available, and anything a server or plugin adds is denied without
        // asking.
        Profile::ReadOnly => &["--tools=Read,Glob,Grep", "--permission-mode=dontAsk"],
        Profile::Edit => &["--permission-mode=acceptEdits"],
        Profile::Full => &["--permission-mode=bypassPermissions"],
    };
    args.extend(profile.iter().map(OsString::from));
    if invocation.profile == Profile::Edit && !invocation.commands.is_empty() {
        let rules: Vec<String> =
            invocation.commands.iter().map(|command| format!("Bash({command}:*)")).collect();
        args.push(format!("--allowedTools={}", rules.join(",")).into());
    }
    if let Some(model) = &invocation.model {
        args.push(format!("--model={model}").into());
    }
    if let Some(session) = &invocation.resume {
        args.push(format!("--resume={session}").into());
    }
    if let Some(turns) = invocation.limits.turns {
        args.push(format!("--max-turns={turns}").into());
    }
    if let Some(cost) = invocation.limits.cost_usd {
        args.push(format!("--max-budget-usd={cost}").into());
    }
    args.extend(invocation.args.iter().cloned());
    args
}
