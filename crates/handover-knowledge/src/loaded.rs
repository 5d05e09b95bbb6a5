//! Files that an agent program loads by itself, so that its briefs need not repeat them.

use handover_model::Host;

/// What each program loads from the root of a project: whole paths, and folders with a slash at the end.
const LOADED: &[(&str, &[&str])] = &[
    (
        "claude",
        &[
            "CLAUDE.md",
            "CLAUDE.local.md",
            ".claude/CLAUDE.md",
            ".claude/rules/",
            "claude-memory:MEMORY.md",
        ],
    ),
    ("codex", &["AGENTS.md", "AGENTS.override.md"]),
    (
        "copilot",
        &[
            "AGENTS.md",
            "CLAUDE.md",
            "GEMINI.md",
            ".github/copilot-instructions.md",
            ".github/instructions/",
        ],
    ),
    ("gemini", &["GEMINI.md", ".gemini/GEMINI.md"]),
    ("opencode", &["AGENTS.md", "CLAUDE.md"]),
    ("qwen", &["QWEN.md", "AGENTS.md"]),
];

/// Whether a program loads what a note was learned from, given the `source` of the note.
pub fn is_loaded_by(host: Host, source: &str) -> bool {
    let files =
        LOADED.iter().find(|(name, _)| *name == host.as_str()).map_or(&[][..], |(_, files)| files);
    files.iter().any(
        |file| {
            if file.ends_with('/') { source.starts_with(file) } else { source == *file }
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_program_loads_its_own_files() {
        assert!(is_loaded_by(Host::CLAUDE, "CLAUDE.md"));
        assert!(is_loaded_by(Host::CLAUDE, ".claude/rules/style.md"));
        assert!(is_loaded_by(Host::CLAUDE, "claude-memory:MEMORY.md"));
        assert!(!is_loaded_by(Host::CLAUDE, "AGENTS.md"));
        assert!(is_loaded_by(Host::CODEX, "AGENTS.md"));
        // Loaded only when the agent works there.
        assert!(!is_loaded_by(Host::CODEX, "crates/x/AGENTS.md"));
        assert!(!is_loaded_by(Host::COMMAND, "AGENTS.md"));
    }
}
