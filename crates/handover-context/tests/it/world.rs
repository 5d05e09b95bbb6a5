//! A session on a real store, and requests for its context.

use std::collections::BTreeMap;

use handover_context::assemble::{
    Assembly, ContextRequest, Explained, Freshness, ShownPlace, Sources, compose,
};
use handover_context::learning::Binding;
use handover_context::package_file::{ProjectPaths, content_hash};
use handover_model::config::AssemblyConfig;
use handover_model::{
    Fate, GroupId, NameCheck, Note, PackageId, PackageKind, Phase, Priority, ProjectId, ReceiptId,
    Role, Scope, SectionNow, SessionId, StaleName, Timestamp, Topic, Trust,
};
use handover_sqlite::SqliteStore;
use handover_store::{
    CleanSignature, ErrorPatterns, ErrorSighting, NewPackage, NewReasoning, NewSession,
    NewStrategy, Packages, Reasonings, Sessions, Strategies, Supersede,
};
use handover_text::{CleanJson, Redactor};

pub(crate) struct World {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) store: SqliteStore,
    pub(crate) redactor: Redactor,
    pub(crate) config: AssemblyConfig,
    pub(crate) binding: Binding,
    pub(crate) places: Vec<ShownPlace>,
    /// What an index would know of names.
    pub(crate) stale: Vec<StaleName>,
    /// What the document of every note says today.
    pub(crate) section: SectionNow,
}

pub(crate) fn session() -> SessionId {
    SessionId::new("s").unwrap()
}

pub(crate) fn project() -> ProjectId {
    ProjectId::new("p").unwrap()
}

pub(crate) fn role(name: &str) -> Role {
    Role::new(name).unwrap()
}

pub(crate) fn group(name: &str) -> GroupId {
    GroupId::new(name).unwrap()
}

/// So many days after the session was opened.
pub(crate) fn day(days: i64) -> Timestamp {
    Timestamp::from_micros(1_700_000_000_000_000 + days * 86_400_000_000)
}

/// A package in the making.
pub(crate) struct Draft {
    pub(crate) name: String,
    pub(crate) summary: String,
    /// The text of the file; `None` is the summary.
    pub(crate) body: Option<String>,
    pub(crate) priority: Priority,
    pub(crate) group: Option<&'static str>,
    pub(crate) consumers: &'static [&'static str],
    pub(crate) created: i64,
    pub(crate) trust: Trust,
}

pub(crate) fn package(name: impl Into<String>) -> Draft {
    let name = name.into();
    let summary = format!("About {name}.");
    let (group, consumers): (_, &[&str]) = (None, &[]);
    let (priority, trust) = (Priority::Medium, Trust::Project);
    Draft { name, summary, body: None, priority, group, consumers, created: 0, trust }
}

impl Freshness for World {
    fn names(&self, text: &str) -> NameCheck {
        let named = text.split_whitespace().filter(|word| word.contains('/')).count();
        let in_text = |stale: &&StaleName| text.contains(stale.name());
        NameCheck { named, stale: self.stale.iter().filter(in_text).cloned().collect() }
    }

    fn section(&self, _: &Note) -> SectionNow {
        self.section.clone()
    }
}

impl World {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(&folder.path().join("store.db")).unwrap();
        let metadata = CleanJson::default();
        let new = NewSession { id: session(), project: project(), metadata, now: day(0) };
        store.open_session(&new).unwrap();
        let (config, binding) = (AssemblyConfig::default(), Binding::default());
        let (redactor, places) = (Redactor::default(), Vec::new());
        Self {
            folder,
            store,
            redactor,
            config,
            binding,
            places,
            stale: Vec::new(),
            section: SectionNow::Same,
        }
    }

    pub(crate) fn add(&self, draft: Draft) -> PackageId {
        let body = draft.body.as_deref().unwrap_or(&draft.summary);
        let new = NewPackage {
            session: session(),
            group: draft.group.map(group),
            scope: if draft.group.is_some() { Scope::Group } else { Scope::Global },
            kind: PackageKind::Research,
            path: format!("docs/{}.md", draft.name),
            title: None,
            summary: self.redactor.clean(&draft.summary),
            files: Vec::new(),
            body: self.redactor.clean(body),
            producer: role("requirements_engineer"),
            consumers: draft.consumers.iter().map(|name| role(name)).collect(),
            priority: draft.priority,
            iteration: None,
            size_bytes: body.len() as u64,
            tokens: 10,
            content_hash: content_hash(body.as_bytes()),
            supersede: Supersede::SamePath,
            created_at: day(draft.created),
            trust: draft.trust,
        };
        self.store.register_packages(&[new]).unwrap()[0].package.id
    }

    pub(crate) fn think(&self, who: &str, phase: Phase, content: &str) {
        let new = NewReasoning {
            session: session(),
            group: None,
            role: role(who),
            agent_id: None,
            iteration: 0,
            phase,
            confidence: None,
            content: self.redactor.clean(content),
            references: Vec::new(),
            now: day(1),
            trust: Trust::Project,
        };
        self.store.add_reasoning(&new).unwrap();
    }

    /// An error that was solved so many times.
    pub(crate) fn error(&self, message: &str, solved: usize) {
        let sighting = ErrorSighting {
            project: project(),
            signature: CleanSignature::new(None, message, &[], &self.redactor),
            language: None,
            ttl_days: 90,
            session: None,
            group: None,
            role: None,
            command: None,
            now: day(1),
            trust: Trust::Project,
        };
        for _ in 0..solved {
            self.store.resolve_error(&sighting, &self.redactor.clean("do this")).unwrap();
        }
    }

    pub(crate) fn strategy(&self, insight: &str, language: Option<&str>) {
        self.think("orchestrator", Phase::Approach, insight);
        let source = self.store.reasoning(&session(), &Default::default()).unwrap()[0].id;
        let new = NewStrategy {
            project: project(),
            topic: Topic::Methodology,
            insight: self.redactor.clean(insight),
            language: language.map(|name| self.redactor.clean(name)),
            framework: None,
            source,
            now: day(1),
            trust: Trust::Project,
        };
        self.store.learn_strategies(&[new]).unwrap();
    }

    pub(crate) fn compose(&self, request: &ContextRequest) -> Assembly {
        self.compose_with(request, None)
    }

    pub(crate) fn compose_with(
        &self,
        request: &ContextRequest,
        places: Option<&ProjectPaths>,
    ) -> Assembly {
        let binding = || self.binding.clone();
        let sources = Sources {
            store: &self.store,
            redactor: &self.redactor,
            config: &self.config,
            where_to_look: &|_| self.places.clone(),
            fresh: self,
            notes: true,
            binding: &binding,
            places,
        };
        compose(sources, request).unwrap()
    }

    /// The names of the packages that a request gets, best first.
    pub(crate) fn names(&self, request: &ContextRequest) -> Vec<String> {
        names(&self.compose(request))
    }
}

pub(crate) fn names(assembly: &Assembly) -> Vec<String> {
    let name = |path: &str| path.trim_start_matches("docs/").trim_end_matches(".md").to_owned();
    assembly.packages.iter().map(|package| name(&package.path)).collect()
}

pub(crate) fn request(who: &str) -> ContextRequest {
    ContextRequest {
        session: session(),
        role: role(who),
        group: None,
        task: None,
        model: None,
        current_tokens: 0,
        iteration: 0,
        reasoning: None,
        reasoning_level: None,
        limit: None,
        cap: None,
        loaded: Vec::new(),
        claim: false,
        explain: false,
        receipt: ReceiptId::new("r_1").unwrap(),
        now: day(2),
    }
}

pub(crate) fn fates(assembly: &Assembly) -> BTreeMap<String, Fate> {
    let of = |one: &Explained| (format!("{} {}", one.kind, one.id), one.reason);
    assembly.candidates.iter().map(of).collect()
}
