//! Cases of [`Tokens`](crate::Tokens).

use handover_model::{TokenId, TokenKind, TokenScope};

use super::Backend;
use super::fixture::*;
use crate::{NewToken, RecordKind, StoreError};

fn id(text: &str) -> TokenId {
    TokenId::new(text).unwrap()
}

fn token(text: &str, seconds: i64) -> NewToken {
    NewToken {
        id: id(text),
        name: Some(clean("laptop")),
        kind: TokenKind::Bearer,
        scope: TokenScope::Write,
        project: Some(project()),
        hash: format!("hash of {text}"),
        expires_at: Some(at(100)),
        now: at(seconds),
    }
}

/// Tokens are listed newest first, and ids are unique.
pub fn kept_and_listed(backend: &dyn Backend) {
    let store = backend.open();
    let first = store.create_token(&token("t1", 0)).unwrap();
    let bare = NewToken {
        name: None,
        project: None,
        expires_at: None,
        kind: TokenKind::Login,
        scope: TokenScope::Admin,
        ..token("t2", 1)
    };
    let second = store.create_token(&bare).unwrap();
    assert_eq!(store.token(&id("t1")).unwrap(), first);
    assert_eq!((first.scope, first.project.clone()), (TokenScope::Write, Some(project())));
    assert_eq!((first.name.as_deref(), first.hash.as_str()), (Some("laptop"), "hash of t1"));
    assert_eq!((second.kind, second.project.clone()), (TokenKind::Login, None));
    assert_eq!(store.tokens().unwrap(), [second, first]);
    assert!(store.create_token(&token("t1", 2)).is_err());
    assert!(matches!(
        store.token(&id("t3")),
        Err(StoreError::NotFound { what: RecordKind::Token, .. })
    ));
}

/// A token is ended once; the first caller wins.
pub fn ends_once(backend: &dyn Backend) {
    let store = backend.open();
    let token = store.create_token(&token("t1", 0)).unwrap();
    assert!(token.is_good(at(99)) && !token.is_good(at(100)));
    assert!(store.end_token(&token.id, at(5)).unwrap());
    assert!(!store.end_token(&token.id, at(6)).unwrap());
    assert!(!store.end_token(&id("nobody"), at(6)).unwrap());
    let ended = store.token(&token.id).unwrap();
    assert_eq!(ended.ended_at, Some(at(5)));
    assert!(!ended.is_good(at(5)));
}
