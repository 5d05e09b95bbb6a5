//! Tokens of the service.

use handover_model::{ProjectId, Timestamp, Token, TokenId};
use handover_store::rows::{self, TOKEN};
use handover_store::{NewToken, RecordKind, Result, StoreError, Tokens};
use handover_text::Clean;

use crate::PostgresStore;
use crate::value::params;

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
        let sql = format!("SELECT {TOKEN} FROM token WHERE id = $1");
        self.first(&sql, params![id.as_str()], rows::token)?
            .ok_or_else(|| StoreError::not_found(RecordKind::Token, id))
    }

    fn tokens(&self) -> Result<Vec<Token>> {
        let sql = format!("SELECT {TOKEN} FROM token ORDER BY created_at DESC, key DESC");
        self.all(&sql, params![], rows::token)
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
