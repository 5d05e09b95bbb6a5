//! Orders stories: each after its dependencies, otherwise by number.

use std::collections::{BTreeMap, BTreeSet};

use super::discover::{Named, named};
use super::{Story, StoryError};

/// Sorts stories so that each comes after its dependencies, whose ids are returned with it.
pub fn in_order(epic: &str, stories: Vec<Story>) -> Result<Vec<(Story, Vec<String>)>, StoryError> {
    let mut waits: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for story in &stories {
        let mut on = BTreeSet::new();
        for word in &story.depends_on {
            on.extend(resolve(epic, story, word, &stories)?);
        }
        waits.insert(story.id.clone(), on);
    }
    let mut left = stories;
    left.sort_by(|a, b| {
        let key = |story: &Story| (story.number.unwrap_or(u64::MAX), story.id.clone());
        key(a).cmp(&key(b))
    });
    let mut done: BTreeSet<String> = BTreeSet::new();
    let mut order = Vec::with_capacity(left.len());
    while !left.is_empty() {
        let free = left.iter().position(|story| waits[&story.id].is_subset(&done));
        let Some(at) = free else { return Err(cycle(&left, &waits)) };
        let story = left.remove(at);
        done.insert(story.id.clone());
        let on = waits.remove(&story.id).unwrap_or_default();
        order.push((story, on.into_iter().collect()));
    }
    Ok(order)
}

/// The story that a reference names. Stories of other epics are ignored.
fn resolve(
    epic: &str,
    story: &Story,
    word: &str,
    stories: &[Story],
) -> Result<Option<String>, StoryError> {
    if let Some(found) = stories.iter().find(|other| other.id == word) {
        return Ok(Some(found.id.clone()));
    }
    let number = match named(word, epic) {
        Named::Ours(number) => number,
        Named::Another | Named::Nothing => return Ok(None),
    };
    let mut fitting = stories.iter().filter(|other| other.number == Some(number));
    match (fitting.next(), fitting.next()) {
        (Some(found), None) => Ok(Some(found.id.clone())),
        (Some(one), Some(other)) => Err(StoryError::Ambiguous {
            what: format!("story `{word}`, on which `{}` depends,", story.id),
            paths: vec![one.path.clone(), other.path.clone()],
        }),
        (None, _) => Err(StoryError::UnknownDependency {
            story: story.id.clone(),
            on: word.to_owned(),
            epic: epic.to_owned(),
        }),
    }
}

/// Follows dependencies until one repeats.
fn cycle(left: &[Story], waits: &BTreeMap<String, BTreeSet<String>>) -> StoryError {
    let stuck: BTreeSet<&str> = left.iter().map(|story| story.id.as_str()).collect();
    let mut path: Vec<&str> = Vec::new();
    let mut at = left[0].id.as_str();
    loop {
        if let Some(start) = path.iter().position(|seen| *seen == at) {
            let mut stories: Vec<String> =
                path[start..].iter().map(|id| (*id).to_owned()).collect();
            stories.push(at.to_owned());
            return StoryError::Cycle { stories };
        }
        path.push(at);
        let next = waits.get(at).and_then(|on| on.iter().find(|id| stuck.contains(id.as_str())));
        match next {
            Some(next) => at = next,
            None => return StoryError::Cycle { stories: vec![at.to_owned()] },
        }
    }
}

#[cfg(test)]
#[path = "depends_tests.rs"]
mod tests;
