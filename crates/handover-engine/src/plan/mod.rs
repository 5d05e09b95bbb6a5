//! From a user's request to the plan of a run: stories, base commit, branch.

mod cautions;
mod earlier;
mod preview;
mod request;

use std::path::Path;

use handover_handoff::Handoffs;
use handover_model::config::Config;
use handover_model::{EpicId, GroupId, SessionId, Timestamp};
use handover_text::Redactor;

use crate::EngineError;
use crate::data::Account;
use crate::gates::{Gate, GateFolder, GateKind, detect};
use crate::git::{GitError, Repo, ref_part};
use crate::reducer::{Plan, PlannedStory, Skip};
use crate::story::{self, Discovery, Layout, Status, StoryError, discover};

pub(crate) use cautions::{NO_GATES, cautions};
pub use preview::{Preview, PreviewPrompt};
pub use request::{Overrides, RunRequest};

/// What planning reads. Only [`Planner::plan`] writes: it may fast-forward the run's branch.
pub(crate) struct Planner<'a> {
    pub(crate) project: &'a Path,
    pub(crate) repo: &'a Repo,
    pub(crate) redactor: &'a Redactor,
    pub(crate) config: &'a Config,
    pub(crate) gates: &'a [&'static dyn GateKind],
    pub(crate) handoffs: Handoffs<'a>,
    pub(crate) now: Timestamp,
}

impl Planner<'_> {
    /// Plans a run. The branch of an earlier run that the user's branch has overtaken is fast-forwarded.
    pub(crate) fn plan(&self, request: &RunRequest) -> Result<Plan, EngineError> {
        let discovery = self.discover(request)?;
        self.plan_of(request, &discovery, !request.overrides.no_commit)
    }

    /// The epic and its stories. A run that only closes the epic has no stories of its own.
    fn discover(&self, request: &RunRequest) -> Result<Discovery, EngineError> {
        let layout = Layout::new(&self.config.runs);
        let found = discover(self.project, &layout, &request.epic);
        if !request.only_closing {
            return Ok(found?);
        }
        let epic = request.epic.clone();
        let none = Discovery {
            epic,
            epic_file: None,
            stories: Vec::new(),
            matches: Vec::new(),
            others: Vec::new(),
        };
        match found {
            Ok(found) => Ok(Discovery { stories: Vec::new(), ..found }),
            Err(
                StoryError::NotFound { .. }
                | StoryError::NoStories { .. }
                | StoryError::OnlyListed { .. },
            ) => Ok(none),
            Err(error) => Err(error.into()),
        }
    }

    fn plan_of(
        &self,
        request: &RunRequest,
        discovery: &Discovery,
        moves_branch: bool,
    ) -> Result<Plan, EngineError> {
        let branch = format!("handover/epic-{}", request.epic);
        let user_branch = self.repo.current_branch()?;
        let base = self.base(request, &branch, user_branch.as_deref(), moves_branch)?;
        let continues = self.repo.resolve(&format!("refs/heads/{branch}"))?.is_some();
        let stories = self.stories(request, discovery, &base)?;
        let records_in = match &request.session {
            Some(session) => session.clone(),
            None => own_session(&request.epic)?,
        };
        Ok(Plan {
            epic: request.epic.clone(),
            epic_file: discovery.epic_file.clone(),
            records_in,
            base,
            user_branch,
            branch,
            continues,
            closes_anyway: request.close,
            checks_base: request.check_base && !self.gates().is_empty(),
            pipeline: request.pipeline.clone(),
            stories,
            not_stories: discovery
                .numbered_others()
                .map(|other| (other.path.clone(), other.reason.to_owned()))
                .collect(),
        })
    }

    /// The gates of the user's checkout; those of a worktree may differ.
    pub(crate) fn gates(&self) -> Vec<Gate> {
        let folder = GateFolder {
            path: self.project,
            checkout: self.project,
            below: Path::new(""),
            scratch: Path::new("reports"),
        };
        detect(self.gates, &folder, &self.config.gates)
    }

    /// The commit that a run starts from: the branch of an earlier run is continued.
    fn base(
        &self,
        request: &RunRequest,
        branch: &str,
        user_branch: Option<&str>,
        moves_branch: bool,
    ) -> Result<String, EngineError> {
        let repo = self.repo;
        let full = format!("refs/heads/{branch}");
        let head = match &request.from {
            Some(commit) => commit.clone(),
            None => repo.head()?,
        };
        let earlier = repo.resolve(&full)?;
        if request.only_closing && !request.pipeline.keeps_closing() {
            // Nothing will be committed, so the state of the branch does not matter.
            return Ok(earlier.unwrap_or(head));
        }
        if user_branch == Some(branch) {
            return Err(GitError::CheckedOut { branch: branch.to_owned() }.into());
        }
        match earlier {
            Some(earlier) if repo.is_ancestor(&head, &earlier)? => Ok(earlier),
            Some(earlier) if repo.is_ancestor(&earlier, &head)? => {
                if moves_branch && earlier != head {
                    repo.move_ref(&full, &head, Some(&earlier))?;
                }
                Ok(head)
            }
            Some(_) => Err(GitError::Diverged { branch: branch.to_owned() }.into()),
            None => Ok(head),
        }
    }

    fn stories(
        &self,
        request: &RunRequest,
        discovery: &Discovery,
        base: &str,
    ) -> Result<Vec<PlannedStory>, EngineError> {
        let mut stories = Vec::new();
        let mut before_start = request.start_from.is_some();
        for (story, waits_for) in &discovery.stories {
            let name = format!("{} {}", story.id, story.path);
            if let Some(found) = self.redactor.find(&name).pop() {
                return Err(EngineError::SecretName { story: story.id.clone(), rule: found.rule });
            }
            before_start &= !is_start(&story.id, story.number, request);
            let earlier = earlier::earlier(self.repo, &story.id, &story.path, &story.text)?;
            let skip = match self.not_ready(story, base, earlier.is_some())? {
                Some(Skip::Done) if before_start => Some(Skip::Done),
                _ if before_start => Some(Skip::Before),
                _ if request.all => None,
                skip => skip,
            };
            let earlier = earlier.filter(|_| skip.is_none());
            let done = match skip {
                Some(Skip::Done) => self.account(base, story)?,
                Some(Skip::Draft | Skip::Blocked | Skip::Before) | None => None,
            };
            stories.push(PlannedStory {
                earlier,
                id: story.id.clone(),
                title: story.title.clone(),
                path: story.path.clone(),
                waits_for: waits_for.clone(),
                skip,
                done,
            });
        }
        if let Some(story) = request.start_from.clone().filter(|_| before_start) {
            let stories = stories.into_iter().map(|story| story.id).collect();
            return Err(EngineError::NoSuchStory {
                epic: request.epic.to_string(),
                story,
                stories,
            });
        }
        Ok(stories)
    }

    /// Why a story is not run, from its file and `sprint-status.yaml`: done in either place is done, and a draft
    /// in either place is a draft.
    fn not_ready(
        &self,
        story: &story::Story,
        base: &str,
        has_failed: bool,
    ) -> Result<Option<Skip>, EngineError> {
        let listed = story::sprint_status(self.project, &story.id);
        let is = |status| story.status == Some(status) || listed == Some(status);
        Ok(if is(Status::Done) || self.is_done_in(base, &story.path)? {
            Some(Skip::Done)
        } else if is(Status::Backlog) {
            Some(Skip::Draft)
        } else if story.status == Some(Status::Blocked) {
            Some(Skip::Blocked)
        } else if listed == Some(Status::Blocked) && !has_failed {
            // A story that a run has listed as blocked is tried again by the next.
            Some(Skip::Blocked)
        } else {
            None
        })
    }

    fn is_done_in(&self, base: &str, path: &str) -> Result<bool, EngineError> {
        let text = self.text_in(base, path)?;
        Ok(text.is_some_and(|text| Status::of(&text) == Some(Status::Done)))
    }

    /// What the records of a story that is done say, on the branch or in the checkout.
    fn account(&self, base: &str, story: &story::Story) -> Result<Option<Account>, EngineError> {
        let in_base = self.text_in(base, &story.path)?.map(|text| story::account(&text));
        let known = in_base.filter(|account| !account.is_empty());
        let known = known.unwrap_or_else(|| story::account(&story.text));
        Ok((!known.is_empty()).then_some(known))
    }

    fn text_in(&self, commit: &str, path: &str) -> Result<Option<String>, EngineError> {
        let file = self.repo.file_of(commit, &self.repo.prefix.join(path))?;
        Ok(file.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }
}

/// The session that the runs of an epic share.
pub(crate) fn own_session(epic: &EpicId) -> Result<SessionId, EngineError> {
    Ok(SessionId::new(format!("epic-{epic}"))?)
}

/// Whether a story is the one to start from, by id or number: `2`, `1.2` and `1-2-login` all name the
/// second story of epic 1.
fn is_start(id: &str, number: Option<u64>, request: &RunRequest) -> bool {
    let Some(word) = &request.start_from else { return true };
    if id == word {
        return true;
    }
    let last = word.rsplit(['.', '-']).next().and_then(|last| last.parse().ok());
    let epic = word.rsplit_once(['.', '-']).map_or(request.epic.as_str(), |(epic, _)| epic);
    last.is_some() && last == number && epic.trim_start_matches("story-") == request.epic.as_str()
}

/// The group for a story's records: its id, as far as that is a valid group name.
pub(crate) fn group_of(story: &str) -> Result<GroupId, EngineError> {
    let part = ref_part(story);
    let part = part.trim_start_matches(|c: char| !c.is_ascii_alphanumeric());
    let short = if part.len() > 64 {
        let hash = blake3::hash(story.as_bytes()).to_hex();
        format!("{}-{}", &part[..55], &hash[..8])
    } else {
        part.to_owned()
    };
    Ok(GroupId::new(short)?)
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
