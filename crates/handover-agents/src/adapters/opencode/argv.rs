//! The arguments for opencode, and its permissions, for which it has no arguments.

use std::ffi::OsString;

use handover_model::Profile;

use crate::Invocation;

pub(super) fn args(invocation: &Invocation) -> Vec<OsString> {
    let mut args: Vec<OsString> = ["run", "--format", "json"].map(OsString::from).into();
    if invocation.profile == Profile::Full {
        args.push("--auto".into());
    }
    if let Some(model) = &invocation.model {
        args.extend(["--model".into(), model.into()]);
    }
    match &invocation.resume {
        Some(session) => args.extend(["--session".into(), session.into()]),
        // Without one, it asks the model for it, and counts that nowhere.
        None => args.extend(["--title".into(), format!("handover {}", invocation.spawn).into()]),
    }
    args.extend(invocation.args.iter().cloned());
    args
}

/// By default, everything is permitted.
pub(super) fn permissions(invocation: &Invocation) -> Vec<(&'static str, &'static str)> {
    let permissions = match invocation.profile {
        Profile::ReadOnly => r#"{"edit": "deny", "bash": "deny"}"#,
        Profile::Edit => r#"{"edit": "allow", "bash": "deny"}"#,
        Profile::Full => return Vec::new(),
    };
    vec![("OPENCODE_PERMISSION", permissions)]
}
