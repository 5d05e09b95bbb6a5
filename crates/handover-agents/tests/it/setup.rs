//! A folder with an agent in it, and checks for what it left behind.

use std::path::{Path, PathBuf};
use std::time::Duration;

use handover_agents::{
    AgentEvent, CancelToken, Environment, Identity, Invocation, Outcome, SpawnId, run,
};
use handover_model::{AdmittedPrompt, Host, ReceiptId};
use handover_testkit::{FakeAgent, processes_with};

/// One run in its own folder.
pub(crate) struct Agent {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) invocation: Invocation,
    pub(crate) cancel: CancelToken,
    pub(crate) events: Vec<AgentEvent>,
}

impl Agent {
    /// The program with the faults.
    pub(crate) fn fake(actions: &str) -> Self {
        let mut agent = Self::new(Host::COMMAND);
        agent.invocation.program = FakeAgent::program();
        agent.act(actions);
        agent
    }

    /// An agent with a time limit of half a minute and an environment with nothing but the search path.
    pub(crate) fn new(host: Host) -> Self {
        let folder = tempfile::tempdir().unwrap();
        // Unique, because the folder's name is.
        let name = folder.path().file_name().unwrap().to_str().unwrap().trim_start_matches('.');
        let spawn = SpawnId::new(format!("test-{name}")).unwrap();
        let mut invocation = Invocation::new(host, spawn, folder.path());
        invocation.environment = Environment::scrubbed(std::env::vars_os(), Host::COMMAND, &[]);
        invocation.prompt = Some(prompt("the prompt"));
        invocation.limits.wall = Some(Duration::from_secs(30));
        invocation.limits.grace = Duration::from_millis(200);
        Self { folder, invocation, cancel: CancelToken::default(), events: Vec::new() }
    }

    /// What the program should do; `@` stands for the folder.
    pub(crate) fn act(&mut self, actions: &str) {
        let (_, args) = handover_agents::split_command(&format!("program {actions}")).unwrap();
        let folder = format!("{}/", self.folder.path().display());
        let args = args.into_iter().map(|arg| arg.to_str().unwrap().replace('@', &folder).into());
        self.invocation.args = args.collect();
    }

    /// Runs it, and fails if any process is left.
    #[track_caller]
    pub(crate) fn run(&mut self) -> Outcome {
        let events = &mut self.events;
        let outcome =
            run(&self.invocation, None, &mut |event| events.push(event), &self.cancel).unwrap();
        assert_eq!(outcome.left_behind, 0);
        self.nothing_left();
        outcome
    }

    #[track_caller]
    pub(crate) fn nothing_left(&self) {
        let mark = self.invocation.spawn.as_str();
        assert_eq!(processes_with(SpawnId::VARIABLE, mark), Vec::<u32>::new());
    }

    /// The process that was started.
    pub(crate) fn identity(&self) -> Identity {
        let Some(AgentEvent::Spawned(identity)) = self.events.first() else {
            panic!("the first event is {:?}", self.events.first());
        };
        identity.clone()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs_err::read_to_string(self.path(name)).unwrap()
    }

    /// Fails if the process whose PID is in the file still exists, even as a zombie.
    #[track_caller]
    pub(crate) fn gone(&self, pid_file: &str) {
        let pid = self.read(pid_file);
        // What is not adopted is reaped by the system, in its own time.
        let stat = fs_err::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let reaped_elsewhere = cfg!(feature = "portable") && stat.contains(") Z ");
        let exists = Path::new(&format!("/proc/{pid}")).exists();
        assert!(!exists || reaped_elsewhere, "{pid} is still there: {stat}");
    }
}

/// A prompt as if the guard had admitted it.
pub(crate) fn prompt(text: impl Into<String>) -> AdmittedPrompt {
    AdmittedPrompt::admit_unchecked(text.into(), ReceiptId::new("r_test").unwrap())
}
