//! Turns a file, its name and the caller's facts into the package that is registered.

use std::path::Path;

use handover_model::{
    GLOBAL_GROUP, GroupId, Package, PackageKind, Priority, Role, SessionId, Timestamp, Trust,
};
use handover_store::{NewPackage, Supersede};
use handover_text::screen::screen;
use handover_text::{Redactor, tokens};

use super::front_matter::{self, FrontMatter};
use super::name;
use super::sources::Sources;
use super::{Located, MAX_SUMMARY_CHARS, PackageFileError, ProjectPaths, content, content_hash};

/// What the caller knows about a package. Values that are `None` are taken from the file.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    /// What the package contains.
    pub kind: Option<PackageKind>,
    /// The role that wrote it.
    pub producer: Option<Role>,
    /// The roles it is for.
    pub consumers: Option<Vec<Role>>,
    /// How important it is.
    pub priority: Option<Priority>,
    /// What other agents see.
    pub summary: Option<String>,
    /// Its group, or global; must agree with the file.
    pub placement: Option<Placement>,
    /// Its group if neither the caller nor the file names one.
    pub default_group: Option<GroupId>,
    /// Paths it is about.
    pub files: Option<Vec<String>>,
    /// The attempt it came from.
    pub iteration: Option<u32>,
    /// The previous version, which provides what neither the caller nor the file specifies.
    pub former: Option<Package>,
}

/// The group of a package, or none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Placement {
    /// Belongs to one group.
    Group(GroupId),
    /// Belongs to the whole session.
    Global,
}

impl Placement {
    /// Parses a group id or `global`.
    pub fn parse(text: &str) -> Result<Self, handover_model::InvalidId> {
        if text.eq_ignore_ascii_case(GLOBAL_GROUP) {
            Ok(Self::Global)
        } else {
            GroupId::new(text).map(Self::Group)
        }
    }

    /// The placement of a registered package.
    pub fn of(package: &Package) -> Self {
        package.group.clone().map_or(Self::Global, Self::Group)
    }
}

impl std::fmt::Display for Placement {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::Group(group) => group.as_str(),
            Self::Global => GLOBAL_GROUP,
        })
    }
}

/// A package ready to be registered.
#[derive(Debug, Clone)]
pub struct Draft {
    /// The record for the store.
    pub package: NewPackage,
    /// Oddities that do not prevent registration, for the user.
    pub warnings: Vec<String>,
}

/// What drafting depends on besides the file.
#[derive(Debug, Clone, Copy)]
pub struct DraftContext<'a> {
    /// The folders that files may be in.
    pub paths: &'a ProjectPaths,
    /// Removes secrets from all text.
    pub redactor: &'a Redactor,
    /// The session the package is registered in.
    pub session: &'a SessionId,
    /// The existing groups of the session.
    pub groups: &'a [GroupId],
    /// Larger files cause a warning.
    pub warn_bytes: u64,
    /// Larger files are rejected.
    pub max_bytes: u64,
    /// The registration time.
    pub now: Timestamp,
    /// How far to believe the file: who registers it, and what they had read.
    pub trust: Trust,
}

/// Drafts the package of a located file.
pub fn draft(
    context: &DraftContext<'_>,
    located: &Located,
    facts: Facts,
) -> Result<Draft, PackageFileError> {
    let text = context.paths.read(located, context.max_bytes)?;
    let path = Path::new(&located.stored);
    let (front, body) = front_matter::split(&text)
        .map_err(|source| PackageFileError::FrontMatter { path: path.to_owned(), source })?;
    if let Some(rule) = vendor_secret(context.redactor, &located.stored) {
        return Err(PackageFileError::SecretName { rule });
    }
    let file_name = located.absolute.file_name().and_then(|n| n.to_str()).unwrap_or_default();
    if text.trim().is_empty() {
        return Err(PackageFileError::Empty { path: path.to_owned() });
    }
    let sources =
        Sources { path, facts, front: front.unwrap_or_default(), name: name::read(file_name) };
    let kind = sources.kind()?;
    let producer = sources.producer()?;
    let iteration = sources.iteration()?;
    let (group, scope) = sources.group_and_scope(context, located)?;
    sources.check_session(context.session)?;
    let consumers = sources.consumers()?;
    let summary = sources.summary(body)?;

    let clean = |text: &str| context.redactor.clean(text);
    let (size_bytes, clean_body) = (text.len() as u64, clean(body));
    let mut warnings =
        warnings(context, located, &sources.front, size_bytes, clean_body.redactions());
    warnings.extend(version_warning(located, &sources));
    warnings.extend(screen_warning(located, body));
    let package = NewPackage {
        session: context.session.clone(),
        group,
        scope,
        kind,
        path: located.stored.clone(),
        title: content::title(body).map(|title| clean(title).one_line()),
        summary: clean(&summary).one_line().cut(MAX_SUMMARY_CHARS),
        files: sources.files().iter().map(|file| clean(file)).collect(),
        body: clean_body,
        producer,
        consumers,
        priority: sources.priority(),
        iteration,
        size_bytes,
        tokens: tokens::estimate(&text),
        content_hash: content_hash(text.as_bytes()),
        supersede: Supersede::SamePath,
        created_at: context.now,
        trust: context.trust,
    };
    Ok(Draft { package, warnings })
}

/// The rule that detects a vendor's secret in a name. Merely random names are accepted: they are ids.
pub fn vendor_secret(redactor: &Redactor, name: &str) -> Option<String> {
    redactor.find(name).into_iter().map(|finding| finding.rule).find(|rule| rule != "random-string")
}

/// Oddities of a file that do not prevent registration.
fn warnings(
    context: &DraftContext<'_>,
    located: &Located,
    front: &FrontMatter,
    size_bytes: u64,
    secrets: u32,
) -> Vec<String> {
    let path = &located.stored;
    let mut warnings = Vec::new();
    if size_bytes > context.warn_bytes {
        warnings.push(format!(
            "`{path}` has {size_bytes} bytes; agents read it in full, so consider splitting it"
        ));
    }
    if secrets > 0 {
        let what = if secrets == 1 { "a secret" } else { &format!("{secrets} secrets") };
        warnings.push(format!(
            "`{path}` contains {what}, redacted in the store but visible to anyone who opens the file"
        ));
    }
    for (key, near) in &front.typos {
        warnings.push(format!("`{path}` has a key `{key}`; did you mean `{near}`?"));
    }
    warnings
}

/// What is wrong with the version in the front matter. Registering counts versions, so a number that is
/// neither the last nor the next one is not the one that others see.
fn version_warning(located: &Located, sources: &Sources<'_>) -> Option<String> {
    let (said, last) = (sources.front.version?, sources.facts.former.as_ref().map(|f| f.version));
    let next = last.map_or(1, |last| last.saturating_add(1));
    let path = &located.stored;
    (said != next && last != Some(said)).then(|| {
        format!("`{path}` says that it is version {said}; it is registered as version {next}")
    })
}

/// What agents will be warned of.
fn screen_warning(located: &Located, body: &str) -> Option<String> {
    let flags = screen(body).flags();
    let names: Vec<&str> = flags.iter().map(|flag| flag.as_str()).collect();
    (!names.is_empty()).then(|| {
        format!(
            "`{}` speaks to the agents that read it ({}); briefs quote it with a warning, or leave it out",
            located.stored,
            names.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use handover_model::Scope;

    use super::*;

    struct Project {
        folder: tempfile::TempDir,
        paths: ProjectPaths,
        redactor: Redactor,
        session: SessionId,
        groups: Vec<GroupId>,
    }

    impl Project {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let paths = ProjectPaths::new(folder.path(), &[]).unwrap();
            Self {
                folder,
                paths,
                redactor: Redactor::default(),
                session: SessionId::new("s1").unwrap(),
                groups: vec![GroupId::new("P1").unwrap()],
            }
        }

        fn draft(&self, path: &str, text: &str, facts: Facts) -> Result<Draft, PackageFileError> {
            let file = self.folder.path().join(path);
            fs_err::create_dir_all(file.parent().unwrap()).unwrap();
            fs_err::write(&file, text).unwrap();
            let located = self.paths.locate(self.folder.path(), Path::new(path))?;
            let context = DraftContext {
                paths: &self.paths,
                redactor: &self.redactor,
                session: &self.session,
                groups: &self.groups,
                warn_bytes: 100,
                max_bytes: 10_000,
                now: Timestamp::from_micros(0),
                trust: handover_model::Trust::Project,
            };
            draft(&context, &located, facts)
        }
    }

    const CONTEXT: &str = ".handover/artifacts/s1/context";

    fn research() -> Facts {
        Facts { kind: Some(PackageKind::Research), ..Facts::default() }
    }

    #[test]
    fn front_matter_provides_defaults() {
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
    fn defaults_to_the_default_group_or_global() {
        let project = Project::new();
        let package = project.draft("a.md", "text", research()).unwrap().package;
        assert_eq!((package.group, package.scope), (None, Scope::Global));
        assert_eq!(package.producer.as_str(), "orchestrator");
        let facts = Facts { default_group: Some(GroupId::new("P9").unwrap()), ..research() };
        let package = project.draft("a.md", "text", facts).unwrap().package;
        assert_eq!(package.group.unwrap().as_str(), "P9");
    }

    #[test]
    fn file_name_counts_in_the_context_folder_and_for_known_groups() {
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
    fn handoff_names_identify_both_roles() {
        let path = format!("{CONTEXT}/handoff-developer-qa_expert-P1.md");
        let package = Project::new().draft(&path, "done", Facts::default()).unwrap().package;
        assert_eq!(package.producer.as_str(), "developer");
        assert_eq!(package.consumers, [Role::new("qa_expert").unwrap()]);
    }

    #[test]
    fn disagreement_reports_both_values() {
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
    fn drafts_contain_no_secrets() {
        let text = "# T\n## Summary\nThe password=correct-horse is set.\n\nexport DB_PASSWORD=correct-horse\n";
        let package = Project::new().draft("a.md", text, research()).unwrap().package;
        assert!(!format!("{package:?}").contains("correct-horse"));
    }

    #[test]
    fn rejects_empty_and_too_large_files_and_warns_about_large_ones() {
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
        assert!(matches!(project.draft("a.md", "x", blank), Err(PackageFileError::EmptySummary)));
        assert!(matches!(
            project.draft("a.md", &"x".repeat(10_001), research()),
            Err(PackageFileError::TooLarge { .. })
        ));
        assert_eq!(project.draft("a.md", &"x".repeat(200), research()).unwrap().warnings.len(), 1);
    }

    #[test]
    fn cuts_long_summaries_at_a_word() {
        let text = "word ".repeat(200);
        let package = Project::new().draft("a.md", &text, research()).unwrap().package;
        assert!(package.summary.as_str().chars().count() <= MAX_SUMMARY_CHARS);
        assert!(package.summary.as_str().ends_with("word…"));
    }
}
