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
        given.or_else(former).unwrap_or(Priority::Medium)
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
            return Err(PackageFileError::EmptyText { what: "summary" });
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
