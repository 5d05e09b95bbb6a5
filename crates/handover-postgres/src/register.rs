//! Registering packages, many to a statement, to save round trips.

use std::collections::{BTreeMap, HashMap};

use handover_model::{GroupId, Package, PackageId, RecordState, SessionId, Timestamp};
use handover_store::packed::Entry;
use handover_store::rows::{self, to_json};
use handover_store::{NewPackage, Packages, RecordKind, Registered, Result, Step, StoreError};
use handover_text::Clean;

use crate::PostgresStore;
use crate::index::Predecessor;
use crate::link::Statement;
use crate::packages::by_id;
use crate::value::{self, Param, PgRow, columns, numbers, params, row};

/// A package to write.
struct Write<'a> {
    new: &'a NewPackage,
    former: Option<Package>,
}

impl Write<'_> {
    fn version(&self) -> u32 {
        self.former.as_ref().map_or(1, |former| former.version.saturating_add(1))
    }

    /// The row of table `package`.
    fn row(&self, session: i64, id: PackageId) -> [Param<'_>; 19] {
        let new = self.new;
        row![
            id.0,
            session,
            new.group.as_ref().map(GroupId::as_str),
            new.scope.as_str(),
            new.kind.as_str(),
            &new.path,
            new.title.as_ref().map(Clean::as_str),
            new.summary.as_str(),
            to_json(&new.files.iter().map(Clean::as_str).collect::<Vec<_>>()),
            new.producer.as_str(),
            new.priority.as_str(),
            new.iteration,
            self.version(),
            self.former.as_ref().map(|former| former.id.0),
            new.size_bytes,
            new.tokens,
            &new.content_hash,
            new.created_at,
            new.trust.as_str(),
        ]
    }
}

/// The rows of each table that new packages need, as columns for `unnest`.
struct Columns<'a> {
    groups: Vec<Param<'a>>,
    superseded: Vec<Param<'a>>,
    packages: Vec<Param<'a>>,
    consumers: Vec<Param<'a>>,
    bodies: Vec<Param<'a>>,
}

impl<'a> Columns<'a> {
    fn new(session: i64, writes: &'a [Write<'a>], ids: &[PackageId]) -> Self {
        let each = || writes.iter().zip(ids);
        Self {
            groups: columns(writes.iter().filter_map(|write| {
                let group = write.new.group.as_ref()?;
                Some(row![session, group.as_str(), write.new.created_at])
            })),
            superseded: columns(
                each().filter_map(|(write, id)| Some(row![write.former.as_ref()?.id.0, id.0])),
            ),
            packages: columns(each().map(|(write, id)| write.row(session, *id))),
            consumers: columns(each().flat_map(|(write, id)| {
                write.new.consumers.iter().map(|role| row![id.0, role.as_str()])
            })),
            bodies: columns(each().map(|(write, id)| row![id.0, write.new.body.as_str()])),
        }
    }

    /// One statement per table that gets rows, in an order that every constraint accepts.
    fn statements(&self) -> Vec<Statement<'_>> {
        let all: [(&str, &[Param<'_>]); 5] = [
            (
                "INSERT INTO task_group (session, id, created_at) SELECT * FROM unnest($1, $2, $3)
                 ON CONFLICT DO NOTHING",
                &self.groups,
            ),
            // Remove old versions from the unique index of latest versions before the new ones are added.
            (
                "UPDATE package p SET superseded_by = n.id FROM unnest($1, $2) AS n (former, id)
                 WHERE p.id = n.former",
                &self.superseded,
            ),
            (
                "INSERT INTO package (id, session, group_id, scope, kind, path, title, summary,
                    files, producer, priority, iteration, version, supersedes, size_bytes, tokens,
                    content_hash, created_at, trust)
                 SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14,
                    $15, $16, $17, $18, $19)",
                &self.packages,
            ),
            (
                "INSERT INTO package_consumer (package, role) SELECT * FROM unnest($1, $2)
                 ON CONFLICT DO NOTHING",
                &self.consumers,
            ),
            ("INSERT INTO package_body (package, body) SELECT * FROM unnest($1, $2)", &self.bodies),
        ];
        let filled = all.into_iter().filter(|(_, params)| !params.is_empty());
        filled.map(|(sql, params)| Statement { sql, params }).collect()
    }
}

impl PostgresStore {
    /// Registers packages of one batch.
    pub(crate) fn register(&self, batch: &[NewPackage]) -> Result<Vec<Registered>> {
        let Some(first) = batch.first() else { return Ok(Vec::new()) };
        let (session, there) = self.latest_at_paths(&first.session, batch)?;
        let mut steps = Vec::with_capacity(batch.len());
        let mut writes = Vec::new();
        for (new, there) in batch.iter().zip(there) {
            match new.step(there, |id| self.package(id), |id| self.history(id))? {
                Step::Stay(package) => steps.push(Some(package)),
                Step::Write { former } => {
                    steps.push(None);
                    writes.push(Write { new, former });
                }
            }
        }
        let mut written = self.put(session, &writes)?.into_iter();
        steps
            .into_iter()
            .map(|stays| match stays {
                Some(package) => Ok(Registered { package, created: false }),
                None => {
                    written.next().map(|package| Registered { package, created: true }).ok_or_else(
                        || StoreError::damaged("a package that was just written is missing"),
                    )
                }
            })
            .collect()
    }

    /// The key of the session, and the latest package with the path of each new one.
    fn latest_at_paths(
        &self,
        session: &SessionId,
        batch: &[NewPackage],
    ) -> Result<(i64, Vec<Option<Package>>)> {
        let mut asked = vec![session.as_str().into()];
        asked.extend(columns(batch.iter().map(|new| {
            row![new.group.as_ref().map_or("", GroupId::as_str), new.kind.as_str(), &new.path]
        })));
        // LATERAL forces one index lookup each, whatever the planner estimates.
        let rows = self.rows(
            "SELECT s.key, p.id
             FROM session s CROSS JOIN unnest($2, $3, $4)
                WITH ORDINALITY AS q (group_id, kind, path, place)
             LEFT JOIN LATERAL (
                SELECT id FROM package WHERE session = s.key
                    AND coalesce(group_id, '') = q.group_id COLLATE \"C\" AND kind = q.kind
                    AND md5(path) = md5(q.path) AND path = q.path COLLATE \"C\"
                    AND superseded_by IS NULL
                LIMIT 1
             ) p ON true
             WHERE s.id = $1 ORDER BY q.place",
            &asked,
        )?;
        let Some(first) = rows.first() else {
            return Err(StoreError::not_found(RecordKind::Session, session));
        };
        let key = value::int(first, "key")?;
        let found: Vec<Option<PackageId>> = rows
            .iter()
            .map(|row| Ok(value::int_opt(row, "id")?.map(PackageId)))
            .collect::<Result<_>>()?;
        let ids: Vec<PackageId> = found.iter().flatten().copied().collect();
        let mut packages = self.packages_by_id(&ids)?.into_iter();
        let there = found.into_iter().map(|id| id.and_then(|_| packages.next())).collect();
        Ok((key, there))
    }

    /// Writes packages of one session and returns them.
    fn put(&self, session: i64, writes: &[Write<'_>]) -> Result<Vec<Package>> {
        if writes.is_empty() {
            return Ok(Vec::new());
        }
        let ids = self.new_ids(writes.len())?;
        let entries: Vec<Entry<'_>> = writes
            .iter()
            .zip(&ids)
            .map(|(write, id)| Entry::new(*id, write.version(), write.new))
            .collect();
        let formers: Vec<Option<PackageId>> =
            writes.iter().map(|write| write.former.as_ref().map(|former| former.id)).collect();
        let predecessors =
            among_themselves(&entries, self.predecessors(session, &entries, &formers)?);
        // Retired ones have left the index already.
        let gone: Vec<PackageId> = writes
            .iter()
            .filter_map(|write| write.former.as_ref())
            .filter(|former| former.state == RecordState::Live)
            .map(|former| former.id)
            .collect();
        self.unindex(session, &gone)?;
        let written = self.insert(&Columns::new(session, writes, &ids), &ids)?;
        self.index(session, &entries, &predecessors)?;
        // Batch by batch: the postings of a hundred thousand packages are too much for one statement.
        self.settle(session)?;
        Ok(written)
    }

    /// Sends the rows of all tables together, and reads the packages back.
    fn insert(&self, columns: &Columns<'_>, ids: &[PackageId]) -> Result<Vec<Package>> {
        let mut statements = columns.statements();
        let (by_id, params) = (by_id(), params![numbers(ids)]);
        statements.push(Statement { sql: &by_id, params });
        let written = self.ask(|link| link.queries(&statements))?.pop().unwrap_or_default();
        written.iter().map(|row| rows::package(&PgRow(row))).collect()
    }

    /// Ids for new packages, ascending and higher than any existing one: the index only appends.
    fn new_ids(&self, count: usize) -> Result<Vec<PackageId>> {
        let mut ids = Vec::with_capacity(count);
        let mut highest = None;
        for row in self.rows(
            "SELECT nextval(pg_get_serial_sequence('package', 'id')) AS id, highest.id AS highest
             FROM generate_series(1, $1), (SELECT max(id) AS id FROM package) highest",
            params![count as i64],
        )? {
            ids.push(PackageId(value::int(&row, "id")?));
            highest = value::int_opt(&row, "highest")?.map(PackageId);
        }
        ids.sort_unstable();
        if ids.first() <= highest.as_ref() {
            return Err(StoreError::damaged("the sequence of package ids is behind the packages"));
        }
        Ok(ids)
    }
}

/// The predecessor of each entry, among the packages of the store and the earlier entries.
fn among_themselves(entries: &[Entry<'_>], there: Vec<Option<Predecessor>>) -> Vec<Option<String>> {
    let mut groups: HashMap<&GroupId, BTreeMap<Timestamp, &str>> = HashMap::new();
    let mut before = Vec::with_capacity(entries.len());
    for (entry, there) in entries.iter().zip(there) {
        let Some(group) = entry.group else {
            before.push(None);
            continue;
        };
        let earlier = groups.entry(group).or_default();
        let among = earlier.range(..=entry.created_at).next_back();
        before.push(match (among, there) {
            // At the same time, the later one in the batch wins.
            (Some((at, summary)), there)
                if there.as_ref().is_none_or(|it| it.created_at <= *at) =>
            {
                Some((*summary).to_owned())
            }
            (_, there) => there.map(|it| it.summary),
        });
        earlier.insert(entry.created_at, entry.summary);
    }
    before
}
