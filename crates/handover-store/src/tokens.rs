//! Tokens of the service.

use handover_model::{ProjectId, Timestamp, Token, TokenId, TokenKind, TokenScope};
use handover_text::Clean;
use serde::{Deserialize, Serialize};

use crate::Result;

/// A token to be kept. Its secret never comes here.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct NewToken {
    /// Its public part.
    pub id: TokenId,
    /// What it is made for, in words.
    pub name: Option<Clean>,
    /// What it is good for.
    pub kind: TokenKind,
    /// What its holder may do.
    pub scope: TokenScope,
    /// The only project that its holder sees; none means all of the store.
    pub project: Option<ProjectId>,
    /// BLAKE3 of the secret part.
    pub hash: String,
    /// Until when it is good.
    pub expires_at: Option<Timestamp>,
    /// Now.
    pub now: Timestamp,
}

/// Tokens of the service.
pub trait Tokens {
    /// Keeps a token.
    fn create_token(&self, new: &NewToken) -> Result<Token>;

    /// One token; [`NotFound`](crate::StoreError::NotFound) if there is none.
    fn token(&self, id: &TokenId) -> Result<Token>;

    /// All tokens, newest first.
    fn tokens(&self) -> Result<Vec<Token>>;

    /// Ends a token: it was revoked, or used for the one login that it is good for. True for the
    /// first time alone.
    fn end_token(&self, id: &TokenId, now: Timestamp) -> Result<bool>;
}
