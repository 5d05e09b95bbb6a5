//! What must not be committed: secrets, huge files, repositories inside the repository.

use handover_model::RedactionMode;
use handover_model::config::RedactionConfig;
use handover_text::Redactor;

use super::Runner;
use crate::EngineError;
use crate::git::Change;

/// Files whose contents are checksums by nature.
const LOCK_FILES: &[&str] = &[
    "Cargo.lock",
    "package-lock.json",
    "npm-shrinkwrap.json",
    "pnpm-lock.yaml",
    "yarn.lock",
    "poetry.lock",
    "uv.lock",
    "Pipfile.lock",
    "go.sum",
    "composer.lock",
    "Gemfile.lock",
];

/// How much of a file is looked through.
const SCANNED: usize = 5 << 20;

/// A file that must not be committed, and why.
pub(super) struct Problem {
    pub(super) path: String,
    pub(super) text: String,
}

impl Runner<'_, '_> {
    /// What stands against committing the difference between two trees.
    pub(super) fn inspect(&self, from: &str, to: &str) -> Result<Vec<Problem>, EngineError> {
        let changes = self.repo.changes(from, to)?;
        let mut problems = Vec::new();
        let there: Vec<(&Change, &str)> = changes
            .iter()
            .filter(|change| !change.is_repository())
            .filter_map(|change| Some((change, change.blob.as_deref()?)))
            .collect();
        for change in changes.iter().filter(|change| change.is_repository()) {
            let text = format!("`{}` is a git repository of its own", change.path);
            problems.push(Problem { path: change.path.clone(), text });
        }
        let blobs: Vec<&str> = there.iter().map(|(_, blob)| *blob).collect();
        let sizes = if blobs.is_empty() { Vec::new() } else { self.repo.blob_sizes(&blobs)? };
        let limits = &self.engine.config.runs;
        let total: u64 = sizes.iter().sum();
        if total > limits.max_commit_bytes {
            let text = format!(
                "the change has {total} bytes, and {} are allowed (runs.max_commit_bytes)",
                limits.max_commit_bytes
            );
            problems.push(Problem { path: String::new(), text });
        }
        let redactor = self.patterns();
        for ((change, blob), size) in there.iter().zip(&sizes) {
            let path = change.path.clone();
            if *size > limits.max_file_bytes {
                let text = format!(
                    "`{path}` has {size} bytes, and {} are allowed (runs.max_file_bytes)",
                    limits.max_file_bytes
                );
                problems.push(Problem { path, text });
            } else if let Some(text) = self.secret(&redactor, &change.path, blob)? {
                problems.push(Problem { path, text });
            }
        }
        Ok(problems)
    }

    /// Formats of vendors and keys only: in code, random strings and words such as `password` are
    /// mostly no secrets.
    fn patterns(&self) -> Redactor {
        let config = &self.engine.config.redaction;
        let mode = match config.mode {
            RedactionMode::Off => RedactionMode::Off,
            RedactionMode::PatternOnly | RedactionMode::PatternAndEntropy => {
                RedactionMode::PatternOnly
            }
        };
        Redactor::new(&RedactionConfig { mode, ..config.clone() }).unwrap_or_default()
    }

    fn secret(
        &self,
        redactor: &Redactor,
        path: &str,
        blob: &str,
    ) -> Result<Option<String>, EngineError> {
        let name = path.rsplit('/').next().unwrap_or(path);
        if LOCK_FILES.contains(&name) {
            return Ok(None);
        }
        let mut content = self.repo.blob(blob)?;
        content.truncate(SCANNED);
        let text = String::from_utf8_lossy(&content);
        const GUESSES: &[&str] = &["assignment", "call-with-credentials", "command-line", "url"];
        let found = redactor
            .find(&text)
            .into_iter()
            .find(|found| !GUESSES.iter().any(|guess| found.rule.starts_with(guess)));
        Ok(found.map(|found| {
            let line = text[..found.start].matches('\n').count() + 1;
            format!("`{path}` holds a secret in line {line} ({})", found.rule)
        }))
    }
}
