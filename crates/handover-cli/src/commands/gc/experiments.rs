//! What experiments leave behind. Of one that is over, the output and the prompts of its agents go, and its plan and
//! journal stay: they are its result. One that can no longer be resumed goes as a whole.

use handover_engine::garbage::{Findings, Garbage, Kept};
use handover_files::{Entry, Folder, Kind};
use handover_model::Timestamp;

use crate::app::App;
use crate::commands::prove::record::{
    Standing, all_experiments, drop_clones, is_experiment, standing,
};
use crate::error::CommandError;

const FOLDER: &str = "experiments/";

/// What the name of a folder begins with that is being deleted.
const DOOMED: &str = "gc-";

/// What nobody needs of an experiment that is over.
const PARTS: [&str; 2] = ["logs", "prompts"];

/// Adds what nothing needs.
pub(super) fn find(
    app: &App,
    before: Timestamp,
    findings: &mut Findings,
) -> Result<(), CommandError> {
    let all = all_experiments(app)?;
    let owner = app.project()?.folder().owner();
    for entry in all.entries()? {
        let name = entry.name.as_str();
        let path = format!("{FOLDER}{name}");
        if let Some(doomed) = name.strip_prefix(DOOMED).filter(|name| is_experiment(name)) {
            let reason = format!("the deletion of {doomed} was interrupted");
            findings.garbage.push(Garbage { path, bytes: all.bytes(name)?, reason });
            continue;
        }
        if !is_experiment(name) || !is_old(&all.inside(name), &entry, before)? {
            continue;
        }
        let mut keep = |reason: String| findings.kept.push(Kept { path: path.clone(), reason });
        if entry.kind != Kind::Folder {
            keep("is not a folder".to_owned());
            continue;
        }
        if owner.is_some_and(|owner| owner != entry.owner) {
            keep("belongs to another user".to_owned());
            continue;
        }
        let whole = match standing(app, name)?.0 {
            Standing::UnderWay => {
                keep("the experiment is under way".to_owned());
                continue;
            }
            Standing::CanBeResumed { done, planned } => {
                keep(format!("{done} of {planned} trials are done, and it can be resumed"));
                continue;
            }
            Standing::Damaged(why) => {
                keep(format!("its record cannot be used: {why}"));
                continue;
            }
            Standing::Over => {
                parts(&all.inside(name), &path, findings)?;
                continue;
            }
            Standing::GivenUp => "its file of tasks was changed, so it cannot be resumed",
            Standing::NeverBegan => "it never began",
        };
        let (bytes, reason) = (all.bytes(name)?, whole.to_owned());
        findings.garbage.push(Garbage { path, bytes, reason });
    }
    Ok(())
}

fn parts(folder: &Folder, path: &str, findings: &mut Findings) -> Result<(), CommandError> {
    for part in PARTS.iter().filter(|part| folder.inside(part).is_there()) {
        findings.garbage.push(Garbage {
            path: format!("{path}/{part}"),
            bytes: folder.bytes(part)?,
            reason: "the experiment is over; its result stays".to_owned(),
        });
    }
    Ok(())
}

/// Whether nothing in an experiment was written since a time. Lines that are added to a file do not change its folder.
fn is_old(folder: &Folder, entry: &Entry, before: Timestamp) -> Result<bool, CommandError> {
    let mut seconds = entry.modified.0;
    if entry.kind == Kind::Folder {
        seconds = folder.entries()?.iter().map(|one| one.modified.0).fold(seconds, i64::max);
    }
    Ok(Timestamp::from_micros(seconds.saturating_mul(1_000_000)) < before)
}

pub(super) fn is_one(garbage: &Garbage) -> bool {
    garbage.path.starts_with(FOLDER)
}

/// Deletes what was found, unless somebody has resumed the experiment meanwhile.
pub(super) fn delete(app: &App, garbage: &Garbage) -> Result<bool, CommandError> {
    let Some(path) = garbage.path.strip_prefix(FOLDER) else { return Ok(false) };
    let all = all_experiments(app)?;
    if path.starts_with(DOOMED) {
        all.remove_folder(path)?;
        return Ok(true);
    }
    let (name, part) = path.split_once('/').map_or((path, None), |(name, part)| (name, Some(part)));
    // Held until the end.
    let (standing, _lock) = standing(app, name)?;
    match (standing, part) {
        (Standing::Over, Some(part)) => all.inside(name).remove_folder(part)?,
        (Standing::GivenUp | Standing::NeverBegan, None) => {
            let doomed = format!("{DOOMED}{name}");
            all.remove_folder(&doomed)?;
            all.rename(name, &doomed)?;
            all.remove_folder(&doomed)?;
            drop_clones(name);
        }
        _ => return Ok(false),
    }
    Ok(true)
}
