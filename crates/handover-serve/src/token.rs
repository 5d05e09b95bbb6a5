//! Tokens: format, creation, verification.
//!
//! A token is `hnd_`, a public id, `_`, and 256 random bits, of which only the BLAKE3 hash is stored. Random
//! secrets need no slow password hash, which would cost every request. Hashes are compared in constant
//! time.

use std::fmt::Write as _;

use handover_model::{Timestamp, Token, TokenId, TokenKind};
use handover_store::{Result, Store, StoreError};

const PREFIX: &str = "hnd_";

/// A new token: the only moment its secret is known.
pub struct Minted {
    /// The public part.
    pub id: TokenId,
    /// The whole token, shown once.
    pub text: String,
    /// The hash of the secret, which is stored.
    pub hash: String,
}

/// The system returned no random numbers.
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

/// Looks up a token; `None` unless its secret matches, its kind is right and it is valid now.
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

#[cfg(test)]
mod tests {
    use handover_model::TokenScope;
    use handover_sqlite::SqliteStore;
    use handover_store::{NewToken, Tokens};

    use super::*;

    fn store(folder: &tempfile::TempDir) -> SqliteStore {
        SqliteStore::open(&folder.path().join("store.db")).unwrap()
    }

    fn create(store: &SqliteStore, minted: &Minted, kind: TokenKind, expires: Option<i64>) {
        let new = NewToken {
            id: minted.id.clone(),
            name: None,
            kind,
            scope: TokenScope::Read,
            project: None,
            hash: minted.hash.clone(),
            expires_at: expires.map(Timestamp::from_micros),
            now: Timestamp::default(),
        };
        store.create_token(&new).unwrap();
    }

    #[test]
    fn tokens_are_unique_and_do_not_contain_their_hash() {
        let (one, two) = (mint().unwrap(), mint().unwrap());
        assert_ne!(one.text, two.text);
        assert!(one.text.starts_with(PREFIX) && one.text.contains(one.id.as_str()));
        assert_eq!(one.text.len(), 4 + 12 + 1 + 64);
        assert!(!one.text.contains(&one.hash));
    }

    #[test]
    fn verification_needs_the_secret_the_kind_and_the_time() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(&folder);
        let (bearer, login) = (mint().unwrap(), mint().unwrap());
        create(&store, &bearer, TokenKind::Bearer, Some(100));
        create(&store, &login, TokenKind::Login, None);
        let verified = |text: &str, kind, at| {
            verify(&store, text, kind, Timestamp::from_micros(at)).unwrap().is_some()
        };
        assert!(verified(&bearer.text, TokenKind::Bearer, 99));
        assert!(!verified(&bearer.text, TokenKind::Bearer, 100), "expired");
        assert!(!verified(&bearer.text, TokenKind::Login, 99), "another kind");
        assert!(verified(&login.text, TokenKind::Login, 99));
        let (id, _) = bearer.text.rsplit_once('_').unwrap();
        for wrong in ["", "hnd_", "hnd_x", "hnd_a b_c", &format!("{id}_00"), &bearer.text[4..]] {
            assert!(!verified(wrong, TokenKind::Bearer, 99), "{wrong}");
        }
    }

    #[test]
    fn an_ended_token_is_invalid() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(&folder);
        let minted = mint().unwrap();
        create(&store, &minted, TokenKind::Bearer, None);
        store.end_token(&minted.id, Timestamp::default()).unwrap();
        let found = verify(&store, &minted.text, TokenKind::Bearer, Timestamp::default()).unwrap();
        assert_eq!(found, None);
    }
}
