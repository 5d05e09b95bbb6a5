//! A real PostgreSQL: the server shared by all tests, or a private one that a test may kill.

use std::path::PathBuf;
use std::process::Command;

/// The URL of the server started by `scripts/test`. Without one the test fails.
pub fn postgres() -> String {
    std::env::var_os("HANDOVER_TEST_POSTGRES")
        .and_then(|url| url.into_string().ok())
        .filter(|url| !url.is_empty())
        .unwrap_or_else(|| {
            panic!("tests of the shared store need a server: export HANDOVER_TEST_POSTGRES=$(scripts/postgres)")
        })
}

/// A private server; stops when dropped.
pub struct OwnPostgres {
    url: String,
}

impl OwnPostgres {
    /// Starts a server.
    pub fn start() -> Self {
        Self { url: script(&[]) }
    }

    /// The URL of the server.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Kills all its processes at once, like a power failure.
    pub fn kill(&self) {
        script(&["kill", &self.url]);
    }

    /// Restarts it on the same port with the same data.
    pub fn again(&self) {
        script(&["again", &self.url]);
    }
}

impl Drop for OwnPostgres {
    fn drop(&mut self) {
        script(&["stop", &self.url]);
    }
}

fn script(args: &[&str]) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scripts/postgres");
    let output = Command::new(path).args(args).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "scripts/postgres {args:?}: {said}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}
