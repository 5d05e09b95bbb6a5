//! The real agent programs, run offline: their model is a [`ModelServer`] on loopback.
//!
//! `scripts/hosts` installs two versions of each. If one is missing the test fails; it is never skipped.

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

    /// Codex, in the environment's home and project. Its sandbox usually lets it write to `/tmp`, where the projects of
    /// tests are, and so to everything that it must not: here only its own folder for temporary files is.
    pub fn codex(env: &TestEnv, server: &ModelServer) -> Self {
        let config = env.folder().join("home/.codex");
        let temporary = env.folder().join("temporary");
        fs_err::create_dir_all(&config).unwrap();
        fs_err::create_dir_all(&temporary).unwrap();
        let url = server.url();
        let toml = format!(
            "model = \"scripted\"\nmodel_provider = \"scripted\"\n\n[model_providers.scripted]\n\
             name = \"scripted\"\nbase_url = \"{url}/v1\"\nwire_api = \"responses\"\n\
             env_key = \"OPENAI_API_KEY\"\nrequest_max_retries = 0\nstream_max_retries = 0\n\n\
             [sandbox_workspace_write]\nexclude_slash_tmp = true\n"
        );
        fs_err::write(config.join("config.toml"), toml).unwrap();
        let vars = [
            ("OPENAI_API_KEY", "scripted".to_owned()),
            ("CODEX_HOME", config.display().to_string()),
            ("TMPDIR", temporary.display().to_string()),
        ];
        let args = ["exec", "--json", "--skip-git-repo-check", "-"];
        Self::new(env, "codex", &args, &vars, config)
    }

    /// Codex with a model of its own catalogue, whose agents have names and belong to the second version of its tools. All
    /// versions that are tested know this one.
    #[must_use]
    pub fn with_named_agents(self) -> Self {
        let path = self.config.join("config.toml");
        let toml = fs_err::read_to_string(&path).unwrap();
        let named = toml.replace("model = \"scripted\"", "model = \"gpt-5.6-sol\"");
        assert_ne!(named, toml);
        fs_err::write(path, named).unwrap();
        self
    }

    /// Copilot CLI, in the environment's home and project. The prompt is its last argument.
    pub fn copilot(env: &TestEnv, server: &ModelServer) -> Self {
        let config = env.folder().join("home/.copilot");
        let vars = [
            ("COPILOT_HOME", config.display().to_string()),
            // It unpacks itself, once for all tests.
            ("COPILOT_CACHE_HOME", folder().join("copilot").display().to_string()),
            ("COPILOT_OFFLINE", "true".to_owned()),
            ("COPILOT_AUTO_UPDATE", "false".to_owned()),
            ("COPILOT_PROVIDER_TYPE", "anthropic".to_owned()),
            ("COPILOT_PROVIDER_BASE_URL", server.url()),
            // It blots this out wherever it appears.
            ("COPILOT_PROVIDER_API_KEY", "scripted-secret".to_owned()),
            ("COPILOT_MODEL", "scripted".to_owned()),
        ];
        let args = ["--output-format", "json", "--allow-all-tools", "--trust-folder", "-p"];
        Self::new(env, "copilot", &args, &vars, config)
    }

    /// Gemini CLI, in the environment's home and project. The prompt is its last argument.
    pub fn gemini(env: &TestEnv, server: &ModelServer) -> Self {
        let config = env.folder().join("home/.gemini");
        fs_err::create_dir_all(&config).unwrap();
        let account = r#"{"security": {"auth": {"selectedType": "gemini-api-key"}}}"#;
        fs_err::write(config.join("settings.json"), account).unwrap();
        let vars = [
            ("GEMINI_API_KEY", "scripted".to_owned()),
            ("GEMINI_CLI_TRUST_WORKSPACE", "true".to_owned()),
            ("GOOGLE_GEMINI_BASE_URL", server.url()),
        ];
        // The default model is chosen by asking another one.
        let model = ["--model", "gemini-2.5-pro"];
        let args = ["--output-format", "stream-json", "--approval-mode", "yolo"];
        let args: Vec<&str> = args.into_iter().chain(model).chain(["--prompt"]).collect();
        Self::new(env, "gemini", &args, &vars, config)
    }

    /// opencode, in the environment's home and project. The prompt is its last argument.
    pub fn opencode(env: &TestEnv, server: &ModelServer) -> Self {
        let config = env.folder().join("home/.config/opencode");
        fs_err::create_dir_all(&config).unwrap();
        let limit = r#"{"context": 200000, "output": 8000}"#;
        let json = format!(
            r#"{{"provider": {{"anthropic": {{
                "options": {{"baseURL": "{}/v1", "apiKey": "scripted"}},
                "models": {{"scripted": {{"name": "scripted", "limit": {limit}}}}}
            }}}}, "model": "anthropic/scripted", "small_model": "anthropic/scripted",
            "share": "disabled", "autoupdate": false}}"#,
            server.url()
        );
        fs_err::write(config.join("opencode.json"), json).unwrap();
        let vars = [
            ("OPENCODE_DISABLE_MODELS_FETCH", "1".to_owned()),
            ("OPENCODE_DISABLE_AUTOUPDATE", "1".to_owned()),
            // It looks for a package that plugins may use; ours does not.
            ("npm_config_registry", "http://127.0.0.1:1".to_owned()),
            ("npm_config_fetch_retries", "0".to_owned()),
        ];
        Self::new(env, "opencode", &["run", "--format", "json"], &vars, config)
    }

    /// Qwen Code, in the environment's home and project. The prompt is its last argument.
    pub fn qwen(env: &TestEnv, server: &ModelServer) -> Self {
        let config = env.folder().join("home/.qwen");
        fs_err::create_dir_all(&config).unwrap();
        let account = r#"{"security": {"auth": {"selectedType": "openai"}}}"#;
        fs_err::write(config.join("settings.json"), account).unwrap();
        let vars = [
            ("OPENAI_BASE_URL", format!("{}/v1", server.url())),
            ("OPENAI_API_KEY", "scripted".to_owned()),
            ("OPENAI_MODEL", "scripted".to_owned()),
        ];
        let args = ["--output-format", "stream-json", "--approval-mode", "yolo", "--prompt"];
        Self::new(env, "qwen", &args, &vars, config)
    }

    /// The same program in the other version that is tested. That of Copilot CLI has no option to trust a folder, so it
    /// only runs hooks of the user.
    #[must_use]
    pub fn other(mut self) -> Self {
        let name = self.program.file_name().unwrap().to_str().unwrap().to_owned();
        let folder = folder().join("other");
        self.program = installed(&folder, &name);
        self.args.retain(|arg| arg != "--trust-folder");
        // It would start the newest one that it finds there.
        for (_, value) in self.vars.iter_mut().filter(|(name, _)| name == "COPILOT_CACHE_HOME") {
            *value = folder.join("copilot").display().to_string();
        }
        self
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
            program: installed(&folder(), name),
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

/// Where `scripts/hosts` installs the programs.
fn folder() -> PathBuf {
    std::env::var_os("HANDOVER_TEST_HOSTS").map_or_else(
        || {
            let home = std::env::var_os("HOME").unwrap_or_default();
            Path::new(&home).join(".cache/handover/test-hosts")
        },
        PathBuf::from,
    )
}

fn installed(folder: &Path, name: &str) -> PathBuf {
    let program = folder.join("node_modules/.bin").join(name);
    assert!(
        program.exists(),
        "the real `{name}` is not at {}: run scripts/hosts, or set HANDOVER_TEST_HOSTS to where it put it",
        program.display()
    );
    program
}
