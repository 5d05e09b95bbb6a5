//! A store that another program is writing to.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::env::TestEnv;

/// Another program that holds the write lock of a store.
pub struct Lock(Child);

impl Lock {
    /// Takes the lock of a project's store.
    pub fn take(env: &TestEnv) -> Self {
        Self::on(&env.path(".handover/store.db"))
    }

    /// Takes the lock of a store, and returns once it is held.
    pub fn on(store: &Path) -> Self {
        let script = "import sqlite3, sys\n\
            store = sqlite3.connect(sys.argv[1], isolation_level=None)\n\
            store.execute('BEGIN IMMEDIATE')\n\
            print('locked', flush=True)\n\
            sys.stdin.read()\n";
        let mut python = Command::new("python3");
        python.args(["-c", script]).arg(store).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = python.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "locked\n");
        Self(child)
    }

    /// Releases the lock.
    pub fn release(mut self) {
        drop(self.0.stdin.take());
        assert!(self.0.wait().unwrap().success());
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
