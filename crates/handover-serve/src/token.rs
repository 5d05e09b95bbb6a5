//! Tokens: how they look, how they are made, how they are known again.
//!
//! A token is `hnd_`, a public id, `_`, and 256 random bits. Of those only the BLAKE3 hash is kept: they
//! cannot be guessed, so a slow hash, which guards what people choose, would only slow every request
//! down. Hashes are compared in constant time.

use std::fmt::Write as _;

use handover_model::{Timestamp, Token, TokenId, TokenKind};
use handover_store::{Result, Store, StoreError};

const PREFIX: &str = "hnd_";

/// A new token, at the only moment when it is known as a whole.
pub struct Minted {
    /// Its public part.
    pub id: TokenId,
    /// All of it, to be shown once.
    pub text: String,
    /// What is kept.
    pub hash: String,
}

/// Why no token could be made.
#[derive(Debug, thiserror::Error)]
#[error("the system gave no random numbers: {0}")]
pub struct MintError(String);

/// Makes a token.
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

/// The token that a text is, if it is one that is good now and of this kind.
pub(crate) fn known(
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
    // Comparing two hashes of BLAKE3 takes the same time wherever they differ.
    let same = blake3::Hash::from_hex(&token.hash)
        .is_ok_and(|kept| kept == blake3::hash(secret.as_bytes()));
    Ok((same && token.kind == kind && token.is_good(now)).then_some(token))
}
