//! Parties of several voices, and failure analysis.

mod answers;
pub(crate) mod crashes;
mod failures;
mod kickoff;
mod review;

use super::Epic;

/// An agent's result with these fields and the required ones.
pub(super) fn result(phase: &str, verdict: &str, more: &str) -> String {
    format!(
        "result '{{\"nonce\":\"{{HANDOVER_NONCE}}\",\"story\":\"{{HANDOVER_STORY}}\",\"phase\":\"{phase}\",\
         \"verdict\":\"{verdict}\",\"summary\":\"{phase} of {{HANDOVER_PERSONA}}\"{more}}}'"
    )
}

/// A script line that also saves the agent's prompt in `prompts/`.
pub(super) fn recording(epic: &Epic, fits: &str, actions: &str) -> String {
    let folder = epic.env.folder().join("prompts");
    fs_err::create_dir_all(&folder).unwrap();
    let name =
        "{HANDOVER_STORY}.{HANDOVER_PHASE}.{HANDOVER_ATTEMPT}.{HANDOVER_PERSONA}.{HANDOVER_ROUND}";
    format!("{fits} | echo-prompt {}/{name} {actions}\n", folder.display())
}

/// The saved prompt of an agent: `1-1-a.dev.1..`.
pub(crate) fn prompt(epic: &Epic, name: &str) -> String {
    let path = epic.env.folder().join("prompts").join(name);
    fs_err::read_to_string(&path).unwrap_or_else(|_| panic!("no prompt {name} was saved"))
}

/// An epic whose run waits for a person: every story asks for a port and completes once it is answered.
pub(crate) fn asking(stories: &[&str]) -> Epic {
    let epic = Epic::new(stories);
    let asks = "result '{\"nonce\":\"{HANDOVER_NONCE}\",\"story\":\"{HANDOVER_STORY}\",\"phase\":\"dev\",\
                \"verdict\":\"escalate\",\"summary\":\"Which port for {HANDOVER_STORY}?\"}'";
    let done = "write {HANDOVER_STORY}.txt b print \"IMPLEMENTATION COMPLETE: {HANDOVER_STORY}\"";
    let done = recording(&epic, "* dev *", done);
    epic.script(&format!("* dev 1 | write {{HANDOVER_STORY}}.txt half {asks}\n{done}"));
    epic.run(&[]).fails(3);
    epic
}

/// An epic whose run is over: its stories were blocked without a question, and complete at the next attempt.
pub(crate) fn stuck(stories: &[&str]) -> Epic {
    let epic = Epic::new(stories);
    stuck_in(&epic);
    epic
}

/// The same for stories that are there.
pub(crate) fn stuck_in(epic: &Epic) {
    let done = "write {HANDOVER_STORY}.txt b print \"IMPLEMENTATION COMPLETE: {HANDOVER_STORY}\"";
    let done = recording(epic, "* dev *", done);
    let stuck = "write half-{HANDOVER_STORY}.txt half print \"IMPLEMENTATION BLOCKED: {HANDOVER_STORY} - no key\"";
    epic.script(&format!("* dev 1 | {stuck}\n{done}"));
    epic.run(&[]).fails(3);
}

/// The names of all saved prompts, sorted.
pub(super) fn asked(epic: &Epic) -> Vec<String> {
    let folder = fs_err::read_dir(epic.env.folder().join("prompts")).unwrap();
    let mut names: Vec<String> =
        folder.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// The phases of a story with their verdicts: `dev complete`.
pub(super) fn phases(epic: &Epic, at: usize) -> Vec<String> {
    let status = epic.status();
    let phases = status["stories"][at]["phases"].as_array().unwrap().clone();
    let word = |phase: &serde_json::Value, key: &str| phase[key].as_str().unwrap().to_owned();
    phases.iter().map(|p| format!("{} {}", word(p, "phase"), word(p, "verdict"))).collect()
}
