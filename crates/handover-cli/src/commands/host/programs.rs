//! What `handover doctor` asks the connected programs themselves: their version, and whether they will run
//! our hooks.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use handover_agents::{CancelToken, Environment, Invocation, SpawnId, ask_server, run_tool};
use handover_hosts::{HookHost, TrustedHooks, version_in};
use handover_model::Host;

use super::settings_file::SettingsFile;
use crate::app::App;
use crate::commands::doctor::Check;
use crate::commands::probe;
use crate::env;
use crate::error::CommandError;

/// How long a program may take to say its version, or which hooks it runs.
const TIMEOUT: Duration = Duration::from_secs(15);

/// Says if the tests never ran the installed version, or if there is none. The latter is no failure: settings may be
/// shared with others, who have it.
pub(super) fn version(app: &App, host: &dyn HookHost) -> Option<Check> {
    let name = host.name();
    let Some(program) = installed(app, name) else {
        let detail =
            format!("`{name}` is not on the search path: these hooks are for those who have it");
        return Some(Check::fine(&format!("version of {name}"), detail));
    };
    let tested = host.tested()?;
    let invocation = invocation(app, name, program, &["--version"]).ok()?;
    let outcome = run_tool(&invocation, &mut |_| {}, &CancelToken::default()).ok()?;
    let text = outcome.stdout.text();
    let version = version_in(&text)?;
    let range = format!("{} to {}", tested.oldest, tested.newest);
    let check = format!("version of {name}");
    Some(match tested.include(version)? {
        true => Check::fine(&check, format!("{version}, within what is tested ({range})")),
        false => {
            let probe = match host.probes(Path::new(""), "").is_empty() {
                true => "",
                false => "; `handover doctor --probe` tries this one",
            };
            Check::fine(&check, format!("{version} is unknown: {range} are tested{probe}"))
        }
    })
}

/// Whether the program will run the hooks of these settings; none if it runs whatever is registered.
pub(super) fn trust(app: &App, file: &SettingsFile) -> Option<Check> {
    let (host, query) = (file.host.name(), file.host.trust()?);
    let program = installed(app, host)?;
    let check = format!("trust of {host} ({})", file.scope);
    let commands = file.host.settings().commands(&file.read().ok()??).ok()?;
    let ours = canonical(&file.path);
    let is_ours = |path: &Path, command: &str| {
        canonical(path) == ours && commands.iter().any(|known| known == command)
    };
    let mut answer = None;
    let asked = invocation(app, host, program, query.args()).and_then(|invocation| {
        let question = query.question(&invocation.folder);
        let mut is_answer = |line: &str| {
            answer = query.answer(line, &is_ours);
            answer.is_some()
        };
        Ok(ask_server(&invocation, question.as_bytes(), &mut is_answer, &CancelToken::default())?)
    });
    Some(match (asked, answer) {
        (Err(error), _) => Check::failed(&check, error),
        (Ok(_), Some(Ok(hooks))) => judged(&check, host, file, hooks),
        (Ok(_), Some(Err(message))) => {
            let message = app.redactor().ok()?.clean(&message).one_line();
            Check::fine(&check, format!("{host} does not say: {}", message.as_str()))
        }
        (Ok(_), None) => Check::fine(&check, format!("{host} does not say which hooks it runs")),
    })
}

fn judged(check: &str, host: Host, file: &SettingsFile, hooks: TrustedHooks) -> Check {
    let path = file.path.display();
    let TrustedHooks { listed, trusted, changed } = hooks;
    if listed == 0 {
        return Check::wrong(
            check,
            format!("{host} does not read {path}, because it does not trust this folder"),
            format!("Start `{host}` here once and say that you trust the folder."),
        );
    }
    if trusted == listed {
        return Check::fine(check, format!("{host} runs all {listed} hooks of {path}"));
    }
    let why = if changed { "changed since you trusted them" } else { "not trusted yet" };
    Check::wrong(
        check,
        format!("{host} skips {} of {listed} hooks of {path}: {why}", listed - trusted),
        format!("Start `{host}` here once and confirm them, or open `/hooks` in it."),
    )
}

fn installed(app: &App, host: Host) -> Option<PathBuf> {
    let found = probe::program(app, host).ok()?;
    found.or_else(|| env::on_path(host.as_str()))
}

pub(super) fn invocation(
    app: &App,
    host: Host,
    program: PathBuf,
    args: &[&str],
) -> Result<Invocation, CommandError> {
    let id = SpawnId::new(format!("doctor-{host}-{}", std::process::id()))?;
    let mut invocation = Invocation::new(Host::COMMAND, id, &app.project()?.root);
    invocation.program = program;
    invocation.args = args.iter().map(OsString::from).collect();
    invocation.environment = Environment::scrubbed(app.environment()?, host, &[]);
    invocation.limits.wall = Some(TIMEOUT);
    invocation.limits.grace = Duration::from_millis(500);
    Ok(invocation)
}

fn canonical(path: &Path) -> PathBuf {
    fs_err::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}
