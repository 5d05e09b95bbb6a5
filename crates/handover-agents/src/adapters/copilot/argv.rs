//! The arguments for Copilot CLI. Without a terminal it reads its prompt from standard input.

use std::ffi::OsString;

use handover_model::Profile;

use crate::Invocation;

pub(super) fn args(invocation: &Invocation) -> Vec<OsString> {
    let mut args: Vec<OsString> =
        ["--output-format", "json", "--no-color"].map(OsString::from).into();
    // Without a terminal, whatever needs confirmation is denied.
    let permissions: &[&str] = match invocation.profile {
        Profile::ReadOnly => &["--deny-tool=shell", "--deny-tool=write"],
        Profile::Edit => &["--allow-tool=write"],
        Profile::Full => &["--allow-all"],
    };
    args.extend(permissions.iter().map(OsString::from));
    if let Some(model) = &invocation.model {
        args.push(format!("--model={model}").into());
    }
    if let Some(session) = &invocation.resume {
        args.push(format!("--resume={session}").into());
    }
    args.extend(invocation.args.iter().cloned());
    args
}
