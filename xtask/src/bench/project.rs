//! A project to measure on, created and filled by the build under measurement.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use handover_store::Store;
use serde_json::json;

use super::time;
use crate::scratch_store::ScratchStore;

/// The embedded store, below the project.
const STORE: &str = ".handover/store.db";

/// A folder with a store, and the build that works on it.
pub struct Project {
    pub root: PathBuf,
    pub handover: PathBuf,
    scratch: ScratchStore,
}

impl Project {
    pub fn new(handover: &Path, root: PathBuf) -> Result<Self> {
        Self::with_store(handover, root, None)
    }

    /// A project whose records are in the database at `url`, if there is one.
    pub fn with_store(handover: &Path, root: PathBuf, url: Option<&str>) -> Result<Self> {
        fs_err::create_dir_all(&root)?;
        let scratch = ScratchStore::new(&root.join(STORE), url)?;
        let project = Self { root, handover: handover.to_owned(), scratch };
        project.handover(&["init", "--quiet"])?;
        Ok(project)
    }

    /// A project with a session `bench` of this many packages.
    pub fn filled(handover: &Path, root: PathBuf, packages: usize) -> Result<Self> {
        let project = Self::new(handover, root)?;
        project.fill("bench", packages)?;
        Ok(project)
    }

    /// Commits what is there and learns it, so that an assembly has notes and places to choose from. A build that
    /// cannot learn is left as it is.
    pub fn learn(&self) -> Result<()> {
        for args in [
            &["init", "--quiet"][..],
            &["add", "docs"],
            &[
                "-c",
                "user.name=bench",
                "-c",
                "user.email=bench@localhost",
                "commit",
                "--quiet",
                "-m",
                "docs",
            ],
        ] {
            let done = Command::new("git").args(args).current_dir(&self.root).status()?;
            anyhow::ensure!(done.success(), "git {} failed", args[0]);
        }
        let learned = self.command().args(["learn", "--quiet"]).output()?;
        if !learned.status.success() {
            eprintln!("{} cannot learn", self.handover.display());
        }
        Ok(())
    }

    /// The file of the embedded store.
    pub fn store_file(&self) -> PathBuf {
        self.root.join(STORE)
    }

    /// The store, opened by this checkout's own code; another build may have created an incompatible one.
    pub fn store(&self) -> Result<Box<dyn Store>> {
        self.scratch.open()
    }

    /// How long a command takes as a new process.
    pub fn handover(&self, args: &[&str]) -> Result<Duration> {
        time(self.command().args(args))
    }

    /// The program, in the project's folder and on its store.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.handover);
        self.scratch.configure(command.current_dir(&self.root));
        command
    }

    pub fn sqlite3(&self, sql: &str) -> Result<Duration> {
        let path = self.root.join(STORE);
        time(Command::new("sqlite3").arg(path).arg(sql)).context("is the sqlite3 shell installed?")
    }

    /// Opens a session and imports this many packages into it, through the command line, an interface that
    /// every build has.
    pub fn fill(&self, session: &str, count: usize) -> Result<()> {
        self.handover(&["session", "new", session, "--quiet"])?;
        let docs = self.root.join(format!("docs/{session}"));
        fs_err::create_dir_all(&docs)?;
        let mut words = Words::new();
        let mut lines = String::new();
        for n in 0..count {
            let (body, title, summary) = (words.text(60), words.text(5), words.text(20));
            fs_err::write(docs.join(format!("{n}.md")), format!("# {title}\n\n{body}\n"))?;
            let line = json!({
                "kind": "research", "producer": "developer", "priority": "medium",
                "consumers": ["developer", "qa_expert"], "scope": "global",
                "path": format!("docs/{session}/{n}.md"), "summary": summary,
                "created_at": format!("2023-11-14T22:{:02}:{:02}Z", n / 60 % 60, n % 60),
            });
            writeln!(lines, "{line}")?;
        }
        let file = self.root.join(format!("{session}.jsonl"));
        fs_err::write(&file, lines)?;
        self.handover(&["package", "import", "--quiet", "--session", session, path(&file)?])?;
        Ok(())
    }
}

pub fn path(path: &Path) -> Result<&str> {
    path.to_str().with_context(|| format!("{} is not UTF-8", path.display()))
}

/// Text with few frequent and many rare words, like natural text; the same in every run.
pub struct Words {
    seed: u64,
}

impl Words {
    const FREQUENT: [&'static str; 8] =
        ["token", "login", "timeout", "cache", "session", "refresh", "rotation", "database"];

    pub fn new() -> Self {
        Self { seed: 0x9E37_79B9_7F4A_7C15 }
    }

    pub fn text(&mut self, count: usize) -> String {
        let words: Vec<String> = (0..count).map(|_| self.word()).collect();
        words.join(" ")
    }

    fn word(&mut self) -> String {
        self.seed ^= self.seed << 13;
        self.seed ^= self.seed >> 7;
        self.seed ^= self.seed << 17;
        let share = (self.seed % 1_000_000) as f64 / 1e6;
        let rank = 20_000_f64.powf(share) as usize;
        match Self::FREQUENT.get(rank / 12) {
            Some(word) if rank.is_multiple_of(12) => (*word).to_owned(),
            _ => format!("word{rank}"),
        }
    }
}
