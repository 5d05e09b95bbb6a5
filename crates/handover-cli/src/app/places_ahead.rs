//! Searches the places of a task on a thread of its own, while a brief reads the store: neither needs the other, and
//! an agent is waiting for both. The rules of the screen and of replacements are made ready there, too.

use std::cell::RefCell;
use std::path::PathBuf;
use std::thread::{self, JoinHandle};

use handover_context::assemble::ShownPlace;
use handover_files::Folder;
use handover_knowledge::places::{Evidence, Index, Place};
use handover_model::Trust;
use handover_text::{amend, screen};

/// A search that was started before somebody asked for its result.
#[derive(Debug, Default)]
pub(super) struct PlacesAhead(RefCell<Option<(String, JoinHandle<Vec<ShownPlace>>)>>);

/// What is searched.
#[derive(Debug)]
pub(super) struct Checkout {
    /// The folder with the index.
    pub(super) folder: Folder,
    pub(super) root: PathBuf,
    /// Of what its files and commits say.
    pub(super) trust: Trust,
}

impl PlacesAhead {
    /// Starts a search. Without a thread for it, [`Self::places`] searches.
    pub(super) fn start(&self, checkout: Checkout, task: &str) {
        // A second thread makes every page of memory dearer, and here it would find nothing.
        if !Index::is_there(&checkout.folder, &checkout.root) {
            return;
        }
        let wanted = task.to_owned();
        let search = thread::Builder::new().spawn(move || {
            screen::prepare();
            amend::prepare();
            search(&checkout, &wanted)
        });
        *self.0.borrow_mut() = search.ok().map(|running| (task.to_owned(), running));
    }

    /// The places of a task.
    pub(super) fn places(&self, checkout: &Checkout, task: &str) -> Vec<ShownPlace> {
        let ahead = self.0.borrow_mut().take().filter(|(known, _)| known == task);
        let found = ahead.and_then(|(_, running)| running.join().ok());
        found.unwrap_or_else(|| search(checkout, task))
    }
}

/// What is not indexed yet is left out: an agent is waiting.
fn search(checkout: &Checkout, task: &str) -> Vec<ShownPlace> {
    let Some(index) = Index::open(&checkout.folder, &checkout.root) else { return Vec::new() };
    let places = index.places_for_brief(task, &Evidence::default()).into_iter();
    places
        .map(|Place { path, score, why, quotes }| ShownPlace {
            path,
            score,
            why,
            trust: checkout.trust,
            quotes,
        })
        .collect()
}
