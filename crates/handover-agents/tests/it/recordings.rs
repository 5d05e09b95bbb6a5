//! Recorded output, read again: shows every change in how it is interpreted.
//!
//! `tests/recordings/<host>/*.jsonl` are runs of the real `claude`, `codex`, `copilot` and `opencode` (renewed with
//! `HANDOVER_RECORD=1`), hand-written ones for Gemini, following its documentation, and variants as other
//! versions print them. The first line of each says how the process ended.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use handover_agents::{AgentEvent, Ended, Outcome, Registry};
use handover_model::Host;

const COPILOT: Host = Host::from_static("copilot");
const OPENCODE: Host = Host::from_static("opencode");

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recordings")
}

/// Saves what a real program printed, if requested, without the path `root`.
pub(crate) fn record(host: Host, name: &str, outcome: &Outcome, root: &Path) {
    if std::env::var_os("HANDOVER_RECORD").is_none() {
        return;
    }
    let code = outcome.exit_code().unwrap();
    // The folder also appears as a name, with dashes for everything but letters and digits.
    let root = root.to_str().unwrap();
    let dashed = root.replace(['/', '.'], "-");
    let text = outcome.stdout.text().replace(root, "/tests").replace(&dashed, "-tests");
    // Noise, and texts of the program's own.
    let noise = ["session.skills_loaded", "session.background_tasks_changed"];
    let lines = text.lines().filter(|line| !noise.iter().any(|kind| line.contains(kind)));
    let text: String = lines.flat_map(|line| [line, "\n"]).collect();
    let path = folder().join(host.as_str());
    fs_err::create_dir_all(&path).unwrap();
    fs_err::write(path.join(format!("{name}.jsonl")), format!("exit {code}\n{text}")).unwrap();
}

/// Every recording of a host.
fn recordings(host: Host) -> Vec<PathBuf> {
    let entries = fs_err::read_dir(folder().join(host.as_str())).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    paths.sort();
    assert!(!paths.is_empty());
    paths
}

/// Every recording of a host, as events and outcome.
fn read_again(host: Host) {
    for path in recordings(host) {
        let recording = fs_err::read_to_string(&path).unwrap();
        let (first, stdout) = recording.split_once('\n').unwrap();
        let code = first.strip_prefix("exit ").unwrap().parse().unwrap();
        let mut seen = String::new();
        let mut on_event = |event: AgentEvent| writeln!(seen, "{event:?}").unwrap();
        let (report, failure) =
            Registry::built_in().replay(host, stdout, Ended::Exited(code), &mut on_event).unwrap();
        writeln!(seen, "{report:#?}\n{failure:#?}").unwrap();
        let name = path.file_stem().unwrap().to_str().unwrap();
        insta::with_settings!({
            prepend_module_to_snapshot => false,
            omit_expression => true,
            snapshot_path => folder().join(host.as_str()),
            filters => vec![
                (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "[UUID]"),
                (r"127\.0\.0\.1:\d+", "[HOST]"),
                (r"(toolu|call)_\d+", "[CALL]"),
            ],
        }, {
            insta::assert_snapshot!(name, seen);
        });
    }
}

#[test]
fn claude() {
    read_again(Host::CLAUDE);
}

#[test]
fn codex() {
    read_again(Host::CODEX);
}

#[test]
fn copilot() {
    read_again(COPILOT);
}

#[test]
fn gemini() {
    read_again(Host::GEMINI);
}

#[test]
fn opencode() {
    read_again(OPENCODE);
}

/// A killed program leaves half a recording: never a success, never a panic.
#[test]
fn no_prefix_of_a_recording_is_a_success() {
    for host in [Host::CLAUDE, Host::CODEX, COPILOT, Host::GEMINI, OPENCODE] {
        for path in recordings(host) {
            let recording = fs_err::read_to_string(&path).unwrap();
            let stdout = recording.split_once('\n').unwrap().1.trim_end();
            let last_line = stdout.rfind('\n').map_or(0, |at| at + 1);
            let cuts = (0..stdout.len()).step_by(97).filter(|&at| stdout.is_char_boundary(at));
            for cut in cuts.filter(|&at| at < last_line) {
                let (_, failure) = Registry::built_in()
                    .replay(host, &stdout[..cut], Ended::Exited(0), &mut |_| {})
                    .unwrap();
                assert!(failure.is_some(), "{} at {cut}", path.display());
            }
        }
    }
}
