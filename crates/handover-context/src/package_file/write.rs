//! Writes package files for texts that have none, from agents and imports.
//!
//! Existing files are never overwritten, and a partially written file is never visible.

use std::fmt::Write as _;

use handover_files::{FileError, Folder};
use handover_model::{PackageKind, Priority, Role};

use super::paths::not_ours;
use super::{DraftContext, Located, PackageFileError, Placement, content, content_hash};

/// A text to be written as a package file.
#[derive(Debug, Clone)]
pub struct NewText<'a> {
    /// What it contains.
    pub kind: PackageKind,
    /// Its group, or global.
    pub placement: Placement,
    /// The role that wrote it.
    pub producer: Role,
    /// The roles it is for.
    pub consumers: &'a [Role],
    /// How important it is.
    pub priority: Priority,
    /// The attempt it came from.
    pub iteration: Option<u32>,
    /// The file name if there is no title: a summary or a topic.
    pub topic: Option<&'a str>,
    /// The Markdown text.
    pub body: &'a str,
}

/// A text that was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenText {
    /// The file.
    pub located: Located,
    /// How many secrets were removed.
    pub redactions: u32,
    /// Whether the file is new.
    pub fresh: bool,
    folder: Folder,
}

impl WrittenText {
    /// Removes the file if it is new, because the registration failed.
    pub fn take_back(&self) {
        let name = self.located.absolute.file_name().and_then(|name| name.to_str());
        if let Some(name) = name.filter(|_| self.fresh) {
            // Best effort: the error that caused the rollback is the one to report.
            let _ = self.folder.remove(name);
        }
    }
}

/// Writes a redacted text below the session's artifacts. The name follows the convention; if a file of that
/// name exists with other content, the name includes a hash.
pub fn write_text(
    context: &DraftContext<'_>,
    new: &NewText<'_>,
) -> Result<WrittenText, PackageFileError> {
    if new.body.trim().is_empty() {
        return Err(PackageFileError::EmptyBody);
    }
    let body = context.redactor.clean(new.body);
    let text = file_text(&Head {
        kind: new.kind,
        group: Some(&new.placement.to_string()),
        producer: &new.producer,
        consumers: new.consumers,
        priority: new.priority,
        iteration: new.iteration,
        body: body.as_str(),
    });
    let size = text.len() as u64;
    let folder = context.paths.context(context.session);
    let written = |located, fresh| WrittenText {
        located,
        redactions: body.redactions(),
        fresh,
        folder: folder.clone(),
    };
    let here = folder.path();
    let here = here.strip_prefix(context.paths.root()).unwrap_or(&here);
    let topic = content::title(body.as_str())
        .map(ToOwned::to_owned)
        .or_else(|| new.topic.map(|topic| context.redactor.clean(topic).as_str().to_owned()));
    let topic = slug(topic.as_deref().unwrap_or_default());
    let hash = &content_hash(text.as_bytes())[..8];
    let last_resort = format!("notes-{}-{topic}-{hash}", new.kind);
    for stem in [conventional(new, &topic), Some(last_resort)].into_iter().flatten() {
        let name = format!("{stem}.md");
        let relative = here.join(&name);
        if size > context.max_bytes {
            let path = context.paths.root().join(relative);
            return Err(PackageFileError::TooLarge { path, size, max: context.max_bytes });
        }
        let fresh = folder.publish_new(&name, text.as_bytes()).map_err(not_written)?;
        let is_same =
            || folder.read(&name, size).is_ok_and(|there| there == Some(text.clone().into_bytes()));
        if fresh || is_same() {
            return Ok(written(context.paths.locate_untrusted(&relative)?, fresh));
        }
    }
    Err(PackageFileError::Taken { path: folder.path() })
}

/// The conventional name, if all of its parts are known and unambiguous.
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

/// The metadata of a file, so that the index can be rebuilt from it.
pub(super) struct Head<'a> {
    pub(super) kind: PackageKind,
    pub(super) group: Option<&'a str>,
    pub(super) producer: &'a Role,
    pub(super) consumers: &'a [Role],
    pub(super) priority: Priority,
    pub(super) iteration: Option<u32>,
    pub(super) body: &'a str,
}

/// The whole content of a file.
pub(super) fn file_text(head: &Head<'_>) -> String {
    let mut text = format!("---\ntype: {}\n", head.kind);
    if let Some(group) = head.group {
        let _ = writeln!(text, "group_id: '{group}'");
    }
    let _ = writeln!(text, "producer: {}", scalar(head.producer));
    if !head.consumers.is_empty() {
        let names: Vec<String> = head.consumers.iter().map(scalar).collect();
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

/// A role as a YAML scalar that is read back as text.
fn scalar(role: &Role) -> String {
    // YAML 1.1 reads these as booleans or null.
    const WORDS: [&str; 9] = ["y", "n", "yes", "no", "on", "off", "true", "false", "null"];
    if WORDS.contains(&role.as_str()) { format!("'{role}'") } else { role.to_string() }
}

fn not_written(error: FileError) -> PackageFileError {
    if let FileError::Io { path, source } = error {
        PackageFileError::Write { path, source }
    } else {
        not_ours(error)
    }
}

#[cfg(test)]
mod tests {
    use handover_model::{GroupId, SessionId, Timestamp};
    use handover_text::Redactor;

    use super::super::{Facts, ProjectPaths, draft};
    use proptest::prelude::*;

    use super::*;

    struct Project {
        _folder: tempfile::TempDir,
        paths: ProjectPaths,
        redactor: Redactor,
        session: SessionId,
    }

    impl Project {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let paths = ProjectPaths::new(folder.path(), &[]).unwrap();
            let session = SessionId::new("s1").unwrap();
            Self { _folder: folder, paths, redactor: Redactor::default(), session }
        }

        fn write(&self, new: &NewText<'_>) -> Result<String, PackageFileError> {
            let context = DraftContext {
                paths: &self.paths,
                redactor: &self.redactor,
                session: &self.session,
                groups: &[],
                warn_bytes: 1_000,
                max_bytes: 2_000,
                now: Timestamp::from_micros(0),
                trust: handover_model::Trust::Project,
            };
            let located = write_text(&context, new)?.located;
            // What was written can be registered, and means the same.
            let draft = draft(&context, &located, Facts::default())?.package;
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
    fn names_follow_the_convention_if_unambiguous() {
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
    fn never_overwrites_and_reuses_equal_files() {
        let project = Project::new();
        let first = project.write(&text("# A\none")).unwrap();
        assert_eq!(project.write(&text("# A\none")).unwrap(), first);
        let second = project.write(&text("# A\ntwo")).unwrap();
        assert!(second.starts_with("notes-research-a-"), "{second}");
        let there = project.paths.context_folder(&project.session).join(first);
        assert!(fs_err::read_to_string(there).unwrap().ends_with("# A\none\n"));
    }

    #[test]
    fn redacts_text_and_enforces_the_limit() {
        let project = Project::new();
        let name = project.write(&text("# Key\npassword=hunter2sEcret")).unwrap();
        let file = project.paths.context_folder(&project.session).join(name);
        assert!(fs_err::read_to_string(file).unwrap().contains("password=[REDACTED-1]"));
        let large = "x ".repeat(2_000);
        let error = project.write(&text(&large)).unwrap_err();
        assert!(matches!(error, PackageFileError::TooLarge { .. }), "{error}");
        assert!(matches!(project.write(&text(" \n")).unwrap_err(), PackageFileError::EmptyBody));
    }

    #[test]
    fn slugs_are_short_and_plain() {
        assert_eq!(slug("OAuth: refresh & rotate"), "oauth-refresh-rotate");
        assert_eq!(slug("one two three four five six seven"), "one-two-three-four-five-six");
        assert_eq!(slug(&"word".repeat(20)).len(), 60);
        assert_eq!(slug("äöü !"), "text");
    }

    #[test]
    fn a_new_file_is_taken_back_but_not_an_existing_one() {
        let project = Project::new();
        let context = DraftContext {
            paths: &project.paths,
            redactor: &project.redactor,
            session: &project.session,
            groups: &[],
            warn_bytes: 1_000,
            max_bytes: 2_000,
            now: Timestamp::from_micros(0),
            trust: handover_model::Trust::Project,
        };
        let first = write_text(&context, &text("# A\none")).unwrap();
        let again = write_text(&context, &text("# A\none")).unwrap();
        assert!(first.fresh && !again.fresh);
        again.take_back();
        assert!(first.located.absolute.exists());
        first.take_back();
        assert!(!first.located.absolute.exists());
    }

    #[test]
    fn a_link_in_the_place_of_the_folder_is_not_followed() {
        let project = Project::new();
        let outside = tempfile::tempdir().unwrap();
        let folder = project.paths.context_folder(&project.session);
        fs_err::create_dir_all(folder.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(outside.path(), &folder).unwrap();
        let error = project.write(&text("# A\none")).unwrap_err();
        assert!(matches!(error, PackageFileError::Link { .. }), "{error}");
        assert_eq!(fs_err::read_dir(outside.path()).unwrap().count(), 0);
    }

    proptest! {
        #[test]
        fn slugs_are_always_file_names(text in "\\PC{0,100}") {
            let slug = slug(&text);
            prop_assert!(!slug.is_empty() && slug.len() <= 60 && !slug.ends_with('-'));
            prop_assert!(slug.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'));
        }

        #[test]
        fn files_say_about_themselves_what_was_said(
            kind in prop::sample::select(PackageKind::ALL),
            priority in prop::sample::select(Priority::ALL),
            group in prop::option::of("[A-Za-z0-9][A-Za-z0-9._-]{0,9}"),
            producer in "[a-z][a-z0-9_-]{0,9}",
            consumers in prop::collection::vec("[a-z][a-z0-9_-]{0,9}", 0..4),
            iteration in prop::option::of(0_u32..100),
            body in "[a-z]{1,9}\\PC{0,40}",
        ) {
            let (producer, consumers) =
                (role(&producer), consumers.iter().map(|name| role(name)).collect::<Vec<_>>());
            let head = Head {
                kind, group: group.as_deref(), producer: &producer, consumers: &consumers, priority,
                iteration, body: &body,
            };
            let text = file_text(&head);
            let (front, rest) = super::super::front_matter::split(&text).unwrap();
            let front = front.unwrap();
            prop_assert_eq!((front.kind, front.priority), (Some(kind), Some(priority)));
            prop_assert_eq!((front.group, front.iteration), (group, iteration));
            prop_assert_eq!(front.producer, Some(producer));
            prop_assert_eq!(front.consumers.unwrap_or_default(), consumers);
            prop_assert_eq!(rest.trim_end_matches('\n'), body.trim_end_matches('\n'));
        }

        #[test]
        fn conventional_names_are_read_back(
            kind in prop::sample::select(PackageKind::ALL),
            group in "[A-Za-z0-9][A-Za-z0-9._-]{0,9}",
            to in "[a-z][a-z0-9_]{0,9}",
            iteration in 0_u32..100,
            topic in "[a-z0-9]{1,9}(-[a-z0-9]{1,9}){0,3}",
        ) {
            prop_assume!(!group.eq_ignore_ascii_case("global"));
            let to = [role(&to)];
            let placement = Placement::Group(GroupId::new(group.clone()).unwrap());
            let new = NewText {
                kind, placement, iteration: Some(iteration), consumers: &to, ..text("x")
            };
            let name = conventional(&new, &topic).unwrap();
            let facts = super::super::name::read(&format!("{name}.md"));
            prop_assert_eq!(facts.kind, Some(kind));
            prop_assert!(facts.group.unwrap().can_be(&group), "{}", name);
        }
    }
}
