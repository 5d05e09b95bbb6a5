//! A secret in every channel there is, and a search for it in every byte that is kept or printed.
//!
//! What may have it: the user's own files (sources, stories, scenarios, configuration), and the prompt that
//! a user typed for an agent, on its way to that agent: on the agent's standard input, in the output of
//! `brief`, and in a hook's answer to the host that asked. A file that a user had checked with `doctor` or
//! `validate` is named in the answer, and so is the address of a page of the dashboard in its links.

mod closing;
mod commands;
mod hosts;
mod knowledge;
mod programs;
mod protocols;
mod shared;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use handover_testkit::{Output, TestEnv};

pub(crate) use self::commands::IN_ARGUMENTS;

/// The files below `.handover/` that belong to the user.
const USERS_FILES: &[&str] = &["config.toml"];

/// Secrets, by the channel that each was planted in, and everything that was printed.
#[derive(Default)]
pub(super) struct Planted {
    secrets: Vec<(String, String)>,
    printed: Vec<(String, String)>,
}

impl Planted {
    /// A new secret for a channel, in the form of a GitHub token.
    pub(super) fn token(&mut self, channel: &str) -> String {
        const LETTERS: &[u8] = b"abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789";
        // Different for each channel, the same in each run.
        let mut state = channel.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let mut token = String::from("ghp_");
        for _ in 0..36 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            token.push(char::from(LETTERS[(state >> 33) as usize % LETTERS.len()]));
        }
        self.note(channel, &token);
        token
    }

    /// A private key; each of its lines must be gone.
    pub(super) fn private_key(&mut self, channel: &str) -> String {
        let lines: Vec<String> = (0..6)
            .map(|n| {
                self.token(&format!("{channel}, line {n} of a private key")).replace('_', "/")
                    + "MIIEpAIBAAKCAQEA0Zx7"
            })
            .collect();
        self.secrets.truncate(self.secrets.len() - lines.len());
        for (n, line) in lines.iter().enumerate() {
            self.note(&format!("{channel}, line {n} of a private key"), line);
        }
        format!(
            "-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----",
            lines.join("\n")
        )
    }

    /// A Kubernetes Secret, whose values look like nothing.
    pub(super) fn kubernetes(&mut self, channel: &str) -> String {
        let value = "Y29ycmVjdC1ob3JzZS1iYXR0ZXJ5LXN0YXBsZQ==";
        self.note(&format!("{channel}, a value of a Kubernetes Secret"), value);
        format!("apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ndata:\n  value: {value}")
    }

    /// A password that only its name gives away.
    pub(super) fn password(&mut self, channel: &str) -> String {
        let channel = format!("{channel}, a password");
        let token = self.token(&channel);
        self.secrets.pop();
        let value = token.to_ascii_lowercase().replace("ghp_", "p4");
        self.note(&channel, &value);
        format!("DB_PASSWORD=\"{value}\"")
    }

    fn note(&mut self, channel: &str, secret: &str) {
        self.secrets.push((channel.to_owned(), secret.to_owned()));
    }

    /// Records what something printed.
    pub(super) fn printed(&mut self, by: &str, text: impl Into<String>) {
        self.printed.push((by.to_owned(), text.into()));
    }

    /// Runs a command twice, for people and for scripts, whatever it says.
    pub(super) fn run<A: AsRef<OsStr>>(
        &mut self,
        env: &TestEnv,
        stdin: &str,
        args: impl IntoIterator<Item = A>,
    ) {
        let args: Vec<A> = args.into_iter().collect();
        let args: Vec<&OsStr> = args.iter().map(AsRef::as_ref).collect();
        let name =
            args.iter().take(2).map(|arg| arg.to_string_lossy()).collect::<Vec<_>>().join(" ");
        for more in [&[][..], &["--json"]] {
            let more = more.iter().map(OsStr::new);
            let output = env.run_with(stdin, args.iter().copied().chain(more));
            self.output(&name, &output);
        }
    }

    pub(super) fn output(&mut self, by: &str, output: &Output) {
        self.printed(by, format!("{}{}", output.stdout, output.stderr));
    }

    /// Fails if any secret was printed, or is in any file below the project's `.handover/` or the user's state folder,
    /// or in its name.
    #[track_caller]
    pub(super) fn nowhere(&self, env: &TestEnv) {
        let mut leaks = Vec::new();
        let mut look = |place: &str, bytes: &[u8]| {
            let folded = bytes.to_ascii_lowercase();
            for (channel, secret) in &self.secrets {
                let term = term(secret);
                if bytes.windows(secret.len()).any(|part| part == secret.as_bytes())
                    || folded.windows(term.len()).any(|part| part == term.as_bytes())
                {
                    leaks.push(format!("{channel} → {place}"));
                }
            }
        };
        for (by, text) in &self.printed {
            look(&format!("output of {by}"), text.as_bytes());
        }
        for folder in [env.path(".handover"), env.folder().join("home/.local/state")] {
            for file in files(&folder) {
                let name = file.strip_prefix(&folder).unwrap().display().to_string();
                look(&format!("name {name}"), name.as_bytes());
                if !USERS_FILES.contains(&name.as_str()) {
                    look(&format!("file {name}"), &fs_err::read(&file).unwrap());
                }
            }
        }
        leaks.sort();
        leaks.dedup();
        let (count, secrets) = (leaks.len(), self.secrets.len());
        assert!(leaks.is_empty(), "{count} leaks of {secrets} secrets:\n{}", leaks.join("\n"));
    }
}

/// The end of a secret as an index of words has it: in lower case and without separators, the beginning perhaps
/// elsewhere because other words share it.
fn term(secret: &str) -> String {
    let folded = secret.to_ascii_lowercase().replace('_', "");
    folded[folded.len().saturating_sub(20)..].to_owned()
}

/// Every regular file below a folder, if there is one.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in fs_err::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        let data = fs_err::symlink_metadata(&path).unwrap();
        if data.is_dir() {
            all.extend(files(&path));
        } else if data.is_file() {
            all.push(path);
        }
    }
    all
}

/// Prints every record that there is.
pub(super) fn list_everything(planted: &mut Planted, env: &TestEnv) {
    for listing in [
        "session list",
        "stats",
        "error list",
        "strategy list",
        "token list",
        "receipt list",
        "export",
        "doctor",
        "config show",
    ] {
        planted.run(env, "", listing.split(' '));
    }
    for listing in [
        "group list",
        "package list",
        "reasoning list",
        "reasoning timeline",
        "event list",
        "skill-output list",
    ] {
        planted.run(env, "", listing.split(' ').chain(["--session", "s1"]));
    }
}

#[test]
fn the_search_finds_what_is_there() {
    let env = crate::project();
    let mut planted = Planted::default();
    let token = planted.token("a file");
    env.write(".handover/x/y.txt", format!("has {token} in it"));
    let found = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| planted.nowhere(&env)));
    let message = *found.unwrap_err().downcast::<String>().unwrap();
    assert!(message.contains("a file → file x/y.txt"), "{message}");
    fs_err::remove_file(env.path(".handover/x/y.txt")).unwrap();
    planted.nowhere(&env);
    // The user's state folder is searched, too.
    let state = env.folder().join("home/.local/state/handover/z.txt");
    fs_err::write(&state, &token).unwrap();
    let found = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| planted.nowhere(&env)));
    assert!(found.is_err());
    fs_err::remove_file(state).unwrap();
    // An index of words keeps them folded, and shares beginnings.
    env.write(".handover/x/y.txt", &token.to_ascii_lowercase().replace('_', "")[10..]);
    let found = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| planted.nowhere(&env)));
    assert!(found.is_err());
}
