//! Why a page cannot be shown.

use handover_engine::EngineError;
use handover_store::StoreError;

/// Becomes an error page in the router.
#[derive(Debug)]
pub(crate) enum PageError {
    NotFound {
        what: String,
        id: String,
    },
    Store(StoreError),
    /// The journal of a run cannot be read.
    Engine(EngineError),
}

impl PageError {
    pub(crate) fn not_found(what: &str, id: &str) -> Self {
        Self::NotFound { what: what.to_owned(), id: id.to_owned() }
    }
}

impl From<StoreError> for PageError {
    fn from(error: StoreError) -> Self {
        if let StoreError::NotFound { what, id } = error {
            return Self::NotFound { what: what.to_string(), id };
        }
        Self::Store(error)
    }
}

impl From<EngineError> for PageError {
    fn from(error: EngineError) -> Self {
        if let EngineError::Store(error) = error {
            return error.into();
        }
        Self::Engine(error)
    }
}
