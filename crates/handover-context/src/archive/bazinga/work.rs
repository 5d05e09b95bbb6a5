//! Imports sessions and what belongs to them.

use std::collections::BTreeMap;

use handover_model::{
    AgentId, Confidence, CounterName, EventType, GroupId, GroupStatus, PackageId, PackageKind,
    Phase, Priority, ProjectId, Role, Scope, SessionId, SessionStatus, SkillName, Timestamp, Trust,
};
use handover_store::{
    EventKey, GroupUpdate, NewEvent, NewPackage, NewReasoning, NewSession, NewSkillOutput,
    PackageFilter, Result, Store, Supersede, Versions,
};
use handover_text::tokens;
use serde_json::json;

use super::row::{Problem, Row, each, role};
use super::{Report, Source};
use crate::package_file::content_hash;

/// The imported sessions and when they began.
pub(super) type Known = BTreeMap<SessionId, Timestamp>;

/// The counters of a group that count attempts.
const COUNTERS: [&str; 6] = [
    "revision_count",
    "qa_attempts",
    "tl_review_attempts",
    "review_iteration",
    "no_progress_count",
    "blocking_issues_count",
];

/// A counter is raised one by one, so larger values are not believed.
const MAX_COUNT: i64 = 1_000;

/// The length limit of summaries.
const SUMMARY_CHARS: usize = 400;

/// Runs a step that reports problems and may fail with a store error.
macro_rules! problems {
    ($body:expr) => {{
        let outcome: std::result::Result<_, Problem> = (|| Ok($body))();
        match outcome {
            Ok(value) => value,
            Err(problem) => return Ok(Err(problem)),
        }
    }};
}

pub(super) fn sessions(
    store: &dyn Store,
    source: &Source<'_>,
    report: &mut Report,
) -> Result<Known> {
    let mut known = Known::new();
    each(source, report, "sessions", |row, report| {
        let (id, status, metadata) = problems!({
            let id: SessionId = row.parsed_needed("session_id")?;
            let status: Option<SessionStatus> = row.parsed("status")?;
            let metadata = json!({
                "from": "bazinga",
                "mode": row.text("mode")?,
                "requirements": row.text("original_requirements")?,
                "branch": row.text("initial_branch")?,
                "metadata": row.json("metadata")?,
            });
            (id, status.unwrap_or(SessionStatus::Active), metadata)
        });
        let began = row.time(&["start_time", "created_at"]).unwrap_or(source.now);
        let project: ProjectId = source.project.clone();
        let metadata = source.redactor.clean_json(metadata);
        let opened =
            store.open_session(&NewSession { id: id.clone(), project, metadata, now: began })?;
        if opened.created && status != SessionStatus::Active {
            store.set_session_status(&id, status, row.time(&["end_time"]).unwrap_or(began))?;
        }
        report.sessions.take(opened.created);
        known.insert(id, began);
        Ok(Ok(()))
    })?;
    Ok(known)
}

/// The session of a row, and when the row was written.
fn session_of(row: &Row, known: &Known, times: &[&str]) -> Result<(SessionId, Timestamp), Problem> {
    let id: SessionId = row.parsed_needed("session_id")?;
    let began = known.get(&id).ok_or_else(|| format!("there is no session `{id}`"))?;
    Ok((id, row.time(times).unwrap_or(*began)))
}

/// Imports packages; returns which of theirs became which of ours.
pub(super) fn packages(
    store: &dyn Store,
    source: &Source<'_>,
    known: &Known,
    report: &mut Report,
) -> Result<BTreeMap<i64, PackageId>> {
    let mut consumers: BTreeMap<i64, Vec<Role>> = BTreeMap::new();
    each(source, report, "context_package_consumers", |row, _| {
        let (package, role) = problems!({
            let package = row.number("package_id")?.ok_or("`package_id` is missing")?;
            (package, row.role("agent_type")?.ok_or("`agent_type` is missing")?)
        });
        let roles = consumers.entry(package).or_default();
        if !roles.contains(&role) {
            roles.push(role);
        }
        Ok(Ok::<(), Problem>(()))
    })?;
    let mut became = BTreeMap::new();
    each(source, report, "context_packages", |row, report| {
        let (id, mut new) = problems!({
            let id = row.number("id")?.ok_or("`id` is missing")?;
            (id, package(source, row, known)?)
        });
        new.consumers = consumers.remove(&id).unwrap_or_default();
        if new.content_hash.is_empty() {
            new.content_hash = content_hash(new.body.as_str().as_bytes());
            report.without_file += 1;
        }
        // Versions of one path may be A, B and A again, so all of them are compared.
        let filter = PackageFilter {
            path: Some(new.path.clone()),
            versions: Versions::All,
            ..PackageFilter::default()
        };
        let there = store.packages(&new.session, &filter)?.into_iter().find(|p| {
            (p.created_at, &p.content_hash) == (new.created_at, &new.content_hash)
                && (&p.group, p.kind) == (&new.group, new.kind)
        });
        let ours = match there {
            Some(package) => {
                report.packages.take(false);
                package.id
            }
            None => {
                let registered = store.register_packages(&[new])?.pop();
                let Some(registered) = registered else { return Ok(Ok(())) };
                report.packages.take(registered.created);
                registered.package.id
            }
        };
        became.insert(id, ours);
        Ok(Ok(()))
    })?;
    Ok(became)
}

/// A package without its consumers; without a hash if its file is not available.
fn package(source: &Source<'_>, row: &Row, known: &Known) -> Result<NewPackage, Problem> {
    let (session, created_at) = session_of(row, known, &["created_at"])?;
    let group = row.group("group_id")?;
    let path = row.needed("file_path")?.to_owned();
    let kind: PackageKind = row.parsed_needed("package_type")?;
    let scope: Option<Scope> = row.parsed("scope")?;
    let default = if group.is_some() { Scope::Group } else { Scope::Global };
    let priority: Option<Priority> = row.parsed("priority")?;
    let text = (source.file)(&path);
    // Before there were summaries, only the file name described a package.
    let summary = row.text("summary")?.unwrap_or(&path);
    let summary = source.redactor.clean(summary).one_line().cut(SUMMARY_CHARS);
    let title = text.as_deref().and_then(|text| {
        text.lines()
            .find_map(|line| line.strip_prefix("# "))
            .map(|title| source.redactor.clean(title.trim()))
    });
    let words = text.as_deref().unwrap_or(summary.as_str());
    Ok(NewPackage {
        session,
        scope: if group.is_none() { Scope::Global } else { scope.unwrap_or(default) },
        group,
        kind,
        title,
        files: Vec::new(),
        producer: row.role("producer_agent")?.ok_or("`producer_agent` is missing")?,
        consumers: Vec::new(),
        priority: priority.unwrap_or(Priority::Medium),
        iteration: None,
        size_bytes: words.len() as u64,
        tokens: tokens::estimate(words),
        content_hash: text.as_deref().map_or_else(String::new, |t| content_hash(t.as_bytes())),
        body: source.redactor.clean(words),
        summary,
        path,
        supersede: Supersede::SamePath,
        created_at,
        trust: Trust::Outside,
    })
}

pub(super) fn groups(
    store: &dyn Store,
    source: &Source<'_>,
    known: &Known,
    packages: &BTreeMap<i64, PackageId>,
    report: &mut Report,
) -> Result<()> {
    each(source, report, "task_groups", |row, report| {
        let mut update = problems!({
            let (session, created_at) = session_of(row, known, &["created_at"])?;
            let id = row.group("id")?.ok_or("a group cannot be called that")?;
            let mut update = GroupUpdate::new(session, id, created_at);
            update.title = row.text("name")?.map(|name| source.redactor.clean(name));
            update.status = row.parsed::<GroupStatus>("status")?;
            update.component = row.text("component_path")?.map(|p| source.redactor.clean(p));
            let names = row.list("specializations")?;
            update.specializations =
                Some(names.iter().map(|name| source.redactor.clean(name)).collect());
            let references = row.list("context_references")?;
            let ours = references.iter().filter_map(|id| packages.get(&id.parse().ok()?));
            update.references = Some(ours.copied().collect());
            for name in COUNTERS {
                let count = row.number(name)?.unwrap_or(0).clamp(0, MAX_COUNT);
                let name = CounterName::new(name).map_err(|e| e.to_string())?;
                update.count.extend((0..count).map(|_| name.clone()));
            }
            update
        });
        // A package may have created the group already; its title says whether it was imported.
        let there = store.group(&update.session, &update.id).ok();
        let done = there.is_some_and(|group| {
            group.title.as_deref() == update.title.as_ref().map(|title| title.as_str())
                && update.title.is_some()
        });
        report.groups.take(!done);
        if !done {
            let references = update.references.take();
            update.references = references.map(|ids| of_session(store, &update.session, ids));
            store.set_group(&update)?;
        }
        Ok(Ok(()))
    })
}

/// The packages that belong to the session.
fn of_session(store: &dyn Store, session: &SessionId, ids: Vec<PackageId>) -> Vec<PackageId> {
    let is = |id: &PackageId| store.package(*id).is_ok_and(|p| p.session == *session);
    ids.into_iter().filter(is).collect()
}

/// How many equal records existed before this import.
type Before<K> = BTreeMap<K, u64>;

/// Whether an existing record is left that corresponds to this one.
fn was_there<K: Ord>(before: &mut Before<K>, key: &K) -> bool {
    match before.get_mut(key) {
        Some(left) if *left > 0 => {
            *left -= 1;
            true
        }
        Some(_) | None => false,
    }
}

type Thought = (SessionId, Timestamp, Role, Phase, Option<GroupId>, String);

/// Imports reasoning and events, which share a log table.
pub(super) fn logs(
    store: &dyn Store,
    source: &Source<'_>,
    known: &Known,
    report: &mut Report,
) -> Result<()> {
    let mut before: Before<Thought> = Before::new();
    for session in known.keys() {
        for r in store.reasoning(session, &Default::default())? {
            let key = (r.session, r.created_at, r.role, r.phase, r.group, r.content);
            *before.entry(key).or_default() += 1;
        }
    }
    each(source, report, "orchestration_logs", |row, report| {
        let kind = problems!(row.text("log_type")?.unwrap_or("interaction").to_owned());
        match kind.as_str() {
            "reasoning" => {
                let new = problems!(thought(source, row, known)?);
                let key = (
                    new.session.clone(),
                    new.now,
                    new.role.clone(),
                    new.phase,
                    new.group.clone(),
                    new.content.as_str().to_owned(),
                );
                let there = was_there(&mut before, &key);
                if !there {
                    store.add_reasoning(&new)?;
                }
                report.reasoning.take(!there);
            }
            "event" => {
                let new = problems!(event(source, row, known)?);
                report.events.take(!store.log_event(&new)?.duplicate);
            }
            _ => *report.left_out.entry("orchestration_logs (interaction)").or_default() += 1,
        }
        Ok(Ok(()))
    })
}

fn thought(source: &Source<'_>, row: &Row, known: &Known) -> Result<NewReasoning, Problem> {
    let (session, now) = session_of(row, known, &["timestamp"])?;
    let references = row.list("references_json")?;
    Ok(NewReasoning {
        session,
        group: row.group("group_id")?,
        role: role(row.needed("agent_type")?)?,
        // An agent name that is not a valid id must not lose the reasoning.
        agent_id: row.parsed::<AgentId>("agent_id").unwrap_or(None),
        iteration: row.number("iteration")?.and_then(|n| u32::try_from(n).ok()).unwrap_or(0),
        phase: row.parsed_needed("reasoning_phase")?,
        confidence: row.parsed::<Confidence>("confidence_level")?,
        content: source.redactor.clean(row.needed("content")?),
        references: references.iter().map(|text| source.redactor.clean(text)).collect(),
        now,
        trust: Trust::Outside,
    })
}

fn event(source: &Source<'_>, row: &Row, known: &Known) -> Result<NewEvent, Problem> {
    let (session, now) = session_of(row, known, &["timestamp"])?;
    let kind: EventType = row.parsed_needed("event_subtype")?;
    let payload = match row.json("event_payload")? {
        Some(payload) => payload,
        None => row.json("content")?.unwrap_or_default(),
    };
    let key = match row.text("idempotency_key")? {
        Some(key) => key.to_owned(),
        None => format!("bazinga log {}", row.number("id")?.ok_or("`id` is missing")?),
    };
    Ok(NewEvent {
        session,
        group: row.group("group_id")?,
        kind,
        payload: source.redactor.clean_json(payload),
        key: Some(EventKey::new(&key, source.redactor)),
        now,
    })
}

type Output = (SessionId, Timestamp, SkillName, Option<Role>, Option<GroupId>, String);

pub(super) fn skill_outputs(
    store: &dyn Store,
    source: &Source<'_>,
    known: &Known,
    report: &mut Report,
) -> Result<()> {
    let mut before: Before<Output> = Before::new();
    for session in known.keys() {
        for o in store.skill_outputs(session, &Default::default())? {
            let key = (o.session, o.created_at, o.skill, o.role, o.group, o.output.to_string());
            *before.entry(key).or_default() += 1;
        }
    }
    each(source, report, "skill_outputs", |row, report| {
        let new = problems!({
            let (session, now) = session_of(row, known, &["timestamp"])?;
            let output = row.json("output_data")?.ok_or("`output_data` is missing")?;
            NewSkillOutput {
                session,
                skill: row.parsed_needed("skill_name")?,
                role: row.role("agent_type")?,
                group: row.group("group_id")?,
                output: source.redactor.clean_json(output),
                now,
            }
        });
        let key = (
            new.session.clone(),
            new.now,
            new.skill.clone(),
            new.role.clone(),
            new.group.clone(),
            new.output.value().to_string(),
        );
        let there = was_there(&mut before, &key);
        if !there {
            store.save_skill_output(&new)?;
        }
        report.skill_outputs.take(!there);
        Ok(Ok(()))
    })
}
