//! What became of what texts are about, by the checkout and its index as they are.

use std::cell::{Cell, OnceCell};
use std::path::PathBuf;

use handover_context::assemble::Freshness;
use handover_knowledge::places::Names;
use handover_knowledge::section_now;
use handover_model::{NameCheck, Note, SectionNow};

use super::App;

/// At most so many documents are read for one brief.
const DOCUMENTS: usize = 8;

/// The checkout we are in. Opens the index when the first text is checked; git is never started.
pub(super) struct CheckoutNow<'a> {
    app: &'a App,
    names: OnceCell<Option<Names>>,
    documents: Cell<usize>,
}

impl App {
    pub(super) fn checkout_now(&self) -> CheckoutNow<'_> {
        CheckoutNow { app: self, names: OnceCell::new(), documents: Cell::new(DOCUMENTS) }
    }

    /// The root of the checkout we are in; none if the project is elsewhere.
    pub(super) fn checkout_root(&self) -> Option<PathBuf> {
        if self.hosts() { None } else { self.scan_roots().ok()?.pop() }
    }
}

impl Freshness for CheckoutNow<'_> {
    fn names(&self, text: &str) -> NameCheck {
        let open = || self.app.present_file_index().map(Names::new);
        match self.names.get_or_init(open) {
            Some(names) => names.check(text),
            None => NameCheck::default(),
        }
    }

    fn section(&self, note: &Note) -> SectionNow {
        let read = || {
            let left = self.documents.get().checked_sub(1)?;
            self.documents.set(left);
            let (root, redactor) = (self.app.checkout_root()?, self.app.redactor().ok()?);
            Some(section_now(&root, note, redactor))
        };
        read().unwrap_or(SectionNow::Same)
    }
}
