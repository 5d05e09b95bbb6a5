//! Tokens: who may use the service.

use serde::{Deserialize, Serialize};

use crate::{ProjectId, Timestamp, TokenId, TokenKind, TokenScope};

/// A token as it is kept: without its secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Token {
    /// Its public part.
    pub id: TokenId,
    /// What it was made for, in words.
    pub name: Option<String>,
    /// What it is good for.
    pub kind: TokenKind,
    /// What its holder may do.
    pub scope: TokenScope,
    /// The only project that its holder sees; none means all of the store.
    pub project: Option<ProjectId>,
    /// BLAKE3 of the secret part.
    pub hash: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// Until when it is good.
    pub expires_at: Option<Timestamp>,
    /// When it was revoked or, if it is for one login, used.
    pub ended_at: Option<Timestamp>,
}

impl Token {
    /// Whether it is good at a moment.
    pub fn is_good(&self, now: Timestamp) -> bool {
        self.ended_at.is_none() && self.expires_at.is_none_or(|end| now < end)
    }
}
