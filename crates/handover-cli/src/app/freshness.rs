//! What became of what texts are about, by the checkout and its index as they are.

use std::cell::{Cell, OnceCell};
use std::path::{Path, PathBuf};

use handover_context::assemble::Freshness;
use handover_knowledge::places::{Index, Names};
use handover_knowledge::section_now;
use handover_model::{NameCheck, Note, SectionNow};

use super::App;

/// At most so many documents are read for one brief.
const DOCUMENTS: usize = 8;

/// The checkout we are in. Opens the index when the first text is checked; git is never started.
pub(super) struct CheckoutNow<'a> {
    app: &'a App,
    /// Of every text something is asked, and finding it asks the disk.
    root: OnceCell<Option<PathBuf>>,
    names: OnceCell<Option<Names>>,
    documents: Cell<usize>,
}

impl App {
    pub(super) fn checkout_now(&self) -> CheckoutNow<'_> {
        CheckoutNow {
            app: self,
            root: OnceCell::new(),
            names: OnceCell::new(),
            documents: Cell::new(DOCUMENTS),
        }
    }

    /// The root of the checkout we are in; none if the project is elsewhere.
    pub(super) fn checkout_root(&self) -> Option<PathBuf> {
        if self.hosts() { None } else { self.scan_roots().ok()?.pop() }
    }
}

impl CheckoutNow<'_> {
    fn root(&self) -> Option<&Path> {
        self.root.get_or_init(|| self.app.checkout_root()).as_deref()
    }

    fn index(&self) -> Option<Index> {
        Index::open(&self.app.project().ok()?.folder(), self.root()?)
    }
}

impl Freshness for CheckoutNow<'_> {
    fn names(&self, text: &str) -> NameCheck {
        match self.names.get_or_init(|| self.index().map(Names::new)) {
            Some(names) => names.check(text),
            None => NameCheck::default(),
        }
    }

    fn section(&self, note: &Note) -> SectionNow {
        let read = || {
            let left = self.documents.get().checked_sub(1)?;
            self.documents.set(left);
            Some(section_now(self.root()?, note, self.app.redactor().ok()?))
        };
        read().unwrap_or(SectionNow::Same)
    }
}
