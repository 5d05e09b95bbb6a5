//! Which hooks Codex will run: its app server knows, and `codex exec` skips the others without a word.

use std::path::Path;

use serde::Deserialize;
use serde_json::json;

use crate::host::{HookTrust, TrustedHooks};

/// The request whose answer lists the hooks.
const LIST: u64 = 2;

pub(super) struct CodexTrust;

impl HookTrust for CodexTrust {
    fn args(&self) -> &'static [&'static str] {
        &["app-server"]
    }

    fn question(&self, folder: &Path) -> String {
        let client = json!({"name": "handover", "version": env!("CARGO_PKG_VERSION")});
        let lines = [
            json!({"id": 1, "method": "initialize", "params": {"clientInfo": client}}),
            json!({"method": "initialized"}),
            json!({"id": LIST, "method": "hooks/list", "params": {"cwds": [folder]}}),
        ];
        lines.iter().map(|line| format!("{line}\n")).collect()
    }

    fn answer(
        &self,
        line: &str,
        is_ours: &dyn Fn(&Path, &str) -> bool,
    ) -> Option<Result<TrustedHooks, String>> {
        let answer: Answer = serde_json::from_str(line).ok()?;
        if answer.id != Some(LIST) {
            return None;
        }
        if let Some(error) = answer.error {
            return Some(Err(error.message));
        }
        let folders = answer.result.data.into_iter();
        let hooks: Vec<Hook> = folders
            .flat_map(|folder| folder.hooks)
            .filter(|hook| is_ours(Path::new(&hook.source_path), &hook.command))
            .collect();
        let runs = |hook: &&Hook| {
            hook.enabled && matches!(hook.trust_status.as_str(), "trusted" | "managed")
        };
        Some(Ok(TrustedHooks {
            listed: hooks.len(),
            trusted: hooks.iter().filter(runs).count(),
            changed: hooks.iter().any(|hook| hook.trust_status == "modified"),
        }))
    }
}

#[derive(Deserialize)]
struct Answer {
    #[serde(default)]
    id: Option<u64>,
    #[serde(default)]
    result: Listed,
    /// Older versions do not know the request.
    #[serde(default)]
    error: Option<Refusal>,
}

#[derive(Deserialize)]
struct Refusal {
    #[serde(default)]
    message: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Listed {
    data: Vec<Folder>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Folder {
    hooks: Vec<Hook>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Hook {
    command: String,
    source_path: String,
    enabled: bool,
    trust_status: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_our_hooks_and_those_that_run() {
        let hook = |command: &str, status: &str| {
            json!({
                "key": "k", "command": command, "sourcePath": "/p/.codex/hooks.json",
                "enabled": true, "currentHash": "sha256:0", "trustStatus": status,
            })
        };
        let hooks =
            [hook("ours", "trusted"), hook("ours", "modified"), hook("theirs", "untrusted")];
        let line = json!({"id": 2, "result": {"data": [{"cwd": "/p", "hooks": hooks}]}});
        let is_ours = |path: &Path, command: &str| {
            path == Path::new("/p/.codex/hooks.json") && command == "ours"
        };
        let read = |line: &str| CodexTrust.answer(line, &is_ours);
        let expected = TrustedHooks { listed: 2, trusted: 1, changed: true };
        assert_eq!(read(&line.to_string()), Some(Ok(expected)));
        let refused = r#"{"id": 2, "error": {"code": -32600, "message": "unknown method"}}"#;
        assert_eq!(read(refused), Some(Err("unknown method".to_owned())));
        for other in ["", "{", r#"{"id": 1, "result": {}}"#, r#"{"method": "configWarning"}"#] {
            assert_eq!(read(other), None, "{other}");
        }
    }
}
