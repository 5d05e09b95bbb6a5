//! The history in an index: adds commits that are new, drops those that are not part of the history any more,
//! and walks back further if an earlier walk was interrupted.

use std::collections::{HashMap, HashSet};

use super::history::{self, Commit, MAX_COMMITS};
use super::inverted::{Additions, Inverted, Renumber};
use super::model::{Model, put_changes};
use super::reverted::{self, Claim};
use super::tables::{CommitRow, DELETED, NONE};
use super::{Checkout, PlacesError, Watch};
use crate::GitError;

/// The byte of a posting: the frequency of a word in a message, and whether the subject has it.
const IN_SUBJECT: u8 = 0x10;

/// How often a word is in a message, and whether it is in the subject.
pub(super) fn occurrence(byte: u8) -> (u32, bool) {
    (u32::from(byte & 15), byte & IN_SUBJECT != 0)
}

/// Brings the history of a model up to date; returns whether anything changed.
pub(super) fn update(
    model: &mut Model,
    checkout: Checkout<'_>,
    watch: Watch<'_>,
) -> Result<bool, PlacesError> {
    let renumbered = model.compact_commits(MAX_COMMITS);
    let mut news = News { changed: renumbered.is_some(), ..News::default() };
    match news.read(model, checkout, watch) {
        Err(GitError::Stopped) => {}
        read => read?,
    }
    if renumbered.is_some() || !news.words.is_empty() {
        let renumber = renumbered.as_deref().map_or(Renumber::Keep, Renumber::To);
        let merged = Inverted::merge(model.words.view(), renumber, &news.words);
        model.words = merged.ok_or(PlacesError::Damaged)?;
    }
    if news.changed {
        reverted::resolve(model);
    }
    Ok(news.changed)
}

/// What an update adds.
#[derive(Default)]
struct News {
    words: Additions,
    changed: bool,
}

impl News {
    fn read(
        &mut self,
        model: &mut Model,
        checkout: Checkout<'_>,
        watch: Watch<'_>,
    ) -> Result<(), GitError> {
        let Some(head) = checkout.git.head()? else { return Ok(()) };
        if !model.origin.head.is_empty() && model.origin.head != head {
            match self.advance(model, checkout, &head, watch) {
                // The commit that was known does not exist any more.
                Err(GitError::Failed { .. }) => model.drop_history(),
                moved => moved?,
            }
            self.changed = true;
        }
        if model.origin.base.is_empty() {
            (model.origin.base, model.origin.head) = (head.clone(), head);
            self.changed = true;
        }
        if !model.origin.complete {
            self.walk_back(model, checkout, watch)?;
        }
        Ok(())
    }

    /// Moves the history from the commit that is known to another.
    fn advance(
        &mut self,
        model: &mut Model,
        checkout: Checkout<'_>,
        head: &str,
        watch: Watch<'_>,
    ) -> Result<(), GitError> {
        let Checkout { git, redactor, .. } = checkout;
        let (known, most) = (model.origin.head.clone(), format!("--max-count={MAX_COMMITS}"));
        let (not_known, not_head) = (format!("^{known}"), format!("^{head}"));
        let mut commits = Vec::new();
        history::read(git, &[&most, head, &not_known, "--"], watch.stop, &mut |commit| {
            commits.push(commit.redacted(redactor));
            true
        })?;
        // Those that are gone; and one that comes back takes a new place, with what it says.
        let mut drop: HashSet<[u8; 20]> = commits.iter().map(|commit| commit.id).collect();
        let gone = ["rev-list", "--no-merges", &most, &known, &not_head, "--"];
        git.records(&gone, &[], b'\n', watch.stop, &mut |line| {
            drop.extend(history::id(line));
            true
        })?;
        for (row, id) in model.commits.iter_mut().zip(&model.commit_ids) {
            if drop.contains(id) {
                row.length = 0;
            }
        }
        model.claims.retain(|claim| !drop.contains(&claim.by));
        self.add(model, &commits, Renames::Replace);
        head.clone_into(&mut model.origin.head);
        Ok(())
    }

    /// Continues the walk back from where it was interrupted. Git counts the same commits in the same order as
    /// long as it starts from the same one.
    fn walk_back(
        &mut self,
        model: &mut Model,
        checkout: Checkout<'_>,
        watch: Watch<'_>,
    ) -> Result<(), GitError> {
        let Checkout { git, redactor, .. } = checkout;
        let walked = usize::try_from(model.origin.walked).unwrap_or(usize::MAX);
        let (base, skip) = (model.origin.base.clone(), format!("--skip={walked}"));
        let most = format!("--max-count={}", MAX_COMMITS.saturating_sub(walked));
        let mut commits = Vec::new();
        let walk = history::read(git, &[&skip, &most, &base, "--"], watch.stop, &mut |commit| {
            commits.push(commit.redacted(redactor));
            !(watch.stop)()
        });
        self.add(model, &commits, Renames::Keep);
        model.origin.walked += commits.len() as u64;
        match walk {
            Err(GitError::Stopped) => {}
            // Missing objects, as in a damaged repository: what was read is all there is.
            Ok(()) | Err(GitError::Failed { .. }) => model.origin.complete = true,
            Err(error) => return Err(error),
        }
        self.changed = true;
        Ok(())
    }

    /// Adds commits, newest first.
    fn add(&mut self, model: &mut Model, commits: &[Commit], renames: Renames) {
        let mut seen = HashSet::new();
        for commit in commits {
            let moved = commit.renames.iter().map(|(from, to)| (from, Some(to)));
            for (from, to) in moved.chain(commit.deletions.iter().map(|from| (from, None))) {
                let (from, to) = (model.path(from), to.map_or(DELETED, |to| model.path(to)));
                let row = &mut model.paths[from as usize];
                let known = row.renamed != NONE && renames == Renames::Keep;
                // The newest counts.
                if !known && seen.insert(from) {
                    row.renamed = to;
                }
            }
            let targets = commit.reverts().into_iter();
            model.claims.extend(targets.map(|target| Claim { by: commit.id, target }));
            let telling = commit.is_telling();
            let paths: Vec<u32> = if telling {
                commit.paths.iter().map(|path| model.path(path)).collect()
            } else {
                Vec::new()
            };
            put_changes(&mut model.changes, paths);
            model.subjects.extend_from_slice(commit.subject().as_bytes());
            let length = self.add_words(model.commits.len() as u32, commit);
            model.commits.push(CommitRow {
                time: commit.time,
                length,
                subject_end: model.subjects.len() as u32,
                changes_end: model.changes.len() as u32,
            });
            model.commit_ids.push(commit.id);
        }
    }

    fn add_words(&mut self, number: u32, commit: &Commit) -> u32 {
        let (subject, all) = commit.terms();
        let length = all.len() as u32 + 1;
        let mut bytes: HashMap<String, u8> = HashMap::new();
        for term in all {
            let byte = bytes.entry(term).or_default();
            *byte = (*byte + 1).min(15);
        }
        for term in subject {
            *bytes.entry(term).or_insert(1) |= IN_SUBJECT;
        }
        for (term, byte) in bytes {
            self.words.entry(term).or_default().push((number, byte));
        }
        length
    }
}

/// What happens to a rename that is known already.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Renames {
    /// Newer commits come in.
    Replace,
    /// Older commits come in.
    Keep,
}
