//! From a file, its name and what the caller says to the package that is registered.

use std::path::{Path, PathBuf};

use handover_model::{
    GLOBAL_GROUP, GroupId, Package, PackageKind, Priority, Role, Scope, SessionId, Timestamp,
};
use handover_store::{NewPackage, Supersede};
use handover_text::{Redactor, tokens};

use super::front_matter::{self, FrontMatter};
use super::name::{self, NameFacts};
use super::{Located, MAX_SUMMARY_CHARS, PackageFileError, ProjectPaths, content, content_hash};

/// What the caller says about a package. What is `None` comes from the file.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    /// What it carries.
    pub kind: Option<PackageKind>,
    /// Who wrote it.
    pub producer: Option<Role>,
    /// Whom it is for.
    pub consumers: Option<Vec<Role>>,
    /// How much it matters.
    pub priority: Option<Priority>,
    /// What other agents see.
    pub summary: Option<String>,
    /// Where it belongs; must agree with the file.
    pub placement: Option<Placement>,
    /// Where it belongs if nothing else says so.
    pub default_group: Option<GroupId>,
    /// Paths that it is about.
    pub files: Option<Vec<String>>,
    /// The attempt that it came from.
    pub iteration: Option<u32>,
    /// The version before this one: what neither the caller nor the file says is as it was.
    pub former: Option<Package>,
}

/// Where a package belongs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Placement {
    /// To a group.
    Group(GroupId),
    /// To everyone.
    Global,
}

impl Placement {
    /// Reads `P1` or `global`.
    pub fn parse(text: &str) -> Result<Self, handover_model::InvalidId> {
        if text.eq_ignore_ascii_case(GLOBAL_GROUP) {
            Ok(Self::Global)
        } else {
            GroupId::new(text).map(Self::Group)
        }
    }

    /// Where a registered package belongs.
    pub fn of(package: &Package) -> Self {
        package.group.clone().map_or(Self::Global, Self::Group)
    }

    fn name(&self) -> &str {
        match self {
            Self::Group(group) => group.as_str(),
            Self::Global => GLOBAL_GROUP,
        }
    }
}

/// A package that can be registered, and what the user should know about it.
#[derive(Debug, Clone)]
pub struct Draft {
    /// What the store takes.
    pub package: NewPackage,
    /// What is odd but allowed.
    pub warnings: Vec<String>,
}

/// The circumstances under which a draft is made.
#[derive(Debug, Clone, Copy)]
pub struct DraftContext<'a> {
    /// Where files may be.
    pub places: &'a ProjectPaths,
    /// How secrets are found.
    pub redactor: &'a Redactor,
    /// The session.
    pub session: &'a SessionId,
    /// The groups that the session has.
    pub groups: &'a [GroupId],
    /// A larger file is warned about.
    pub warn_bytes: u64,
    /// A larger file is refused.
    pub max_bytes: u64,
    /// Now.
    pub now: Timestamp,
}

/// Makes a draft of a located file.
pub fn draft(
    setting: &DraftContext<'_>,
    located: &Located,
    facts: Facts,
) -> Result<Draft, PackageFileError> {
    let text = setting.places.read(located, setting.max_bytes)?;
    let path = || PathBuf::from(&located.stored);
    let (front, body) = front_matter::split(&text)
        .map_err(|source| PackageFileError::FrontMatter { path: path(), source })?;
    let front = front.unwrap_or_default();
    if let Some(secret) = vendor_secret(setting.redactor, &located.stored) {
        return Err(PackageFileError::SecretName { rule: secret });
    }
    let file_name = located.absolute.file_name().and_then(|n| n.to_str()).unwrap_or_default();
    let name = name::read(file_name);
    if text.trim().is_empty() {
        return Err(PackageFileError::Empty { path: path() });
    }

    let former = facts.former.as_ref();
    let kind = agree(&path(), "kind", facts.kind, front.kind, name.kind, |kind| kind.to_string())?
        .or_else(|| former.map(|former| former.kind))
        .ok_or_else(|| PackageFileError::NoKind { path: path() })?;
    let producer = agree(
        &path(),
        "producer",
        facts.producer.clone(),
        front.producer.clone(),
        name.producer.clone(),
        |role| role.to_string(),
    )?
    .or_else(|| former.map(|former| former.producer.clone()));
    let iteration =
        agree(&path(), "iteration", facts.iteration, front.iteration, name.iteration, |n| {
            n.to_string()
        })?;
    let placement = placement(setting, located, &facts, &front, &name)?;
    let named_session = front.session.clone().map(|id| (id, "front matter"));
    if let Some((id, source)) = named_session
        && id != setting.session.as_str()
    {
        return Err(PackageFileError::Disagreement {
            path: path(),
            what: "session",
            first_source: "command",
            first: setting.session.to_string(),
            second_source: source,
            second: id,
        });
    }
    let said_consumers = facts.consumers.clone().or_else(|| front.consumers.clone());
    if let (Some(said), Some(named)) = (&said_consumers, &name.consumer)
        && !said.contains(named)
    {
        let said: Vec<&str> = said.iter().map(Role::as_str).collect();
        return Err(PackageFileError::Disagreement {
            path: path(),
            what: "consumer",
            first_source: if facts.consumers.is_some() { "flag" } else { "front matter" },
            first: said.join(", "),
            second_source: "file name",
            second: named.to_string(),
        });
    }
    let summary =
        summary(&facts, &front, body).ok_or_else(|| PackageFileError::Empty { path: path() })?;
    if summary.trim().is_empty() {
        return Err(PackageFileError::EmptyText { what: "summary" });
    }

    let clean = |text: &str| setting.redactor.clean(text);
    let (size_bytes, clean_body) = (text.len() as u64, clean(body));
    let warnings = warnings(setting, located, &front, size_bytes, clean_body.redactions());
    let consumers = facts
        .consumers
        .or(front.consumers)
        .or_else(|| name.consumer.map(|role| vec![role]))
        .or_else(|| former.map(|former| former.consumers.clone()))
        .unwrap_or_default();
    let files = facts
        .files
        .or_else(|| (!front.files.is_empty()).then_some(front.files))
        .or_else(|| former.map(|former| former.files.clone()))
        .unwrap_or_default();
    let (group, mut scope) = match placement {
        Placement::Group(group) => (Some(group), Scope::Group),
        Placement::Global => (None, Scope::Global),
    };
    // A global package that names the group where it came from stays global.
    if let Some(former) = former
        && former.group == group
    {
        scope = former.scope;
    }
    let package = NewPackage {
        session: setting.session.clone(),
        group,
        scope,
        kind,
        path: located.stored.clone(),
        title: content::title(body).map(|title| clean(title).one_line()),
        summary: clean(&summary).one_line().cut(MAX_SUMMARY_CHARS),
        files: files.iter().map(|file| clean(file)).collect(),
        body: clean_body,
        // Whoever registers it vouches for it.
        producer: producer.unwrap_or_else(orchestrator),
        consumers,
        priority: facts
            .priority
            .or(front.priority)
            .or_else(|| former.map(|former| former.priority))
            .unwrap_or(Priority::Medium),
        iteration: iteration.or_else(|| former.and_then(|former| former.iteration)),
        size_bytes,
        tokens: tokens::estimate(&text),
        content_hash: content_hash(text.as_bytes()),
        supersede: Supersede::SamePath,
        created_at: setting.now,
    };
    Ok(Draft { package, warnings })
}

/// The rule by which a name is a secret of a known form. Names that are only random are ids.
pub fn vendor_secret(redactor: &Redactor, name: &str) -> Option<String> {
    redactor.find(name).into_iter().map(|finding| finding.rule).find(|rule| rule != "random-string")
}

/// What is odd about a file but allowed.
fn warnings(
    setting: &DraftContext<'_>,
    located: &Located,
    front: &FrontMatter,
    size_bytes: u64,
    secrets: u32,
) -> Vec<String> {
    let path = &located.stored;
    let mut warnings = Vec::new();
    if size_bytes > setting.warn_bytes {
        warnings.push(format!(
            "`{path}` has {size_bytes} bytes; agents are told to read it whole, so consider splitting it"
        ));
    }
    if secrets > 0 {
        warnings.push(format!(
            "`{path}` holds {secrets} secret(s); they are hidden here, but whoever opens the file sees them"
        ));
    }
    for (key, near) in &front.typos {
        warnings.push(format!("`{path}` has a key `{key}`; did you mean `{near}`?"));
    }
    warnings
}

fn orchestrator() -> Role {
    #[expect(clippy::expect_used, reason = "a constant that a test reads")]
    Role::new("orchestrator").expect("a valid role")
}

/// The one value that all sources that have one agree on.
fn agree<T: Clone + PartialEq, D: ToString>(
    path: &Path,
    what: &'static str,
    flag: Option<T>,
    front: Option<T>,
    name: Option<T>,
    show: impl Fn(T) -> D,
) -> Result<Option<T>, PackageFileError> {
    let mut said: Option<(&'static str, T)> = None;
    for (source, value) in [("flag", flag), ("front matter", front), ("file name", name)] {
        let Some(value) = value else { continue };
        match &said {
            Some((first_source, first)) if *first != value => {
                return Err(PackageFileError::Disagreement {
                    path: path.to_owned(),
                    what,
                    first_source,
                    first: show(first.clone()).to_string(),
                    second_source: source,
                    second: show(value).to_string(),
                });
            }
            Some(_) => {}
            None => said = Some((source, value)),
        }
    }
    Ok(said.map(|(_, value)| value))
}

/// Flag, front matter and name must agree; without any of them the default group, else global.
///
/// In the folder that is kept for packages the name counts in full. Elsewhere
/// `research-user-auth.md` may be any file, so its name only counts if it means a group that exists.
fn placement(
    setting: &DraftContext<'_>,
    located: &Located,
    facts: &Facts,
    front: &FrontMatter,
    name: &NameFacts,
) -> Result<Placement, PackageFileError> {
    let path = || PathBuf::from(&located.stored);
    let in_front =
        front.group.as_deref().map(Placement::parse).transpose().map_err(|error| {
            PackageFileError::FrontMatter { path: path(), source: error.into() }
        })?;
    let said =
        agree(&path(), "group", facts.placement.clone(), in_front, None, |p| p.name().to_owned())?;
    let convention = located.absolute.starts_with(setting.places.artifacts(setting.session))
        || located.stored.contains("_group_");
    let named = name.group.as_ref().filter(|group| {
        convention || setting.groups.iter().any(|known| group.can_be(known.as_str()))
    });
    match (said, named) {
        (Some(Placement::Group(group)), Some(named)) if !named.can_be(group.as_str()) => {
            let flagged = facts.placement.is_some();
            Err(PackageFileError::Disagreement {
                path: path(),
                what: "group",
                first_source: if flagged { "flag" } else { "front matter" },
                first: group.to_string(),
                second_source: "file name",
                second: named.guess(setting.groups),
            })
        }
        (Some(placement), _) => Ok(placement),
        (None, Some(named)) => Placement::parse(&named.guess(setting.groups))
            .map_err(|error| PackageFileError::FrontMatter { path: path(), source: error.into() }),
        (None, None) => Ok(match (&facts.default_group, &facts.former) {
            (Some(group), _) => Placement::Group(group.clone()),
            (None, Some(former)) => Placement::of(former),
            (None, None) => Placement::Global,
        }),
    }
}

fn summary(facts: &Facts, front: &FrontMatter, body: &str) -> Option<String> {
    facts
        .summary
        .clone()
        .or_else(|| content::summary_section(body))
        .or_else(|| front.summary.clone())
        .or_else(|| content::summary(body))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Project {
        folder: tempfile::TempDir,
        places: ProjectPaths,
        redactor: Redactor,
        session: SessionId,
        groups: Vec<GroupId>,
    }

    impl Project {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let places = ProjectPaths::new(folder.path(), &[]).unwrap();
            Self {
                folder,
                places,
                redactor: Redactor::default(),
                session: SessionId::new("s1").unwrap(),
                groups: vec![GroupId::new("P1").unwrap()],
            }
        }

        fn draft(&self, path: &str, text: &str, facts: Facts) -> Result<Draft, PackageFileError> {
            let file = self.folder.path().join(path);
            fs_err::create_dir_all(file.parent().unwrap()).unwrap();
            fs_err::write(&file, text).unwrap();
            let located = self.places.locate(self.folder.path(), Path::new(path))?;
            let setting = DraftContext {
                places: &self.places,
                redactor: &self.redactor,
                session: &self.session,
                groups: &self.groups,
                warn_bytes: 100,
                max_bytes: 10_000,
                now: Timestamp::from_micros(0),
            };
            draft(&setting, &located, facts)
        }
    }

    const CONTEXT: &str = ".handover/artifacts/s1/context";

    fn research() -> Facts {
        Facts { kind: Some(PackageKind::Research), ..Facts::default() }
    }

    #[test]
    fn front_matter_gives_the_defaults() {
        let text = "---\ntype: decisions\ngroup_id: P1\nproducer: tech_lead\nconsumers: [developer]\n\
                    priority: high\niteration: 1\nfiles: [src/a.rs]\n---\n# Adapters\n## Summary\nUse them.\n";
        let package = Project::new().draft("notes.md", text, Facts::default()).unwrap().package;
        assert_eq!(package.kind, PackageKind::Decisions);
        assert_eq!(package.group.unwrap().as_str(), "P1");
        assert_eq!(package.scope, Scope::Group);
        assert_eq!(package.producer.as_str(), "tech_lead");
        assert_eq!(package.summary.as_str(), "Use them.");
        assert_eq!(package.title.unwrap().as_str(), "Adapters");
        assert_eq!((package.priority, package.iteration), (Priority::High, Some(1)));
        assert_eq!(package.size_bytes, text.len() as u64);
    }

    #[test]
    fn without_group_or_global_it_is_global() {
        let project = Project::new();
        let package = project.draft("a.md", "text", research()).unwrap().package;
        assert_eq!((package.group, package.scope), (None, Scope::Global));
        assert_eq!(package.producer.as_str(), "orchestrator");
        let facts = Facts { default_group: Some(GroupId::new("P9").unwrap()), ..research() };
        let package = project.draft("a.md", "text", facts).unwrap().package;
        assert_eq!(package.group.unwrap().as_str(), "P9");
    }

    #[test]
    fn the_name_counts_in_its_folder_and_for_known_groups() {
        let project = Project::new();
        let group = |path: &str| {
            let package = project.draft(path, "text", Facts::default()).unwrap().package;
            package.group.map(|g| g.to_string())
        };
        assert_eq!(group(&format!("{CONTEXT}/research-P7-oauth.md")).as_deref(), Some("P7"));
        assert_eq!(group("docs/research-P1-oauth.md").as_deref(), Some("P1"));
        assert_eq!(group("docs/research-user-auth.md"), None);
        assert_eq!(group("qa_failures_group_G7.md").as_deref(), Some("G7"));
    }

    #[test]
    fn handoffs_name_both_sides() {
        let path = format!("{CONTEXT}/handoff-developer-qa_expert-P1.md");
        let package = Project::new().draft(&path, "done", Facts::default()).unwrap().package;
        assert_eq!(package.producer.as_str(), "developer");
        assert_eq!(package.consumers, [Role::new("qa_expert").unwrap()]);
    }

    #[test]
    fn disagreement_names_both_values() {
        let project = Project::new();
        let error = |path: &str, text: &str, facts| {
            let error = project.draft(path, text, facts).unwrap_err();
            assert!(matches!(error, PackageFileError::Disagreement { .. }), "{error}");
            error.to_string()
        };
        assert_eq!(
            error("a.md", "---\ntype: decisions\n---\nx", research()),
            "`a.md`: the flag says kind `research`, the front matter says `decisions`"
        );
        assert_eq!(
            error("failures-P1-iter1.md", "x", research()),
            "`failures-P1-iter1.md`: the flag says kind `research`, the file name says `failures`"
        );
        let p2 = Facts { placement: Some(Placement::parse("P2").unwrap()), ..Facts::default() };
        assert!(
            error("research-P1-x.md", "x", p2.clone())
                .contains("the flag says group `P2`, the file name says `P1`")
        );
        assert!(
            error("b.md", "---\ntype: research\ngroup_id: P1\n---\nx", p2)
                .contains("front matter says `P1`")
        );
        let global = Facts { placement: Some(Placement::Global), ..research() };
        assert!(
            error("b.md", "---\ngroup_id: P1\n---\nx", global).contains("flag says group `global`")
        );
    }

    #[test]
    fn secrets_do_not_get_into_the_draft() {
        let text = "# T\n## Summary\nThe password=correct-horse is set.\n\nexport DB_PASSWORD=correct-horse\n";
        let package = Project::new().draft("a.md", text, research()).unwrap().package;
        assert!(!format!("{package:?}").contains("correct-horse"));
    }

    #[test]
    fn nothing_and_too_much_are_refused_and_much_is_warned_about() {
        let project = Project::new();
        assert!(matches!(
            project.draft("a.md", " \n", research()),
            Err(PackageFileError::Empty { .. })
        ));
        assert!(matches!(
            project.draft("a.md", "---\ntype: research\n---\n", Facts::default()),
            Err(PackageFileError::Empty { .. })
        ));
        assert!(matches!(
            project.draft("a.md", "x", Facts::default()),
            Err(PackageFileError::NoKind { .. })
        ));
        let blank = Facts { summary: Some("  ".into()), ..research() };
        assert!(matches!(
            project.draft("a.md", "x", blank),
            Err(PackageFileError::EmptyText { .. })
        ));
        assert!(matches!(
            project.draft("a.md", &"x".repeat(10_001), research()),
            Err(PackageFileError::TooLarge { .. })
        ));
        assert_eq!(project.draft("a.md", &"x".repeat(200), research()).unwrap().warnings.len(), 1);
    }

    #[test]
    fn long_summaries_are_cut_at_a_word() {
        let text = "word ".repeat(200);
        let package = Project::new().draft("a.md", &text, research()).unwrap().package;
        assert!(package.summary.as_str().chars().count() <= MAX_SUMMARY_CHARS);
        assert!(package.summary.as_str().ends_with("word…"));
    }
}
