//! `handover demo-agent --shop`: the scripted developer of `handover demo`. It works with real files and runs
//! the real tests, and all it knows is its prompt.

use std::io::{Read as _, Write as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::shop::{FINDINGS, FOUND_IN, LESSON, LOG};
use crate::app::App;
use crate::error::{CommandError, io};

/// Ways to add tax, in shell.
const ON_THE_SUM: &str =
    "for price; do sum=$((sum + price)); done\necho $((sum + (sum * 19 + 50) / 100))\n";
const ROUNDED_DOWN: &str =
    "for price; do sum=$((sum + price)); done\necho $((sum + sum * 19 / 100))\n";
const ON_EACH_LINE: &str =
    "for price; do total=$((total + price + (price * 19 + 50) / 100)); done\necho $total\n";

/// How often an agent looks whether it should hurry.
const BLINK: Duration = Duration::from_millis(50);

/// An agent at work.
struct Coder<'a> {
    app: &'a App,
    pace: Duration,
    /// The file that says that nobody wants to wait.
    hurry: Option<PathBuf>,
    /// `cart` or `invoice`.
    what: &'static str,
    steps: u32,
    failed: u32,
}

/// Works on the task of the prompt.
pub(super) fn run(app: &App, pace: Duration, hurry: Option<PathBuf>) -> Result<(), CommandError> {
    let mut prompt = String::new();
    std::io::stdin()
        .lock()
        .take(1 << 20)
        .read_to_string(&mut prompt)
        .map_err(|error| io(&error))?;
    let what = if prompt.contains("src/invoice.sh") { "invoice" } else { "cart" };
    let mut coder = Coder { app, pace, hurry, what, steps: 0, failed: 0 };
    let knew = prompt.contains(LESSON);
    if knew {
        coder.work_with_the_lesson()?;
    } else {
        coder.work_without()?;
    }
    coder.log()?;
    // It reports what it is asked for: only a brief asks for more than the work, and has a receipt.
    let receipt = prompt
        .split_once("<!-- handover:receipt ")
        .and_then(|(_, rest)| rest.split_once(" -->"))
        .map(|(receipt, _)| receipt);
    match receipt {
        Some(receipt) => coder.report(receipt, knew),
        None => app.ui.line(format_args!("Done: src/{what}.sh prints the total.")),
    }
}

impl Coder<'_> {
    fn work_with_the_lesson(&mut self) -> Result<(), CommandError> {
        self.step("reading the task; my brief says how accounting rounds tax")?;
        let findings = fs_err::read_to_string(FOUND_IN).map_err(|error| io(&error))?;
        let rule = findings.lines().find(|line| line.contains(LESSON)).unwrap_or_default();
        self.step(&format!("reading {FOUND_IN}: {rule}"))?;
        self.write("tax on each line", ON_EACH_LINE)?;
        self.test()
    }

    fn work_without(&mut self) -> Result<(), CommandError> {
        self.step("reading the task")?;
        self.write("tax on the sum", ON_THE_SUM)?;
        self.test()?;
        self.step("a cent is missing; rounding the other way")?;
        self.write("tax on the sum, rounded down", ROUNDED_DOWN)?;
        self.test()?;
        self.step("reading tests/totals.sh: it does not say why")?;
        self.step("reading accounting/2026-10.csv: 29 + 29 + 29, so each line is rounded")?;
        self.write("tax on each line", ON_EACH_LINE)?;
        self.test()
    }

    fn step(&mut self, what: &str) -> Result<(), CommandError> {
        self.steps += 1;
        self.pause();
        self.app.ui.line(format_args!("  {:>2}  {what}", self.steps))
    }

    /// Pauses between two steps, as long as somebody wants to watch.
    fn pause(&self) {
        let end = Instant::now() + self.pace;
        while Instant::now() < end && !self.hurry.as_ref().is_some_and(|file| file.exists()) {
            std::thread::sleep(BLINK);
        }
    }

    fn write(&mut self, how: &str, text: &str) -> Result<(), CommandError> {
        fs_err::create_dir_all("src").map_err(|error| io(&error))?;
        fs_err::write(format!("src/{}.sh", self.what), text).map_err(|error| io(&error))?;
        self.step(&format!("writing src/{}.sh: {how}", self.what))
    }

    /// Runs the project's tests.
    fn test(&mut self) -> Result<(), CommandError> {
        let tests = Command::new("sh")
            .args(["tests/totals.sh", self.what])
            .stdin(Stdio::null())
            .output()
            .map_err(|error| io(&error))?;
        if !tests.status.success() {
            self.failed += 1;
        }
        let said = String::from_utf8_lossy(&tests.stdout);
        self.step(&format!("sh tests/totals.sh {} → {}", self.what, said.trim()))
    }

    fn log(&self) -> Result<(), CommandError> {
        let mut log = fs_err::OpenOptions::new()
            .create(true)
            .append(true)
            .open(LOG)
            .map_err(|error| io(&error))?;
        writeln!(log, "{} {} {}", self.what, self.steps, self.failed).map_err(|error| io(&error))
    }

    fn report(&self, receipt: &str, knew: bool) -> Result<(), CommandError> {
        let what = self.what;
        let learned = if knew {
            String::new()
        } else {
            fs_err::create_dir_all("docs").map_err(|error| io(&error))?;
            fs_err::write(FOUND_IN, FINDINGS).map_err(|error| io(&error))?;
            format!(
                "packages:\n  - {{path: {FOUND_IN}, kind: research, priority: high, summary: \"Accounting rounds tax {LESSON}, half up, and then adds. Tax on the sum is a cent off.\", consumers: [developer, qa_expert]}}\n\
                 errors:\n  - {{message: \"{what}: accounting expects 537, got 536\", solution: \"round the tax {LESSON}, then add\"}}\n"
            )
        };
        self.app.ui.line(format_args!(
            "```handover\nreceipt: {receipt}\nverdict: complete\nsummary: \"src/{what}.sh prints the total; tax is rounded {LESSON}.\"\n\
             reasoning:\n  decisions: \"tax is rounded {LESSON}, because accounting books it that way\"\n{learned}```"
        ))
    }
}
