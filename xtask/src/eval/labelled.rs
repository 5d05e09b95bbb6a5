//! Labeled questions about documents, given by path: the data for measuring rankings and blocks.
//!
//! A folder holds `corpus.jsonl` (id, pool, text; optional title, files, hunks, group, agent, created_at),
//! `queries.jsonl` (id, pool, text; optional asked_at) and `qrels.tsv` (query, document, grade). A query is
//! run in its own pool, and only documents created before it count.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use anyhow::Result;
use handover_model::{
    GroupId, PackageKind, Priority, ProjectId, Role, Scope, SessionId, Timestamp, Trust,
};
use handover_store::{NewPackage, NewSession, Store, Supersede};
use handover_text::{CleanJson, Redactor};
use serde::Deserialize;

/// A folder of labeled data.
pub struct Data {
    pub documents: Vec<Document>,
    pub questions: Vec<Question>,
    pub labels: Labels,
}

impl Data {
    pub fn load(folder: &Path) -> Result<Self> {
        Ok(Self {
            documents: lines(&folder.join("corpus.jsonl"))?,
            questions: lines(&folder.join("queries.jsonl"))?,
            labels: labels(&folder.join("qrels.tsv"))?,
        })
    }

    /// The documents of each pool, in their order.
    pub fn pools(&self) -> BTreeMap<&str, Vec<&Document>> {
        let mut pools: BTreeMap<&str, Vec<&Document>> = BTreeMap::new();
        for document in &self.documents {
            pools.entry(&document.pool).or_default().push(document);
        }
        pools
    }

    /// The questions that have labels in a pool, each with its labels.
    pub fn questions<'a>(
        &'a self,
        pool: &'a str,
    ) -> impl Iterator<Item = (&'a Question, &'a BTreeMap<String, f64>)> {
        let of_pool = self.questions.iter().filter(move |question| question.pool == pool);
        of_pool.filter_map(|question| Some((question, self.labels.get(&question.id)?)))
    }
}

/// A text that may answer questions.
#[derive(Clone, Deserialize)]
pub struct Document {
    pub id: String,
    pub pool: String,
    pub text: String,
    pub title: Option<String>,
    #[serde(default)]
    pub files: Vec<String>,
    pub hunks: Option<serde_json::Value>,
    pub group: Option<String>,
    pub agent: Option<String>,
    pub created_at: Option<String>,
}

impl Document {
    pub fn body(&self) -> String {
        let hunks = self.hunks.as_ref().map(ToString::to_string).unwrap_or_default();
        format!("{}\n{hunks}", self.text)
    }
}

/// A question with labeled answers.
#[derive(Deserialize)]
pub struct Question {
    pub id: String,
    pub pool: String,
    pub text: String,
    pub asked_at: Option<String>,
}

/// For each question, the grade of each document that answers it.
pub type Labels = HashMap<String, BTreeMap<String, f64>>;

fn labels(path: &Path) -> Result<Labels> {
    let mut labels = Labels::new();
    for line in fs_err::read_to_string(path)?.lines() {
        let mut parts = line.split('\t');
        if let (Some(query), Some(document), Some(grade)) =
            (parts.next(), parts.next(), parts.next())
            && let Ok(grade) = grade.parse()
        {
            labels.entry(query.to_owned()).or_default().insert(document.to_owned(), grade);
        }
    }
    Ok(labels)
}

/// Registers each document as a package in a separate session, in order.
pub fn fill(store: &dyn Store, documents: &[&Document]) -> Result<SessionId> {
    let session = SessionId::new("eval")?;
    let now = Timestamp::from_micros(1_700_000_000_000_000);
    let project = ProjectId::new("eval")?;
    store.open_session(&NewSession {
        id: session.clone(),
        project,
        metadata: CleanJson::default(),
        now,
    })?;
    let redactor = Redactor::default();
    let packages: Vec<NewPackage> = documents
        .iter()
        .enumerate()
        .map(|(n, document)| {
            let summary = document.title.as_deref().unwrap_or(&document.text);
            let body = document.body();
            let group = document.group.as_deref().and_then(|id| GroupId::new(slug(id)).ok());
            let producer = document.agent.as_deref().map(slug).unwrap_or_default().to_lowercase();
            Ok(NewPackage {
                session: session.clone(),
                group,
                scope: Scope::Global,
                kind: PackageKind::Research,
                path: format!("d/{n}.md"),
                title: None,
                summary: redactor.clean(summary).one_line().cut(400),
                files: document.files.iter().map(|file| redactor.clean(file)).collect(),
                body: redactor.clean(&body),
                producer: Role::new(producer).or_else(|_| Role::new("developer"))?,
                consumers: Vec::new(),
                priority: Priority::Medium,
                iteration: None,
                size_bytes: body.len() as u64,
                tokens: 0,
                content_hash: n.to_string(),
                supersede: Supersede::SamePath,
                created_at: document.created_at.as_deref().and_then(time).unwrap_or(now),
                trust: Trust::Agent,
            })
        })
        .collect::<Result<_>>()?;
    store.register_packages(&packages)?;
    Ok(session)
}

fn slug(text: &str) -> String {
    text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}

/// A time, with or without a zone.
pub fn time(text: &str) -> Option<Timestamp> {
    text.parse().or_else(|_| format!("{text}Z").parse()).ok()
}

fn lines<T: serde::de::DeserializeOwned>(path: &Path) -> Result<Vec<T>> {
    let text = fs_err::read_to_string(path)?;
    text.lines().map(|line| Ok(serde_json::from_str(line)?)).collect()
}
