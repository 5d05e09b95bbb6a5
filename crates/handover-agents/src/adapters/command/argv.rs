//! The arguments, exactly as the user wrote them.

use std::ffi::OsString;

use crate::Invocation;

pub(super) fn args(invocation: &Invocation) -> Vec<OsString> {
    invocation.args.clone()
}
