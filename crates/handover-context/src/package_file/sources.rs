//! Combines what the caller, the front matter, the file name and the previous version say about a
//! package. The first three must agree; the previous version only fills gaps.

use std::fmt::Display;
use std::path::Path;

use handover_model::{GroupId, Package, PackageKind, Priority, Role, Scope, SessionId};

use super::front_matter::FrontMatter;
use super::name::NameFacts;
use super::{DraftContext, Facts, Located, PackageFileError, Placement, content};

/// Everything that says something about a package.
pub(super) struct Sources<'a> {
    pub(super) path: &'a Path,
    pub(super) facts: Facts,
    pub(super) front: FrontMatter,
    pub(super) name: NameFacts,
}

impl Sources<'_> {
    pub(super) fn kind(&self) -> Result<PackageKind, PackageFileError> {
        self.agree("kind", self.facts.kind, self.front.kind, self.name.kind)?
            .or_else(|| self.former().map(|former| former.kind))
            .ok_or_else(|| PackageFileError::NoKind { path: self.path.to_owned() })
    }

    /// The author; by default the orchestrator, who registers files that name none.
    pub(super) fn producer(&self) -> Result<Role, PackageFileError> {
        let (flag, front) = (self.facts.producer.clone(), self.front.producer.clone());
        let producer = self.agree("producer", flag, front, self.name.producer.clone())?;
        Ok(producer
            .or_else(|| self.former().map(|former| former.producer.clone()))
            .unwrap_or_else(orchestrator))
    }

    pub(super) fn iteration(&self) -> Result<Option<u32>, PackageFileError> {
        let (flag, front) = (self.facts.iteration, self.front.iteration);
        let iteration = self.agree("iteration", flag, front, self.name.iteration)?;
        Ok(iteration.or_else(|| self.former().and_then(|former| former.iteration)))
    }

    pub(super) fn priority(&self) -> Priority {
        let former = || self.former().map(|former| former.priority);
        let given = self.facts.priority.or(self.front.priority);
        given.or_else(former).unwrap_or_else(|| match self.kind() {
            // What failed, and why, must not be overlooked by those who repair it.
            Ok(PackageKind::Failures | PackageKind::Investigation) => Priority::High,
            Ok(_) | Err(_) => Priority::Medium,
        })
    }

    pub(super) fn files(&self) -> Vec<String> {
        let front = (!self.front.files.is_empty()).then_some(&self.front.files);
        let former = || self.former().map(|former| &former.files);
        self.facts.files.as_ref().or(front).or_else(former).cloned().unwrap_or_default()
    }

    /// The consumers; a role in the file name must be one of them.
    pub(super) fn consumers(&self) -> Result<Vec<Role>, PackageFileError> {
        let given = self.facts.consumers.as_ref().or(self.front.consumers.as_ref());
        if let (Some(given), Some(named)) = (given, &self.name.consumer)
            && !given.contains(named)
        {
            let given: Vec<&str> = given.iter().map(Role::as_str).collect();
            let source = caller_or_front(self.facts.consumers.is_some());
            return Err(self.disagreement(
                "consumer",
                (source, given.join(", ")),
                ("file name", named.to_string()),
            ));
        }
        let former = || self.former().map(|former| former.consumers.clone());
        Ok(given
            .cloned()
            .or_else(|| self.name.consumer.clone().map(|role| vec![role]))
            .or_else(former)
            .unwrap_or_default())
    }

    /// The front matter must not name another session.
    pub(super) fn check_session(&self, session: &SessionId) -> Result<(), PackageFileError> {
        match &self.front.session {
            Some(named) if named != session.as_str() => Err(self.disagreement(
                "session",
                ("command", session.to_string()),
                ("front matter", named.clone()),
            )),
            Some(_) | None => Ok(()),
        }
    }

    /// The caller's summary, else the summary section, the front matter's, or the first paragraph.
    pub(super) fn summary(&self, body: &str) -> Result<String, PackageFileError> {
        let given = self.facts.summary.clone().or_else(|| content::summary_section(body));
        let summary = given
            .or_else(|| self.front.summary.clone())
            .or_else(|| content::summary(body))
            .ok_or_else(|| PackageFileError::Empty { path: self.path.to_owned() })?;
        if summary.trim().is_empty() {
            return Err(PackageFileError::EmptySummary);
        }
        Ok(summary)
    }

    pub(super) fn group_and_scope(
        &self,
        context: &DraftContext<'_>,
        located: &Located,
    ) -> Result<(Option<GroupId>, Scope), PackageFileError> {
        let (group, scope) = match self.placement(context, located)? {
            Placement::Group(group) => (Some(group), Scope::Group),
            Placement::Global => (None, Scope::Global),
        };
        // A global package that names the group it came from stays global.
        let former = self.former().filter(|former| former.group == group);
        let scope = former.map_or(scope, |former| former.scope);
        Ok((group, scope))
    }

    /// The group by flag, front matter or file name, which must agree; else the default group, the
    /// previous version's, or global.
    ///
    /// In the folder for packages the file name always counts. Elsewhere `research-user-auth.md` may
    /// be any file, so its name only counts if it matches an existing group.
    fn placement(
        &self,
        context: &DraftContext<'_>,
        located: &Located,
    ) -> Result<Placement, PackageFileError> {
        let parse = |text: &str| {
            Placement::parse(text).map_err(|error| PackageFileError::FrontMatter {
                path: self.path.to_owned(),
                source: error.into(),
            })
        };
        let front = self.front.group.as_deref().map(parse).transpose()?;
        let given = self.agree("group", self.facts.placement.clone(), front, None)?;
        let by_convention = located.absolute.starts_with(context.paths.artifacts(context.session))
            || located.stored.contains("_group_");
        let named = self.name.group.as_ref().filter(|group| {
            by_convention || context.groups.iter().any(|known| group.can_be(known.as_str()))
        });
        match (given, named) {
            (Some(Placement::Group(group)), Some(named)) if !named.can_be(group.as_str()) => {
                let source = caller_or_front(self.facts.placement.is_some());
                let guess = named.guess(context.groups);
                Err(self.disagreement("group", (source, group.to_string()), ("file name", guess)))
            }
            (Some(placement), _) => Ok(placement),
            (None, Some(named)) => parse(&named.guess(context.groups)),
            (None, None) => Ok(match (&self.facts.default_group, self.former()) {
                (Some(group), _) => Placement::Group(group.clone()),
                (None, Some(former)) => Placement::of(former),
                (None, None) => Placement::Global,
            }),
        }
    }

    fn former(&self) -> Option<&Package> {
        self.facts.former.as_ref()
    }

    /// The value that flag, front matter and file name agree on, if any of them has one.
    fn agree<T: PartialEq + Display>(
        &self,
        what: &'static str,
        flag: Option<T>,
        front: Option<T>,
        name: Option<T>,
    ) -> Result<Option<T>, PackageFileError> {
        let mut agreed: Option<(&'static str, T)> = None;
        for (source, value) in [("flag", flag), ("front matter", front), ("file name", name)] {
            let Some(value) = value else { continue };
            match &agreed {
                Some((first_source, first)) if *first != value => {
                    let first = (*first_source, first.to_string());
                    return Err(self.disagreement(what, first, (source, value.to_string())));
                }
                Some(_) => {}
                None => agreed = Some((source, value)),
            }
        }
        Ok(agreed.map(|(_, value)| value))
    }

    fn disagreement(
        &self,
        what: &'static str,
        (first_source, first): (&'static str, String),
        (second_source, second): (&'static str, String),
    ) -> PackageFileError {
        let path = self.path.to_owned();
        PackageFileError::Disagreement { path, what, first_source, first, second_source, second }
    }
}

fn orchestrator() -> Role {
    #[expect(clippy::expect_used, reason = "a constant that a test reads")]
    Role::new("orchestrator").expect("a valid role")
}

fn caller_or_front(given_by_caller: bool) -> &'static str {
    if given_by_caller { "flag" } else { "front matter" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::package_file::name;
    use crate::testing::{TestProject, group, role};

    fn sources(facts: Facts, front: FrontMatter, file_name: &str) -> Sources<'_> {
        Sources { path: Path::new("x.md"), facts, front, name: name::read(file_name) }
    }

    fn former() -> Package {
        let project = TestProject::new();
        let mut new = project.package("x.md", "old", "old");
        (new.group, new.scope) = (Some(group("P7")), Scope::Group);
        (new.kind, new.priority) = (PackageKind::Failures, Priority::Critical);
        (new.producer, new.iteration) = (role("qa_expert"), Some(4));
        new.consumers = vec![role("tech_lead")];
        new.files = vec![project.redactor.clean("old.rs")];
        project.register(new)
    }

    fn message(error: &PackageFileError) -> String {
        error.to_string()
    }

    #[test]
    fn the_former_version_fills_every_gap() {
        let facts = Facts { former: Some(former()), ..Facts::default() };
        let sources = sources(facts, FrontMatter::default(), "x.md");
        assert_eq!(sources.kind().unwrap(), PackageKind::Failures);
        assert_eq!(sources.producer().unwrap(), role("qa_expert"));
        assert_eq!(sources.iteration().unwrap(), Some(4));
        assert_eq!(sources.priority(), Priority::Critical);
        assert_eq!(sources.files(), ["old.rs"]);
        assert_eq!(sources.consumers().unwrap(), [role("tech_lead")]);
        let project = TestProject::new();
        project.write("x.md", "text");
        let placed = sources.group_and_scope(&project.context(), &project.locate("x.md"));
        assert_eq!(placed.unwrap(), (Some(group("P7")), Scope::Group));
    }

    #[test]
    fn the_caller_outranks_the_front_matter_outranks_the_former_version() {
        let front = FrontMatter {
            priority: Some(Priority::Low),
            files: vec!["front.rs".to_owned()],
            consumers: Some(vec![role("developer")]),
            summary: Some("front".to_owned()),
            ..FrontMatter::default()
        };
        let facts = Facts { former: Some(former()), ..Facts::default() };
        let by_front = sources(facts.clone(), front.clone(), "x.md");
        assert_eq!(by_front.priority(), Priority::Low);
        assert_eq!(by_front.files(), ["front.rs"]);
        assert_eq!(by_front.consumers().unwrap(), [role("developer")]);
        assert_eq!(by_front.summary("body").unwrap(), "front");
        let facts = Facts {
            priority: Some(Priority::High),
            files: Some(Vec::new()),
            consumers: Some(Vec::new()),
            summary: Some("caller".to_owned()),
            ..facts
        };
        let by_caller = sources(facts, front, "x.md");
        assert_eq!(by_caller.priority(), Priority::High);
        assert_eq!(by_caller.files(), [""; 0]);
        assert!(by_caller.consumers().unwrap().is_empty());
        assert_eq!(by_caller.summary("## Summary\nsection").unwrap(), "caller");
    }

    #[test]
    fn without_any_source_there_are_defaults_but_no_kind() {
        let sources = sources(Facts::default(), FrontMatter::default(), "x.md");
        assert!(matches!(sources.kind(), Err(PackageFileError::NoKind { .. })));
        assert_eq!(sources.producer().unwrap(), role("orchestrator"));
        assert_eq!(sources.iteration().unwrap(), None);
        assert_eq!(sources.priority(), Priority::Medium);
        assert!(sources.files().is_empty() && sources.consumers().unwrap().is_empty());
    }

    #[test]
    fn a_consumer_in_the_name_must_be_one_of_the_given() {
        let name = "handoff-developer-qa_expert-P1.md";
        let none = sources(Facts::default(), FrontMatter::default(), name);
        assert_eq!(none.consumers().unwrap(), [role("qa_expert")]);
        let both = vec![role("tech_lead"), role("qa_expert")];
        let facts = Facts { consumers: Some(both.clone()), ..Facts::default() };
        assert_eq!(sources(facts, FrontMatter::default(), name).consumers().unwrap(), both);
        let front =
            FrontMatter { consumers: Some(vec![role("tech_lead")]), ..FrontMatter::default() };
        let error = sources(Facts::default(), front.clone(), name).consumers().unwrap_err();
        assert_eq!(
            message(&error),
            "`x.md`: the front matter says consumer `tech_lead`, the file name says `qa_expert`"
        );
        let facts = Facts { consumers: Some(Vec::new()), ..Facts::default() };
        let error = sources(facts, front, name).consumers().unwrap_err();
        assert!(message(&error).contains("the flag says consumer ``"));
    }

    #[test]
    fn all_three_sources_must_agree() {
        let name = "failures-P1-iter2.md";
        let facts = Facts { iteration: Some(2), ..Facts::default() };
        let front = FrontMatter { iteration: Some(2), ..FrontMatter::default() };
        assert_eq!(sources(facts.clone(), front, name).iteration().unwrap(), Some(2));
        let front = FrontMatter { iteration: Some(3), ..FrontMatter::default() };
        let error = sources(Facts::default(), front.clone(), name).iteration().unwrap_err();
        assert_eq!(
            message(&error),
            "`x.md`: the front matter says iteration `3`, the file name says `2`"
        );
        let error = sources(facts, front, name).iteration().unwrap_err();
        assert!(message(&error).contains("the flag says iteration `2`, the front matter says `3`"));
    }

    #[test]
    fn the_front_matter_must_not_name_another_session() {
        let (s1, s2) = (SessionId::new("s1").unwrap(), SessionId::new("s2").unwrap());
        let front = FrontMatter { session: Some("s1".to_owned()), ..FrontMatter::default() };
        let sources = sources(Facts::default(), front, "x.md");
        assert!(sources.check_session(&s1).is_ok());
        assert_eq!(
            message(&sources.check_session(&s2).unwrap_err()),
            "`x.md`: the command says session `s2`, the front matter says `s1`"
        );
    }

    #[test]
    fn a_global_package_that_names_its_group_stays_global() {
        let project = TestProject::new();
        project.write("x.md", "text");
        let mut new = project.package("x.md", "old", "old");
        new.group = Some(group("P1"));
        let facts = Facts { former: Some(project.register(new)), ..Facts::default() };
        let placed = |facts: Facts| {
            let sources = sources(facts, FrontMatter::default(), "x.md");
            sources.group_and_scope(&project.context(), &project.locate("x.md")).unwrap()
        };
        assert_eq!(placed(facts.clone()), (Some(group("P1")), Scope::Global));
        let moved = Facts { placement: Some(Placement::Group(group("P2"))), ..facts.clone() };
        assert_eq!(placed(moved), (Some(group("P2")), Scope::Group));
        let global = Facts { placement: Some(Placement::Global), ..facts };
        assert_eq!(placed(global), (None, Scope::Global));
    }

    #[test]
    fn a_summary_must_not_be_blank() {
        let sources = |facts| sources(facts, FrontMatter::default(), "x.md");
        assert!(matches!(
            sources(Facts::default()).summary(" \n"),
            Err(PackageFileError::Empty { .. })
        ));
        let blank = Facts { summary: Some(" ".to_owned()), ..Facts::default() };
        assert!(matches!(sources(blank).summary("text"), Err(PackageFileError::EmptySummary)));
        assert_eq!(sources(Facts::default()).summary("# Title\n").unwrap(), "Title");
    }
}
