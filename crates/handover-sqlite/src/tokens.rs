//! Tokens of the service.

use handover_model::{ProjectId, Timestamp, Token, TokenId};
use handover_store::{NewToken, Result, StoreError, Tokens};
use handover_text::Clean;
use rusqlite::{OptionalExtension, Row};

use crate::error::backend;
use crate::{SqliteStore, row};

fn read(r: &Row<'_>) -> rusqlite::Result<Token> {
    Ok(Token {
        id: row::parsed(r, "id")?,
        name: r.get("name")?,
        kind: row::parsed(r, "kind")?,
        scope: row::parsed(r, "scope")?,
        project: row::parsed_opt(r, "project")?,
        hash: r.get("hash")?,
        created_at: row::time(r, "created_at")?,
        expires_at: row::time_opt(r, "expires_at")?,
        ended_at: row::time_opt(r, "ended_at")?,
    })
}

impl Tokens for SqliteStore {
    fn create_token(&self, new: &NewToken) -> Result<Token> {
        self.write(|tx| {
            tx.execute(
                "INSERT INTO token (id, name, kind, scope, project, hash, created_at, expires_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                (
                    new.id.as_str(),
                    new.name.as_ref().map(Clean::as_str),
                    new.kind.as_str(),
                    new.scope.as_str(),
                    new.project.as_ref().map(ProjectId::as_str),
                    &new.hash,
                    new.now.as_micros(),
                    new.expires_at.map(Timestamp::as_micros),
                ),
            )
            .map_err(backend)?;
            Ok(())
        })?;
        self.token(&new.id)
    }

    fn token(&self, id: &TokenId) -> Result<Token> {
        self.connection
            .prepare_cached("SELECT * FROM token WHERE id = ?1")
            .and_then(|mut s| s.query_row([id.as_str()], read).optional())
            .map_err(backend)?
            .ok_or_else(|| StoreError::not_found("token", id))
    }

    fn tokens(&self) -> Result<Vec<Token>> {
        row::all(
            &self.connection,
            "SELECT * FROM token ORDER BY created_at DESC, key DESC",
            [],
            read,
        )
    }

    fn end_token(&self, id: &TokenId, now: Timestamp) -> Result<bool> {
        self.write(|tx| {
            let ended = tx
                .execute(
                    "UPDATE token SET ended_at = ?2 WHERE id = ?1 AND ended_at IS NULL",
                    (id.as_str(), now.as_micros()),
                )
                .map_err(backend)?;
            Ok(ended == 1)
        })
    }
}
