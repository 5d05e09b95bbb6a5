//! Tokens of the service.

use handover_model::{ProjectId, Timestamp, Token, TokenId};
use handover_store::{NewToken, Result, StoreError, Tokens};
use handover_text::Clean;
use tokio_postgres::Row;

use crate::PostgresStore;
use crate::value::{self, params};

fn read(r: &Row) -> Result<Token> {
    Ok(Token {
        id: value::parsed(r, "id")?,
        name: value::text_opt(r, "name")?,
        kind: value::parsed(r, "kind")?,
        scope: value::parsed(r, "scope")?,
        project: value::parsed_opt(r, "project")?,
        hash: value::text(r, "hash")?,
        created_at: value::time(r, "created_at")?,
        expires_at: value::time_opt(r, "expires_at")?,
        ended_at: value::time_opt(r, "ended_at")?,
    })
}

impl Tokens for PostgresStore {
    fn create_token(&self, new: &NewToken) -> Result<Token> {
        self.write(|| {
            self.change(
                "INSERT INTO token (id, name, kind, scope, project, hash, created_at, expires_at)
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
                params![
                    new.id.as_str(),
                    new.name.as_ref().map(Clean::as_str),
                    new.kind.as_str(),
                    new.scope.as_str(),
                    new.project.as_ref().map(ProjectId::as_str),
                    new.hash.as_str(),
                    new.now,
                    new.expires_at.map(Timestamp::as_micros)
                ],
            )?;
            Ok(())
        })?;
        self.token(&new.id)
    }

    fn token(&self, id: &TokenId) -> Result<Token> {
        self.first("SELECT * FROM token WHERE id = $1", params![id.as_str()], read)?
            .ok_or_else(|| StoreError::not_found("token", id))
    }

    fn tokens(&self) -> Result<Vec<Token>> {
        self.all("SELECT * FROM token ORDER BY created_at DESC, key DESC", params![], read)
    }

    fn end_token(&self, id: &TokenId, now: Timestamp) -> Result<bool> {
        self.write(|| {
            let ended = self.change(
                "UPDATE token SET ended_at = $2 WHERE id = $1 AND ended_at IS NULL",
                params![id.as_str(), now],
            )?;
            Ok(ended == 1)
        })
    }
}
