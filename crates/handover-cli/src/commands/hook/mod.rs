//! `handover hook`
//!
//! The host waits for every event, so this command never fails and never stalls: the work is done
//! beside a clock, and whatever goes wrong is a line in the log, and for the user where it matters.

mod checkpoint;
mod child;
mod log;
mod opening;
mod scene;
mod spawn;
mod tool;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use handover_hosts::{Act, Answer, Call, Event};
use handover_model::{Host, ReceiptId};

use super::Outcome;
use crate::app::{App, Common};
use crate::env;
use crate::error::{CommandError, Exit};
use crate::project::Project;
use scene::Scene;

pub(crate) use log::{FILE as LOG_FILE, last_lines};

/// Answer an event of an agent program
///
/// Agent programs call this themselves once `handover host install` has told them to: the event
/// comes as JSON on standard input, the answer goes to standard output. It always ends with 0.
/// HANDOVER_OFF=1 switches it off; `hooks.*` in the configuration says what it does.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  handover hook claude < event.json\n  HANDOVER_OFF=1 claude")]
pub(crate) struct HookArgs {
    /// The agent program
    pub(crate) host: Hooked,
}

/// The agent programs that have hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Hooked {
    Claude,
    Codex,
}

impl From<Hooked> for Host {
    fn from(hooked: Hooked) -> Self {
        match hooked {
            Hooked::Claude => Self::Claude,
            Hooked::Codex => Self::Codex,
        }
    }
}

/// How long a hook may take until the configuration says otherwise.
const FIRST_DEADLINE: Duration = Duration::from_secs(5);

/// What is done at an event.
#[derive(Default)]
struct Reply {
    answer: Answer,
    /// What is handed over by the answer.
    delivers: Option<ReceiptId>,
}

impl From<Act> for Reply {
    fn from(act: Act) -> Self {
        Self { answer: act.into(), delivers: None }
    }
}

/// What the clock and the work both know.
#[derive(Default)]
struct Shared {
    spoken: AtomicBool,
    /// Whether the user has to know if it goes wrong.
    matters: AtomicBool,
    event: OnceLock<Event>,
    /// `.handover/`
    folder: OnceLock<PathBuf>,
}

impl Shared {
    /// Answers the host, unless that was done already.
    fn say(&self, text: Option<&str>) -> bool {
        use std::io::Write;
        if self.spoken.swap(true, Ordering::SeqCst) {
            return false;
        }
        let Some(text) = text else { return true };
        let mut out = std::io::stdout().lock();
        // A host that does not listen any more has ended the agent.
        writeln!(out, "{text}").and_then(|()| out.flush()).is_ok()
    }

    /// Lets the host go on without us.
    fn degrade(&self, host: Host, error: &CommandError) {
        let event = self.event.get().unwrap_or(&Event::Other);
        if let Some(folder) = self.folder.get() {
            log::note(folder, env::now(), host, event, &error.message);
        }
        let notice = self.matters.load(Ordering::SeqCst).then(|| {
            format!("handover: {}; going on without it (see `handover doctor`)", error.message)
        });
        let text = handover_hosts::write(host, event, &Answer { act: Act::Nothing, notice });
        self.say(text.as_deref());
    }
}

enum Signal {
    /// The configuration is read.
    Deadline(Duration),
    /// The work is done.
    Done(Result<(), CommandError>),
}

pub(crate) fn run(app: &App, args: HookArgs) -> Outcome {
    let host = Host::from(args.host);
    if app.stdin.is_terminal() {
        return Err(CommandError::new(
            Exit::Usage,
            "usage",
            "an event is expected on standard input",
        )
        .hinted(format!("{host} calls this itself; `handover host install {host}` tells it to.")));
    }
    if env::var(env::OFF).is_some_and(|value| value != "0") {
        // The host would find a closed pipe.
        let _ = app.stdin.bytes("the event");
        return Ok(Exit::Done);
    }
    let shared = Arc::new(Shared::default());
    let (signals, received) = mpsc::channel();
    let (ui, stdin, common) = (app.ui.clone(), app.stdin.clone(), app.common.clone());
    let theirs = Arc::clone(&shared);
    let started = Instant::now();
    std::thread::spawn(move || {
        let app = App::new(ui, stdin, common);
        let outcome = work(app, host, &theirs, &signals);
        let _ = signals.send(Signal::Done(outcome));
    });
    let mut deadline = FIRST_DEADLINE;
    let outcome = loop {
        match received.recv_timeout(deadline.saturating_sub(started.elapsed())) {
            Ok(Signal::Deadline(given)) => deadline = given,
            Ok(Signal::Done(outcome)) => break outcome,
            Err(RecvTimeoutError::Timeout) => {
                break Err(failed(format!("it took longer than {} ms", deadline.as_millis())));
            }
            Err(RecvTimeoutError::Disconnected) => break Err(failed("it fell over".to_owned())),
        }
    };
    if let Err(error) = outcome {
        shared.degrade(host, &error);
    }
    Ok(Exit::Done)
}

fn failed(message: String) -> CommandError {
    CommandError::new(Exit::Failed, "hook", message)
}

fn work(
    app: App,
    host: Host,
    shared: &Shared,
    signals: &Sender<Signal>,
) -> Result<(), CommandError> {
    let call = event(&app, host).inspect_err(|_| {
        if let Ok(project) = app.project() {
            let _ = shared.folder.set(project.folder());
        }
    })?;
    if call.event == Event::Other {
        shared.say(None);
        return Ok(());
    }
    let _ = shared.event.set(call.event.clone());
    let matters = matches!(call.event, Event::Spawn(_) | Event::Opened(_));
    shared.matters.store(matters, Ordering::SeqCst);
    let app = in_folder(app, call.folder.as_deref());
    let folder = match app.project() {
        Ok(project) => project.folder(),
        // Somebody else's folder is none of our business.
        Err(error) if error.code == "no_project" => {
            shared.say(None);
            return Ok(());
        }
        Err(error) => return Err(error),
    };
    let _ = shared.folder.set(folder.clone());
    if tool::is_idle(&folder, &call) {
        shared.say(None);
        return Ok(());
    }
    let hooks = &app.config()?.hooks;
    let _ = signals.send(Signal::Deadline(Duration::from_millis(hooks.deadline_ms)));
    let scene = Scene { app: &app, call: &call };
    let reply = if hooks.enabled { react(&scene)? } else { Reply::default() };
    let text = handover_hosts::write(call.host, &call.event, &reply.answer);
    if shared.say(text.as_deref())
        && let Some(receipt) = reply.delivers
    {
        scene.deliver(&receipt)?;
    }
    Ok(())
}

fn event(app: &App, host: Host) -> Result<Call, CommandError> {
    let text = app.stdin.read("the event of the host")?;
    handover_hosts::read(host, &text)
        .map_err(|error| CommandError::new(Exit::Usage, "invalid_event", error))
}

/// The same command, in the folder of the conversation; an agent may have gone elsewhere, so that
/// the folder in which the host was started counts too.
fn in_folder(app: App, folder: Option<&Path>) -> App {
    if app.common.project.is_some() {
        return app;
    }
    let started = env::var(env::CLAUDE_PROJECT).map(PathBuf::from);
    let mut folders = folder.map(Path::to_owned).into_iter().chain(started);
    match folders.find(|folder| folder.is_dir() && Project::find(folder).is_ok()) {
        Some(folder) => {
            let common = Common { project: Some(folder), ..app.common };
            App::new(app.ui, app.stdin, common)
        }
        None => app,
    }
}

fn react(scene: &Scene<'_>) -> Result<Reply, CommandError> {
    match &scene.call.event {
        Event::Opened(_) => opening::react(scene),
        Event::Spawn(spawn) => spawn::react(scene, spawn),
        Event::ChildStarts => child::starts(scene),
        Event::ChildStops(stop) => child::stops(scene, stop),
        Event::FileRead(path) => tool::file_read(scene, path),
        Event::FileChanged(path) => tool::file_changed(scene, path),
        Event::CommandPassed(command) => tool::command_passed(scene, command),
        Event::CommandFailed { command, error } => tool::command_failed(scene, command, error),
        Event::Checkpoint { moment, cause } => checkpoint::react(scene, *moment, cause.as_deref()),
        Event::Other => Ok(Reply::default()),
    }
}
