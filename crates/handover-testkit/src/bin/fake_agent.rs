//! An agent program that can misbehave in every known way. It performs its arguments in order and then exits
//! with 0; `FakeAgent` lists them.
//!
//! With `--script FILE` the arguments are taken from the first line of the file that matches
//! `HANDOVER_STORY`, `HANDOVER_PHASE`, `HANDOVER_ATTEMPT`, `HANDOVER_ROLE` or `HANDOVER_PERSONA`, and
//! `HANDOVER_ROUND` (`*` and omitted values match everything): `* dev 1 | print hello`.

#![expect(clippy::unwrap_used, reason = "this is a test")]

use std::collections::VecDeque;
use std::fs::OpenOptions;
use std::io::{Read as _, Write as _, stderr, stdin, stdout};
use std::process::{Command, Stdio, abort, exit};
use std::sync::{Arc, OnceLock};
use std::thread::sleep;
use std::time::Duration;

fn main() {
    let mut args: VecDeque<String> = std::env::args().skip(1).collect();
    if args.front().is_some_and(|first| first == "--script") {
        args = scripted(&args[1]);
    }
    while let Some(action) = args.pop_front() {
        perform(&action, &mut || filled(&args.pop_front().unwrap()));
    }
}

fn perform(action: &str, next: &mut dyn FnMut() -> String) {
    match action {
        "read" => {
            prompt();
        }
        "echo-prompt" => fs_err::write(next(), prompt()).unwrap(),
        "print" => out(format!("{}\n", next()).as_bytes()),
        "half" => out(next().as_bytes()),
        "err" => stderr().write_all(format!("{}\n", next()).as_bytes()).unwrap(),
        "invalid-utf8" => out(b"\xff\xfe broken \xc3\n"),
        "flood" => flood(&[[b'x'; 79].as_slice(), b"\n"].concat(), &next()),
        "flood-line" => flood(&[b'x'; 4096], &next()),
        "write" => fs_err::write(next(), next()).unwrap(),
        "append" => append(&next(), &next()),
        "append-forever" => {
            let path = next();
            loop {
                append(&path, "still here\n");
                sleep(Duration::from_millis(5));
            }
        }
        "pid" => fs_err::write(next(), std::process::id().to_string()).unwrap(),
        "env" => {
            let vars: Vec<String> =
                std::env::vars().map(|(name, value)| format!("{name}={value}")).collect();
            fs_err::write(next(), vars.join("\n")).unwrap();
        }
        "result" => fs_err::write(std::env::var_os("HANDOVER_RESULT").unwrap(), next()).unwrap(),
        "sleep" => sleep(Duration::from_millis(next().parse().unwrap())),
        "hang" => loop {
            sleep(Duration::from_secs(60));
        },
        "chatter" => loop {
            out(b"still here\n");
            sleep(Duration::from_millis(10));
        },
        "wait-for" => {
            let path = next();
            while !std::path::Path::new(&path).exists() {
                sleep(Duration::from_millis(5));
            }
        }
        "ignore-term" => {
            signal_hook::flag::register(signal_hook::consts::SIGTERM, Arc::default()).unwrap();
        }
        "close-stdout" => {
            let nowhere = fs_err::File::create("/dev/null").unwrap();
            rustix::stdio::dup2_stdout(nowhere.file()).unwrap();
        }
        "setsid" => drop(rustix::process::setsid().unwrap()),
        "run" => run(&next()),
        "spawn" => spawn(&next(), Stdio::inherit(), false),
        "spawn-quiet" => spawn(&next(), Stdio::null(), false),
        "spawn-unmarked" => spawn(&next(), Stdio::null(), true),
        "crash" => abort(),
        "kill-self" => {
            let signal = signal_hook::consts::SIGKILL;
            signal_hook::low_level::raise(signal).unwrap();
        }
        "exit" => exit(next().parse().unwrap()),
        other => panic!("no action `{other}`"),
    }
}

fn scripted(path: &str) -> VecDeque<String> {
    let var = |name: &str| {
        let name = format!("HANDOVER_{name}");
        std::env::var_os(name).unwrap_or_default().into_string().unwrap()
    };
    let wanted = [
        vec![var("STORY")],
        vec![var("PHASE")],
        vec![var("ATTEMPT")],
        vec![var("ROLE"), var("PERSONA")],
        vec![var("ROUND")],
    ];
    let script = fs_err::read_to_string(path).unwrap();
    let actions = script.lines().find_map(|line| {
        let (fits, actions) = line.split_once('|')?;
        let mut fits = fits.split_whitespace();
        wanted
            .iter()
            .all(|values| {
                fits.next().is_none_or(|fit| fit == "*" || values.iter().any(|v| v == fit))
            })
            .then_some(actions)
    });
    shell_words::split(actions.unwrap_or_default()).unwrap().into()
}

/// The text with `{HANDOVER_…}` replaced by the variable's value; only parties have personas. The nonce is
/// in the prompt.
fn filled(text: &str) -> String {
    let mut text = std::env::vars()
        .filter(|(name, _)| name.starts_with("HANDOVER_"))
        .fold(text.to_owned(), |text, (name, value)| text.replace(&format!("{{{name}}}"), &value));
    if text.contains("{HANDOVER_NONCE}") {
        let prompt = String::from_utf8_lossy(prompt());
        let nonce =
            prompt.rsplit_once("{\"nonce\": \"").and_then(|(_, rest)| rest.split('"').next());
        text = text.replace("{HANDOVER_NONCE}", nonce.unwrap_or_default());
    }
    text.replace("{HANDOVER_PERSONA}", "").replace("{HANDOVER_ROUND}", "")
}

/// Everything on standard input, which can be read only once.
fn prompt() -> &'static [u8] {
    static PROMPT: OnceLock<Vec<u8>> = OnceLock::new();
    PROMPT.get_or_init(|| {
        let mut prompt = Vec::new();
        stdin().read_to_end(&mut prompt).unwrap();
        prompt
    })
}

/// Prints a line; the reader may be gone.
fn out(bytes: &[u8]) {
    let mut out = stdout().lock();
    let _ = out.write_all(bytes).and_then(|()| out.flush());
}

fn flood(piece: &[u8], size: &str) {
    let block = piece.repeat((64 << 10) / piece.len());
    let mut left: usize = size.parse().unwrap();
    while left > 0 {
        let now = left.min(block.len());
        out(&block[..now]);
        left -= now;
    }
}

fn append(path: &str, text: &str) {
    let mut file = OpenOptions::new().create(true).append(true).open(path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

/// Runs a program and waits for it; if it fails, so does the agent.
fn run(words: &str) {
    let words = shell_words::split(words).unwrap();
    let status = Command::new(&words[0]).args(&words[1..]).stdin(Stdio::null()).status().unwrap();
    if !status.success() {
        exit(1);
    }
}

/// Starts itself again without waiting.
fn spawn(actions: &str, out: Stdio, unmarked: bool) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(shell_words::split(actions).unwrap()).stdin(Stdio::null()).stdout(out);
    if unmarked {
        command.env_clear().stderr(Stdio::null());
    }
    drop(command.spawn().unwrap());
}
