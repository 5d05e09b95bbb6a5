//! Tokens of the service.

use handover_model::{ProjectId, Timestamp, Token, TokenId};
use handover_store::rows::{self, TOKEN};
use handover_store::{NewToken, RecordKind, Result, StoreError, Tokens};
use handover_text::Clean;

use crate::error::backend;
use crate::{SqliteStore, query, sums};

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
        let intact = sums::intact("token", "token");
        let sql = format!("SELECT {TOKEN}, {intact} FROM token WHERE id = ?1");
        query::record(&self.connection, &sql, [id.as_str()], rows::token)?
            .ok_or_else(|| StoreError::not_found(RecordKind::Token, id))
    }

    fn tokens(&self) -> Result<Vec<Token>> {
        let intact = sums::intact("token", "token");
        let sql = format!("SELECT {TOKEN}, {intact} FROM token ORDER BY created_at DESC, key DESC");
        query::records(&self.connection, &sql, [], rows::token)
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
