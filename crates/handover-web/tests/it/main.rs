//! Every page, rendered from a real SQLite store.

#![expect(clippy::unwrap_used, reason = "these are tests")]

mod acting;
mod crawl;
mod deciding;
mod errors;
mod fixture;
mod frame;
mod hostile;
mod known;
mod lists;
mod markup;
mod notes;
mod overview;
mod packages;
mod picture;
mod readable;
mod reasoning;
mod receipts;
mod run_pages;
mod run_scene;
mod runs;
mod scene;
mod search;
mod session;
mod sharing;
mod size;
mod steps;
mod usage;
mod whole_pages;
