//! The index over notes: pages of postings by project, and how many notes there are.

use std::collections::BTreeMap;

use handover_model::{PackageId, ProjectId, Timestamp};
use handover_store::packed::{NOTE_PAGES, NoteEdit, Pages, Postings};
use handover_store::rows::{self, Columns, NOTE};
use handover_store::{Moved, Result, numbered_terms};

use crate::PostgresStore;
use crate::link::Statement;
use crate::value::{self, Param, columns, params, row};

/// The notes that are in the index.
const INDEXED: &str = "state <> 'retired'";

/// How many notes are reindexed at a time.
const BATCH: u32 = 2_000;

/// Pages as rows: project, term, page, postings.
fn page_columns<'a>(project: &'a ProjectId, pages: &'a Pages) -> Vec<Param<'a>> {
    columns(pages.iter().map(|((term, page), postings)| {
        row![project.as_str(), term.as_str(), *page, &postings[..]]
    }))
}

impl PostgresStore {
    /// Changes the index of a project. Says that something changed even if no note enters or leaves.
    pub(crate) fn update_notes(
        &self,
        project: &ProjectId,
        mut moved: Moved,
        now: Timestamp,
    ) -> Result<()> {
        moved.added.sort_by_key(|(number, _)| *number);
        self.edit_notes(project, &NoteEdit::new(&moved.added, &moved.gone)?)?;
        let more = moved.added.len() as i64 - moved.gone.len() as i64;
        self.change(
            "INSERT INTO note_index AS i (project, notes, changed_at) VALUES ($1, $2, $3)
             ON CONFLICT (project) DO UPDATE SET notes = i.notes + excluded.notes,
                changed_at = greatest(i.changed_at, excluded.changed_at)",
            params![project.as_str(), more, now],
        )?;
        Ok(())
    }

    fn edit_notes(&self, project: &ProjectId, edit: &NoteEdit) -> Result<()> {
        let asked =
            columns(edit.keys().map(|(term, page)| row![project.as_str(), term.as_str(), *page]));
        if asked.is_empty() {
            return Ok(());
        }
        let mut there = Pages::new();
        for row in self.rows(
            "SELECT p.term, p.page, p.postings FROM unnest($1, $2, $3) AS n (project, term, page)
                JOIN note_page p ON p.project = n.project COLLATE \"C\"
                    AND p.term = n.term COLLATE \"C\" AND p.page = n.page",
            &asked,
        )? {
            let key = (value::text(&row, "term")?, value::int(&row, "page")?);
            there.insert(key, value::bytes(&row, "postings")?.to_vec());
        }
        let (mut kept, mut empty) = (Pages::new(), Pages::new());
        for key in edit.keys() {
            let page = edit.apply(key, there.get(key).map(Vec::as_slice))?;
            let pages = if page.is_empty() { &mut empty } else { &mut kept };
            pages.insert(key.clone(), page);
        }
        let (kept, empty) = (page_columns(project, &kept), page_columns(project, &empty));
        let statements: [(&str, &[Param<'_>]); 2] = [
            (
                "INSERT INTO note_page (project, term, page, postings)
                 SELECT * FROM unnest($1, $2, $3, $4)
                 ON CONFLICT (project, term, page) DO UPDATE SET postings = excluded.postings",
                &kept,
            ),
            (
                "DELETE FROM note_page p
                 USING unnest($1, $2, $3, $4) AS n (project, term, page, postings)
                 WHERE p.project = n.project COLLATE \"C\" AND p.term = n.term COLLATE \"C\"
                    AND p.page = n.page",
                &empty,
            ),
        ];
        let statements: Vec<Statement<'_>> = statements
            .into_iter()
            .filter(|(_, params)| !params.is_empty())
            .map(|(sql, params)| Statement { sql, params })
            .collect();
        self.change_all(&statements)
    }

    /// Visits the postings of each term, in order.
    pub(crate) fn each_page_of_notes(
        &self,
        project: &ProjectId,
        words: &[String],
        visit: &mut dyn FnMut(u64, usize, &Postings),
    ) -> Result<()> {
        // One query for all terms: a round trip costs more than the pages.
        let asked = Param::Texts(words.iter().map(|term| Some(term.as_str().into())).collect());
        let statements = [
            Statement {
                sql: "SELECT notes FROM note_index WHERE project = $1",
                params: params![project.as_str()],
            },
            Statement {
                sql: "SELECT q.place, p.page, p.postings
                      FROM unnest($2) WITH ORDINALITY AS q (term, place)
                        JOIN note_page p ON p.project = $1 AND p.term = q.term COLLATE \"C\"
                      ORDER BY q.place, p.page",
                params: params![project.as_str(), asked],
            },
        ];
        let mut answers = self.ask(|link| link.queries(&statements))?.into_iter();
        let notes = answers.next().unwrap_or_default();
        let notes = notes.first().map(|row| value::int(row, "notes")).transpose()?.unwrap_or(0);
        let rows = answers.next().unwrap_or_default();
        let mut rows = rows.iter().peekable();
        let mut list = Postings::default();
        for at in 0..words.len() {
            list.clear();
            while let Some(row) = rows.peek() {
                if value::int::<i64>(row, "place")? != at as i64 + 1 {
                    break;
                }
                let (page, packed) = (value::int(row, "page")?, value::bytes(row, "postings")?);
                list.push_page(NOTE_PAGES.first(page), packed)?;
                rows.next();
            }
            visit(notes, at, &list);
        }
        Ok(())
    }

    /// Rebuilds the index of all notes, whatever it holds now.
    pub(crate) fn rebuild_notes(&self) -> Result<()> {
        self.change("DELETE FROM note_page", &[])?;
        let projects: Vec<(ProjectId, Timestamp)> = self.all(
            "SELECT n.project, coalesce(max(i.changed_at), max(n.created_at)) FROM note n
                LEFT JOIN note_index i ON i.project = n.project GROUP BY n.project ORDER BY 1",
            &[],
            |row| {
                let mut columns = Columns::of(row);
                Ok((columns.parsed()?, columns.time()?))
            },
        )?;
        self.change("DELETE FROM note_index", &[])?;
        for (project, now) in projects {
            let mut notes = 0_u64;
            self.each_indexed(&project, |batch| {
                notes += batch.len() as u64;
                self.edit_notes(&project, &NoteEdit::new(batch, &[])?)
            })?;
            self.change(
                "INSERT INTO note_index (project, notes, changed_at) VALUES ($1, $2, $3)",
                params![project.as_str(), notes, now],
            )?;
        }
        Ok(())
    }

    /// Visits the terms of the notes that are to be in the index, by number.
    fn each_indexed(
        &self,
        project: &ProjectId,
        mut visit: impl FnMut(&[(PackageId, Vec<u8>)]) -> Result<()>,
    ) -> Result<()> {
        let sql = format!(
            "SELECT {NOTE} FROM note WHERE project = $1 AND {INDEXED} AND key > $2
             ORDER BY key LIMIT $3"
        );
        let mut last = 0;
        loop {
            let batch = self.all(&sql, params![project.as_str(), last, BATCH], rows::note)?;
            let Some((number, _)) = batch.last() else { return Ok(()) };
            last = *number;
            let terms: Vec<_> =
                batch.iter().map(|(number, note)| numbered_terms(*number, note)).collect();
            visit(&terms)?;
        }
    }

    /// What differs between the index and the notes.
    pub(crate) fn note_problems(&self) -> Result<Vec<String>> {
        let mut problems = Vec::new();
        let counts: BTreeMap<ProjectId, u64> = self
            .all(
                "SELECT p.project, coalesce(max(i.notes), 0) FROM (
                    SELECT project FROM note UNION SELECT project FROM note_page
                    UNION SELECT project FROM note_index) p
                    LEFT JOIN note_index i ON i.project = p.project GROUP BY p.project",
                &[],
                |row| {
                    let mut columns = Columns::of(row);
                    Ok((columns.parsed()?, columns.int()?))
                },
            )?
            .into_iter()
            .collect();
        for (project, counted) in counts {
            let mut all = Vec::new();
            self.each_indexed(&project, |batch| {
                all.extend_from_slice(batch);
                Ok(())
            })?;
            let edit = NoteEdit::new(&all, &[])?;
            let mut found = Pages::new();
            for row in self.rows(
                "SELECT term, page, postings FROM note_page WHERE project = $1",
                params![project.as_str()],
            )? {
                let key = (value::text(&row, "term")?, value::int(&row, "page")?);
                found.insert(key, value::bytes(&row, "postings")?.to_vec());
            }
            let differs = |key: &(String, i64)| {
                format!("notes of {project}: page {} of `{}` differs", key.1, key.0)
            };
            for key in edit.keys() {
                if found.remove(key) != Some(edit.apply(key, None)?) {
                    problems.push(differs(key));
                }
            }
            problems.extend(found.keys().map(differs));
            if counted != all.len() as u64 {
                problems.push(format!(
                    "notes of {project}: {counted} are said to be in the index, and {} are",
                    all.len()
                ));
            }
        }
        Ok(problems)
    }
}
