//! Records what commands print, for whole-output snapshots.
//!
//! A transcript shows each command line, its standard output as it is (JSON pretty-printed), each line of
//! standard error after `! `, and the exit code unless it is 0. Whatever differs between two runs (ids,
//! times, hashes, scores) is replaced by a placeholder.

use std::fmt::Write as _;

use handover_testkit::{Output, TestEnv};
use serde_json::Value;

/// Values that differ from run to run.
const FILTERS: &[(&str, &str)] = &[
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "[TIME]"),
    (r"\b(just now|\d+ min ago)\b", "[AGO]"),
    (r"\br_[0-9a-f]{32}\b", "[RECEIPT]"),
    (r"(?m)^[0-9a-f]{6}( +)(\S+ +\S+ +\S+ +\d+ +(?:delivered|assembled|failed))", "[ID]$1$2"),
    (r"receipt [0-9a-f]{6}\b", "receipt [ID]"),
    (r"(?m)^Receipt    [0-9a-f]{6} \(", "Receipt    [ID] ("),
    (r"\bFrom [0-9a-f]{6} to [0-9a-f]{6}\b", "From [ID] to [ID]"),
    (r"To redo: `handover undo [0-9a-f]{6}`", "To redo: `handover undo [ID]`"),
    (r"receipt show [0-9a-f]{6}\b", "receipt show [ID]"),
    (r"\bop_[0-9a-f]{32}\b", "[OPERATION]"),
    (r"(?m)^[0-9a-f]{6}  \[AGO\]", "[ID]    [AGO]"),
    (r"undone by [0-9a-f]{6}\b", "undone by [ID]"),
    (r"\bundo [0-9a-f]{6}: ", "undo [ID]: "),
    (r"(?m)\([0-9a-f]{6}\)$", "([ID])"),
    (r#"("ended_at": )\d+"#, "${1}[TIME]"),
    (r"\brun_[0-9a-f]{32}\b", "[RUN]"),
    (r"\bx_[0-9a-f]{32}\b", "[EXPERIMENT]"),
    (r": (passed|failed) \(\d+ s\)", ": $1 ([SECONDS])"),
    (r"\bs-\d{8}-\d{6}-[0-9a-f]+\b", "[SESSION]"),
    (r"\b[0-9a-f]{64}\b", "[HASH]"),
    (r"\b[0-9a-f]{40}\b", "[COMMIT]"),
    (r"\b[0-9a-f]{10}\b", "[COMMIT]"),
    (r"\bhnd_[0-9a-f]{12}_[0-9a-f]+\b", "[SECRET]"),
    (r"\b[0-9a-f]{12}\b", "[TOKEN]"),
    (r#"[^ "]*/handover hook"#, "[HANDOVER] hook"),
    // Prompts contain the id of their receipt, and ids differ in tokens.
    (r#"(?m)("(tokens|context|role|used|budget|delivered|saved|from|to)": )\d+(,?)$"#, "${1}[N]$3"),
    (r"\d+ of \d+ tokens", "[N] of [N] tokens"),
    (r"Zone       normal, \d+ tokens", "Zone       normal, [N] tokens"),
    (r"Tokens \d+ → \d+", "Tokens [N] → [N]"),
    (r"Tokens     \d+ delivered, \d+ saved", "Tokens     [N] delivered, [N] saved"),
    (r"(delivered|assembled|failed)  normal  \d+ +", "$1  normal  [N]  "),
    (r"score \d+\b", "score [SCORE]"),
    (r#"("duration_ms": )\d+"#, "${1}[MS]"),
    (r"Took       \d+\.\d s", "Took       [SECONDS]"),
    (r#"("bytes": )\d+"#, "${1}[BYTES]"),
    (r"\(\d+ kB\)", "([SIZE])"),
    (r#"("(score|recency|task)": )-?[\d.e-]+(\[TOKEN\])?"#, "${1}[SCORE]"),
    (r"score -?\d+\.\d+", "score [SCORE]"),
    (r"\d\d:\d\d (\$\d+\.\d\d)", "[CLOCK] $1"),
];

/// A project and what its commands have printed so far.
pub(crate) struct Transcript {
    pub(crate) env: TestEnv,
    text: String,
}

impl Transcript {
    pub(crate) fn new(env: TestEnv) -> Self {
        Self { env, text: String::new() }
    }

    /// Runs a command line and records it.
    pub(crate) fn run(&mut self, line: &str) {
        let output = self.env.run(shell_words::split(line).unwrap());
        self.record(line, &output);
    }

    /// Runs a command line with text on standard input and records it.
    pub(crate) fn pipe(&mut self, stdin: &str, line: &str) {
        let output = self.env.run_with(stdin, shell_words::split(line).unwrap());
        self.record(&format!("{line} < stdin"), &output);
    }

    /// Runs a command line for people and again for scripts.
    pub(crate) fn both(&mut self, line: &str) {
        self.run(line);
        self.run(&format!("{line} --json"));
    }

    pub(crate) fn record(&mut self, line: &str, output: &Output) {
        let _ = writeln!(self.text, "{}", format!("$ handover {line}").trim_end());
        match serde_json::from_str::<Value>(&output.stdout) {
            Ok(document) if document.is_object() => {
                let _ = writeln!(self.text, "{document:#}");
            }
            Ok(_) | Err(_) => self.text.push_str(&output.stdout),
        }
        if !self.text.ends_with('\n') {
            self.text.push('\n');
        }
        for line in output.stderr.lines() {
            let _ = writeln!(self.text, "{}", format!("! {line}").trim_end());
        }
        if output.code != Some(0) {
            let _ = writeln!(self.text, "[exit code {}]", output.code.unwrap_or(-1));
        }
        self.text.push('\n');
    }

    /// Compares everything recorded with the snapshot of that name.
    #[track_caller]
    pub(crate) fn assert_matches(self, name: &str) {
        let text = self.text.trim_end().to_owned();
        snapshot(name, &text);
    }
}

/// Compares a text with the snapshot of that name in `snapshots/`.
#[track_caller]
pub(crate) fn snapshot(name: &str, text: &str) {
    insta::with_settings!({
        filters => FILTERS.to_vec(),
        prepend_module_to_snapshot => false,
        omit_expression => true,
        snapshot_path => "snapshots",
    }, {
        insta::assert_snapshot!(name, text);
    });
}
