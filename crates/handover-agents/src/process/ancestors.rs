//! The processes above this one, and what each of them was started with.

use std::collections::HashMap;
use std::ffi::OsString;

use super::platform::Platform as _;
use super::{System, own_pid};

/// How far up is looked.
const MAX: usize = 64;

/// The environments that the processes above this one were started with, the nearest first. What a process changed in
/// its own later is not in them. They end where the system does not tell, for example at another user's process.
pub fn environments_above() -> impl Iterator<Item = HashMap<OsString, OsString>> {
    let parent = |pid: &i32| System::entry(*pid).map(|entry| entry.parent).filter(|pid| *pid > 0);
    std::iter::successors(parent(&own_pid()), parent).take(MAX).map_while(System::environment)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_that_started_this_one_is_above_it() {
        let above = environments_above().next().unwrap();
        assert!(above.contains_key(&OsString::from("PATH")), "{above:?}");
    }
}
