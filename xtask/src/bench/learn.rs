//! `handover learn` from end to end: a history, documents and conversations that are written for it.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::Builds;
use super::project::Words;

/// What to measure.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Commits in the history
    #[arg(long, default_value = "10000")]
    commits: usize,

    /// Documents in the tree
    #[arg(long, default_value = "500")]
    documents: usize,

    /// Conversations with an agent
    #[arg(long, default_value = "1000")]
    conversations: usize,

    /// Megabytes of all conversations together
    #[arg(long, default_value = "200")]
    megabytes: usize,

    #[command(flatten)]
    builds: Builds,
}

/// Learns everything, then again, then after a commit; prints time, peak memory and how much was found.
pub fn run(args: &Args) -> Result<()> {
    let program = args.builds.this()?;
    let folder = tempfile::tempdir()?;
    let scene = Scene::new(program, &fs_err::canonicalize(folder.path())?)?;
    let mut words = Words::new();
    scene.write_history(args, &mut words)?;
    scene.write_conversations(args, &mut words)?;
    scene.command(&["init", "--quiet"])?;
    println!("| what | seconds | peak (MB) | notes |\n|---|---|---|---|");
    scene.learn("everything, for the first time")?;
    scene.learn("again, nothing new")?;
    scene.git(&[
        "commit",
        "--quiet",
        "--allow-empty",
        "--message",
        "Rotate tokens on every use of them",
    ])?;
    scene.learn("one commit later")?;
    Ok(())
}

/// A repository, and a home folder with conversations about it.
struct Scene {
    program: PathBuf,
    home: PathBuf,
    root: PathBuf,
}

impl Scene {
    fn new(program: PathBuf, folder: &Path) -> Result<Self> {
        let (home, root) = (folder.join("home"), folder.join("project"));
        fs_err::create_dir_all(&home)?;
        fs_err::create_dir_all(&root)?;
        let scene = Self { program, home, root };
        scene.git(&["init", "--quiet", "--initial-branch", "main"])?;
        Ok(scene)
    }

    fn git(&self, args: &[&str]) -> Result<()> {
        let status = Command::new("git")
            .current_dir(&self.root)
            .args(["-c", "user.name=Robin", "-c", "user.email=robin@example.org"])
            .args(args)
            .status()?;
        ensure!(status.success(), "git {} failed", args[0]);
        Ok(())
    }

    /// All commits through one pipe: one process for each would take minutes.
    fn write_history(&self, args: &Args, words: &mut Words) -> Result<()> {
        let mut import = Command::new("git")
            .current_dir(&self.root)
            .args(["fast-import", "--quiet", "--force"])
            .stdin(Stdio::piped())
            .spawn()?;
        let mut input = std::io::BufWriter::new(import.stdin.take().context("no pipe to git")?);
        for n in 0..args.commits {
            let message = format!("Change {}\n\n{}\n", words.text(6), words.text(50));
            writeln!(input, "commit refs/heads/main")?;
            writeln!(
                input,
                "committer Robin <robin@example.org> {} +0000",
                1_600_000_000 + n * 600
            )?;
            writeln!(input, "data {}\n{message}", message.len())?;
            let code = format!("fn f{n}() {{}} // {}\n", words.text(20));
            writeln!(
                input,
                "M 100644 inline src/m{}/f{}.rs\ndata {}",
                n % 40,
                n % 1_500,
                code.len()
            )?;
            writeln!(input, "{code}")?;
            if n + 1 == args.commits {
                for document in 0..args.documents {
                    let text = Self::document(document, words)?;
                    writeln!(input, "M 100644 inline docs/d{document}.md\ndata {}", text.len())?;
                    writeln!(input, "{text}")?;
                }
            }
        }
        drop(input);
        ensure!(import.wait()?.success(), "git fast-import failed");
        self.git(&["reset", "--quiet", "--hard", "main"])
    }

    fn document(number: usize, words: &mut Words) -> Result<String> {
        let mut text = format!("# Document {number}\n");
        for section in 0..8 {
            write!(text, "\n## Section {section} {}\n", words.text(4))?;
            for _ in 0..3 {
                write!(text, "\n{}.\n", words.text(70))?;
            }
        }
        Ok(text)
    }

    /// Conversations of Claude Code: requests, answers, and tool output, which is most of the bytes.
    fn write_conversations(&self, args: &Args, words: &mut Words) -> Result<()> {
        let slug: String = self
            .root
            .to_string_lossy()
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
            .collect();
        let folder = self.home.join(".claude/projects").join(slug);
        fs_err::create_dir_all(&folder)?;
        let each = args.megabytes * 1_000_000 / args.conversations.max(1);
        for n in 0..args.conversations {
            let session = format!("{n:08x}-0000-4000-8000-000000000000");
            let mut text = String::with_capacity(each + 4_000);
            let mut number = 0;
            while text.len() < each {
                let request = format!(
                    "We decided to use {} instead of {}, because {}.",
                    words.text(2),
                    words.text(2),
                    words.text(20)
                );
                let answer = format!(
                    "I concluded that {}. The cause was {}.",
                    words.text(30),
                    words.text(15)
                );
                let tool = format!("toolu_{n}_{number}");
                let dump = words.text(900);
                let messages = [
                    ("user", json!({"role": "user", "content": request})),
                    (
                        "assistant",
                        json!({"role": "assistant", "content": [
                        {"type": "tool_use", "id": tool, "name": "Read", "input": {"file_path": "src/m1/f1.rs"}}]}),
                    ),
                    (
                        "user",
                        json!({"role": "user", "content": [
                        {"type": "tool_result", "tool_use_id": tool, "content": dump}]}),
                    ),
                    (
                        "assistant",
                        json!({"role": "assistant", "content": [{"type": "text", "text": answer}]}),
                    ),
                ];
                for (kind, message) in messages {
                    self.line(&mut text, &session, number, kind, message)?;
                    number += 1;
                }
            }
            fs_err::write(folder.join(format!("{session}.jsonl")), text)?;
        }
        Ok(())
    }

    fn line(
        &self,
        text: &mut String,
        session: &str,
        number: usize,
        kind: &str,
        message: Value,
    ) -> Result<()> {
        let line = json!({
            "parentUuid": null, "isSidechain": false, "userType": "external", "cwd": self.root,
            "sessionId": session, "version": "2.1.197", "gitBranch": "main", "type": kind,
            "message": message, "uuid": format!("{number:08x}-{session}"),
            "timestamp": format!("2026-03-{:02}T{:02}:{:02}:00.000Z", 1 + number / 1_440 % 28, number / 60 % 24, number % 60),
        });
        Ok(writeln!(text, "{line}")?)
    }

    fn command(&self, args: &[&str]) -> Result<()> {
        self.in_home(Command::new(&self.program).args(args))
    }

    fn in_home(&self, command: &mut Command) -> Result<()> {
        let status = command
            .current_dir(&self.root)
            .env("HOME", &self.home)
            .env("XDG_CONFIG_HOME", self.home.join(".config"))
            .env_remove("CLAUDE_CONFIG_DIR")
            .status()?;
        ensure!(status.success(), "{command:?} failed");
        Ok(())
    }

    /// Prints a row. Python can report the peak memory of a single child process.
    fn learn(&self, what: &str) -> Result<()> {
        const ASK: &str = "import resource, subprocess, sys; \
            open(sys.argv[1], 'wb').write(subprocess.run(sys.argv[3:], stdout=subprocess.PIPE, check=True).stdout); \
            open(sys.argv[2], 'w').write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))";
        let (answer, peak) = (self.home.join("answer"), self.home.join("peak"));
        let start = Instant::now();
        self.in_home(
            Command::new("python3")
                .args(["-c", ASK])
                .args([&answer, &peak, &self.program])
                .args(["learn", "--json"]),
        )?;
        let seconds = start.elapsed().as_secs_f64();
        let answer: Value = serde_json::from_slice(&fs_err::read(&answer)?)?;
        let kilobytes: f64 = fs_err::read_to_string(&peak)?.parse()?;
        let tallies = answer["learned"].as_array().context("no tallies")?;
        let notes: u64 = tallies.iter().filter_map(|tally| tally["notes"].as_u64()).sum();
        println!("| {what} | {seconds:.2} | {:.0} | {notes} |", kilobytes / 1_024.0);
        for tally in tallies {
            let count = |key: &str| tally[key].as_u64().unwrap_or_default();
            let (source, found) = (tally["source"].as_str().unwrap_or_default(), count("found"));
            eprintln!(
                "{source}: {found} found, {} new, {} skipped",
                count("new"),
                count("skipped")
            );
        }
        Ok(())
    }
}
