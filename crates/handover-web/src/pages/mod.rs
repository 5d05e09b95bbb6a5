//! The pages, one file each.

pub(crate) mod errors;
pub(crate) mod overview;
pub(crate) mod package;
pub(crate) mod packages;
pub(crate) mod reasoning;
pub(crate) mod receipt;
pub(crate) mod receipts;
pub(crate) mod run;
pub(crate) mod runs;
pub(crate) mod search;
pub(crate) mod session;
pub(crate) mod sessions;
pub(crate) mod strategies;
