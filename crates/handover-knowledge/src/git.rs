//! Reads a repository through the git program, without a shell and without running anything that its
//! configuration names: any agent, and the author of the checkout, can write that.

use std::ffi::{OsStr, OsString};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Settings for every call, which override all others. Only reading commands are called, so what counts is what
/// those could start, wait for, or be made to print differently by.
const SETTINGS: &[&str] = &[
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.untrackedCache=false",
    "core.quotePath=false",
    "core.attributesFile=/dev/null",
    "core.excludesFile=/dev/null",
    "core.pager=cat",
    "diff.external=",
    "diff.orderFile=/dev/null",
    "diff.ignoreSubmodules=none",
    "gc.auto=0",
    "log.follow=false",
    "log.mailmap=false",
    "log.showSignature=false",
    "log.showRoot=true",
    "maintenance.auto=false",
    "protocol.allow=never",
    "submodule.recurse=false",
];

/// The longest record that is kept; the rest of it is dropped.
const MAX_RECORD: usize = 1 << 20;

/// How much of git's own words is kept.
const MAX_MESSAGE: u64 = 4096;

/// How often a call looks whether it should stop.
const POLL: Duration = Duration::from_millis(20);

/// A repository, seen from the root of a project in it.
#[derive(Debug, Clone)]
pub struct Git {
    root: PathBuf,
    environment: Vec<(OsString, OsString)>,
    /// The root of the project below the root of the checkout, with a slash at the end; empty for the same folder.
    prefix: String,
}

/// Why git cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// The program is missing or cannot be started.
    #[error("cannot start git")]
    Start(#[source] std::io::Error),
    /// It failed.
    #[error("git {command} failed: {message}")]
    Failed {
        /// The command.
        command: String,
        /// What git said.
        message: String,
    },
    /// The caller asked to stop.
    #[error("stopped")]
    Stopped,
}

impl Git {
    /// The repository of a project; none if it is in none. `environment` is what git sees, without its own
    /// variables.
    pub fn open(
        root: &Path,
        environment: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Result<Option<Self>, GitError> {
        let own = |name: &OsStr| name.as_encoded_bytes().starts_with(b"GIT_");
        let environment = environment.into_iter().filter(|(name, _)| !own(name)).collect();
        let mut git = Self { root: root.to_owned(), environment, prefix: String::new() };
        match git.text(&["rev-parse", "--show-prefix"]) {
            Ok(prefix) => git.prefix = prefix,
            Err(GitError::Failed { .. }) => return Ok(None),
            Err(error) => return Err(error),
        }
        Ok(Some(git))
    }

    /// Where the project is below the root of the checkout, with a slash at the end; empty for the root itself.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// The output of a command, without the end of its last line.
    pub fn text(&self, args: &[&str]) -> Result<String, GitError> {
        let mut text = String::new();
        self.records(args, &[], b'\n', &|| false, &mut |line| {
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(&String::from_utf8_lossy(line));
            true
        })?;
        Ok(text)
    }

    /// The commit that is checked out; none in a repository without commits.
    pub fn head(&self) -> Result<Option<String>, GitError> {
        match self.text(&["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]) {
            Ok(id) => Ok(Some(id)),
            Err(GitError::Failed { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Calls `each` with every record of a command's output, until it returns false. Records end with `end`, which
    /// is not part of them.
    pub fn records(
        &self,
        args: &[&str],
        input: &[u8],
        end: u8,
        stop: &(dyn Fn() -> bool + Sync),
        each: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<(), GitError> {
        self.output(args, input, stop, &mut |out| {
            let mut record = Vec::new();
            loop {
                record.clear();
                let read = (&mut *out).take(MAX_RECORD as u64).read_until(end, &mut record);
                if read.map_err(GitError::Start)? == 0 {
                    return Ok(());
                }
                if record.last() == Some(&end) {
                    record.pop();
                } else if record.len() >= MAX_RECORD {
                    out.skip_until(end).map_err(GitError::Start)?;
                }
                if !each(&record) {
                    return Err(GitError::Stopped);
                }
            }
        })
    }

    /// Calls `each` with the number and the content of every blob, in order. One that is missing or larger than
    /// `max` has none.
    pub fn blobs(
        &self,
        ids: &[&str],
        max: u64,
        stop: &(dyn Fn() -> bool + Sync),
        each: &mut dyn FnMut(usize, Option<&[u8]>),
    ) -> Result<(), GitError> {
        let input = ids.join("\n") + "\n";
        if ids.is_empty() {
            return Ok(());
        }
        self.output(&["cat-file", "--batch"], input.as_bytes(), stop, &mut |out| {
            let (mut header, mut blob) = (String::new(), Vec::new());
            for at in 0..ids.len() {
                header.clear();
                out.read_line(&mut header).map_err(GitError::Start)?;
                let mut words = header.split_whitespace().skip(1);
                let (kind, size) = (words.next(), words.next().and_then(|size| size.parse().ok()));
                let Some(size) = size.filter(|_: &u64| kind != Some("missing")) else {
                    each(at, None);
                    continue;
                };
                blob.clear();
                let kept = size.min(max.saturating_add(1));
                (&mut *out).take(kept).read_to_end(&mut blob).map_err(GitError::Start)?;
                // The rest, and the end of the line.
                let mut rest = (&mut *out).take(size - kept + 1);
                std::io::copy(&mut rest, &mut std::io::sink()).map_err(GitError::Start)?;
                let whole = kind == Some("blob") && size <= max && blob.len() as u64 == size;
                each(at, whole.then_some(blob.as_slice()));
            }
            Ok(())
        })
    }

    /// Runs a command, while `read` reads its output. It is killed when `read` fails or the caller stops it.
    pub fn output(
        &self,
        args: &[&str],
        input: &[u8],
        stop: &(dyn Fn() -> bool + Sync),
        read: &mut dyn FnMut(&mut dyn GitOutput) -> Result<(), GitError>,
    ) -> Result<(), GitError> {
        let mut child = self.command(args).spawn().map_err(GitError::Start)?;
        let (stdin, stdout, stderr) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let watched = scope.spawn(|| watch(&mut child, &done, stop));
            scope.spawn(move || {
                // Git may end before it has read everything, for reasons that its exit code tells.
                let _ = stdin.map(|mut stdin| stdin.write_all(input));
            });
            let said = scope.spawn(move || {
                let mut said = String::new();
                if let Some(mut stderr) = stderr {
                    let _ = stderr.by_ref().take(MAX_MESSAGE).read_to_string(&mut said);
                    let _ = std::io::copy(&mut stderr, &mut std::io::sink());
                }
                said
            });
            let result = match stdout {
                Some(stdout) => read(&mut BufReader::with_capacity(1 << 16, stdout)),
                None => Ok(()),
            };
            done.store(result.is_err(), Ordering::Release);
            let ended = watched.join().unwrap_or(Ended::Failed);
            let said = said.join().unwrap_or_default();
            match (result, ended) {
                (_, Ended::Stopped) => Err(GitError::Stopped),
                (Err(error), _) => Err(error),
                (Ok(()), Ended::Well) => Ok(()),
                (Ok(()), Ended::Failed) => Err(GitError::Failed {
                    command: args.first().copied().unwrap_or_default().to_owned(),
                    message: said.split_whitespace().collect::<Vec<_>>().join(" "),
                }),
            }
        })
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new("git");
        command
            .env_clear()
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .env("LC_ALL", "C")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_NO_LAZY_FETCH", "1")
            .env("GIT_NO_REPLACE_OBJECTS", "1")
            .env("GIT_LITERAL_PATHSPECS", "1")
            .current_dir(&self.root)
            .arg("--no-pager")
            .args(SETTINGS.iter().flat_map(|setting| ["-c", setting]))
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }
}

/// What a command prints.
pub trait GitOutput: std::io::BufRead {}

impl<R: std::io::BufRead> GitOutput for R {}

enum Ended {
    Well,
    Failed,
    Stopped,
}

/// Waits for the end of the process, or ends it.
fn watch(child: &mut Child, done: &AtomicBool, stop: &(dyn Fn() -> bool + Sync)) -> Ended {
    let mut pause = Duration::from_micros(200);
    loop {
        let stopped = stop();
        match child.try_wait() {
            Ok(Some(_)) if stopped => return Ended::Stopped,
            Ok(Some(status)) if status.success() => return Ended::Well,
            Ok(Some(_)) | Err(_) => return Ended::Failed,
            Ok(None) => {}
        }
        if stopped || done.load(Ordering::Acquire) {
            let _ = child.kill();
            let _ = child.wait();
            return if stopped { Ended::Stopped } else { Ended::Failed };
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(POLL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Repository;

    #[test]
    fn a_folder_without_a_repository_has_none() {
        let folder = tempfile::tempdir().unwrap();
        assert!(Git::open(folder.path(), Repository::environment()).unwrap().is_none());
        let repository = Repository::new();
        let git = Git::open(repository.root(), Repository::environment()).unwrap().unwrap();
        assert_eq!(git.head().unwrap(), None);
        assert_eq!(git.prefix(), "");
    }

    #[test]
    fn blobs_are_read_in_one_go() {
        let repository = Repository::new();
        repository.write("a.md", "one\n");
        repository.commit("b.md", "no end", "A subject");
        let git = repository.open();
        let id = |path: &str| git.text(&["rev-parse", &format!("HEAD:{path}")]).unwrap();
        let (a, b, none) = (id("a.md"), id("b.md"), "0".repeat(40));
        let mut seen = Vec::new();
        git.blobs(&[&a, &none, &b, &a], 5, &|| false, &mut |at, blob| {
            seen.push((at, blob.map(<[u8]>::to_vec)));
        })
        .unwrap();
        let one = Some(b"one\n".to_vec());
        assert_eq!(seen, [(0, one.clone()), (1, None), (2, None), (3, one)]);
    }

    #[test]
    fn what_the_configuration_names_does_not_run() {
        let repository = Repository::new();
        repository.commit("a.md", "text", "A subject");
        let mark = repository.root().join("mark");
        let trap = format!("touch {}", mark.display());
        for key in
            ["core.fsmonitor", "diff.external", "core.pager", "gpg.program", "core.sshCommand"]
        {
            repository.git(&["config", key, &trap]);
        }
        repository.git(&["config", "log.showSignature", "true"]);
        repository.git(&["config", "diff.orderFile", "/dev/zero"]);
        let git = Git::open(repository.root(), Repository::environment()).unwrap().unwrap();
        git.text(&["ls-files", "-s"]).unwrap();
        git.text(&["log", "--name-status"]).unwrap();
        assert!(!mark.exists());
    }

    #[test]
    fn stops_when_asked_and_says_what_failed() {
        let repository = Repository::new();
        repository.commit("a.md", "text", "A subject");
        let git = Git::open(repository.root(), Repository::environment()).unwrap().unwrap();
        let error = git.text(&["log", "no-such-branch"]).unwrap_err();
        assert!(error.to_string().starts_with("git log failed: fatal"), "{error}");
        let forever = ["cat-file", "--batch"];
        let stopped = git.output(&forever, b"HEAD\n", &|| true, &mut |out| {
            out.skip_until(0).map(drop).map_err(GitError::Start)
        });
        assert!(matches!(stopped, Err(GitError::Stopped)));
        let mut seen = 0;
        let stopped = git.records(&["log"], &[], b'\n', &|| false, &mut |_| {
            seen += 1;
            false
        });
        assert!(matches!(stopped, Err(GitError::Stopped)));
        assert_eq!(seen, 1);
    }
}
