//! Registers files that were found or announced.

use handover_model::{Package, SessionId};
use handover_store::{PackageFilter, Registered, Result, Store};
use handover_text::with_causes;

use super::draft::{DraftContext, Facts, Placement, draft};
use super::{Located, PackageFileError};

/// The result of registering a file.
#[derive(Debug)]
pub enum Put {
    /// A new package, or a new version of one.
    Registered(Registered),
    /// Already registered with this content.
    Unchanged(Registered),
    /// Not a valid package, and why.
    Skipped(String),
}

/// Registers one file. An invalid file is skipped with the reason, so that it does not affect the others. A
/// file registered with this content is left alone, whatever group or kind it was given.
pub fn register_file(
    store: &dyn Store,
    context: &DraftContext<'_>,
    located: std::result::Result<Located, PackageFileError>,
    mut facts: Facts,
) -> Result<Put> {
    let here = match &located {
        Ok(located) => at_path(store, context.session, located)?,
        Err(_) => Vec::new(),
    };
    facts.former = former(&here, None);
    if facts.former.is_some() {
        facts.default_group = None;
    }
    let draft = match located.and_then(|located| draft(context, &located, facts)) {
        Ok(draft) => draft,
        Err(error) => return Ok(Put::Skipped(with_causes(&error))),
    };
    let same = here.iter().find(|package| package.content_hash == draft.package.content_hash);
    if let Some(package) = same {
        return Ok(Put::Unchanged(Registered { package: package.clone(), created: false }));
    }
    if here.len() > 1 {
        let ids: Vec<String> = here.iter().map(|package| package.id.to_string()).collect();
        let reason =
            format!("it belongs to packages {}; choose one with `package update`", ids.join(", "));
        return Ok(Put::Skipped(reason));
    }
    let mut registered = store.register_packages(&[draft.package])?;
    let registered = registered.remove(0);
    Ok(if registered.created { Put::Registered(registered) } else { Put::Unchanged(registered) })
}

/// The current packages of a file.
pub fn at_path(store: &dyn Store, session: &SessionId, located: &Located) -> Result<Vec<Package>> {
    let filter = PackageFilter { path: Some(located.stored.clone()), ..PackageFilter::default() };
    store.packages(session, &filter)
}

/// The previous version: the only package of the file, or the only one with this placement. Several
/// packages of one file differ in kind or group; then only the caller knows.
pub fn former(here: &[Package], placement: Option<&Placement>) -> Option<Package> {
    let mut fits =
        here.iter().filter(|package| placement.is_none_or(|p| *p == Placement::of(package)));
    match (fits.next(), fits.next()) {
        (Some(package), None) => Some(package.clone()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use handover_model::{PackageKind, Priority, Scope};
    use handover_store::Packages;

    use super::*;
    use crate::testing::{TestProject, group, role};

    fn put(project: &TestProject, path: &str, facts: Facts) -> Put {
        let located = project.paths.locate(project.paths.root(), Path::new(path));
        register_file(&project.store, &project.context(), located, facts).unwrap()
    }

    fn registered(put: Put) -> Package {
        match put {
            Put::Registered(registered) => registered.package,
            Put::Unchanged(_) | Put::Skipped(_) => panic!("{put:?}"),
        }
    }

    fn research() -> Facts {
        Facts { kind: Some(PackageKind::Research), ..Facts::default() }
    }

    #[test]
    fn a_changed_file_is_a_new_version_with_the_same_metadata() {
        let project = TestProject::new();
        project.write("a.md", "one");
        let facts = Facts {
            consumers: Some(vec![role("qa_expert")]),
            priority: Some(Priority::High),
            producer: Some(role("tech_lead")),
            iteration: Some(3),
            files: Some(vec!["src/a.rs".to_owned()]),
            default_group: Some(group("P1")),
            ..research()
        };
        let first = registered(put(&project, "a.md", facts));
        assert_eq!((first.version, first.group.clone()), (1, Some(group("P1"))));
        project.write("a.md", "two");
        let elsewhere = Facts { default_group: Some(group("P2")), ..Facts::default() };
        let second = registered(put(&project, "a.md", elsewhere));
        assert_eq!((second.version, second.supersedes), (2, Some(first.id)));
        assert_eq!((&second.group, second.scope), (&first.group, first.scope));
        assert_eq!((second.kind, second.priority), (PackageKind::Research, Priority::High));
        assert_eq!((second.producer, second.consumers), (first.producer, first.consumers));
        assert_eq!((second.iteration, second.files), (Some(3), first.files));
        assert_eq!(
            project.store.packages(&project.session, &PackageFilter::default()).unwrap().len(),
            1
        );
    }

    #[test]
    fn the_same_content_is_registered_once() {
        let project = TestProject::new();
        project.write("a.md", "text");
        let first = registered(put(&project, "a.md", research()));
        let again = Facts { priority: Some(Priority::Critical), ..research() };
        match put(&project, "a.md", again) {
            Put::Unchanged(same) => {
                assert_eq!(same.package, first);
                assert!(!same.created);
            }
            other @ (Put::Registered(_) | Put::Skipped(_)) => panic!("{other:?}"),
        }
    }

    #[test]
    fn invalid_files_are_skipped_with_every_cause_on_one_line() {
        let project = TestProject::new();
        let reason = |path: &str| match put(&project, path, Facts::default()) {
            Put::Skipped(reason) => reason,
            other @ (Put::Registered(_) | Put::Unchanged(_)) => panic!("{other:?}"),
        };
        assert_eq!(reason("none.md"), "there is no file `none.md`");
        project.write("a.md", "---\ntype: gossip\n---\nx");
        let gossip = reason("a.md");
        assert!(gossip.starts_with("the front matter of `a.md` is not valid: `gossip` is not a "));
        assert!(!gossip.contains('\n'));
        project.write("b.md", "no kind");
        assert_eq!(reason("b.md"), "the kind of package `b.md` is unknown");
        assert!(
            project.store.packages(&project.session, &PackageFilter::default()).unwrap().is_empty()
        );
    }

    #[test]
    fn a_file_with_several_packages_needs_a_choice() {
        let project = TestProject::new();
        project.write("a.md", "one");
        let one = project.register(project.package("a.md", "one", "one"));
        let mut other = project.package("a.md", "two", "two");
        other.kind = PackageKind::Decisions;
        let two = project.register(other);
        project.write("a.md", "three");
        match put(&project, "a.md", research()) {
            Put::Skipped(reason) => {
                assert!(reason.starts_with("it belongs to packages ") && reason.contains("update"));
                assert!([one.id, two.id].iter().all(|id| reason.contains(&id.to_string())));
            }
            other @ (Put::Registered(_) | Put::Unchanged(_)) => panic!("{other:?}"),
        }
        project.write("a.md", "two");
        assert!(matches!(put(&project, "a.md", research()), Put::Unchanged(_)));
    }

    #[test]
    fn the_former_version_is_the_only_match() {
        let project = TestProject::new();
        let global = project.register(project.package("a.md", "x", "x"));
        let mut new = project.package("a.md", "y", "y");
        (new.group, new.scope) = (Some(group("P1")), Scope::Group);
        let in_group = project.register(new);
        let here = at_path(&project.store, &project.session, &{
            project.write("a.md", "z");
            project.locate("a.md")
        })
        .unwrap();
        assert_eq!(here.len(), 2);
        assert_eq!(former(&here, None), None);
        assert_eq!(former(&here, Some(&Placement::Global)), Some(global));
        assert_eq!(former(&here, Some(&Placement::Group(group("P1")))), Some(in_group));
        assert_eq!(former(&here, Some(&Placement::Group(group("P2")))), None);
        assert_eq!(former(&here[..1], None), Some(here[0].clone()));
        assert_eq!(former(&[], None), None);
    }
}
