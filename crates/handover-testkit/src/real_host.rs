//! The real agent programs, run offline: their model is a [`ModelServer`] on loopback.
//!
//! `scripts/hosts` installs the pinned versions. If one is missing the test fails; it is never skipped.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::env::TRUSTED;
use crate::{ModelServer, TestEnv};

/// An agent program with its own home.
pub struct RealHost {
    /// The executable.
    pub program: PathBuf,
    /// The arguments of a non-interactive run that reads its prompt from standard input.
    pub args: Vec<String>,
    /// The complete environment.
    pub vars: Vec<(String, String)>,
    /// The folder of the program's configuration.
    pub config: PathBuf,
    folder: PathBuf,
}

impl RealHost {
    /// Claude Code, in the environment's home and project.
    pub fn claude(env: &TestEnv, server: &ModelServer) -> Self {
        let config = env.folder().join("home/.claude");
        let vars = [
            ("ANTHROPIC_BASE_URL", server.url()),
            ("ANTHROPIC_API_KEY", "scripted".to_owned()),
            ("CLAUDE_CONFIG_DIR", config.display().to_string()),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()),
            ("DISABLE_TELEMETRY", "1".to_owned()),
            ("DISABLE_AUTOUPDATER", "1".to_owned()),
            // Tests may run as root, where it refuses to skip permissions outside a sandbox.
            ("IS_SANDBOX", "1".to_owned()),
        ];
        let args = ["-p", "--output-format", "stream-json", "--verbose"];
        Self::new(env, "claude", &args, &vars, config)
    }

    /// Codex, in the environment's home and project.
    pub fn codex(env: &TestEnv, server: &ModelServer) -> Self {
        let config = env.folder().join("home/.codex");
        fs_err::create_dir_all(&config).unwrap();
        let url = server.url();
        let toml = format!(
            "model = \"scripted\"\nmodel_provider = \"scripted\"\n\n[model_providers.scripted]\n\
             name = \"scripted\"\nbase_url = \"{url}/v1\"\nwire_api = \"responses\"\n\
             env_key = \"OPENAI_API_KEY\"\nrequest_max_retries = 0\nstream_max_retries = 0\n"
        );
        fs_err::write(config.join("config.toml"), toml).unwrap();
        let vars = [
            ("OPENAI_API_KEY", "scripted".to_owned()),
            ("CODEX_HOME", config.display().to_string()),
        ];
        let args = ["exec", "--json", "--skip-git-repo-check", "-"];
        Self::new(env, "codex", &args, &vars, config)
    }

    /// The program in the project with its environment and no standard input.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(&self.args)
            .env_clear()
            .envs(self.vars.iter().map(|(name, value)| (name, value)))
            .current_dir(&self.folder)
            .stdin(Stdio::null());
        command
    }

    fn new(
        env: &TestEnv,
        name: &str,
        args: &[&str],
        vars: &[(&str, String)],
        config: PathBuf,
    ) -> Self {
        let home = env.folder().join("home").display().to_string();
        let path = std::env::var_os("PATH").unwrap_or_default().display().to_string();
        let trusted = (TRUSTED.0, TRUSTED.1.to_owned());
        let base = [("HOME", home), ("PATH", path), trusted];
        Self {
            program: installed(name),
            args: args.iter().map(|&arg| arg.to_owned()).collect(),
            vars: base
                .iter()
                .chain(vars)
                .map(|(name, value)| ((*name).to_owned(), value.clone()))
                .collect(),
            config,
            folder: env.path(""),
        }
    }
}

fn installed(name: &str) -> PathBuf {
    let folder = std::env::var_os("HANDOVER_TEST_HOSTS").map_or_else(
        || {
            let home = std::env::var_os("HOME").unwrap_or_default();
            Path::new(&home).join(".cache/handover/test-hosts")
        },
        PathBuf::from,
    );
    let program = folder.join("node_modules/.bin").join(name);
    assert!(
        program.exists(),
        "the real `{name}` is not at {}: run scripts/hosts, or set HANDOVER_TEST_HOSTS to where it put it",
        program.display()
    );
    program
}
