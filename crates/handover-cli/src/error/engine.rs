//! Errors of the run engine, with what to do next.

use std::path::Path;

use handover_agents::{AgentError, Environment, Registry};
use handover_engine::EngineError;
use handover_engine::chain::ChainError;
use handover_engine::git::GitError;
use handover_engine::story::StoryError;

use handover_hosts::Registry as HookRegistry;
use handover_model::Host;

use super::{CommandError, Exit};
use crate::env;

impl From<EngineError> for CommandError {
    fn from(error: EngineError) -> Self {
        if let EngineError::Store(error) = error {
            return error.into();
        }
        if let EngineError::File(error) = error {
            return error.into();
        }
        if let EngineError::Handoff(error) = error {
            return error.into();
        }
        if let EngineError::Story(story) | EngineError::Chain(ChainError::Story(story)) = &error {
            return Self::of_story(story);
        }
        if let EngineError::Git(git) = &error {
            return Self::of_git(git);
        }
        let (exit, code) = exit_and_code(&error);
        let hint = if let EngineError::Agent(AgentError::ProgramNotFound { host, .. }) = &error {
            Some(not_installed(*host))
        } else {
            hint(&error).map(ToOwned::to_owned)
        };
        Self { hint, ..Self::chain(exit, code, &error) }
    }
}

/// What to do about an agent program that is missing: another one may be there.
fn not_installed(host: Host) -> String {
    let registry = Registry::built_in();
    let is_installed = |other: &Host| {
        let environment = Environment::scrubbed(env::all(), *other, &[]);
        registry.locate(*other, Path::new(""), &environment).is_ok()
    };
    let mut others = registry.hosts();
    others.retain(|other| *other != host && *other != Host::COMMAND);
    let other = others.iter().find(|other| is_installed(other)).or_else(|| others.first());
    match (HookRegistry::built_in().find(host), other) {
        (Ok(known), Some(other)) => {
            format!("Install {}, or choose `--host {other}`.", known.title())
        }
        _ => "Check the program that `--agent-command` or `runs.command` names.".to_owned(),
    }
}

/// The exit code and the code for scripts.
fn exit_and_code(error: &EngineError) -> (Exit, &'static str) {
    match error {
        EngineError::Chain(ChainError::Twice { .. })
        | EngineError::Id(_)
        | EngineError::EmptyAnswer
        | EngineError::LongAnswer { .. }
        | EngineError::SecretName { .. }
        | EngineError::RedactedCommand => (Exit::Usage, "invalid_input"),
        EngineError::Chain(ChainError::Cycle { .. }) => (Exit::Usage, "dependencies"),
        EngineError::Uat(_) => (Exit::Usage, "invalid_scenarios"),
        EngineError::Unfinished { .. } => (Exit::Usage, "unfinished_run"),
        EngineError::NoSuchStory { .. }
        | EngineError::NothingAsked { .. }
        | EngineError::NothingUnfinished { .. } => (Exit::Usage, "not_found"),
        EngineError::SeveralAsked => (Exit::Usage, "ambiguous"),
        EngineError::Gate(_) => (Exit::Environment, "gate"),
        EngineError::Agent(_) | EngineError::Host { .. } => (Exit::Environment, "host"),
        EngineError::Journal { .. } => (Exit::Environment, "journal"),
        EngineError::Stuck { .. } => (Exit::Environment, "stuck"),
        EngineError::Interrupted => (Exit::Interrupted, "interrupted"),
        // The errors inside were converted before; what is left is about files.
        EngineError::Store(_)
        | EngineError::File(_)
        | EngineError::Handoff(_)
        | EngineError::Story(_)
        | EngineError::Git(_)
        | EngineError::Chain(ChainError::Story(_))
        | EngineError::Package(_)
        | EngineError::Io(_) => (Exit::Environment, "io"),
    }
}

/// What to do next.
fn hint(error: &EngineError) -> Option<&'static str> {
    Some(match error {
        EngineError::Chain(ChainError::Cycle { .. }) => {
            "Fix the dependencies that the epics declare."
        }
        EngineError::Uat(_) => {
            "docs/uat.md lists the fields; `--generate` has an agent rewrite them."
        }
        EngineError::Unfinished { .. } => {
            "Resume it with `--resume`, or end it with `handover run abandon`."
        }
        EngineError::NothingAsked { .. } => "Run `handover run answer` to see the open questions.",
        EngineError::SeveralAsked => {
            "Name the run and the story; `handover run answer` lists them."
        }
        EngineError::EmptyAnswer => "Write the answer as text; the next agent reads it verbatim.",
        EngineError::LongAnswer { .. } => {
            "Put the details into a project file and name that file in the answer."
        }
        EngineError::SecretName { .. } => "Rename the file.",
        EngineError::RedactedCommand => {
            "Pass `--agent-command` again, with the secret in an environment variable instead."
        }
        EngineError::Gate(_) => {
            "Install it, or set `gates.detect = false` and list your commands in `gates.commands`."
        }
        EngineError::Agent(_) | EngineError::Host { .. } => {
            "Install or fix it, or choose another with `--host` or `--agent-command`."
        }
        EngineError::Journal { .. } => "Update handover; nothing was changed.",
        EngineError::Stuck { .. } => "The processes cannot be killed; inspect them with `ps`.",
        EngineError::Store(_)
        | EngineError::File(_)
        | EngineError::Handoff(_)
        | EngineError::Story(_)
        | EngineError::Git(_)
        | EngineError::Chain(ChainError::Story(_) | ChainError::Twice { .. })
        | EngineError::Package(_)
        | EngineError::Id(_)
        | EngineError::Io(_)
        | EngineError::NoSuchStory { .. }
        | EngineError::NothingUnfinished { .. }
        | EngineError::Interrupted => return None,
    })
}

impl CommandError {
    fn of_story(error: &StoryError) -> Self {
        let (exit, code, hint) = match error {
            StoryError::NotFound { .. } => (
                Exit::Usage,
                "not_found",
                Some(
                    "Epics are named `epic-1.md` or `epic-1-title.md`, stories `1-1-title.md`. \
                     `runs.epics` and `runs.stories` name other folders.",
                ),
            ),
            StoryError::NoStories { .. } => {
                let hint = "Stories are files of their own, named `1-1-title.md`. `runs.stories` names other folders.";
                (Exit::Usage, "not_found", Some(hint))
            }
            StoryError::OnlyListed { .. } => {
                let hint = "Let BMAD create them (`create-story`), or write them: files named `1-1-title.md`. `runs.stories` names the folder if they are elsewhere.";
                (Exit::Usage, "not_found", Some(hint))
            }
            StoryError::Ambiguous { .. } => {
                (Exit::Usage, "ambiguous", Some("Rename or move one of them."))
            }
            StoryError::Contradiction { .. } => {
                (Exit::Usage, "ambiguous", Some("Make them agree."))
            }
            StoryError::UnknownDependency { .. } | StoryError::Cycle { .. } => (
                Exit::Usage,
                "dependencies",
                Some("Fix the dependencies that the stories declare."),
            ),
            StoryError::BadName { .. } | StoryError::BadFile { .. } => {
                (Exit::Usage, "invalid_story", None)
            }
            StoryError::Read { .. } => (Exit::Environment, "io", None),
        };
        Self { hint: hint.map(ToOwned::to_owned), ..Self::chain(exit, code, error) }
    }

    fn of_git(error: &GitError) -> Self {
        let (code, hint) = match error {
            GitError::NoGit => ("git", Some("Install git.")),
            GitError::NoRepository { .. } => {
                ("git", Some("Runs need a git repository: run `git init` and commit your files."))
            }
            GitError::NoCommit => ("git", Some("Make a first commit.")),
            GitError::Diverged { .. } => {
                ("git_diverged", Some("Merge or rename that branch, then try again."))
            }
            GitError::CheckedOut { .. } => {
                ("git_checked_out", Some("Switch to the branch that the run is based on."))
            }
            GitError::Moved { .. } => {
                ("git_moved", Some("Restore the branch, then continue with `--resume`."))
            }
            GitError::Conflict { .. } => {
                ("git_conflict", Some("Merge the branches yourself, then try again."))
            }
            GitError::Failed { .. } | GitError::Io(_) => ("git", None),
        };
        Self { hint: hint.map(ToOwned::to_owned), ..Self::chain(Exit::Environment, code, error) }
    }
}
