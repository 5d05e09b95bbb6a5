//! `handover hook`
//!
//! The host waits for every event, so this command never fails and never stalls: a thread watches the
//! deadline while the main thread does the work. A failure is a line in the log, and a notice for the user
//! where it matters.

mod checkpoint;
mod context;
mod exempt;
mod finished;
mod late;
mod learn;
mod log;
mod no_ticket;
mod prompted;
mod request;
mod returned;
mod seen;
mod session_start;
mod spawn;
mod spawned;
mod subagent;
mod sweep;
mod tool;

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use handover_context::package_file::vendor_secret;
use handover_files::Folder;
use handover_hosts::{Action, Answer, HookCall, HookEvent, HookHost, Registry, StartReason};
use handover_model::{Host, OnMissing, ReceiptId};
use handover_text::redact_message;
use tracing::{debug, warn};

use super::Outcome;
use super::host::{connections, is_registered};
use crate::app::{App, Common};
use crate::env;
use crate::error::{Code, CommandError, Exit};
use crate::project::Project;
#[cfg(feature = "telemetry")]
use crate::telemetry::{HookReport, Settings};
use crate::trust;
use context::HookContext;

pub(crate) use exempt::import as import_exemptions;
pub(crate) use log::{FILE as LOG_FILE, last_lines};

/// Answer an event of an agent program
///
/// Agent programs call this themselves after `handover host install`: the event comes as JSON on
/// standard input, the answer goes to standard output. It always exits with 0. HANDOVER_OFF=1
/// switches it off; `hooks.*` in the configuration adjusts it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  handover hook claude < event.json\n  HANDOVER_OFF=1 claude")]
pub(crate) struct HookArgs {
    /// The agent program
    #[arg(value_parser = hook_host())]
    pub(crate) host: Host,

    /// The plugin calls; the hooks in the settings, if there are any, go first
    #[arg(long, hide = true)]
    pub(crate) plugin: bool,
}

/// Reads the name of a host that has hooks.
pub(crate) fn hook_host() -> impl TypedValueParser<Value = Host> {
    host_that(|_| true)
}

/// Reads the name of a host of which something holds.
pub(crate) fn host_that(holds: fn(&dyn HookHost) -> bool) -> impl TypedValueParser<Value = Host> {
    // Clap wants static names; they are made once per process.
    let static_name = |host: &dyn HookHost| -> &'static str { host.name().to_string().leak() };
    let hosts = Registry::built_in().iter().filter(|host| holds(*host));
    let names: Vec<&str> = hosts.map(static_name).collect();
    PossibleValuesParser::new(names).try_map(|name| Host::new(&name))
}

/// How long a hook may take until the configuration says otherwise.
const FIRST_DEADLINE: Duration = Duration::from_secs(5);

/// How long it may take to record that hooks are switched off.
const OFF_DEADLINE: Duration = Duration::from_millis(500);

/// The reaction to an event.
#[derive(Default)]
struct Reply {
    answer: Answer,
    /// The receipt whose brief the answer delivers.
    delivers: Option<ReceiptId>,
}

impl From<Action> for Reply {
    fn from(action: Action) -> Self {
        Self { answer: action.into(), delivers: None }
    }
}

/// State that the work and the thread that watches it share.
#[derive(Default)]
struct Shared {
    answered: AtomicBool,
    /// Whether the user should know about a failure.
    notify_user: AtomicBool,
    /// Whether a spawn that gets no brief is refused.
    refuse: AtomicBool,
    /// Whether the user has switched hooks off for this program: nothing is answered, and no failure is reported.
    is_off: bool,
    event: OnceLock<HookEvent>,
    /// `.handover/`
    folder: OnceLock<Folder>,
    #[cfg(feature = "telemetry")]
    telemetry: OnceLock<Settings>,
}

impl Shared {
    /// Answers the host, unless it has an answer already.
    fn answer(&self, text: Option<&str>) -> bool {
        use std::io::Write;
        if self.is_off || self.answered.swap(true, Ordering::SeqCst) {
            return false;
        }
        let Some(text) = text else { return true };
        let mut out = std::io::stdout().lock();
        // A host that stopped listening has ended the agent.
        writeln!(out, "{text}").and_then(|()| out.flush()).is_ok()
    }

    /// Lets the host proceed without us, and reports that unless it was answered before.
    fn fail(&self, host: &dyn HookHost, error: &CommandError, started: Instant) {
        if self.is_off {
            return;
        }
        #[cfg(feature = "telemetry")]
        let telemetry = self.telemetry.get().filter(|_| !self.answered.load(Ordering::SeqCst));
        self.degrade(host, error);
        #[cfg(feature = "telemetry")]
        if let Some(telemetry) = telemetry {
            let report = HookReport {
                host: &host.name().to_string(),
                event: self.event.get().unwrap_or(&HookEvent::Other),
                call: None,
                action: Err(error.code.as_str()),
                took: started.elapsed(),
                now: env::now(),
                delivered: Vec::new(),
                ended: Vec::new(),
            };
            // No time is left to send anything.
            report.file(telemetry, started, Duration::ZERO);
        }
        #[cfg(not(feature = "telemetry"))]
        let _ = started;
    }

    /// Logs a failure and lets the host proceed without us.
    fn degrade(&self, host: &dyn HookHost, error: &CommandError) {
        let event = self.event.get().unwrap_or(&HookEvent::Other);
        let message = redact_message(&error.message);
        warn!(host = %host.name(), event = event.label(), error = %message, "hook degraded");
        if let Some(folder) = self.folder.get() {
            log::note(folder, env::now(), host.name(), event, &message);
        }
        let notice = self
            .notify_user
            .load(Ordering::SeqCst)
            .then(|| format!("handover: {message}; going on without it (see `handover doctor`)"));
        let refused =
            self.refuse.load(Ordering::SeqCst) && matches!(event, HookEvent::SubagentSpawn(_));
        let action = match refused {
            true => Action::Refuse(format!(
                "Handover cannot brief this agent ({message}), and `hooks.on_missing` refuses agents without a brief."
            )),
            false => Action::Proceed,
        };
        let text = host.write(event, &Answer { action, notice });
        self.answer(text.as_deref());
    }
}

pub(crate) fn run(app: &App, args: HookArgs) -> Outcome {
    let host = Registry::built_in()
        .find(args.host)
        .map_err(|error| CommandError::new(Exit::Usage, "usage", error))?;
    if app.stdin.is_terminal() {
        let (message, name) = ("expected an event on standard input", args.host);
        return Err(CommandError::new(Exit::Usage, "usage", message).hinted(format!(
            "{name} calls this itself; `handover host install {name}` sets that up."
        )));
    }
    let is_off = env::var(env::OFF).is_some_and(|value| value != "0");
    let shared = Arc::new(Shared { is_off, ..Shared::default() });
    let started = Instant::now();
    let (deadlines, received) = mpsc::channel();
    let watched = Arc::clone(&shared);
    // The work is not done there: memory of the first thread grows in larger steps, that of another one by a system
    // call for every page. Without a thread nobody watches.
    let _ = thread::Builder::new().spawn(move || watch(host, &watched, &received, started));
    let app = App::new(app.ui.clone(), app.stdin.clone(), app.common.clone());
    let work = AssertUnwindSafe(|| work(app, &args, &shared, &deadlines, started));
    let outcome =
        catch_unwind(work).unwrap_or_else(|_| Err(failed("hook worker panicked".to_owned())));
    if let Err(error) = outcome {
        shared.fail(host, &error, started);
    }
    Ok(Exit::Done)
}

/// Ends the program when the deadline has passed, without the work. The configuration may set another one.
fn watch(host: &dyn HookHost, shared: &Shared, deadlines: &Receiver<Duration>, started: Instant) {
    let mut deadline = if shared.is_off { OFF_DEADLINE } else { FIRST_DEADLINE };
    loop {
        match deadlines.recv_timeout(deadline.saturating_sub(started.elapsed())) {
            Ok(given) => deadline = given,
            // The work is done.
            Err(RecvTimeoutError::Disconnected) => return,
            Err(RecvTimeoutError::Timeout) => {
                let message = format!("the hook took longer than {} ms", deadline.as_millis());
                shared.fail(host, &failed(message), started);
                std::process::exit(Exit::Done as i32);
            }
        }
    }
}

fn failed(message: String) -> CommandError {
    CommandError::new(Exit::Failed, "hook", message)
}

fn work(
    app: App,
    args: &HookArgs,
    shared: &Shared,
    deadlines: &Sender<Duration>,
    started: Instant,
) -> Result<(), CommandError> {
    let host = args.host;
    let mut call = event(&app, host).inspect_err(|_| {
        if let Ok(project) = app.project() {
            let _ = shared.folder.set(project.folder());
        }
    })?;
    debug!(host = %call.host, event = call.event.label(), through = %host, "event received");
    let is_spawn = matches!(call.event, HookEvent::SubagentSpawn(_) | HookEvent::SubagentStarted);
    if call.event == HookEvent::Other || shared.is_off && !is_spawn {
        shared.answer(None);
        return Ok(());
    }
    let _ = shared.event.set(call.event.clone());
    let notify_user =
        matches!(call.event, HookEvent::SubagentSpawn(_) | HookEvent::SessionStarted(_));
    shared.notify_user.store(notify_user, Ordering::SeqCst);
    let sender = Registry::built_in()
        .find(call.host)
        .map_err(|error| CommandError::new(Exit::Usage, "invalid_event", error))?;
    let app = in_folder(app, sender, call.folder.as_deref());
    app.answer_within_a_second();
    app.keep_older_format();
    app.tolerate_unknown_keys();
    // Nobody reads the standard error of a hook.
    app.keep_trust_to_itself();
    let folder = match app.project() {
        Ok(project) => project.folder(),
        // Not a Handover project: nothing to do.
        Err(error) if error.code == Code::NoProject => {
            shared.answer(None);
            return Ok(());
        }
        // Another user's: reported once, when the conversation starts.
        Err(error) if error.code == Code::OtherOwner && !starts_conversation(&call) => {
            shared.answer(None);
            return Ok(());
        }
        Err(error) => return Err(error),
    };
    let _ = shared.folder.set(folder.clone());
    // A program that runs another one's hooks besides its own gets one answer, through its own.
    if call.host != host && is_registered(&app, sender) {
        shared.answer(None);
        return Ok(());
    }
    if tool::is_idle(&folder, &call) || args.plugin && leaves_to_settings(&app, sender, &call) {
        shared.answer(None);
        return Ok(());
    }
    if shared.is_off {
        drop_secret_ids(&app, &mut call)?;
        let context =
            HookContext { app: &app, host: sender, call: &call, ended: RefCell::default() };
        return exempt::switched_off(&context, env::OFF, "hooks are switched off for this program");
    }
    let hooks = &app.config()?.hooks;
    let _ = deadlines.send(Duration::from_millis(hooks.deadline_ms));
    let refuse = hooks.enabled && hooks.on_missing == OnMissing::Refuse;
    shared.refuse.store(refuse, Ordering::SeqCst);
    drop_secret_ids(&app, &mut call)?;
    seen::add_transcript(&mut call);
    if is_spawn || starts_conversation(&call) {
        // It is for `handover coverage` only.
        let _ = connections::called(app.project()?, call.host, call.folder.as_deref(), app.now());
    }
    #[cfg(feature = "telemetry")]
    let telemetry = Settings::of(&app);
    #[cfg(feature = "telemetry")]
    if let Some(telemetry) = &telemetry {
        let _ = shared.telemetry.set(telemetry.clone());
    }
    let context = HookContext { app: &app, host: sender, call: &call, ended: RefCell::default() };
    let mut reply = match hooks.enabled {
        true => react(&context)?,
        false => {
            exempt::switched_off(&context, "hooks.enabled", "hooks are switched off")?;
            Reply::default()
        }
    };
    if starts_conversation(&call) {
        let ignored = app.trust_report()?;
        let notice = trust::notice(ignored.ignored()).map(|text| format!("handover: {text}"));
        reply.answer.notice = reply.answer.notice.or(notice);
    }
    debug!(event = call.event.label(), action = reply.answer.action.label(), "decided");
    let text = sender.write(&call.event, &reply.answer);
    let answered = shared.answer(text.as_deref());
    #[cfg(feature = "telemetry")]
    let took = started.elapsed();
    if answered && let Some(receipt) = &reply.delivers {
        context.deliver(receipt)?;
        debug!(%receipt, "delivered");
    }
    if hooks.enabled {
        seen::await_end(&context);
        if matches!(call.event, HookEvent::Checkpoint { .. }) {
            // Those that stay are tried again.
            let _ = exempt::import(&app);
        }
        sweep::settle(&context);
        learn::keep_current(&context, started);
    }
    #[cfg(feature = "telemetry")]
    if let Some(telemetry) = telemetry.filter(|_| answered) {
        report(&context, &telemetry, &reply, took, started)?;
    }
    Ok(())
}

/// Reports what became of the event. The host has its answer.
#[cfg(feature = "telemetry")]
fn report(
    context: &HookContext<'_>,
    telemetry: &Settings,
    reply: &Reply,
    took: Duration,
    started: Instant,
) -> Result<(), CommandError> {
    let store = context.app.store()?;
    let receipts = |ids: &[ReceiptId]| ids.iter().filter_map(|id| store.receipt(id).ok()).collect();
    let report = HookReport {
        host: &context.call.host.to_string(),
        event: &context.call.event,
        call: Some(context.call),
        action: Ok(reply.answer.action.label()),
        took,
        now: context.app.now(),
        delivered: receipts(reply.delivers.as_slice()),
        ended: receipts(&context.ended.borrow()),
    };
    let deadline = Duration::from_millis(context.app.config()?.hooks.deadline_ms);
    report.file(telemetry, started, deadline);
    Ok(())
}

/// Whether a conversation of the user begins, where there is room for a word to the user.
fn starts_conversation(call: &HookCall) -> bool {
    let starts =
        matches!(call.event, HookEvent::SessionStarted(reason) if reason != StartReason::Compact);
    starts && call.agent.is_none()
}

/// Whether the plugin leaves an event to the hooks in the settings: both are called for every event. Subagents
/// are briefed by the one that is called first, so that none is missed if those hooks do not run.
fn leaves_to_settings(app: &App, host: &'static dyn HookHost, call: &HookCall) -> bool {
    let of_subagent =
        matches!(call.event, HookEvent::SubagentStarted | HookEvent::SubagentStopping(_));
    !of_subagent && !is_about_spawn(&call.event) && is_registered(app, host)
}

fn is_about_spawn(event: &HookEvent) -> bool {
    matches!(
        event,
        HookEvent::SubagentSpawn(_) | HookEvent::SubagentSpawned { .. } | HookEvent::SpawnFailed(_)
    )
}

/// Ids are stored as they are, so one that looks like a secret is none.
fn drop_secret_ids(app: &App, call: &mut HookCall) -> Result<(), CommandError> {
    // Hosts give UUIDs; a redactor is not made for them.
    let is_plain = |id: &str| id.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    let is_secret = |id: &str| -> Result<bool, CommandError> {
        Ok(!is_plain(id) && vendor_secret(app.redactor()?, id).is_some())
    };
    if let Some(id) = &call.conversation
        && is_secret(id.as_str())?
    {
        call.conversation = None;
    }
    if let Some(agent) = &call.agent
        && is_secret(agent.id.as_str())?
    {
        call.agent = None;
    }
    // Only the calls that spawn subagents are stored.
    let names_spawn =
        is_about_spawn(&call.event) || matches!(call.event, HookEvent::SubagentStopping(_));
    if let Some(id) = &call.tool_use
        && (!names_spawn || is_secret(id.as_str())?)
    {
        call.tool_use = None;
    }
    Ok(())
}

fn event(app: &App, host: Host) -> Result<HookCall, CommandError> {
    let text = app.stdin.read("the event of the host")?;
    Registry::built_in()
        .read(host, &text)
        .map_err(|error| CommandError::new(Exit::Usage, "invalid_event", error))
}

/// The same command in the folder of the conversation. The agent may have left the project, so the
/// folder in which the host was started counts too.
fn in_folder(app: App, host: &dyn HookHost, folder: Option<&Path>) -> App {
    if app.common.project.is_some() {
        return app;
    }
    let started = host.start_folder(&env::var);
    let mut folders = folder.map(Path::to_owned).into_iter().chain(started);
    match folders.find(|folder| folder.is_dir() && Project::find(folder).is_ok()) {
        Some(folder) => {
            let common = Common { project: Some(folder), ..app.common };
            App::new(app.ui, app.stdin, common)
        }
        None => app,
    }
}

fn react(context: &HookContext<'_>) -> Result<Reply, CommandError> {
    match &context.call.event {
        HookEvent::SessionStarted(_) => session_start::react(context),
        HookEvent::SubagentSpawn(spawn) => spawn::react(context, spawn),
        HookEvent::SubagentSpawned { agent, ended, returned } => {
            let reply = spawned::spawned(context, agent.as_ref(), *ended)?;
            returned::react(context, agent.as_ref(), returned.as_ref(), reply)
        }
        HookEvent::SpawnFailed(error) => spawned::failed(context, error),
        HookEvent::SubagentStarted => subagent::starts(context),
        HookEvent::SubagentPrompted { prompt } => prompted::react(context, prompt),
        HookEvent::SubagentStopping(stop) => subagent::stops(context, stop),
        HookEvent::SubagentEnding { last_message } => finished::ends(context, last_message),
        HookEvent::SubagentFinished(end) => finished::react(context, end),
        HookEvent::FileRead(path) => tool::file_read(context, path),
        HookEvent::FileChanged(path) => tool::file_changed(context, path),
        HookEvent::CommandPassed(command) => tool::command_passed(context, command),
        HookEvent::CommandFailed { command, error } => {
            tool::command_failed(context, command, error)
        }
        HookEvent::Checkpoint { at, cause } => checkpoint::react(context, *at, cause.as_deref()),
        HookEvent::Other => Ok(Reply::default()),
    }
}
