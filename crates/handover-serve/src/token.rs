//! Tokens: format, creation, verification.
//!
//! A token is `hnd_`, a public id, `_`, and 256 random bits, of which only the BLAKE3 hash is stored. Random
//! secrets need no slow password hash, which would cost every request. Hashes are compared in constant
//! time.

use std::fmt::Write as _;

use handover_model::{Timestamp, Token, TokenId, TokenKind};
use handover_store::{Result, Store, StoreError};

const PREFIX: &str = "hnd_";

/// A new token, at the only time when its secret is known.
pub struct Minted {
    /// The public part.
    pub id: TokenId,
    /// The whole token, shown once.
    pub text: String,
    /// The hash of the secret, which is stored.
    pub hash: String,
}

/// The system provided no random numbers.
#[derive(Debug, thiserror::Error)]
#[error("cannot generate random numbers: {0}")]
pub struct MintError(String);

/// Generates a token.
pub fn mint() -> std::result::Result<Minted, MintError> {
    let mut random = [0_u8; 38];
    getrandom::fill(&mut random).map_err(|error| MintError(error.to_string()))?;
    let (id, secret) = random.split_at(6);
    let (id, secret) = (hex(id), hex(secret));
    let text = format!("{PREFIX}{id}_{secret}");
    let hash = blake3::hash(secret.as_bytes()).to_hex().to_string();
    let id = TokenId::new(id).map_err(|error| MintError(error.to_string()))?;
    Ok(Minted { id, text, hash })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Looks a token up; `None` unless its secret matches, it is of this kind, and it is valid now.
pub(crate) fn verify(
    store: &dyn Store,
    text: &str,
    kind: TokenKind,
    now: Timestamp,
) -> Result<Option<Token>> {
    let parts = text.strip_prefix(PREFIX).and_then(|rest| rest.split_once('_'));
    let Some((id, secret)) = parts else { return Ok(None) };
    let Ok(id) = TokenId::new(id) else { return Ok(None) };
    let token = match store.token(&id) {
        Ok(token) => token,
        Err(StoreError::NotFound { .. }) => return Ok(None),
        Err(error) => return Err(error),
    };
    // `blake3::Hash` compares in constant time.
    let matches = blake3::Hash::from_hex(&token.hash)
        .is_ok_and(|stored| stored == blake3::hash(secret.as_bytes()));
    Ok((matches && token.kind == kind && token.is_good(now)).then_some(token))
}
