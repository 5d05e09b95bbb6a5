//! What opening a store does to one that an older version wrote.

use std::path::PathBuf;

/// What becomes of a store in an older format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OlderFormat {
    /// It gets the current one, and versions that know only the older one cannot open it any more.
    Upgrade,
    /// It is refused with [`StoreError::Older`](crate::StoreError::Older): others may still need it as it is, and nobody
    /// reads what would be said about it here.
    Keep,
}

/// A store that an older version wrote, and that only this one and later ones can open now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upgraded {
    /// The format that it had.
    pub from: i64,
    /// The format that it has.
    pub to: i64,
    /// A copy of what it was, if the backend keeps one.
    pub copy: Option<PathBuf>,
}
