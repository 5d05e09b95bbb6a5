//! Orders epics: each after its dependencies, otherwise as the user named them.

use std::collections::BTreeSet;
use std::path::Path;

use handover_model::EpicId;

use super::ChainError;
use crate::story::{self, Layout};

/// An epic of a chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainLink {
    /// The epic.
    pub epic: EpicId,
    /// The epics that it depends on, whether or not they are part of the chain.
    pub builds_on: Vec<EpicId>,
}

/// Reads the dependencies of each epic from its file.
pub fn links(root: &Path, layout: &Layout, epics: &[EpicId]) -> Result<Vec<ChainLink>, ChainError> {
    let mut links: Vec<ChainLink> = Vec::new();
    for epic in epics {
        if links.iter().any(|link| link.epic == *epic) {
            return Err(ChainError::Twice { epic: epic.clone() });
        }
        let builds_on = story::epic_dependencies(root, layout, epic)?;
        links.push(ChainLink { epic: epic.clone(), builds_on });
    }
    Ok(links)
}

/// Sorts epics so that each comes after its dependencies.
pub fn in_order(mut left: Vec<ChainLink>) -> Result<Vec<ChainLink>, ChainError> {
    let mut order: Vec<ChainLink> = Vec::new();
    while !left.is_empty() {
        let waiting: BTreeSet<EpicId> = left.iter().map(|link| link.epic.clone()).collect();
        let free =
            left.iter().position(|link| !link.builds_on.iter().any(|on| waiting.contains(on)));
        let Some(at) = free else { return Err(cycle(&left)) };
        order.push(left.remove(at));
    }
    Ok(order)
}

/// Follows dependencies until one repeats.
fn cycle(left: &[ChainLink]) -> ChainError {
    let mut path: Vec<EpicId> = Vec::new();
    let mut at = &left[0];
    loop {
        if let Some(start) = path.iter().position(|seen| *seen == at.epic) {
            let mut epics = path.split_off(start);
            epics.push(at.epic.clone());
            return ChainError::Cycle { epics };
        }
        path.push(at.epic.clone());
        let next = left.iter().find(|other| at.builds_on.contains(&other.epic));
        match next {
            Some(next) => at = next,
            None => return ChainError::Cycle { epics: path },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(epic: &str, builds_on: &[&str]) -> ChainLink {
        let id = |epic: &str| EpicId::new(epic).unwrap();
        ChainLink { epic: id(epic), builds_on: builds_on.iter().map(|on| id(on)).collect() }
    }

    fn order(links: Vec<ChainLink>) -> Result<Vec<String>, String> {
        let order = in_order(links).map_err(|error| error.to_string())?;
        Ok(order.into_iter().map(|link| link.epic.to_string()).collect())
    }

    #[test]
    fn orders_epics_by_dependency_then_as_named() {
        let links = vec![link("4", &["2"]), link("3", &[]), link("2", &["1", "9"]), link("1", &[])];
        assert_eq!(order(links).unwrap(), ["3", "1", "2", "4"]);
    }

    #[test]
    fn cycles_are_named() {
        let links =
            vec![link("0", &["1"]), link("1", &["3"]), link("2", &["1"]), link("3", &["2"])];
        let error = order(links).unwrap_err();
        assert_eq!(error, "these epics depend on each other: 1 → 3 → 2 → 1");
        let error = order(vec![link("7", &["7"])]).unwrap_err();
        assert_eq!(error, "these epics depend on each other: 7 → 7");
    }

    #[test]
    fn epics_can_name_dependencies_in_many_ways() {
        let folder = tempfile::tempdir().unwrap();
        let root = fs_err::canonicalize(folder.path()).unwrap();
        let epics = root.join("docs/epics");
        fs_err::create_dir_all(&epics).unwrap();
        for (n, (text, expected)) in [
            ("# Epic\n\n## Dependencies\n\n- Epic 1: accounts\n- epic-2-login must be done\n", &["1", "2"][..]),
            ("---\ndepends_on: [1, epic-02]\n---\n# Epic\n", &["1", "2"]),
            ("---\ndepends_on:\n  - 1\n  - \"2\"\n---\n# Epic\n", &["1", "2"]),
            ("# Epic\n\nDepends on: Epic 1, Epic 2\n", &["1", "2"]),
            ("# Epic\n\n## Dependencies\n\nEpics 1 and 2, PostgreSQL 16, 3 engineers, Story 4.1.\n", &["1", "2"]),
            ("# Epic\n\n## Dependencies\n\nNone. Epic planning was fun.\n\n## Goal\n\nAfter Epic 8.\n", &[]),
            ("# Epic\n\nDepends on: none\n", &[]),
            ("# Epic\n\nDepends on: epic-auth\n", &["auth"]),
        ]
        .into_iter()
        .enumerate()
        {
            let epic = EpicId::new(format!("{}", 20 + n)).unwrap();
            fs_err::write(epics.join(format!("epic-{epic}.md")), text).unwrap();
            let found = &links(&root, &Layout::default(), std::slice::from_ref(&epic)).unwrap()[0].builds_on;
            let found: Vec<&str> = found.iter().map(EpicId::as_str).collect();
            assert_eq!(found, expected, "{text}");
        }
        let unknown = EpicId::new("99").unwrap();
        assert_eq!(
            links(&root, &Layout::default(), std::slice::from_ref(&unknown)).unwrap()[0].builds_on,
            []
        );
        assert!(links(&root, &Layout::default(), &[unknown.clone(), unknown]).is_err());
    }
}
