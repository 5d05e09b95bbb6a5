//! Tokens: who may use the service.

use serde::{Deserialize, Serialize};

use crate::{ProjectId, Timestamp, TokenId, TokenKind, TokenScope};

/// A token as stored: without its secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Token {
    /// The public part.
    pub id: TokenId,
    /// A description of its purpose.
    pub name: Option<String>,
    /// Bearer or one-time login.
    pub kind: TokenKind,
    /// What its holder may do.
    pub scope: TokenScope,
    /// The only project its holder can see; `None` means the whole store.
    pub project: Option<ProjectId>,
    /// BLAKE3 of the secret part.
    pub hash: String,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it expires; `None` means never.
    pub expires_at: Option<Timestamp>,
    /// When it was revoked or, for a login token, used.
    pub ended_at: Option<Timestamp>,
}

impl Token {
    /// Whether the token is valid at a given time.
    pub fn is_good(&self, now: Timestamp) -> bool {
        self.ended_at.is_none() && self.expires_at.is_none_or(|end| now < end)
    }
}
