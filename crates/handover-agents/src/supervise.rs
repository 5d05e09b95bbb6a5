//! Supervises one run: prompt in, lines out, limits enforced, no process left behind.
//!
//! Three threads move bytes; this one makes the decisions. Memory is bounded by the queue between them, the
//! limits of the captures and the maximum line length, whatever the agent prints.

use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use handover_model::reads_outside;
use process_wrap::std::{ChildWrapper, CommandWrap};

use crate::capture::{Capture, Lines};
use crate::outcome::{Report, judge};
use crate::process::Family;
use crate::{
    AgentError, AgentEvent, AgentProgram, CancelToken, Ended, Exceeded, Invocation, Limits,
    Outcome, OutputReader, SpawnId, Tee, Used, resets,
};

/// How often flags, deadlines and the child are polled while there is no output.
const TICK: Duration = Duration::from_millis(20);
const SHORT_TICK: Duration = Duration::from_millis(2);
/// The longest grace period of a canceled run, and of processes that an agent left running.
const SHORT_GRACE: Duration = Duration::from_millis(500);
/// How long a killed process may take to disappear, and a pipe to close, before we give up.
const STUCK: Duration = Duration::from_secs(5);
/// How long a program must be silent before pending output is processed without waiting for more.
const PAUSE: Duration = Duration::from_millis(300);
/// How often the descendants are polled while the agent works.
const FAMILY_POLL: Duration = Duration::from_secs(2);
const CHUNK: usize = 64 << 10;
const QUEUE: usize = 16;

/// Receives output as it arrives, unmodified.
pub(crate) type RawSink<'a> = &'a mut dyn FnMut(&[u8]);

/// The input of a run, and the receivers of its output.
#[derive(Default)]
pub(crate) struct Pipes<'a, 'b> {
    /// What the process reads.
    pub(crate) input: &'a [u8],
    /// Its input stays open until the other end of this is gone.
    pub(crate) open: Option<Receiver<()>>,
    /// The file its output is written to.
    pub(crate) tee: Option<&'a mut Tee<'b>>,
    /// Receives standard output.
    pub(crate) raw: Option<RawSink<'a>>,
}

/// See [`run`](crate::run).
pub(crate) fn run<'a>(
    program: &'static dyn AgentProgram,
    invocation: &'a Invocation,
    mut pipes: Pipes<'a, '_>,
    on_event: &'a mut dyn FnMut(AgentEvent),
    cancel: &'a CancelToken,
) -> Result<Outcome, AgentError> {
    let begin = Instant::now();
    let (mut child, family) = start(program, invocation)?;
    on_event(AgentEvent::Spawned(family.identity()));
    let output = match connect(child.as_mut(), pipes.input, pipes.open.take()) {
        Ok(output) => output,
        Err(source) => {
            end_at_once(child.as_mut(), family);
            return Err(AgentError::Watch { program: invocation.program.clone(), source });
        }
    };
    let mut reader = program.reader();
    if invocation.resume.is_some() {
        reader.resumed(invocation.before);
    }
    Supervisor {
        program,
        invocation,
        cancel,
        child,
        family,
        output,
        streams: Streams::new(reader, invocation, pipes, on_event),
        begin,
        last_output: begin,
        last_family_poll: begin,
        stop: None,
        kill_at: None,
        exit: None,
        survivors: 0,
    }
    .run()
}

/// The program that was named, else the usual one.
pub(crate) fn program_of<'a>(
    agent: &dyn AgentProgram,
    program: &'a Path,
) -> Result<&'a Path, AgentError> {
    match agent.default_program() {
        usual if program.as_os_str().is_empty() && !usual.is_empty() => Ok(Path::new(usual)),
        _ if program.as_os_str().is_empty() => Err(AgentError::NoProgram),
        _ => Ok(program),
    }
}

fn start(
    agent: &dyn AgentProgram,
    invocation: &Invocation,
) -> Result<(Box<dyn ChildWrapper>, Family), AgentError> {
    let Invocation { host, program, folder, spawn, environment, .. } = invocation;
    let program = program_of(agent, program)?;
    if !folder.is_dir() {
        return Err(AgentError::FolderNotFound { folder: folder.clone() });
    }
    let mut command = Command::new(program);
    command
        .args(agent.args(invocation))
        .current_dir(folder)
        .env_clear()
        .envs(environment.iter())
        .envs(agent.set_variables(invocation))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    // A nested run can be found by either marker.
    let mut mark = environment.get(SpawnId::VARIABLE).map(ToOwned::to_owned).unwrap_or_default();
    if !mark.is_empty() {
        mark.push(":");
    }
    mark.push(spawn.as_str());
    command.env(SpawnId::VARIABLE, mark);
    let mut command = CommandWrap::from(command);
    #[cfg(unix)]
    command.wrap(process_wrap::std::ProcessSession);
    Family::start(spawn, folder, || command.spawn().map(ChildWrapper::into_inner)).map_err(
        |source| {
            if source.kind() == io::ErrorKind::NotFound {
                AgentError::ProgramNotFound { host: *host, program: program.to_owned() }
            } else {
                AgentError::Start { program: program.to_owned(), folder: folder.clone(), source }
            }
        },
    )
}

/// Kills a run that cannot be supervised.
fn end_at_once(child: &mut dyn ChildWrapper, mut family: Family) {
    let give_up = Instant::now() + STUCK;
    while Instant::now() < give_up {
        family.kill();
        if matches!(child.try_wait(), Ok(Some(_))) {
            family.root_reaped();
            if family.survivors() == 0 {
                return;
            }
        }
        thread::sleep(TICK);
    }
}

#[derive(Clone, Copy)]
enum Stream {
    Out = 0,
    Err = 1,
}

enum Message {
    Bytes(Stream, Vec<u8>),
    Closed,
}

/// Starts the threads that write the input and read both streams.
fn connect(
    child: &mut dyn ChildWrapper,
    input: &[u8],
    open: Option<Receiver<()>>,
) -> io::Result<Receiver<Message>> {
    let (sender, receiver) = sync_channel(QUEUE);
    let stdin = child.stdin().take();
    let input = input.to_owned();
    thread::Builder::new().name("agent-in".to_owned()).spawn(move || {
        // An agent may exit without reading all of it.
        if let Some(mut stdin) = stdin {
            let _ = stdin.write_all(&input);
            let _ = open.map(|open| open.recv());
        }
    })?;
    let stdout = child.stdout().take().ok_or(io::ErrorKind::BrokenPipe)?;
    let stderr = child.stderr().take().ok_or(io::ErrorKind::BrokenPipe)?;
    let out = sender.clone();
    thread::Builder::new()
        .name("agent-out".to_owned())
        .spawn(move || pump(stdout, Stream::Out, &out))?;
    thread::Builder::new()
        .name("agent-err".to_owned())
        .spawn(move || pump(stderr, Stream::Err, &sender))?;
    Ok(receiver)
}

/// Copies bytes until the pipe closes or the receiver is gone.
fn pump(mut from: impl Read, stream: Stream, to: &SyncSender<Message>) {
    let mut buffer = vec![0; CHUNK];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => {
                if to.send(Message::Bytes(stream, buffer[..count].to_vec())).is_err() {
                    return;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    let _ = to.send(Message::Closed);
}

struct Supervisor<'a, 'b> {
    program: &'static dyn AgentProgram,
    invocation: &'a Invocation,
    cancel: &'a CancelToken,
    child: Box<dyn ChildWrapper>,
    family: Family,
    output: Receiver<Message>,
    streams: Streams<'a, 'b>,
    begin: Instant,
    last_output: Instant,
    last_family_poll: Instant,
    /// Why we are stopping the run, if we are.
    stop: Option<Ended>,
    /// When everything still running gets killed.
    kill_at: Option<Instant>,
    exit: Option<ExitStatus>,
    /// How many processes were still running when the root exited by itself.
    survivors: u32,
}

impl Supervisor<'_, '_> {
    fn run(mut self) -> Result<Outcome, AgentError> {
        let mut open = 2;
        let left_behind = loop {
            match self.output.recv_timeout(TICK) {
                Ok(Message::Bytes(stream, bytes)) => {
                    self.last_output = Instant::now();
                    self.streams.push(stream, &bytes);
                }
                Ok(Message::Closed) => open -= 1,
                Err(RecvTimeoutError::Timeout) if self.last_output.elapsed() >= PAUSE => {
                    self.streams.pause();
                }
                Err(RecvTimeoutError::Timeout) => {}
                // Both streams are closed: the process is about to end, or continues silently.
                Err(RecvTimeoutError::Disconnected) => thread::sleep(SHORT_TICK),
            }
            self.poll_child()?;
            self.enforce_limits();
            self.poll_family();
            let kill = self.kill_at.is_some_and(|at| Instant::now() >= at);
            if kill {
                self.family.kill();
            }
            let stuck = self.stuck();
            if self.exit.is_some() && (open == 0 || kill) || stuck {
                let left = self.family.survivors();
                if stuck || left == 0 && open == 0 {
                    break left + u32::from(self.exit.is_none());
                }
            }
        };
        self.streams.finish();
        Ok(self.outcome(left_behind))
    }

    /// Whether a killed process does not end, or a pipe stays open although its owner is dead.
    fn stuck(&self) -> bool {
        let Some(since) = self.kill_at.map(|at| at.elapsed()) else { return false };
        // Wait for output printed before the end, but not forever.
        since >= STUCK && self.last_output.elapsed() >= STUCK || since >= STUCK * 6
    }

    /// Reaps the root; once it has ended, everything else is stopped too.
    fn poll_child(&mut self) -> Result<(), AgentError> {
        if self.exit.is_some() {
            return Ok(());
        }
        self.exit = self.child.try_wait().map_err(|source| AgentError::Watch {
            program: self.invocation.program.clone(),
            source,
        })?;
        if self.exit.is_some() {
            self.family.root_reaped();
            if self.stop.is_none() {
                self.survivors = self.family.survivors();
                if self.survivors > 0 {
                    self.family.terminate();
                }
            }
            self.kill_within(SHORT_GRACE);
        }
        Ok(())
    }

    fn enforce_limits(&mut self) {
        if self.cancel.is_cancelled() && self.kill_at.is_some() {
            // Already stopping for another reason, but now someone is waiting.
            self.kill_within(SHORT_GRACE);
        }
        if self.cancel.is_forced() {
            self.kill_within(Duration::ZERO);
        }
        if self.exit.is_some() || self.stop.is_some() {
            return;
        }
        let limits = &self.invocation.limits;
        let passed = |limit: Option<Duration>, since: Instant| {
            limit.is_some_and(|limit| since.elapsed() >= limit)
        };
        let stop = if self.cancel.is_cancelled() {
            Ended::Cancelled
        } else if passed(limits.wall, self.begin) {
            Ended::WallTimeout
        } else if passed(limits.idle, self.last_output) {
            Ended::IdleTimeout
        } else if limits.flood.is_some_and(|flood| self.streams.total() > flood) {
            Ended::OutputFlood
        } else if let Some(what) = self.streams.exceeded(limits) {
            Ended::OverLimit(what)
        } else {
            return;
        };
        self.stop = Some(stop);
        let grace =
            if stop == Ended::Cancelled { SHORT_GRACE.min(limits.grace) } else { limits.grace };
        self.family.terminate();
        self.kill_within(grace);
    }

    /// Reaps strays that have ended, and records the others while they can still be recognized.
    fn poll_family(&mut self) {
        if self.last_family_poll.elapsed() >= FAMILY_POLL {
            self.last_family_poll = Instant::now();
            self.family.survivors();
        }
    }

    fn kill_within(&mut self, grace: Duration) {
        let at = Instant::now() + grace;
        self.kill_at = Some(self.kill_at.map_or(at, |earlier| earlier.min(at)));
    }

    fn outcome(self, left_behind: u32) -> Outcome {
        let ended = self.stop.unwrap_or_else(|| match self.exit {
            Some(exit) => exit
                .code()
                .map(Ended::Exited)
                .or_else(|| signal_of(exit).map(Ended::Signalled))
                .unwrap_or(Ended::Exited(-1)),
            None => Ended::Cancelled,
        });
        let Streams { reader, out, err, tee, outside, used, .. } = self.streams;
        let (stdout, stderr) = (out.capture.finish(), err.capture.finish());
        let mut report = Report { outside, ..reader.report(ended, &stdout, &stderr) };
        let conversation = report.host_session.as_deref();
        let kept = conversation.and_then(|id| self.program.kept(self.invocation, id));
        let (printed, before) = (report.total.usage.total(), self.invocation.before);
        if let Some(kept) = kept.filter(|kept| kept.usage.total() >= printed) {
            let used = kept - before;
            // It may not have been written to the end.
            if used.usage.total() >= report.usage.total() {
                (report.usage, report.total.usage) = (used.usage, kept.usage);
                if kept.cost_usd.is_some() {
                    (report.cost_usd, report.total.cost_usd) = (used.cost_usd, kept.cost_usd);
                }
            }
        }
        // A program that was stopped had no chance to sum up.
        if report.usage.total() == 0 {
            report.usage = used.usage;
        }
        report.cost_usd = report.cost_usd.or(used.cost_usd);
        report.turns = report.turns.or(used.turns);
        let failure = resets::waited_for(ended, &stderr)
            .or_else(|| judge(ended, &report, self.program.capabilities()));
        report.resets = failure.as_ref().and_then(|failure| resets::of(failure, report.resets));
        Outcome {
            ended,
            failure,
            final_text: report.answer.as_ref().unwrap_or(&report.last_text).clone(),
            report,
            stdout,
            stderr,
            duration: self.begin.elapsed(),
            survivors: self.survivors,
            left_behind,
            tee_error: tee.and_then(|tee| tee.error()),
        }
    }
}

/// The signal that ended a process, where there are signals.
fn signal_of(exit: ExitStatus) -> Option<i32> {
    #[cfg(unix)]
    return std::os::unix::process::ExitStatusExt::signal(&exit);
    #[cfg(not(unix))]
    return Some(-1).filter(|_| exit.code().is_none());
}

/// Distributes both streams to the captures, the file, the reader and the caller.
struct Streams<'a, 'b> {
    reader: Box<dyn OutputReader>,
    out: Channel,
    err: Channel,
    tee: Option<&'a mut Tee<'b>>,
    raw: Option<RawSink<'a>>,
    on_event: &'a mut dyn FnMut(AgentEvent),
    /// The first tool that read something from outside.
    outside: Option<String>,
    used: Used,
    /// Whether the agent's last word was its answer: stopping it now would only lose the answer.
    answered: bool,
}

struct Channel {
    capture: Capture,
    lines: Lines,
}

impl<'a, 'b> Streams<'a, 'b> {
    fn new(
        reader: Box<dyn OutputReader>,
        invocation: &Invocation,
        pipes: Pipes<'a, 'b>,
        on_event: &'a mut dyn FnMut(AgentEvent),
    ) -> Self {
        let cap = invocation.limits.output_cap;
        let channel = || Channel { capture: Capture::new(cap), lines: Lines::new(Lines::CAP) };
        let Pipes { tee, raw, .. } = pipes;
        Self {
            reader,
            out: channel(),
            err: channel(),
            tee,
            raw,
            on_event,
            outside: None,
            used: Used::default(),
            answered: false,
        }
    }

    /// The limit that was passed, as far as the program reports what it uses.
    fn exceeded(&self, limits: &Limits) -> Option<Exceeded> {
        let Used { usage, cost_usd, turns } = self.used;
        // Costs are sums of small fractions.
        let is_over = |limit: f64| cost_usd.is_some_and(|cost| cost > limit + 1e-9);
        if self.answered {
            None
        } else if limits.cost_usd.is_some_and(is_over) {
            Some(Exceeded::Cost)
        } else if limits.tokens.is_some_and(|limit| usage.total() > limit) {
            Some(Exceeded::Tokens)
        } else if limits.turns.is_some_and(|limit| turns.is_some_and(|turns| turns > limit)) {
            Some(Exceeded::Turns)
        } else {
            None
        }
    }

    fn total(&self) -> u64 {
        self.out.capture.total() + self.err.capture.total()
    }

    fn push(&mut self, stream: Stream, bytes: &[u8]) {
        if let (Stream::Out, Some(raw)) = (stream, &mut self.raw) {
            raw(bytes);
        }
        self.lines(stream, |channel, each| {
            channel.capture.push(bytes);
            channel.lines.push(bytes, each);
        });
        if let Some(tee) = &mut self.tee {
            tee.push(stream as usize, bytes);
        }
    }

    /// Called when there was no output for a while.
    fn pause(&mut self) {
        if let Some(tee) = &mut self.tee {
            tee.pause();
        }
    }

    fn finish(&mut self) {
        for stream in [Stream::Out, Stream::Err] {
            self.lines(stream, |channel, each| channel.lines.finish(each));
        }
        if let Some(tee) = &mut self.tee {
            tee.finish();
        }
    }

    fn lines(&mut self, stream: Stream, feed: impl FnOnce(&mut Channel, &mut dyn FnMut(&[u8]))) {
        let Self { reader, out, err, on_event, outside, used, answered, .. } = self;
        let mut on_event = |event: AgentEvent| {
            match &event {
                AgentEvent::ToolStarted(tool) => {
                    *answered = false;
                    if outside.is_none() && reads_outside(&tool.name, &tool.about) {
                        *outside = Some(tool.name.clone());
                    }
                }
                AgentEvent::Usage(so_far) => *used = *so_far,
                AgentEvent::Result { .. } => *answered = true,
                AgentEvent::Text(_) => *answered = false,
                AgentEvent::Spawned(_)
                | AgentEvent::Started { .. }
                | AgentEvent::ToolEnded { .. }
                | AgentEvent::Retry { .. }
                | AgentEvent::Notice(_)
                | AgentEvent::Activity
                | AgentEvent::Raw(_)
                | AgentEvent::Stderr(_) => {}
            }
            on_event(event);
        };
        let channel = match stream {
            Stream::Out => out,
            Stream::Err => err,
        };
        feed(channel, &mut |line| {
            let line = String::from_utf8_lossy(line);
            match stream {
                Stream::Out => reader.line(&line, &mut on_event),
                Stream::Err => on_event(AgentEvent::Stderr(line.into_owned())),
            }
        });
    }
}
