//! What must not be committed: secrets, huge files, nested repositories, files with filters.

use std::path::Path;

use handover_text::{Finding, is_known_password};

use super::Runner;
use crate::EngineError;
use crate::git::Change;

/// Files full of checksums, which look like secrets.
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

/// How much of a file is scanned.
const SCANNED: usize = 5 << 20;

/// A file that must not be committed, and why.
pub(super) struct CommitProblem {
    pub(super) path: String,
    pub(super) text: String,
}

impl Runner<'_, '_> {
    /// Why the difference between two trees must not be committed.
    pub(super) fn inspect(&self, from: &str, to: &str) -> Result<Vec<CommitProblem>, EngineError> {
        let changes = self.repo.changes(from, to)?;
        let mut problems = Vec::new();
        let present: Vec<(&Change, &str)> = changes
            .iter()
            .filter(|change| !change.is_repository())
            .filter_map(|change| Some((change, change.blob.as_deref()?)))
            .collect();
        for change in changes.iter().filter(|change| change.is_repository()) {
            let text = format!("`{}` is a git repository of its own", change.path);
            problems.push(CommitProblem { path: change.path.clone(), text });
        }
        problems.extend(self.filtered(from, to, &present)?);
        let blobs: Vec<&str> = present.iter().map(|(_, blob)| *blob).collect();
        let sizes = if blobs.is_empty() { Vec::new() } else { self.repo.blob_sizes(&blobs)? };
        let limits = &self.engine.config.runs;
        let total: u64 = sizes.iter().sum();
        if total > limits.max_commit_bytes {
            let text = format!(
                "the change has {total} bytes, and {} are allowed (runs.max_commit_bytes)",
                limits.max_commit_bytes
            );
            problems.push(CommitProblem { path: String::new(), text });
        }
        for ((change, blob), size) in present.iter().zip(&sizes) {
            let path = change.path.clone();
            if *size > limits.max_file_bytes {
                let text = format!(
                    "`{path}` has {size} bytes, and {} are allowed (runs.max_file_bytes)",
                    limits.max_file_bytes
                );
                problems.push(CommitProblem { path, text });
                continue;
            }
            let content = self.repo.blob(blob)?;
            let secret = || self.secret(from, &path, &content);
            if let Some(text) =
                conflict_markers(&path, &content).map_or_else(secret, |text| Ok(Some(text)))?
            {
                problems.push(CommitProblem { path, text });
            }
        }
        Ok(problems)
    }

    /// Files that git would pass through a program before storing them, such as those of git-lfs or
    /// git-crypt. That program does not run here, and without it the wrong content would be committed.
    fn filtered(
        &self,
        from: &str,
        to: &str,
        present: &[(&Change, &str)],
    ) -> Result<Vec<CommitProblem>, EngineError> {
        let paths: Vec<&str> = present.iter().map(|(change, _)| change.path.as_str()).collect();
        let mut all = self.repo.filtered(from, &paths)?;
        all.extend(self.repo.filtered(to, &paths)?);
        all.sort();
        all.dedup_by(|one, other| one.0 == other.0);
        let problem = |(path, filter): (String, String)| {
            let text = format!(
                "`{path}` has the git filter `{filter}`, which a run does not start; \
                 leave the file as it was"
            );
            CommitProblem { path, text }
        };
        Ok(all.into_iter().map(problem).collect())
    }

    /// A secret that is new in the file. A suspicious name alone (`password = "hunter2"`) is mostly a test
    /// or a default; it counts only if the value looks random or the file is meant for secrets.
    fn secret(
        &self,
        from: &str,
        path: &str,
        content: &[u8],
    ) -> Result<Option<String>, EngineError> {
        let name = path.rsplit('/').next().unwrap_or(path);
        if LOCK_FILES.contains(&name) {
            return Ok(None);
        }
        let text = String::from_utf8_lossy(&content[..content.len().min(SCANNED)]);
        let redactor = self.engine.redactor;
        let is_vault = is_vault(name);
        let suspects: Vec<Finding> = redactor
            .find(&text)
            .into_iter()
            .filter(|found| found.rule != RANDOM)
            .filter(|found| {
                let value = &text[found.start..found.end];
                let guessed = is_guess(found) && redactor.find(value).is_empty();
                is_vault || !guessed && !is_example(found, value)
            })
            .collect();
        if suspects.is_empty() {
            return Ok(None);
        }
        let before = self.repo.file_of(from, Path::new(path))?.unwrap_or_default();
        let before = String::from_utf8_lossy(&before);
        let new = suspects.iter().find(|found| !before.contains(&text[found.start..found.end]));
        Ok(new.map(|found| {
            let line = text[..found.start].matches('\n').count() + 1;
            format!("`{path}` contains a secret in line {line} ({})", found.rule)
        }))
    }
}

/// An unresolved conflict. The marker names a commit, so nothing else looks like it.
fn conflict_markers(path: &str, content: &[u8]) -> Option<String> {
    let is_mark = |line: &[u8]| {
        let commit = line.strip_prefix(b"<<<<<<< ").and_then(|rest| rest.get(..40));
        commit.is_some_and(|commit| commit.iter().all(u8::is_ascii_hexdigit))
    };
    let has_mark = content.split(|byte| *byte == b'\n').any(is_mark);
    has_mark.then(|| format!("`{path}` still has conflict markers"))
}

/// In code, random text by itself is mostly a checksum.
const RANDOM: &str = "random-string";

/// Rules that go by a name, or by what stands beside a value.
fn is_guess(found: &Finding) -> bool {
    matches!(
        found.rule.as_str(),
        "assignment"
            | "call-with-credentials"
            | "command-line"
            | "user-name"
            | "account-id"
            | "account-host"
    )
}

/// An address with a password that everybody knows: `user:password@localhost`.
fn is_example(found: &Finding, value: &str) -> bool {
    found.rule == "url-credentials"
        && value.split_once(':').is_some_and(|(_, password)| is_known_password(password))
}

/// Files whose purpose is to hold secrets.
fn is_vault(name: &str) -> bool {
    name == ".npmrc"
        || name == ".netrc"
        || name == ".pypirc"
        || name.starts_with("id_rsa")
        || name.starts_with("credentials")
        || (name.starts_with(".env") && !name.ends_with("example") && !name.ends_with("sample"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conflict_markers_name_a_commit() {
        let hash = "0123456789abcdef0123456789abcdef01234567";
        let text = format!("a\n<<<<<<< {hash}\nb\n=======\nc\n>>>>>>> x\n");
        let found = conflict_markers("src/a.rs", text.as_bytes());
        assert_eq!(found.as_deref(), Some("`src/a.rs` still has conflict markers"));
        for harmless in [
            "<<<<<<< HEAD\n",
            &format!(" <<<<<<< {hash}\n"),
            &format!("<<<<<<< {}\n", &hash[1..]),
            "<<<<<<< zzzz456789abcdef0123456789abcdef01234567\n",
            "",
        ] {
            assert_eq!(conflict_markers("a", harmless.as_bytes()), None, "{harmless}");
        }
        // Such as in a binary file.
        assert!(conflict_markers("a", &[b"\xff\n".as_slice(), text.as_bytes()].concat()).is_some());
    }

    #[test]
    fn files_meant_for_secrets_are_recognized_by_name() {
        for name in [
            ".env",
            ".env.local",
            ".npmrc",
            ".netrc",
            ".pypirc",
            "id_rsa",
            "id_rsa_work",
            "credentials.json",
        ] {
            assert!(is_vault(name), "{name}");
        }
        for name in [".env.example", ".env.sample", "env", "my.npmrc", "rsa", "main.rs", ""] {
            assert!(!is_vault(name), "{name}");
        }
    }

    #[test]
    fn rules_that_guess_by_name_are_known() {
        let found = |rule: &str| Finding { rule: rule.to_owned(), start: 0, end: 1 };
        for rule in ["assignment", "call-with-credentials", "command-line", "user-name"] {
            assert!(is_guess(&found(rule)), "{rule}");
        }
        for rule in ["github-token", RANDOM, ""] {
            assert!(!is_guess(&found(rule)), "{rule}");
        }
    }
}
