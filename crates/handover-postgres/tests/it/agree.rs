//! The same records in both stores give the same search results and the same prompts.

use handover_context::assemble::{ContextRequest, Sources, compose};
use handover_context::search::{Query, search};
use handover_model::config::AssemblyConfig;
use handover_model::{
    GroupId, PackageKind, Priority, ProjectId, Role, Scope, SessionId, Timestamp,
};
use handover_sqlite::SqliteStore;
use handover_store::{NewPackage, NewSession, Store, Supersede};
use handover_text::{CleanJson, Redactor};

use crate::test_project::TestProject;

/// Pseudo-random numbers, the same in every run.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.roll(from.len() as u64) as usize]
    }

    /// Text with few frequent and many rare words.
    fn text(&mut self, words: u64) -> String {
        const FREQUENT: [&str; 8] = [
            "token",
            "Anmeldung",
            "timeouts",
            "cache_key",
            "session",
            "getUserById",
            "데이터",
            "café",
        ];
        let word = |dice: &mut Self| match dice.roll(3) {
            0 => dice.pick(&FREQUENT).to_owned(),
            _ => format!("word{}", dice.roll(400)),
        };
        (0..words).map(|_| word(self)).collect::<Vec<_>>().join(" ")
    }
}

pub(crate) fn at(seconds: i64) -> Timestamp {
    Timestamp::from_micros(1_700_000_000_000_000 + seconds * 1_000_000)
}

const ROLES: [&str; 4] = ["developer", "qa_expert", "tech_lead", "investigator"];

/// Adds packages to a store, this many at once.
pub(crate) fn fill(store: &dyn Store, session: &SessionId, count: u64, at_once: usize) {
    let redactor = Redactor::default();
    store
        .open_session(&NewSession {
            id: session.clone(),
            project: ProjectId::new("p").unwrap(),
            metadata: CleanJson::default(),
            now: at(0),
        })
        .unwrap();
    let mut dice = Dice(0x9E37_79B9_7F4A_7C15);
    let mut packages = Vec::new();
    for n in 0..count {
        // Every fifth replaces an earlier one, wherever that is in the index.
        let name = if n % 5 == 4 { dice.roll(n) } else { n };
        let grouped = dice.roll(3) > 0;
        let body = dice.text(40);
        let new = NewPackage {
            session: session.clone(),
            group: grouped.then(|| GroupId::new(format!("P{}", name % 4)).unwrap()),
            scope: if grouped { Scope::Group } else { Scope::Global },
            kind: PackageKind::Research,
            path: format!("docs/{name}.md"),
            title: (dice.roll(2) == 0).then(|| redactor.clean(&dice.text(4))),
            summary: redactor.clean(&dice.text(12)),
            files: (0..dice.roll(3)).map(|f| redactor.clean(&format!("src/part{f}.rs"))).collect(),
            size_bytes: body.len() as u64,
            tokens: 50,
            content_hash: format!("{n}"),
            body: redactor.clean(&body),
            producer: Role::new(dice.pick(&ROLES)).unwrap(),
            consumers: (0..dice.roll(3)).map(|_| Role::new(dice.pick(&ROLES)).unwrap()).collect(),
            priority: dice.pick(Priority::ALL),
            iteration: None,
            supersede: Supersede::SamePath,
            created_at: at(dice.roll(500_000) as i64),
            trust: handover_model::Trust::Project,
        };
        packages.push(new);
    }
    for batch in packages.chunks(at_once) {
        store.register_packages(batch).unwrap();
    }
}

#[test]
fn search_and_assembly_agree() {
    let folder = tempfile::tempdir().unwrap();
    let test_project = TestProject::fresh();
    let session = SessionId::new("s1").unwrap();
    let file = SqliteStore::open(&folder.path().join("store.db")).unwrap();
    let shared = test_project.open();
    let (file, shared): (&dyn Store, &dyn Store) = (&file, &shared);
    fill(file, &session, 300, 1);
    fill(shared, &session, 300, 90);

    let (config, redactor) = (AssemblyConfig::default(), Redactor::default());
    let groups: Vec<Option<GroupId>> =
        [None, Some("P0"), Some("P3")].map(|g| g.map(|g| GroupId::new(g).unwrap())).into();
    let (mut dice, mut hits) = (Dice(7), 0);
    for _ in 0..10 {
        let words = 1 + dice.roll(12);
        let text = dice.text(words);
        for group in &groups {
            let group = group.as_ref();
            let (session, now) = (&session, at(600_000));
            let query = Query { session, group, text: &text, limit: 50, config: &config, now };
            let found = search(file, &query).unwrap();
            assert_eq!(found, search(shared, &query).unwrap(), "{text}");
            hits += found.len();
            for role in &ROLES[..2] {
                let made = |store| {
                    let binding = || Default::default();
                    let sources = Sources {
                        store,
                        redactor: &redactor,
                        config: &config,
                        where_to_look: &|_| Vec::new(),
                        fresh: &handover_context::assemble::Unchecked,
                        notes: true,
                        binding: &binding,
                        places: None,
                    };
                    let assembly = compose(sources, &request(session, group, role, &text)).unwrap();
                    (assembly.markdown, format!("{:?}", assembly.candidates))
                };
                assert_eq!(made(file), made(shared), "{role} {text}");
            }
        }
    }
    assert!(hits > 200, "{hits}");
}

fn request(session: &SessionId, group: Option<&GroupId>, role: &str, task: &str) -> ContextRequest {
    ContextRequest {
        session: session.clone(),
        role: Role::new(role).unwrap(),
        group: group.cloned(),
        task: Some(task.to_owned()),
        model: None,
        current_tokens: 0,
        iteration: 0,
        reasoning: None,
        reasoning_level: Default::default(),
        limit: Some(20),
        cap: None,
        loaded: Vec::new(),
        claim: false,
        explain: true,
        receipt: handover_model::ReceiptId::new("r1").unwrap(),
        now: at(600_000),
    }
}
