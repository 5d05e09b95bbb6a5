//! Who trusts a checkout for one call: the user, or an agent that types a flag or a variable itself.
//!
//! What the user has set before an agent program started is in the environment that the program started with. So
//! that counts, and what was added below it does not.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;

use crate::env;
use crate::error::{CommandError, Exit};

/// Whether the user's environment trusts a checkout.
pub(super) fn trusts_by_variable(root: &Path) -> bool {
    env::trusts(root)
        && (!env::is_agent()
            || given_to_agent().is_some_and(|value| env::is_trusting(&value, root)))
}

/// The error of an agent that decides about trust.
pub(crate) fn refuse_agents() -> Result<(), CommandError> {
    if !env::is_agent() {
        return Ok(());
    }
    let message = "an agent cannot trust the files that it works on";
    Err(CommandError::new(Exit::Blocked, "agent", message).hinted(ASK))
}

/// What an agent does about an untrusted checkout.
pub(super) const ASK: &str = "Ask the person you work for to run `handover trust`.";

/// The variable as the outermost agent program was given it: by us, if we started that program, otherwise by what is
/// above everything that carries the mark of an agent program, which is the program itself.
fn given_to_agent() -> Option<String> {
    let mut by_us = None;
    for environment in handover_agents::environments_above() {
        let value = value_of(&environment, env::TRUST);
        if !env::agent_variables().any(|name| value_of(&environment, name).is_some()) {
            return by_us.unwrap_or(value);
        }
        by_us = value_of(&environment, env::SPAWN).map(|_| value);
    }
    by_us.flatten()
}

fn value_of(environment: &HashMap<OsString, OsString>, name: &str) -> Option<String> {
    let value = environment.get(OsStr::new(name))?.to_str()?;
    (!value.is_empty()).then(|| value.to_owned())
}
