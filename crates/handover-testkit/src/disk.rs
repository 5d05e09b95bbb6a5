//! Disks that cannot be written: the program in its own mount namespace.

use std::ffi::OsStr;
use std::io::Write;
use std::process::Stdio;

use crate::{Output, TestEnv};

/// What is wrong with the disk of the project.
#[derive(Debug, Clone, Copy)]
pub enum Disk {
    /// It is mounted read-only.
    ReadOnly,
    /// It has no space left.
    Full,
}

impl Disk {
    fn script(self) -> &'static str {
        match self {
            Self::ReadOnly => {
                "mount --bind \"$0\" \"$0\" && mount -o remount,bind,ro \"$0\" && cd \"$0\" && exec \"$@\""
            }
            Self::Full => {
                "set -e; cp -a \"$0/.\" ../copy; mount -t tmpfs -o size=16m none \"$0\"; \
                 cp -a ../copy/. \"$0\"; cd \"$0\"; \
                 dd if=/dev/zero of=fill bs=64k 2>/dev/null || true; \
                 dd if=/dev/zero of=fill2 bs=1 2>/dev/null || true; exec \"$@\""
            }
        }
    }
}

impl TestEnv {
    /// Runs the program in the project, with this text on standard input, while the disk cannot be written.
    /// Afterwards the project is unchanged. Requires permission to create namespaces.
    #[must_use = "look at the output or at least at the exit code"]
    pub fn run_on<A: AsRef<OsStr>>(
        &self,
        disk: Disk,
        stdin: &str,
        args: impl IntoIterator<Item = A>,
    ) -> Output {
        let mut command = self.tool("unshare");
        command.args(["-rm", "sh", "-c", disk.script()]).arg(self.path("")).arg(self.binary());
        command.args(args).current_dir(self.folder());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        fs_err::create_dir_all(self.folder().join("home")).unwrap();
        command.current_dir(self.folder().join("home"));
        let mut child = command.spawn().unwrap();
        let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
        let output = self.output(child);
        let _ = fs_err::remove_dir_all(self.folder().join("copy"));
        output
    }
}
