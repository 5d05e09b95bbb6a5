//! Calls the git program: with settings of our own and under the same supervision as agents, so that
//! nothing git starts is left running.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use handover_agents::{AgentError, CancelToken, Environment, Invocation, SpawnId, pipe_tool};
use handover_model::Host;

use super::GitError;
use super::own_folder::OwnFolder;
use super::settings::GitSetting;

/// Settings for every call, which override all others.
const SETTINGS: &[&str] = &[
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.quotePath=false",
    "core.sparseCheckout=false",
    "commit.gpgSign=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "merge.default=text",
    // A journal that survives a power failure is worthless if the trees it names do not.
    "core.fsync=committed,loose-object,reference",
    "core.fsyncMethod=batch",
    "core.filesRefLockTimeout=5000",
    "core.packedRefsTimeout=5000",
    "advice.addEmbeddedRepo=false",
    "protocol.allow=never",
    "submodule.recurse=false",
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
    /// The folder of the user's checkout in it: its head and its index.
    folder: PathBuf,
    /// What git sees in place of the common folder.
    own: Arc<OwnFolder>,
    environment: Environment,
    /// The user's sparse-checkout settings.
    pub(super) sparse: Vec<String>,
    /// Variables that only calls to a remote see.
    pub(super) transport: Vec<(OsString, OsString)>,
}

impl Repo {
    /// Opens a project's repository. Git sees only `environment`, and of the configuration only settings
    /// that name no program.
    pub fn open(project: &Path, environment: Environment) -> Result<Self, GitError> {
        let places = ["--show-toplevel", "--absolute-git-dir", "--git-common-dir"];
        let places = ["rev-parse", "--path-format=absolute"].into_iter().chain(places);
        let answer = Call::new(project, &environment, places).text().map_err(|error| {
            if matches!(error, GitError::Failed { .. }) {
                GitError::NoRepository { root: project.to_owned() }
            } else {
                error
            }
        })?;
        let mut lines = answer.lines().map(PathBuf::from);
        let (Some(root), Some(folder), Some(common)) = (lines.next(), lines.next(), lines.next())
        else {
            return Err(GitError::NoRepository { root: project.to_owned() });
        };
        let common = fs_err::canonicalize(common)?;
        let list = ["config", "--list", "--show-scope", "-z"];
        let settings = GitSetting::read_all(&Call::new(&root, &environment, list).bytes()?);
        let _lock = lock_exclusively(&common)?;
        let own = Arc::new(OwnFolder::create(&common, &settings)?);
        let (environment, transport) = split(&environment);
        let prefix = project.strip_prefix(&root).map(Path::to_owned).unwrap_or_default();
        let sparse = settings.iter().filter_map(GitSetting::sparse).collect();
        let mut repo = Self { root, prefix, common, folder, own, environment, sparse, transport };
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

    /// What git sees of the environment.
    pub(super) fn environment(&self) -> &Environment {
        &self.environment
    }

    /// A call in the user's checkout, to be completed.
    pub(super) fn call<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Call {
        let mut call = Call::new(&self.root, &self.environment, args)
            .env("GIT_DIR", &self.folder)
            .env("GIT_WORK_TREE", &self.root)
            .env("GIT_COMMON_DIR", self.own.path())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1");
        call.own = Some(Arc::clone(&self.own));
        call
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
        let call = self.call(["ls-files", "--cached", "-z", "--"]);
        // Taken literally, whatever characters it contains.
        Ok(!call.env("GIT_LITERAL_PATHSPECS", "1").arg(path).text()?.is_empty())
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

/// Keeps other engines from changing the list of worktrees and our own folders: git reads all worktrees for
/// each change, and fails on an incomplete one.
pub(super) fn lock_exclusively(common: &Path) -> Result<fs_err::File, GitError> {
    let file = fs_err::File::create(common.join("handover.lock"))?;
    file.file().lock()?;
    Ok(file)
}

/// Removes git's own variables from an environment, except for the identity. Those for reaching a remote
/// are also returned.
fn split(environment: &Environment) -> (Environment, Vec<(OsString, OsString)>) {
    const IDENTITY: &[&str] = &["GIT_AUTHOR_", "GIT_COMMITTER_"];
    const TRANSPORT: &[&str] = &["GIT_SSH", "GIT_ASKPASS", "GIT_PROXY_", "GIT_SSL_", "GIT_HTTP_"];
    let (mut left, mut transport) = (Environment::default(), Vec::new());
    for (name, value) in environment.iter() {
        let starts = |starts: &[&str]| {
            starts.iter().any(|start| name.as_encoded_bytes().starts_with(start.as_bytes()))
        };
        if !starts(&["GIT_"]) || starts(IDENTITY) {
            left.set(name, value);
        } else if starts(TRANSPORT) {
            transport.push((name.to_owned(), value.to_owned()));
        }
    }
    (left, transport)
}

/// Distinguishes the processes of one call from those of another.
static CALLS: AtomicU64 = AtomicU64::new(0);

/// One call.
pub(super) struct Call {
    folder: PathBuf,
    environment: Environment,
    args: Vec<OsString>,
    /// The command, for messages.
    words: String,
    input: Vec<u8>,
    own: Option<Arc<OwnFolder>>,
}

impl Call {
    pub(super) fn new<A: AsRef<OsStr>>(
        folder: &Path,
        environment: &Environment,
        args: impl IntoIterator<Item = A>,
    ) -> Self {
        let asked: Vec<OsString> = args.into_iter().map(|arg| arg.as_ref().to_owned()).collect();
        let words: Vec<String> =
            asked.iter().take(3).map(|arg| arg.to_string_lossy().into_owned()).collect();
        let settings = SETTINGS.iter().flat_map(|setting| ["-c", setting]).map(OsString::from);
        let mut environment = environment.clone();
        for (name, value) in
            [("GIT_TERMINAL_PROMPT", "0"), ("LC_ALL", "C"), ("GIT_EDITOR", "false")]
        {
            environment.set(name, value);
        }
        Self {
            folder: folder.to_owned(),
            environment,
            args: settings.chain(asked).collect(),
            words: words.join(" "),
            input: Vec::new(),
            own: None,
        }
    }

    pub(super) fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.environment.set(name.as_ref(), value.as_ref());
        self
    }

    pub(super) fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    pub(super) fn folder(mut self, folder: &Path) -> Self {
        folder.clone_into(&mut self.folder);
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

    fn answer(self, cap: u64, fine: Option<i32>) -> Result<Vec<u8>, GitError> {
        if let Some(own) = &self.own {
            own.verify()?;
        }
        let number = CALLS.fetch_add(1, Ordering::Relaxed);
        let spawn = SpawnId::new(format!("git-{}-{number}", std::process::id()));
        let spawn = spawn.map_err(other)?;
        let mut invocation = Invocation::new(Host::COMMAND, spawn, self.folder);
        invocation.program = "git".into();
        invocation.args = self.args;
        invocation.environment = self.environment;
        let piped = pipe_tool(&invocation, &self.input, cap, &CancelToken::default())
            .map_err(not_started)?;
        let code = piped.outcome.exit_code();
        if code == Some(0) || code.is_some() && code == fine || piped.is_cut {
            return Ok(piped.stdout);
        }
        let said = piped.outcome.stderr.text();
        let message = said.split_whitespace().collect::<Vec<_>>().join(" ");
        Err(GitError::Failed { command: self.words, message })
    }
}

fn not_started(error: AgentError) -> GitError {
    if matches!(error, AgentError::ProgramNotFound { .. }) { GitError::NoGit } else { other(error) }
}

fn other(error: AgentError) -> GitError {
    GitError::Io(std::io::Error::other(error))
}
