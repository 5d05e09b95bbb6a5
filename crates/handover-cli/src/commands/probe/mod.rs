//! `handover doctor --probe`: each agent program that is installed runs once, in a folder that goes
//! away and with a model that is none, so that it is known whether its hooks fire and what it does
//! with a rewritten prompt.

mod model;

use std::path::{Path, PathBuf};
use std::time::Duration;

use handover_agents::{
    CancelToken, Environment, Invocation, SpawnId, default_program, run, split_command,
};
use handover_handoff::probe_prompt;
use handover_hosts::settings;
use handover_model::{Host, HostSessionId, HostVersion, Profile, ProjectId, ReceiptId, SessionId};
use handover_sqlite::SqliteStore;
use handover_store::{Hosts, NewSession, ReceiptFilter, Receipts, Sessions};
use handover_text::CleanJson;

use super::doctor::Check;
use crate::app::App;
use crate::env;
use crate::error::{CommandError, Exit, io};
use crate::project::FOLDER;
use model::Model;

/// How long a program may take.
const PATIENCE: Duration = Duration::from_secs(90);

/// What a run showed.
struct Found {
    /// Whether the program called us when it started.
    fires: bool,
    /// Whether it called us when it spawned a subagent.
    spawns: bool,
    /// What it did with the rewritten prompt.
    version: Option<HostVersion>,
}

/// Probes every program that is there.
pub(crate) fn checks(app: &App) -> Vec<Check> {
    [Host::Claude, Host::Codex]
        .into_iter()
        .map(|host| {
            let name = format!("probe of {host}");
            match program(app, host) {
                Ok(Some(program)) => match probe(app, host, program) {
                    Ok(found) => check(host, &name, &found),
                    Err(error) => Check::failed(&name, error),
                },
                Ok(None) => Check::fine(&name, "it is not installed"),
                Err(error) => Check::failed(&name, error),
            }
        })
        .collect()
}

fn check(host: Host, name: &str, found: &Found) -> Check {
    let update = format!("Update {host}, or report what `{host} --version` says.");
    match (&found.version, found.spawns, found.fires) {
        (Some(seen), ..) if seen.drops_rewrites => Check::fine(
            name,
            format!("hooks fire; {} loses rewritten prompts and is told otherwise", seen.version),
        ),
        (Some(seen), ..) => {
            Check::fine(name, format!("hooks fire; {} takes rewritten prompts", seen.version))
        }
        (None, true, _) => Check::wrong(name, "a subagent never came to its end", update),
        (None, false, true) => Check::wrong(name, "hooks fire, but not for subagents", update),
        (None, false, false) => Check::wrong(name, "its hooks do not fire", update),
    }
}

fn program(app: &App, host: Host) -> Result<Option<PathBuf>, CommandError> {
    let program = match app.config()?.agents.programs.get(host.as_str()) {
        Some(command) => split_command(command)?.0,
        None => default_program(host).into(),
    };
    Ok(env::on_path(&program.display().to_string()))
}

fn probe(app: &App, host: Host, program: PathBuf) -> Result<Found, CommandError> {
    let folder = tempfile::tempdir().map_err(|error| io(&error))?;
    let model = Model::start().map_err(|error| io(&std::io::Error::other(error)))?;
    let (root, home) = (folder.path().join("project"), folder.path().join("home"));
    let store_path = root.join(FOLDER).join("store.db");
    for path in [&root.join(FOLDER), &root.join(".claude"), &home] {
        fs_err::create_dir_all(path).map_err(|error| io(&error))?;
    }
    let store = SqliteStore::open(&store_path)?;
    store.open_session(&NewSession {
        id: SessionId::new("probe")?,
        project: ProjectId::new("probe")?,
        metadata: CleanJson::default(),
        now: app.now(),
    })?;
    let mut invocation = Invocation::new(host, SpawnId::new("probe")?, &root);
    invocation.program = program;
    let receipt = ReceiptId::new("r_probe")?;
    invocation.prompt = Some(probe_prompt(format!("Do the {}.", model::LEAD), receipt));
    invocation.profile = Profile::Edit;
    invocation.limits.wall = Some(PATIENCE);
    invocation.environment = environment(host, &home, &model.url());
    set_up(host, &root, &home, &model.url()).map_err(|error| io(&error))?;
    if host == Host::Codex {
        invocation.args = vec!["--dangerously-bypass-hook-trust".into()];
    }
    let outcome = run(&invocation, None, &mut |_| {}, &CancelToken::default())?;
    if let Some(failure) = &outcome.failure {
        let message = app.redactor()?.clean(&failure.message).one_line();
        return Err(CommandError::new(Exit::Environment, "probe", message.as_str()));
    }
    let conversation =
        outcome.report.host_session.as_deref().and_then(|id| HostSessionId::new(id).ok());
    let fires = match &conversation {
        Some(conversation) => store.bound_session(host, conversation)?.is_some(),
        None => false,
    };
    let version = store.host_versions()?.into_iter().find(|version| version.host == host);
    if let (Some(seen), Ok(ours)) = (&version, app.store()) {
        let name = app.redactor()?.clean(&seen.version);
        ours.note_host_version(host, &name, seen.drops_rewrites, app.now())?;
    }
    let spawns = !store.receipts(&ReceiptFilter::default())?.is_empty();
    Ok(Found { fires, spawns, version })
}

/// Nothing of the user's: no account, no settings, no network.
fn environment(host: Host, home: &Path, url: &str) -> Environment {
    let path = env::all().into_iter().filter(|(name, _)| name == "PATH");
    let mut environment = Environment::scrubbed(path, host, &[]);
    environment.set("HOME", home.as_os_str());
    match host {
        Host::Codex => {
            environment.set("CODEX_HOME", home.as_os_str());
            environment.set("OPENAI_API_KEY", "probe");
        }
        Host::Claude | Host::Gemini | Host::Command => {
            environment.set("CLAUDE_CONFIG_DIR", home.as_os_str());
            environment.set("ANTHROPIC_BASE_URL", url);
            environment.set("ANTHROPIC_API_KEY", "probe");
            for name in [
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
                "DISABLE_TELEMETRY",
                "DISABLE_AUTOUPDATER",
                "IS_SANDBOX",
            ] {
                environment.set(name, "1");
            }
        }
    }
    environment
}

/// Our hooks, and for Codex the way to the model.
fn set_up(host: Host, root: &Path, home: &Path, url: &str) -> std::io::Result<()> {
    let program = std::env::current_exe()?.display().to_string();
    let command = format!("{} hook {host}", shell_words::quote(&program));
    let hooks = settings::install(host, "", &command).map_err(std::io::Error::other)?;
    match host {
        Host::Codex => {
            let config = format!(
                "model = \"probe\"\nmodel_provider = \"probe\"\n\n[model_providers.probe]\nname = \"probe\"\n\
                 base_url = \"{url}/v1\"\nwire_api = \"responses\"\nenv_key = \"OPENAI_API_KEY\"\n\
                 request_max_retries = 0\nstream_max_retries = 0\n"
            );
            fs_err::write(home.join("config.toml"), config)?;
            fs_err::write(home.join("hooks.json"), hooks)
        }
        Host::Claude | Host::Gemini | Host::Command => {
            fs_err::write(root.join(".claude/settings.json"), hooks)
        }
    }
}
