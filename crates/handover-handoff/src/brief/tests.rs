//! The cap of a brief holds whatever is in it.

use std::sync::atomic::{AtomicUsize, Ordering};

use handover_model::{
    PackageKind, Phase, Priority, ProjectId, ReasoningLevel, Role, Scope, SessionId, Timestamp,
};
use handover_sqlite::SqliteStore;
use handover_store::{
    CleanSignature, ErrorPatterns, ErrorSighting, NewPackage, NewReasoning, NewSession,
    NewStrategy, Packages, Reasonings, Sessions, Strategies, Supersede,
};
use handover_text::CleanJson;
use proptest::prelude::*;

use handover_context::package_file::ProjectPaths;
use handover_context::specialize::Templates;
use handover_context::stack::detect;
use handover_model::config::Config;

use super::*;
use crate::Technology;

struct World {
    _folder: tempfile::TempDir,
    store: SqliteStore,
    session: SessionId,
    redactor: Redactor,
    paths: ProjectPaths,
    technology: Technology,
}

fn world(texts: &[String]) -> World {
    let folder = tempfile::tempdir().unwrap();
    fs_err::write(
        folder.path().join("package.json"),
        r#"{"dependencies": {"react": "^19.0.0", "next": "15.1.0"}, "devDependencies": {"vitest": "3", "typescript": "5.6"}}"#,
    )
    .unwrap();
    fs_err::write(folder.path().join("Dockerfile"), "FROM node:22\n").unwrap();
    let store = SqliteStore::open(&folder.path().join("store.db")).unwrap();
    let session = SessionId::new("s").unwrap();
    let (redactor, now) = (Redactor::default(), Timestamp::from_micros(1_000_000));
    let project = ProjectId::new("p").unwrap();
    let metadata = CleanJson::default();
    let new = NewSession { id: session.clone(), project: project.clone(), metadata, now };
    store.open_session(&new).unwrap();
    for (n, text) in texts.iter().enumerate() {
        let new = NewPackage {
            session: session.clone(),
            group: None,
            scope: Scope::Global,
            kind: PackageKind::Research,
            path: format!("docs/{n}-{}.md", "x".repeat(n * 7 % 90)),
            title: None,
            summary: redactor.clean(text).one_line().cut(400),
            files: Vec::new(),
            body: redactor.clean(text),
            producer: Role::new("developer").unwrap(),
            consumers: Vec::new(),
            priority: Priority::ALL[n % 4],
            iteration: None,
            size_bytes: 1,
            tokens: 1,
            content_hash: n.to_string(),
            supersede: Supersede::SamePath,
            created_at: now,
            trust: handover_model::Trust::Project,
        };
        store.register_packages(&[new]).unwrap();
        let reasoning = NewReasoning {
            session: session.clone(),
            group: None,
            role: Role::new(["developer", "qa_expert", "tech_lead"][n % 3]).unwrap(),
            agent_id: None,
            iteration: 0,
            phase: Phase::ALL[n % Phase::ALL.len()],
            confidence: None,
            content: redactor.clean(text),
            references: Vec::new(),
            now,
            trust: handover_model::Trust::Project,
        };
        let id = store.add_reasoning(&reasoning).unwrap().id;
        let strategy = NewStrategy {
            project: project.clone(),
            topic: handover_model::Topic::Implementation,
            insight: redactor.clean(text).one_line().cut(500),
            language: None,
            framework: None,
            source: id,
            now,
            trust: handover_model::Trust::Project,
        };
        store.learn_strategies(&[strategy]).unwrap();
        let sighting = ErrorSighting {
            project: project.clone(),
            signature: CleanSignature::new(None, &format!("error {n}: {text}"), &[], &redactor),
            language: None,
            ttl_days: 90,
            session: None,
            group: None,
            role: None,
            command: None,
            now,
            trust: handover_model::Trust::Project,
        };
        for _ in 0..4 {
            store.resolve_error(&sighting, &redactor.clean(text)).unwrap();
        }
    }
    let technology = Technology { stack: detect(folder.path()), templates: Templates::built_in() };
    // The packages have no files: they count as being on another machine.
    let paths = ProjectPaths::new(folder.path(), &[]).unwrap().shared(true);
    World { _folder: folder, store, session, redactor, paths, technology }
}

const ROLES: [&str; 9] = [
    "developer",
    "senior_software_engineer",
    "qa_expert",
    "tech_lead",
    "investigator",
    "requirements_engineer",
    "project_manager",
    "orchestrator",
    "gardener",
];

const MODELS: [(&str, u64); 4] =
    [("haiku", 900), ("sonnet", 1_200), ("opus", 1_800), ("gpt-4o", 1_200)];

/// A size for each zone.
const TOKENS: [u64; 5] = [0, 110_000, 135_000, 150_000, 169_000];

/// How many cases cover every combination once.
const CASES: u32 = 15;

/// The cases that have begun.
static CASE: AtomicUsize = AtomicUsize::new(0);

/// A zone and a testing mode for each role and model. Another one in every case, so that each of the four
/// meets each of the others, over texts that differ.
fn combinations() -> Vec<(&'static str, (&'static str, u64), u64, TestingMode)> {
    let settings: Vec<(u64, TestingMode)> = TOKENS
        .into_iter()
        .flat_map(|tokens| TestingMode::ALL.iter().map(move |mode| (tokens, *mode)))
        .collect();
    assert_eq!(settings.len(), CASES as usize);
    let case = CASE.fetch_add(1, Ordering::SeqCst);
    let agents = ROLES.into_iter().flat_map(|role| MODELS.map(move |model| (role, model)));
    agents
        .enumerate()
        .map(|(number, (role, model))| {
            let (tokens, mode) = settings[(number + case) % settings.len()];
            (role, model, tokens, mode)
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, ..ProptestConfig::default() })]

    /// Every role, every tier and tokenizer, every zone, every testing mode.
    #[test]
    fn the_preface_never_exceeds_its_cap(
        texts in prop::collection::vec("(\\PC|[a-z ]{1,20}){1,60}", 0..9),
        task in "[a-zA-Z ]{0,80}",
    ) {
        let world = world(&texts);
        let config = Config::default();
        let handoffs = Handoffs {
            store: Ok(&world.store),
            redactor: &world.redactor,
            config: &config,
            paths: &world.paths,
            technology: &world.technology,
            spool: None,
            overrides: &[],
        };
        for (number, (role, (model, cap), current_tokens, mode)) in combinations().into_iter().enumerate() {
            let receipt = ReceiptId::new("r_01a1dfaba7c975d1b18289c8e34aa7a1").unwrap();
            let (role, now) = (Role::new(role).unwrap(), Timestamp::from_micros(2_000_000));
            let request = HandoffRequest {
                task: Some(task.clone()),
                model: Some(model.to_owned()),
                current_tokens,
                reasoning: Some(true),
                reasoning_level: Some(ReasoningLevel::Full),
                limit: Some(9),
                testing_mode: Some(mode),
                ..HandoffRequest::new(world.session.clone(), role.clone(), receipt, now)
            };
            let compose = || compose(&handoffs, &request, 1, Delivery::Later);
            let brief = compose();
            let tokenizer = Model::named(Some(model)).tokenizer;
            let preface = brief.text.split("## Your Role").next().unwrap();
            let count = tokens::count(tokenizer, preface);
            let expected = config.brief.preface(Model::named(Some(model)).tier);
            prop_assert!(cap == expected || model == "gpt-4o");
            prop_assert!(count <= expected, "{role} {model} {current_tokens} {mode}: {count} > {expected}\n{preface}");
            if number % 6 == 0 {
                prop_assert_eq!(&compose().text, &brief.text, "the same bytes");
            }
            prop_assert!(crate::marker_of(&brief.text).is_some());
            let context = brief.context.unwrap();
            let room = context.budget.context + context.budget.errors;
            prop_assert!(context.tokens <= room.max(200), "{} of {room}", context.tokens);
        }
    }
}
