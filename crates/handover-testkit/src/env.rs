//! A hermetic environment to run the program in.

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::Output;

/// Tests write what they need into their project, and trust it unless they test trust itself.
pub(crate) const TRUSTED: (&str, &str) = ("HANDOVER_TRUST", "1");

/// A temporary folder with a home and a project. Of the machine's environment, only the search path is kept.
pub struct TestEnv {
    folder: tempfile::TempDir,
    program: PathBuf,
    vars: Vec<(String, String)>,
}

impl TestEnv {
    /// An empty environment. `program` is the binary under test.
    pub fn empty(program: impl Into<PathBuf>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs_err::create_dir_all(folder.path().join("home")).unwrap();
        fs_err::create_dir_all(folder.path().join("project")).unwrap();
        Self { folder, program: program.into(), vars: Vec::new() }
    }

    /// A project with an open session `s1`.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        let env = Self::empty(program);
        env.run(["init"]).ok();
        env.run(["session", "new", "s1"]).ok();
        env
    }

    /// Sets an environment variable for all further runs.
    pub fn set(&mut self, name: &str, value: &str) {
        self.vars.push((name.to_owned(), value.to_owned()));
    }

    /// Trusts only checkouts that `handover trust` remembers, like a user's environment.
    pub fn trust_nothing(&mut self) {
        self.set(TRUSTED.0, "");
    }

    /// The temporary folder.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// A path inside the project.
    pub fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join("project").join(path)
    }

    /// Writes a file of the project, creating its folders.
    pub fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, text).unwrap();
    }

    /// The program as a command, without arguments.
    pub fn command(&self) -> Command {
        self.tool(&self.program)
    }

    /// The binary under test.
    pub fn binary(&self) -> &Path {
        &self.program
    }

    /// Another program in the same environment, such as a shell that runs [`binary`](Self::binary).
    pub fn tool(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.folder.path().join("home"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env(TRUSTED.0, TRUSTED.1)
            .envs(self.vars.iter().map(|(name, value)| (name, value)))
            .current_dir(self.path(""))
            .stdin(Stdio::null());
        command
    }

    /// Runs the program in the project.
    #[must_use = "look at the output or at least at the exit code"]
    pub fn run<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Output {
        self.finish(self.command().args(args))
    }

    /// Runs the program in a folder inside the project.
    #[must_use = "look at the output or at least at the exit code"]
    pub fn run_in<A: AsRef<OsStr>>(
        &self,
        folder: impl AsRef<Path>,
        args: impl IntoIterator<Item = A>,
    ) -> Output {
        let folder = self.path("").join(folder);
        self.finish(self.command().args(args).current_dir(folder))
    }

    /// Runs the program with a text on standard input.
    #[must_use = "look at the output or at least at the exit code"]
    pub fn run_with<A: AsRef<OsStr>>(
        &self,
        stdin: impl AsRef<[u8]>,
        args: impl IntoIterator<Item = A>,
    ) -> Output {
        let mut child = self.spawn(self.command().args(args).stdin(Stdio::piped()));
        // A program that rejects its arguments does not read: ignore the broken pipe.
        let _ = child.stdin.take().unwrap().write_all(stdin.as_ref());
        self.output(child)
    }

    /// Starts the program without waiting for it.
    pub fn start<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Child {
        self.spawn(self.command().args(args))
    }

    /// Waits for a program started with `start`.
    #[must_use = "look at the output or at least at the exit code"]
    pub fn output(&self, child: Child) -> Output {
        Output::new(child.wait_with_output().unwrap(), self.folder.path())
    }

    /// Runs the program many times concurrently; `args` maps each index to its arguments.
    #[must_use = "look at the output or at least at the exit code"]
    pub fn at_once(&self, count: usize, args: impl Fn(usize) -> Vec<String>) -> Vec<Output> {
        let children: Vec<Child> = (0..count).map(|n| self.start(args(n))).collect();
        children.into_iter().map(|child| self.output(child)).collect()
    }

    /// Runs git in a folder of the project, with a neutral identity.
    pub fn git(&self, folder: impl AsRef<Path>, args: &[&str]) {
        let output = self
            .tool("git")
            .args([
                "-c",
                "user.name=t",
                "-c",
                "user.email=t@example.com",
                "-c",
                "init.defaultBranch=main",
            ])
            .args(args)
            .current_dir(self.path("").join(folder))
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "git {args:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }

    fn spawn(&self, command: &mut Command) -> Child {
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    fn finish(&self, command: &mut Command) -> Output {
        let child = self.spawn(command);
        self.output(child)
    }
}
