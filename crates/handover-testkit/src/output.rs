//! The result of a program run.

use std::fmt;
use std::path::Path;

use serde_json::Value;

/// Exit code and both streams, with the temporary folder replaced by `[ROOT]`.
#[derive(Debug, Clone)]
pub struct Output {
    /// The exit code; `None` if a signal terminated the program.
    pub code: Option<i32>,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Output {
    pub(crate) fn new(output: std::process::Output, root: &Path) -> Self {
        let text = |bytes: &[u8]| {
            String::from_utf8_lossy(bytes).replace(&root.display().to_string(), "[ROOT]")
        };
        Self {
            code: output.status.code(),
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
        }
    }

    /// Asserts success.
    #[track_caller]
    pub fn ok(self) -> Self {
        assert_eq!(self.code, Some(0), "{self}");
        self
    }

    /// Asserts an exit code, and that the program did not panic.
    #[track_caller]
    pub fn fails(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self}");
        assert!(!self.stderr.contains("panicked"), "{self}");
        self
    }

    /// Standard output parsed as one JSON document.
    #[track_caller]
    pub fn json(&self) -> Value {
        let value: Value =
            serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error} in {self}"));
        assert_eq!(value["schema"], 1, "{self}");
        value
    }

    /// The JSON error on standard error.
    #[track_caller]
    pub fn error(&self) -> Value {
        assert_eq!(self.stdout, "", "{self}");
        assert_eq!(self.stderr.trim_end().lines().count(), 1, "{self}");
        let value: Value =
            serde_json::from_str(&self.stderr).unwrap_or_else(|error| panic!("{error} in {self}"));
        assert_eq!(value["schema"], 1, "{self}");
        for field in ["code", "message"] {
            assert!(value["error"][field].as_str().is_some_and(|text| !text.is_empty()), "{self}");
        }
        value["error"].clone()
    }
}

impl fmt::Display for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.code {
            Some(code) => writeln!(f, "exit code: {code}")?,
            None => writeln!(f, "ended by a signal")?,
        }
        write!(f, "----- stdout -----\n{}----- stderr -----\n{}", self.stdout, self.stderr)
    }
}
