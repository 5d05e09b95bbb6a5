//! How the program is called: as the user wrote it.

use std::ffi::OsString;

use crate::Invocation;

pub(super) fn args(invocation: &Invocation) -> Vec<OsString> {
    invocation.args.clone()
}
