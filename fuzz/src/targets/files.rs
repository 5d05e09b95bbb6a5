//! Files of a project: packages, configuration, stories, scenarios, templates, manifests.

use std::path::Path;
use std::sync::OnceLock;

use handover_context::package_file::{
    DraftContext, Facts, ImportContext, ProjectPaths, draft, prepare_import,
};
use handover_context::specialize::Templates;
use handover_engine::persona::{self, Personas};
use handover_engine::story::Layout;
use handover_engine::{story, uat};
use handover_model::config::Config;
use handover_model::{EpicId, SessionId, Timestamp};
use handover_text::Redactor;

use super::{halves, lossy};

/// A folder for files that only paths can be given for.
fn folder() -> &'static Path {
    static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();
    FOLDER.get_or_init(|| tempfile::tempdir().expect("a temporary folder")).path()
}

fn write(name: &str, data: &[u8]) {
    let path = folder().join(name);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    std::fs::write(path, data).expect("a file");
}

fn with_context(work: impl FnOnce(&DraftContext<'_>)) {
    let paths = ProjectPaths::new(folder(), &[]).expect("a folder");
    let (redactor, session) = (Redactor::default(), SessionId::new("s1").expect("an id"));
    work(&DraftContext {
        paths: &paths,
        redactor: &redactor,
        session: &session,
        groups: &[],
        warn_bytes: 10_000,
        max_bytes: 100_000,
        now: Timestamp::from_micros(0),
        trust: handover_model::Trust::Project,
    });
}

pub(super) fn yaml(data: &[u8]) {
    let _ = handover_context::yaml::read(&lossy(data));
}

/// Front matter, headings and summary of a package file.
pub(super) fn package(data: &[u8]) {
    write("docs/research_a.md", data);
    with_context(|context| {
        let path = Path::new("docs/research_a.md");
        if let Ok(located) = context.paths.locate_untrusted(path) {
            let _ = draft(context, &located, Facts::default());
        }
    });
}

pub(super) fn package_import(data: &[u8]) {
    with_context(|draft| {
        let import = ImportContext { draft, group: None, registered: &|_| None };
        if let Ok(prepared) = prepare_import(&import, &lossy(data)) {
            prepared.undo();
        }
    });
}

pub(super) fn config(data: &[u8]) {
    let _ = toml::from_str::<Config>(&lossy(data));
}

pub(super) fn story(data: &[u8]) {
    let (before, after) = halves(data);
    let (before, after) = (lossy(before), lossy(after));
    let _ = story::verify(&before, &after);
    let _ = story::Status::of(&before);
    let _ = story::epic_title(&before);
    let _ = story::set_sprint_status(&before, "1-1-a", "done");
    let done = story::set_status(&before, "done");
    assert_eq!(story::set_status(&done, "done"), done);
    write("docs/stories/1-1-a.md", before.as_bytes());
    write("docs/epics/epic-1-shop.md", after.as_bytes());
    let epic = EpicId::new("1").expect("an id");
    let layout = Layout::default();
    let _ = story::discover(folder(), &layout, &epic);
    let _ = story::epic_dependencies(folder(), &layout, &epic);
}

pub(super) fn scenarios(data: &[u8]) {
    let _ = uat::parse(&lossy(data));
}

/// A persona of the user's own, and what a list of personas names.
pub(super) fn persona(data: &[u8]) {
    write("personas/winston.toml", data);
    write("personas/other.toml", data);
    let personas = Personas { user: Some(folder().join("personas")), ..Personas::default() };
    for id in persona::parse_list("winston,other").expect("names") {
        let _ = personas.get(&id);
    }
    let _ = persona::parse_list(&lossy(data));
    let _ = personas.names();
}

pub(super) fn template(data: &[u8]) {
    let _ = Templates::empty().validate_text("x", &lossy(data));
}

/// The first byte chooses the file.
pub(super) fn manifest(data: &[u8]) {
    const NAMES: [&str; 12] = [
        "package.json", "Cargo.toml", "pyproject.toml", "requirements.txt", "go.mod", "pom.xml",
        "build.gradle", "Gemfile", "composer.json", "app.csproj", "docker-compose.yml", "tsconfig.json",
    ];
    let Some((first, rest)) = data.split_first() else { return };
    let place = folder().join("stack");
    let _ = std::fs::remove_dir_all(&place);
    write(&format!("stack/{}", NAMES[usize::from(*first) % NAMES.len()]), rest);
    let _ = handover_context::stack::detect(&place);
}
