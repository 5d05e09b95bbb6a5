//! Calls the git program.

use std::ffi::{OsStr, OsString};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use handover_agents::Environment;

use super::GitError;

/// Settings for every call, which override the user's configuration.
const SETTINGS: &[&str] = &[
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.quotePath=false",
    "commit.gpgSign=false",
    "gc.auto=0",
    "maintenance.auto=false",
    // A journal that survives a power failure is worthless if the trees that it names do not.
    "core.fsync=committed,loose-object",
    "core.fsyncMethod=batch",
    "core.filesRefLockTimeout=5000",
    "core.packedRefsTimeout=5000",
    "advice.addEmbeddedRepo=false",
    "protocol.allow=never",
];

/// How much output is read.
const CAP: u64 = 256 << 20;

/// The user's repository.
#[derive(Debug, Clone)]
pub struct Repo {
    /// The root of the user's checkout.
    pub root: PathBuf,
    /// The project's path inside the checkout; empty for the root.
    pub prefix: PathBuf,
    /// The folder that all worktrees share.
    pub(super) common: PathBuf,
    environment: Environment,
}

impl Repo {
    /// Opens the repository of a project. Git sees only `environment`.
    pub fn open(project: &Path, environment: Environment) -> Result<Self, GitError> {
        let mut repo = Self {
            root: project.to_owned(),
            prefix: PathBuf::new(),
            common: PathBuf::new(),
            environment,
        };
        let no_repository = |error| {
            if matches!(error, GitError::Failed { .. }) {
                GitError::NoRepository { root: project.to_owned() }
            } else {
                error
            }
        };
        let answer = repo
            .text(["rev-parse", "--path-format=absolute", "--show-toplevel", "--git-common-dir"])
            .map_err(no_repository)?;
        let mut lines = answer.lines();
        let (root, common) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
        if root.is_empty() {
            return Err(GitError::NoRepository { root: project.to_owned() });
        }
        repo.prefix = project.strip_prefix(root).map(Path::to_owned).unwrap_or_default();
        repo.root = root.into();
        repo.common = fs_err::canonicalize(common)?;
        if repo.try_text(["var", "GIT_COMMITTER_IDENT"])?.is_none() {
            // Commits need an identity, and the user may not have configured one.
            for (name, value) in [
                ("GIT_AUTHOR_NAME", "Handover"),
                ("GIT_AUTHOR_EMAIL", "handover@localhost"),
                ("GIT_COMMITTER_NAME", "Handover"),
                ("GIT_COMMITTER_EMAIL", "handover@localhost"),
            ] {
                repo.environment.set(name, value);
            }
        }
        Ok(repo)
    }

    /// A call in the user's checkout, to be completed.
    pub(super) fn call<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Call {
        let mut command = Command::new("git");
        command.env_clear().envs(self.environment.iter()).current_dir(&self.root);
        command.env("GIT_TERMINAL_PROMPT", "0").env("LC_ALL", "C").env("GIT_EDITOR", "false");
        for setting in SETTINGS {
            command.args(["-c", setting]);
        }
        let args: Vec<OsString> = args.into_iter().map(|arg| arg.as_ref().to_owned()).collect();
        let words: Vec<String> =
            args.iter().take(3).map(|arg| arg.to_string_lossy().into_owned()).collect();
        command.args(args);
        Call { command, words: words.join(" "), input: Vec::new() }
    }

    /// The output of a command, without the final newline.
    pub(super) fn text<A: AsRef<OsStr>>(
        &self,
        args: impl IntoIterator<Item = A>,
    ) -> Result<String, GitError> {
        self.call(args).text()
    }

    /// The output of a command; none if it fails.
    pub(super) fn try_text<A: AsRef<OsStr>>(
        &self,
        args: impl IntoIterator<Item = A>,
    ) -> Result<Option<String>, GitError> {
        match self.text(args) {
            Ok(text) => Ok(Some(text)),
            Err(GitError::Failed { .. }) => Ok(None),
            Err(other) => Err(other),
        }
    }

    /// The user's commit.
    pub fn head(&self) -> Result<String, GitError> {
        self.resolve("HEAD")?.ok_or(GitError::NoCommit)
    }

    /// Whether git tracks a file; relative to the root.
    pub fn is_tracked(&self, path: &Path) -> Result<bool, GitError> {
        let mut call = self.call(["ls-files", "--cached", "-z", "--"]);
        // Taken literally, whatever characters it has.
        call.command.env("GIT_LITERAL_PATHSPECS", "1").arg(path);
        Ok(!call.text()?.is_empty())
    }

    /// The user's branch; none if a commit is checked out.
    pub fn current_branch(&self) -> Result<Option<String>, GitError> {
        self.try_text(["symbolic-ref", "--quiet", "--short", "HEAD"])
    }

    /// The commit that a name refers to, if any.
    pub fn resolve(&self, name: &str) -> Result<Option<String>, GitError> {
        self.try_text([
            "rev-parse",
            "--verify",
            "--quiet",
            "--end-of-options",
            &format!("{name}^{{commit}}"),
        ])
    }

    /// The tree of a commit.
    pub fn tree_of(&self, commit: &str) -> Result<String, GitError> {
        self.text(["rev-parse", "--verify", "--end-of-options", &format!("{commit}^{{tree}}")])
    }

    /// Whether one commit is an ancestor of another, or the same.
    pub fn is_ancestor(&self, one: &str, other: &str) -> Result<bool, GitError> {
        Ok(self.try_text(["merge-base", "--is-ancestor", one, other])?.is_some())
    }

    /// A file of a commit or tree, if it exists. The path is relative to the root of the repository.
    pub fn file_of(&self, tree: &str, path: &Path) -> Result<Option<Vec<u8>>, GitError> {
        let name = format!("{tree}:{}", path.display());
        match self.call(["cat-file", "blob", &name]).bytes() {
            Ok(bytes) => Ok(Some(bytes)),
            Err(GitError::Failed { .. }) => Ok(None),
            Err(other) => Err(other),
        }
    }
}

/// One call.
pub(super) struct Call {
    command: Command,
    words: String,
    input: Vec<u8>,
}

impl Call {
    pub(super) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    pub(super) fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.command.arg(arg);
        self
    }

    pub(super) fn folder(mut self, folder: &Path) -> Self {
        self.command.current_dir(folder);
        self
    }

    pub(super) fn input(mut self, input: impl Into<Vec<u8>>) -> Self {
        self.input = input.into();
        self
    }

    pub(super) fn text(self) -> Result<String, GitError> {
        let bytes = self.bytes()?;
        Ok(String::from_utf8_lossy(&bytes).trim_end_matches(['\n', '\r']).to_owned())
    }

    pub(super) fn bytes(self) -> Result<Vec<u8>, GitError> {
        self.bytes_up_to(CAP)
    }

    /// The output of the command, if its exit code is 0 or one of `codes`.
    pub(super) fn bytes_or(self, fine: i32) -> Result<Vec<u8>, GitError> {
        self.answer(CAP, Some(fine))
    }

    /// The first bytes of the output.
    pub(super) fn bytes_up_to(self, cap: u64) -> Result<Vec<u8>, GitError> {
        self.answer(cap, None)
    }

    fn answer(mut self, cap: u64, fine: Option<i32>) -> Result<Vec<u8>, GitError> {
        let mut child = self
            .command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| {
                let is_missing = error.kind() == std::io::ErrorKind::NotFound;
                if is_missing { GitError::NoGit } else { GitError::Io(error) }
            })?;
        let (stdin, stderr) = (child.stdin.take(), child.stderr.take());
        let input = std::mem::take(&mut self.input);
        let mut out = Vec::new();
        let mut said = Vec::new();
        let mut whole = true;
        std::thread::scope(|scope| {
            scope.spawn(|| {
                use std::io::Write as _;
                // Git may exit before it has read everything.
                let _ = stdin.map(|mut stdin| stdin.write_all(&input));
            });
            scope.spawn(|| {
                let _ = stderr.map(|stderr| stderr.take(64 << 10).read_to_end(&mut said));
            });
            if let Some(stdout) = child.stdout.take() {
                let mut stdout = stdout.take(cap + 1);
                let _ = stdout.read_to_end(&mut out);
                whole = out.len() as u64 <= cap;
                out.truncate(usize::try_from(cap).unwrap_or(usize::MAX));
            }
        });
        let status = child.wait()?;
        // A command whose output was cut off ends with a broken pipe.
        let is_fine = fine.is_some() && status.code() == fine;
        if status.success() || is_fine || !whole {
            return Ok(out);
        }
        let message =
            String::from_utf8_lossy(&said).split_whitespace().collect::<Vec<_>>().join(" ");
        Err(GitError::Failed { command: self.words, message })
    }
}
