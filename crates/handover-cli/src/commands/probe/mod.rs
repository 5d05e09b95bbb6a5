//! `handover doctor --probe`: runs each installed agent program once, in a temporary folder against a
//! scripted model, to find out whether its hooks fire and what it does with a rewritten prompt.

mod model;

use std::path::{Path, PathBuf};
use std::time::Duration;

use handover_agents::{
    CancelToken, Environment, Invocation, SpawnId, default_program, run, split_command,
};
use handover_handoff::probe_prompt;
use handover_hosts::settings::SettingsFolders;
use handover_hosts::{HookHost, ProbeSetup, Registry};
use handover_model::{
    BriefDelivery, Host, HostSessionId, HostVersion, Profile, ProjectId, Receipt, ReceiptId,
    ReceiptState, SessionId,
};
use handover_sqlite::SqliteStore;
use handover_store::{Hosts, NewSession, ReceiptFilter, Receipts, Sessions};
use handover_text::CleanJson;

use super::doctor::Check;
use crate::app::{App, STORE_FILE};
use crate::env;
use crate::error::{CommandError, Exit, io};
use crate::project::Project;
use model::Model;

/// How long a program may take.
const TIMEOUT: Duration = Duration::from_secs(90);

/// The findings of one run.
struct Findings {
    /// Whether the program called us when it started.
    fires: bool,
    /// Whether it called us when it spawned a subagent.
    spawns: bool,
    /// How a subagent got its brief.
    confirmed: Option<BriefDelivery>,
    /// What it did with the rewritten prompt, if it reveals its version.
    version: Option<HostVersion>,
}

/// Probes every installed program that can be probed.
pub(crate) fn checks(app: &App) -> Vec<Check> {
    Registry::built_in().iter().flat_map(|host| of_host(app, host)).collect()
}

/// One check for every kind of subagents of a host.
fn of_host(app: &App, host: &dyn HookHost) -> Vec<Check> {
    let name = format!("probe of {}", host.name());
    let program = match program(app, host.name()) {
        Ok(Some(program)) => program,
        Ok(None) => return vec![Check::fine(&name, "not installed, so there is nothing to try")],
        Err(error) => return vec![Check::failed(&name, error)],
    };
    let kinds = host.probes(Path::new(""), "").len();
    if kinds == 0 {
        return vec![Check::fine(&name, "it cannot be probed")];
    }
    let probed = (0..kinds).map(|kind| {
        let mut name = name.clone();
        match probe(app, host, program.clone(), kind, &mut name) {
            Ok(found) => check(host.name(), &name, &found),
            Err(error) => Check::failed(&name, error),
        }
    });
    probed.collect()
}

fn check(host: Host, name: &str, found: &Findings) -> Check {
    let update = format!("Update {host}, or report what `{host} --version` says.");
    match (&found.version, found.spawns, found.fires) {
        (Some(seen), ..) if seen.drops_rewrites => Check::fine(
            name,
            format!(
                "hooks fire; {} ignores rewritten prompts, so briefs go another way",
                seen.version
            ),
        ),
        (Some(seen), ..) => {
            Check::fine(name, format!("hooks fire; {} accepts rewritten prompts", seen.version))
        }
        (None, ..) if found.confirmed == Some(BriefDelivery::Start) => {
            Check::fine(name, "hooks fire; briefs are added when subagents start")
        }
        (None, ..) if found.confirmed.is_some() => {
            Check::fine(name, "hooks fire; rewritten prompts are accepted")
        }
        (None, true, _) => Check::wrong(name, "a subagent never finished", update),
        (None, false, true) => Check::wrong(name, "hooks fire, but not for subagents", update),
        (None, false, false) => Check::wrong(name, "its hooks do not fire", update),
    }
}

/// The installed program of a host, if there is one.
pub(crate) fn program(app: &App, host: Host) -> Result<Option<PathBuf>, CommandError> {
    let program = match app.config()?.agents.programs.get(host.as_str()) {
        Some(command) => split_command(command)?.0,
        None => default_program(host).into(),
    };
    Ok(env::on_path(&program.display().to_string()))
}

/// Probes one of a host's kinds of subagents, and adds what it is about to the name.
fn probe(
    app: &App,
    host: &dyn HookHost,
    program: PathBuf,
    kind: usize,
    label: &mut String,
) -> Result<Findings, CommandError> {
    let folder = tempfile::tempdir().map_err(|error| io(&error))?;
    let model = Model::start().map_err(|error| io(&std::io::Error::other(error)))?;
    let (root, home) = (folder.path().join("project"), folder.path().join("home"));
    let setup = host.probes(&home, &model.url()).swap_remove(kind);
    if let Some(about) = setup.about {
        *label = format!("{label} {about}");
    }
    let ours = Project::at(&root).folder().path();
    let store_path = ours.join(STORE_FILE);
    for path in [&ours, &home] {
        fs_err::create_dir_all(path).map_err(|error| io(&error))?;
    }
    let store = SqliteStore::open(&store_path)?;
    store.open_session(&NewSession {
        id: SessionId::new("probe")?,
        project: ProjectId::new("probe")?,
        metadata: CleanJson::default(),
        now: app.now(),
    })?;
    let name = host.name();
    let mut invocation = Invocation::new(name, SpawnId::new("probe")?, &root);
    invocation.program = program;
    let receipt = ReceiptId::new("r_probe")?;
    invocation.prompt = Some(probe_prompt(format!("Do the {}.", model::LEAD), receipt));
    invocation.profile = Profile::Edit;
    invocation.limits.wall = Some(TIMEOUT);
    invocation.environment = environment(name, &home, &setup);
    invocation.args = setup.args.iter().map(Into::into).collect();
    write_files(host, &root, &home, &setup).map_err(|error| io(&error))?;
    let outcome = run(&invocation, None, &mut |_| {}, &CancelToken::default())?;
    if let Some(failure) = &outcome.failure {
        let message = app.redactor()?.clean(&failure.message).one_line();
        return Err(CommandError::new(Exit::Environment, "probe", message.as_str()));
    }
    let conversation =
        outcome.report.host_session.as_deref().and_then(|id| HostSessionId::new(id).ok());
    let fires = match &conversation {
        Some(conversation) => store.bound_session(name, conversation)?.is_some(),
        None => false,
    };
    let version = store.host_versions()?.into_iter().find(|version| version.host == name);
    if let (Some(seen), Ok(ours)) = (&version, app.store()) {
        let version = app.redactor()?.clean(&seen.version);
        ours.note_host_version(name, &version, seen.drops_rewrites, app.now())?;
    }
    let receipts = store.receipts(&ReceiptFilter::default())?;
    let confirmed = receipts.iter().find(|receipt| receipt.state == ReceiptState::Confirmed);
    let tickets = match &conversation {
        Some(conversation) => store.tickets(name, conversation)?,
        None => Vec::new(),
    };
    let way = |receipt: &Receipt| {
        let ticket = tickets.iter().find(|ticket| ticket.receipt == receipt.id);
        ticket.map_or(BriefDelivery::Rewrite, |ticket| ticket.way)
    };
    let (spawns, confirmed) = (!receipts.is_empty(), confirmed.map(way));
    Ok(Findings { fires, spawns, confirmed, version })
}

/// An environment without the user's account, settings and network.
fn environment(host: Host, home: &Path, setup: &ProbeSetup) -> Environment {
    let path = env::all().into_iter().filter(|(name, _)| name == "PATH");
    let mut environment = Environment::scrubbed(path, host, &[]);
    environment.set("HOME", home.as_os_str());
    for (name, value) in &setup.variables {
        environment.set(*name, value);
    }
    environment
}

/// Writes the files of the host and the settings with our hooks.
fn write_files(
    host: &dyn HookHost,
    root: &Path,
    home: &Path,
    setup: &ProbeSetup,
) -> std::io::Result<()> {
    for (path, text) in &setup.files {
        fs_err::create_dir_all(path.parent().unwrap_or(home))?;
        fs_err::write(path, text)?;
    }
    let program = std::env::current_exe()?.display().to_string();
    let command = format!("{} hook {}", shell_words::quote(&program), host.name());
    let hooks = host.settings().install("", &command).map_err(std::io::Error::other)?;
    let variable = |name: &str| {
        let found = setup.variables.iter().find(|(known, _)| *known == name);
        found.and_then(|(_, value)| value.to_str().map(ToOwned::to_owned))
    };
    let folders = SettingsFolders { project: Some(root), home: Some(home), variables: &variable };
    let path = host.settings().path(setup.scope, folders);
    let path =
        path.ok_or_else(|| std::io::Error::other("no settings at the scope of the probe"))?;
    fs_err::create_dir_all(path.parent().unwrap_or(root))?;
    fs_err::write(path, hooks)
}
