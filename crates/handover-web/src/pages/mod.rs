//! The pages, one file each. A new page is a file with its entry, and a line in [`ALL`].

mod away;
pub(crate) mod changes;
mod errors;
mod knowledge;
mod notes;
mod overview;
mod package;
mod packages;
mod reasoning;
pub(crate) mod receipt;
mod receipts;
mod record;
pub(crate) mod run;
mod runs;
mod search;
pub(crate) mod session;
mod sessions;
mod strategies;
mod usage;

use crate::page::PageEntry;

/// The table of all pages. Navigation entries appear in this order.
pub(crate) const ALL: &[&[PageEntry]] = &[
    overview::PAGES,
    away::PAGES,
    sessions::PAGES,
    session::PAGES,
    packages::PAGES,
    package::PAGES,
    reasoning::PAGES,
    receipts::PAGES,
    receipt::PAGES,
    runs::PAGES,
    run::PAGES,
    knowledge::PAGES,
    notes::PAGES,
    errors::PAGES,
    strategies::PAGES,
    usage::PAGES,
    search::PAGES,
    changes::PAGES,
];
