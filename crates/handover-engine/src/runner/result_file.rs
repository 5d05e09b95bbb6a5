//! The file an agent writes its result to, in its own worktree: every permission profile that may write at all
//! lets it write there, and no other agent works there. It is deleted before the work is looked at; only a
//! redacted copy is kept, with the logs.

use handover_files::{FileError, Folder, Sync};
use handover_text::Redactor;

use super::agent::{AgentAttempt, RESULT_FOLDER};
use crate::EngineError;
use crate::verdict::MAX_RESULT;

/// The folder of one result. Dropping it deletes it with everything in it.
pub(super) struct ResultFile<'a> {
    attempt: &'a AgentAttempt,
}

impl<'a> ResultFile<'a> {
    /// Creates the folder and deletes what a crashed engine left there.
    pub(super) fn create(attempt: &'a AgentAttempt) -> Result<Self, EngineError> {
        let file = Self { attempt };
        file.delete();
        attempt.result_folder().create()?;
        Ok(file)
    }

    /// What the agent wrote; none if there is no file. Links are not followed, because they could lead
    /// anywhere.
    pub(super) fn read(&self) -> Option<Vec<u8>> {
        match self.attempt.result_folder().read(&self.attempt.result_name(), MAX_RESULT) {
            Ok(bytes) => bytes,
            Err(FileError::TooLarge { .. }) => Some(b"too large".to_vec()),
            Err(_) => Some(b"not a file".to_vec()),
        }
    }

    /// Stores what the agent wrote, redacted.
    pub(super) fn keep(self, redactor: &Redactor) -> Result<(), EngineError> {
        let (logs, name) = (&self.attempt.logs, self.attempt.file("result.json"));
        logs.remove(&name)?;
        if let Some(bytes) = self.read() {
            let clean = match serde_json::from_slice(&bytes) {
                Ok(value) => redactor.clean_json(value).value().to_string().into_bytes(),
                Err(_) => redactor.redact_bytes(&bytes),
            };
            logs.replace(&name, &clean, Sync::No)?;
        }
        Ok(())
    }

    /// A link in its place is deleted, not followed.
    fn delete(&self) {
        if Folder::at(&self.attempt.folder).remove_folder(RESULT_FOLDER).is_err() {
            let _ = fs_err::remove_file(self.attempt.result_folder().path());
        }
    }
}

impl Drop for ResultFile<'_> {
    fn drop(&mut self) {
        self.delete();
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use handover_files::Folder;
    use handover_model::Profile;

    use super::*;
    use crate::pipeline::Pipeline;

    fn attempt(place: &Path) -> AgentAttempt {
        let folder = place.join("worktree");
        fs_err::create_dir_all(&folder).unwrap();
        AgentAttempt {
            story: "1-1-a".to_owned(),
            step: Pipeline::story(true, Profile::Edit).fix,
            number: 1,
            nonce: "n".to_owned(),
            secret_name: "guess-me".to_owned(),
            logs: Folder::at(place),
            folder,
        }
    }

    #[test]
    fn only_a_redacted_copy_stays() {
        let folder = tempfile::tempdir().unwrap();
        let attempt = attempt(folder.path());
        let token = format!("ghp_{}", "a1B2c3D4e5".repeat(4).split_at(36).0);
        let file = ResultFile::create(&attempt).unwrap();
        assert_eq!(file.read(), None);
        let path = attempt.result_folder().path();
        assert!(path.starts_with(&attempt.folder), "{}", path.display());
        fs_err::write(attempt.result(), format!(r#"{{"summary":"{token}"}}"#)).unwrap();
        file.keep(&Redactor::default()).unwrap();
        assert!(!path.exists());
        let copy = fs_err::read_to_string(folder.path().join("fix-1.result.json")).unwrap();
        assert!(copy.contains("summary") && !copy.contains(&token), "{copy}");
    }

    #[test]
    fn what_a_crashed_engine_left_is_deleted() {
        let folder = tempfile::tempdir().unwrap();
        let attempt = attempt(folder.path());
        let path = attempt.result_folder().path();
        fs_err::create_dir(&path).unwrap();
        fs_err::write(path.join("other.json"), "raw").unwrap();
        drop(ResultFile::create(&attempt).unwrap());
        assert!(!path.exists());
        // A link in its place is deleted, not followed.
        let elsewhere = tempfile::tempdir().unwrap();
        fs_err::write(elsewhere.path().join("x"), "x").unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), &path).unwrap();
        drop(ResultFile::create(&attempt).unwrap());
        assert!(elsewhere.path().join("x").exists());
    }
}
