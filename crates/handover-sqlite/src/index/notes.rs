//! The index over notes: pages of postings by project, and how many notes there are.

use std::collections::BTreeMap;

use handover_model::{ProjectId, Timestamp};
use handover_store::packed::{NOTE_PAGES, NoteEdit, Pages, Postings};
use handover_store::rows::{Columns, Row};
use handover_store::{IndexPart, Moved, Result, numbered_terms};
use handover_text::typos;
use rusqlite::Connection;
use rusqlite::types::ValueRef;

use super::intact;
use crate::note_rows::select;
use crate::query::{self, Visit};
use crate::sums;

/// The notes that are in the index.
const INDEXED: &str = "state <> 'retired'";

/// How many notes are reindexed at a time.
const BATCH: i64 = 2_000;

/// Changes the index of a project. Says that something changed even if no note enters or leaves.
pub(crate) fn update(
    tx: &Connection,
    project: &ProjectId,
    moved: &mut Moved,
    now: Timestamp,
) -> Result<()> {
    moved.added.sort_by_key(|(number, _)| *number);
    let edit = NoteEdit::new(&moved.added, &moved.gone)?;
    for page in edit.keys() {
        let there = get(tx, project, page)?;
        put(tx, project, page, &edit.apply(page, there.as_deref())?)?;
    }
    let more = moved.added.len() as i64 - moved.gone.len() as i64;
    // A change computes a new sum: a damaged number would look sound again.
    count(tx, project)?;
    let sql = "INSERT INTO note_index (project, notes, changed_at) VALUES (?1, ?2, ?3)
         ON CONFLICT DO UPDATE SET notes = notes + ?2, changed_at = max(changed_at, ?3)";
    query::execute(tx, sql, (project.as_str(), more, now.as_micros()))?;
    Ok(())
}

/// How many notes of a project are in the index.
pub(crate) fn count(connection: &Connection, project: &ProjectId) -> Result<u64> {
    let intact = sums::intact("note_index", "note_index");
    let sql = format!("SELECT notes, {intact} FROM note_index WHERE project = ?1");
    let found = query::record(connection, &sql, [project.as_str()], |row| Columns::of(row).int())?;
    Ok(found.unwrap_or(0))
}

/// Visits the postings of each term, in order.
pub(crate) fn each(
    connection: &Connection,
    project: &ProjectId,
    words: &[String],
    visit: &mut dyn FnMut(u64, usize, &Postings),
) -> Result<()> {
    let notes = count(connection, project)?;
    let sql =
        "SELECT page, postings, sum FROM note_page WHERE project = ?1 AND term = ?2 ORDER BY page";
    let mut list = Postings::default();
    for (at, term) in words.iter().enumerate() {
        list.clear();
        // Most projects have learned nothing yet.
        if notes == 0 {
            visit(notes, at, &list);
            continue;
        }
        query::each(connection, sql, (project.as_str(), term), |row| {
            let mut columns = Columns::of(row);
            let page = columns.int()?;
            let packed = intact(&mut columns, IndexPart::Postings, &key(project, term, page))?;
            list.push_page(NOTE_PAGES.first(page), packed)?;
            Ok(Visit::Continue)
        })?;
        visit(notes, at, &list);
    }
    Ok(())
}

/// The words that are nearest to another one.
pub(crate) fn like(
    connection: &Connection,
    project: &ProjectId,
    word: &str,
    slips: u32,
) -> Result<Vec<String>> {
    let sql = "SELECT DISTINCT term FROM note_page
         WHERE project = ?1 AND length(term) BETWEEN ?2 AND ?3 ORDER BY term";
    let (shortest, longest) = typos::stem_lengths(word, slips);
    let words = query::all(connection, sql, (project.as_str(), shortest, longest), |row| {
        Columns::of(row).text()
    })?;
    Ok(typos::nearest(word, slips, words))
}

/// Rebuilds the index of all notes, whatever it holds now.
pub(crate) fn rebuild(tx: &Connection) -> Result<()> {
    query::execute(tx, "DELETE FROM note_page", [])?;
    let sql = "SELECT project, max(created_at) FROM note GROUP BY project ORDER BY project";
    let projects: Vec<(ProjectId, Timestamp)> = query::all(tx, sql, [], |row| {
        let mut columns = Columns::of(row);
        Ok((columns.parsed()?, columns.time()?))
    })?;
    let changed = "SELECT project, changed_at FROM note_index";
    let before: BTreeMap<String, Timestamp> = query::all(tx, changed, [], |row| {
        let mut columns = Columns::of(row);
        Ok((columns.text()?, columns.time()?))
    })?
    .into_iter()
    .collect();
    query::execute(tx, "DELETE FROM note_index", [])?;
    for (project, newest) in projects {
        let now = before.get(project.as_str()).copied().unwrap_or(newest);
        let (mut last, mut notes) = (0, 0);
        loop {
            let rest =
                format!("WHERE project = ?1 AND {INDEXED} AND key > ?2 ORDER BY key LIMIT {BATCH}");
            let batch = select(tx, &rest, (project.as_str(), last))?;
            let Some((number, _)) = batch.last() else { break };
            last = *number;
            let added: Vec<_> =
                batch.iter().map(|(number, note)| numbered_terms(*number, note)).collect();
            notes += added.len() as i64;
            let edit = NoteEdit::new(&added, &[])?;
            for page in edit.keys() {
                let there = get(tx, &project, page)?;
                put(tx, &project, page, &edit.apply(page, there.as_deref())?)?;
            }
        }
        let sql = "INSERT INTO note_index (project, notes, changed_at) VALUES (?1, ?2, ?3)";
        query::execute(tx, sql, (project.as_str(), notes, now.as_micros()))?;
    }
    Ok(())
}

/// What differs between the index and the notes.
pub(crate) fn problems(connection: &Connection) -> Result<Vec<String>> {
    let mut problems = Vec::new();
    let sql = "SELECT project FROM note UNION SELECT project FROM note_index
        UNION SELECT project FROM note_page ORDER BY 1";
    let projects: Vec<ProjectId> =
        query::all(connection, sql, [], |row| Columns::of(row).parsed())?;
    for project in projects {
        let rest = format!("WHERE project = ?1 AND {INDEXED} ORDER BY key");
        let notes = select(connection, &rest, [project.as_str()])?;
        let terms: Vec<_> =
            notes.iter().map(|(number, note)| numbered_terms(*number, note)).collect();
        let edit = NoteEdit::new(&terms, &[])?;
        let mut expected = Pages::new();
        for page in edit.keys() {
            expected.insert(page.clone(), edit.apply(page, None)?);
        }
        let sql = "SELECT term, page, postings FROM note_page WHERE project = ?1";
        let found: Pages = query::all(connection, sql, [project.as_str()], |row| {
            let mut columns = Columns::of(row);
            Ok(((columns.text()?, columns.int()?), columns.bytes()?.to_vec()))
        })?
        .into_iter()
        .collect();
        let mut differ = |key: &(String, i64)| {
            problems.push(format!("notes of {project}: page {} of `{}` differs", key.1, key.0));
        };
        expected
            .iter()
            .filter(|(key, page)| found.get(*key) != Some(page))
            .for_each(|(key, _)| differ(key));
        found.keys().filter(|key| !expected.contains_key(*key)).for_each(differ);
        let counted = count(connection, &project)?;
        if counted != notes.len() as u64 {
            problems.push(format!(
                "notes of {project}: {counted} are said to be in the index, and {} are",
                notes.len()
            ));
        }
    }
    Ok(problems)
}

fn key<'a>(project: &'a ProjectId, term: &'a str, page: i64) -> [ValueRef<'a>; 3] {
    let text = |text: &'a str| ValueRef::Text(text.as_bytes());
    [text(project.as_str()), text(term), ValueRef::Integer(page)]
}

fn get(tx: &Connection, project: &ProjectId, page: &(String, i64)) -> Result<Option<Vec<u8>>> {
    let (term, number) = page;
    let sql = "SELECT postings, sum FROM note_page WHERE project = ?1 AND term = ?2 AND page = ?3";
    let key = key(project, term, *number);
    let read =
        |row: &dyn Row| Ok(intact(&mut Columns::of(row), IndexPart::Postings, &key)?.to_vec());
    query::first(tx, sql, (project.as_str(), term, number), read)
}

fn put(tx: &Connection, project: &ProjectId, page: &(String, i64), packed: &[u8]) -> Result<()> {
    let (term, number) = page;
    if packed.is_empty() {
        let sql = "DELETE FROM note_page WHERE project = ?1 AND term = ?2 AND page = ?3";
        query::execute(tx, sql, (project.as_str(), term, number))?;
    } else {
        let sql = "INSERT INTO note_page (project, term, page, postings) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT DO UPDATE SET postings = excluded.postings";
        query::execute(tx, sql, (project.as_str(), term, number, packed))?;
    }
    Ok(())
}
