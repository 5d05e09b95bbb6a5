//! API tokens of the service.

use handover_model::{ProjectId, Timestamp, Token, TokenId, TokenKind, TokenScope};
use handover_text::Clean;
use serde::{Deserialize, Serialize};

use crate::Result;

/// Input of [`Tokens::create_token`]. It never includes the secret.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct NewToken {
    /// The public part.
    pub id: TokenId,
    /// A description for people.
    pub name: Option<Clean>,
    /// How it may be used.
    pub kind: TokenKind,
    /// The rights of its holder.
    pub scope: TokenScope,
    /// The only project its holder can see; none means the whole store.
    pub project: Option<ProjectId>,
    /// BLAKE3 of the secret part.
    pub hash: String,
    /// When it expires.
    pub expires_at: Option<Timestamp>,
    /// The current time; stores have no clock.
    pub now: Timestamp,
}

/// API tokens of the service.
pub trait Tokens {
    /// Stores a token.
    fn create_token(&self, new: &NewToken) -> Result<Token>;

    /// One token; [`NotFound`](crate::StoreError::NotFound) if there is none.
    fn token(&self, id: &TokenId) -> Result<Token>;

    /// All tokens, newest first.
    fn tokens(&self) -> Result<Vec<Token>>;

    /// Invalidates a token that was revoked, or used for its one login. True only the first time.
    fn end_token(&self, id: &TokenId, now: Timestamp) -> Result<bool>;
}
