//! Writing package files for callers that have a text and no file: agents, imports.
//!
//! A file that is there is never overwritten, and nobody ever reads half of one.

use std::fmt::Write as _;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use handover_model::{GLOBAL_GROUP, PackageKind, Priority, Role};

use super::{DraftContext, Located, PackageFileError, Placement, content, content_hash};

/// A text that is to become a package file.
#[derive(Debug, Clone)]
pub struct NewText<'a> {
    /// What it carries.
    pub kind: PackageKind,
    /// Where it belongs.
    pub placement: Placement,
    /// Who wrote it.
    pub producer: Role,
    /// Whom it is for.
    pub consumers: &'a [Role],
    /// How much it matters.
    pub priority: Priority,
    /// The attempt that it came from.
    pub iteration: Option<u32>,
    /// What the file is called if its title does not say so: a summary, a topic.
    pub topic: Option<&'a str>,
    /// The text.
    pub body: &'a str,
}

/// A text that is a file now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenText {
    /// Where it is.
    pub located: Located,
    /// How many secrets were taken out on the way.
    pub redactions: u32,
    /// Whether it was not there before.
    pub fresh: bool,
}

impl WrittenText {
    /// Takes the file back, if it was not there before: what was to become of it failed.
    pub fn take_back(&self) {
        if self.fresh {
            // Best effort: the error that made us undo is the one to report.
            let _ = fs_err::remove_file(&self.located.absolute);
        }
    }
}

/// Writes a text below the session's artifacts, without its secrets. The name follows the convention;
/// if a file of that name is there with other content, the new one's name carries its hash.
pub fn write_text(
    setting: &DraftContext<'_>,
    new: &NewText<'_>,
) -> Result<WrittenText, PackageFileError> {
    if new.body.trim().is_empty() {
        return Err(PackageFileError::EmptyText { what: "text" });
    }
    let body = setting.redactor.clean(new.body);
    let group = match &new.placement {
        Placement::Group(group) => group.as_str(),
        Placement::Global => GLOBAL_GROUP,
    };
    let text = file_text(&Head {
        kind: new.kind,
        group: Some(group),
        producer: &new.producer,
        consumers: new.consumers,
        priority: new.priority,
        iteration: new.iteration,
        body: body.as_str(),
    });
    let size = text.len() as u64;
    let written = |located, fresh| WrittenText { located, redactions: body.redactions(), fresh };
    let folder = setting.places.make_context_folder(setting.session)?;
    let topic = content::title(body.as_str())
        .map(ToOwned::to_owned)
        .or_else(|| new.topic.map(|topic| setting.redactor.clean(topic).as_str().to_owned()));
    let topic = slug(topic.as_deref().unwrap_or_default());
    let hash = &content_hash(text.as_bytes())[..8];
    let last_resort = format!("notes-{}-{topic}-{hash}", new.kind);
    for stem in [conventional(new, &topic), Some(last_resort)].into_iter().flatten() {
        let path = folder.join(format!("{stem}.md"));
        if size > setting.max_bytes {
            return Err(PackageFileError::TooLarge { path, size, max: setting.max_bytes });
        }
        let relative = path.strip_prefix(setting.places.root()).unwrap_or(&path).to_owned();
        match write_new(&path, &text) {
            Ok(()) => return Ok(written(setting.places.locate_untrusted(&relative)?, true)),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                let located = setting.places.locate_untrusted(&relative)?;
                if setting.places.read(&located, setting.max_bytes).is_ok_and(|there| there == text)
                {
                    return Ok(written(located, false));
                }
            }
            Err(source) => return Err(PackageFileError::Write { path: relative, source }),
        }
    }
    Err(PackageFileError::Taken { path: folder })
}

/// The name of the convention, where all of its parts are known and can be read back.
fn conventional(new: &NewText<'_>, topic: &str) -> Option<String> {
    let Placement::Group(group) = &new.placement else { return None };
    match new.kind {
        PackageKind::Research | PackageKind::Decisions | PackageKind::Investigation => {
            Some(format!("{}-{group}-{topic}", new.kind))
        }
        PackageKind::Failures => new.iteration.map(|n| format!("failures-{group}-iter{n}")),
        PackageKind::Handoff => {
            let (from, [to]) = (&new.producer, new.consumers) else { return None };
            let plain = |role: &Role| !role.as_str().contains('-');
            (plain(from) && plain(to)).then(|| format!("handoff-{from}-{to}-{group}"))
        }
    }
}

/// A few words of a text as part of a file name.
fn slug(text: &str) -> String {
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let slug = words.take(6).collect::<Vec<_>>().join("-");
    let slug: String = slug.chars().take(60).collect();
    if slug.is_empty() { "text".to_owned() } else { slug.trim_end_matches('-').to_owned() }
}

/// What a file says about itself, so that the index can be rebuilt from it.
pub(super) struct Head<'a> {
    pub(super) kind: PackageKind,
    pub(super) group: Option<&'a str>,
    pub(super) producer: &'a Role,
    pub(super) consumers: &'a [Role],
    pub(super) priority: Priority,
    pub(super) iteration: Option<u32>,
    pub(super) body: &'a str,
}

/// The whole file.
pub(super) fn file_text(head: &Head<'_>) -> String {
    let mut text = format!("---\ntype: {}\n", head.kind);
    if let Some(group) = head.group {
        let _ = writeln!(text, "group_id: '{group}'");
    }
    let _ = writeln!(text, "producer: {}", head.producer);
    if !head.consumers.is_empty() {
        let names: Vec<&str> = head.consumers.iter().map(Role::as_str).collect();
        let _ = writeln!(text, "consumers: [{}]", names.join(", "));
    }
    if let Some(iteration) = head.iteration {
        let _ = writeln!(text, "iteration: {iteration}");
    }
    let _ = write!(text, "priority: {}\n---\n{}", head.priority, head.body);
    if !head.body.ends_with('\n') {
        text.push('\n');
    }
    text
}

/// Writes a file under another name first, so that nobody ever reads half of it.
pub(super) fn write_whole(path: &Path, text: &str) -> std::io::Result<()> {
    whole(path, text)?.persist(path)?;
    Ok(())
}

/// The same, unless something of that name is there.
fn write_new(path: &Path, text: &str) -> std::io::Result<()> {
    whole(path, text)?.persist_noclobber(path)?;
    Ok(())
}

fn whole(path: &Path, text: &str) -> std::io::Result<tempfile::NamedTempFile> {
    let mut file = tempfile::NamedTempFile::new_in(path.parent().unwrap_or(path))?;
    file.write_all(text.as_bytes())?;
    file.as_file().set_permissions(std::fs::Permissions::from_mode(0o644))?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use handover_model::{GroupId, SessionId, Timestamp};
    use handover_text::Redactor;

    use super::super::{Facts, ProjectPaths, draft};
    use super::*;

    struct Project {
        _folder: tempfile::TempDir,
        places: ProjectPaths,
        redactor: Redactor,
        session: SessionId,
    }

    impl Project {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let places = ProjectPaths::new(folder.path(), &[]).unwrap();
            let session = SessionId::new("s1").unwrap();
            Self { _folder: folder, places, redactor: Redactor::default(), session }
        }

        fn write(&self, new: &NewText<'_>) -> Result<String, PackageFileError> {
            let setting = DraftContext {
                places: &self.places,
                redactor: &self.redactor,
                session: &self.session,
                groups: &[],
                warn_bytes: 1_000,
                max_bytes: 2_000,
                now: Timestamp::from_micros(0),
            };
            let located = write_text(&setting, new)?.located;
            // Whatever was written can be registered, and means what was said.
            let draft = draft(&setting, &located, Facts::default())?.package;
            assert_eq!((draft.kind, &draft.producer), (new.kind, &new.producer));
            assert_eq!(draft.group.map_or(Placement::Global, Placement::Group), new.placement);
            assert_eq!(draft.consumers, new.consumers);
            Ok(located.stored.rsplit('/').next().unwrap().to_owned())
        }
    }

    fn role(name: &str) -> Role {
        Role::new(name).unwrap()
    }

    fn text(body: &str) -> NewText<'_> {
        NewText {
            kind: PackageKind::Research,
            placement: Placement::Group(GroupId::new("P1").unwrap()),
            producer: role("developer"),
            consumers: &[],
            priority: Priority::High,
            iteration: None,
            topic: None,
            body,
        }
    }

    #[test]
    fn names_follow_the_convention_where_it_can_be_read_back() {
        let project = Project::new();
        let new = text("# OAuth: refresh & rotate\nTen minutes.");
        assert_eq!(project.write(&new).unwrap(), "research-P1-oauth-refresh-rotate.md");
        let failures =
            NewText { kind: PackageKind::Failures, iteration: Some(2), ..text("It failed.") };
        assert_eq!(project.write(&failures).unwrap(), "failures-P1-iter2.md");
        let to = [role("qa_expert")];
        let handoff = NewText { kind: PackageKind::Handoff, consumers: &to, ..text("Over.") };
        assert_eq!(project.write(&handoff).unwrap(), "handoff-developer-qa_expert-P1.md");
        let odd = NewText { producer: role("data-engineer"), ..handoff.clone() };
        assert!(project.write(&odd).unwrap().starts_with("notes-handoff-text-"));
        let global = NewText { placement: Placement::Global, topic: Some("Ten min"), ..text("x") };
        assert!(project.write(&global).unwrap().starts_with("notes-research-ten-min-"));
    }

    #[test]
    fn nothing_is_overwritten_and_the_same_text_is_the_same_file() {
        let project = Project::new();
        let first = project.write(&text("# A\none")).unwrap();
        assert_eq!(project.write(&text("# A\none")).unwrap(), first);
        let second = project.write(&text("# A\ntwo")).unwrap();
        assert!(second.starts_with("notes-research-a-"), "{second}");
        let there = project.places.context_folder(&project.session).join(first);
        assert!(fs_err::read_to_string(there).unwrap().ends_with("# A\none\n"));
    }

    #[test]
    fn secrets_stay_out_and_limits_hold() {
        let project = Project::new();
        let name = project.write(&text("# Key\npassword=hunter2sEcret")).unwrap();
        let file = project.places.context_folder(&project.session).join(name);
        assert!(fs_err::read_to_string(file).unwrap().contains("password=[REDACTED-1]"));
        let large = "x ".repeat(2_000);
        let error = project.write(&text(&large)).unwrap_err();
        assert!(matches!(error, PackageFileError::TooLarge { .. }), "{error}");
        assert!(matches!(
            project.write(&text(" \n")).unwrap_err(),
            PackageFileError::EmptyText { what: "text" }
        ));
    }
}
