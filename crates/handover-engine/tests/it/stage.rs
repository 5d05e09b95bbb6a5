//! A project with an epic, a scripted agent, and an engine with a real store, git and processes.

use std::cell::Cell;
use std::path::PathBuf;

use handover_agents::CancelToken;
use handover_context::package_file::ProjectPaths;
use handover_context::specialize::Templates;
use handover_context::stack::Stack;
use handover_engine::gates::{self, GateKind};
use handover_engine::pipeline::Pipeline;
use handover_engine::reducer::{Options, State};
use handover_engine::{Engine, EngineError, Overrides, Progress, RunRequest, fold};
use handover_handoff::{Handoffs, Technology};
use handover_model::config::{BudgetConfig, Config};
use handover_model::{EpicId, Host, ProjectId, RunId, Timestamp};
use handover_sqlite::SqliteStore;
use handover_store::Runs as _;
use handover_testkit::{FakeAgent, TestEnv};
use handover_text::Redactor;

/// What agents do unless a script says otherwise.
pub(crate) const GOOD: &str = r#"
* dev * | write {HANDOVER_STORY}.txt work print "IMPLEMENTATION COMPLETE: {HANDOVER_STORY}"
* fix * | append {HANDOVER_STORY}.txt fixed print "IMPLEMENTATION COMPLETE: {HANDOVER_STORY}"
* review * | print "REVIEW PASSED: {HANDOVER_STORY}"
"#;

/// What a run says about a project without gates.
pub(crate) const NO_GATES: &str =
    "no tests were found that could check the work; `gates.commands` names commands";

/// The action of an agent that writes this result to its file; `more` are further fields after a comma.
pub(crate) fn result(story: &str, phase: &str, verdict: &str, more: &str) -> String {
    format!(
        "result '{{\"nonce\":\"{{HANDOVER_NONCE}}\",\"story\":\"{story}\",\"phase\":\"{phase}\",\
         \"verdict\":\"{verdict}\"{more}}}'"
    )
}

pub(crate) struct Stage {
    pub(crate) env: TestEnv,
    pub(crate) script: PathBuf,
    /// The project's folder inside the repository.
    pub(crate) inner: PathBuf,
    /// The name of the machine that it is on.
    pub(crate) machine: String,
    /// The store of another stage, if it shares one.
    shared: Option<PathBuf>,
    pub(crate) config: Config,
    pub(crate) gates: &'static [&'static dyn GateKind],
    pub(crate) options: Options,
}

impl Stage {
    pub(crate) fn new(stories: &[&str], script: &str) -> Self {
        let env = TestEnv::empty("git");
        env.git("", &["init", "--quiet"]);
        env.write(".gitignore", ".handover\n");
        env.write("docs/epics/epic-1-shop.md", "# Epic 1: Shop\n");
        for id in stories {
            env.write(&format!("docs/stories/{id}.md"), format!("# Story {id}\n\n- [ ] do {id}\n"));
        }
        let path = env.folder().join("script");
        let command = format!("{} --script {}", FakeAgent::program().display(), path.display());
        fs_err::write(&path, format!("{script}\n{GOOD}")).unwrap();
        let stage = Self {
            env,
            script: path,
            inner: PathBuf::new(),
            machine: "here".to_owned(),
            shared: None,
            config: Config::default(),
            gates: gates::BUILT_IN,
            options: Options {
                host: Host::COMMAND,
                command: Some(command),
                model: None,
                no_commit: false,
                merge: false,
                parallel: 1,
                phase_timeout: 60,
                idle_timeout: 60,
                max_fixes: 1,
                uat_blocking: false,
                max_retries: 1,
                budget: BudgetConfig::default(),
            },
        };
        stage.commit("base");
        stage
    }

    /// A program that is there and cannot be started: its interpreter is missing.
    pub(crate) fn broken_program(&self) -> String {
        let program = self.env.folder().join("broken-agent");
        fs_err::write(&program, "#!/does/not/exist\n").unwrap();
        let all = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&program, all).unwrap();
        program.display().to_string()
    }

    pub(crate) fn commit(&self, message: &str) {
        self.env.git("", &["add", "--all"]);
        self.env.git("", &["commit", "--quiet", "--message", message]);
    }

    pub(crate) fn request(&self, pipeline: Pipeline) -> RunRequest {
        RunRequest {
            epic: EpicId::new("1").unwrap(),
            session: None,
            resume: false,
            abandon: false,
            start_from: None,
            all: false,
            pipeline,
            check_base: false,
            close: false,
            only_closing: false,
            from: None,
            defaults: self.options.clone(),
            overrides: Overrides::default(),
        }
    }

    /// Another machine: a clone of this project that shares its store, its agents and its remote.
    pub(crate) fn another_machine(&self, name: &str, remote: &str) -> Self {
        let env = TestEnv::empty("git");
        env.git("", &["clone", "--quiet", remote, "."]);
        Self {
            env,
            script: self.script.clone(),
            inner: self.inner.clone(),
            machine: name.to_owned(),
            shared: Some(self.store_path()),
            config: self.config.clone(),
            gates: self.gates,
            options: self.options.clone(),
        }
    }

    fn store_path(&self) -> PathBuf {
        self.shared.clone().unwrap_or_else(|| self.env.path(".handover/store.db"))
    }

    pub(crate) fn store(&self) -> SqliteStore {
        let path = self.store_path();
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        SqliteStore::open(&path).unwrap()
    }

    /// Calls something with an engine for this project.
    pub(crate) fn with_engine<T>(&self, call: impl FnOnce(&Engine<'_>) -> T) -> T {
        let store = self.store();
        let redactor = Redactor::new(&self.config.redaction).unwrap();
        let project = fs_err::canonicalize(self.env.path("").join(&self.inner)).unwrap();
        let paths = ProjectPaths::new(&project, &[]).unwrap();
        let technology =
            Technology { stack: Stack::default(), templates: Templates::load(None, None) };
        // Later engines of the same project have later times and other names.
        let runs = store.runs(&handover_store::RunFilter::default()).unwrap().len() as i64;
        let (time, number) = (Cell::new(1_700_000_000_000_000 + runs * 1_000_000), Cell::new(0));
        let engine = Engine {
            store: &store,
            redactor: &redactor,
            config: &self.config,
            gates: self.gates,
            handoffs: Handoffs {
                store: Ok(&store),
                redactor: &redactor,
                config: &self.config,
                paths: &paths,
                technology: &technology,
                spool: None,
                overrides: &[],
            },
            project,
            project_id: ProjectId::new("p").unwrap(),
            databases: None,
            environment: std::env::vars_os().filter(|(name, _)| name == "PATH").collect(),
            machine: self.machine.clone(),
            now: &|| {
                time.set(time.get() + 1);
                Timestamp::from_micros(time.get())
            },
            next_at: &|_| None,
            unique: &|| {
                number.set(number.get() + 1);
                let machine = if self.shared.is_some() { self.machine.as_str() } else { "" };
                format!("{machine}n{runs}x{}", number.get())
            },
            cancel: CancelToken::default(),
            death: None,
        };
        call(&engine)
    }

    pub(crate) fn try_run(&self, request: &RunRequest) -> Result<(RunId, State), EngineError> {
        self.with_engine(|engine| engine.run(request, &mut |_, _| {}))
    }

    /// Runs the epic. The journal must fold to the state that the engine returned.
    pub(crate) fn run(&self, pipeline: Pipeline) -> (RunId, State) {
        let (run, state) = self.try_run(&self.request(pipeline)).unwrap();
        let folded = fold(&run, &self.store().journal(&run, 1).unwrap()).unwrap().unwrap();
        assert_eq!(folded.state, state);
        (run, state)
    }

    /// Runs the epic and returns the warnings, too.
    pub(crate) fn warned(&self, request: &RunRequest) -> (State, Vec<String>) {
        let mut warnings = Vec::new();
        let (_, state) = self
            .with_engine(|engine| {
                engine.run(request, &mut |_, progress| {
                    if let Progress::Warning(text) = progress {
                        warnings.push(text.clone());
                    }
                })
            })
            .unwrap();
        (state, warnings)
    }

    /// Replaces the script; agents behave as usual unless it says otherwise.
    pub(crate) fn script(&self, script: &str) {
        fs_err::write(&self.script, format!("{script}\n{GOOD}")).unwrap();
    }

    /// A file on a branch.
    pub(crate) fn show(&self, branch: &str, path: &str) -> String {
        self.git(&["show", &format!("{branch}:{path}")])
    }

    pub(crate) fn git(&self, args: &[&str]) -> String {
        let output = std::process::Command::new("git")
            .args(args)
            .current_dir(self.env.path(""))
            .output()
            .unwrap();
        String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
    }
}
