//! What every step of a handoff works with.

use handover_context::assemble::{ContextRequest, Freshness, ShownPlace, Sources, Unchecked};
use handover_context::learning::Binding;
use handover_context::package_file::ProjectPaths;
use handover_context::specialize::Templates;
use handover_context::stack::Stack;
use handover_files::Folder;
use handover_model::Host;
use handover_model::config::Config;
use handover_store::{Fault, Store, StoreError};
use handover_text::Redactor;

use crate::{Delivery, HandoffError, HandoffRequest, Result};

/// The handoffs of one project. The steps are in `prepare.rs`, `delivery.rs` and `ending/`.
#[derive(Clone, Copy)]
pub struct Handoffs<'a> {
    /// The store, or the reason why it cannot be opened. Without one a receipt goes to the spool.
    pub store: std::result::Result<&'a dyn Store, &'a str>,
    /// Removes secrets from everything that is stored or handed over.
    pub redactor: &'a Redactor,
    /// The project's configuration.
    pub config: &'a Config,
    /// Where package files may be.
    pub paths: &'a ProjectPaths,
    /// Detects what the project is built with, when it is first needed.
    pub technology: &'a dyn TechnologySource,
    /// The folder for receipts that the store cannot take. `None`: then there is no handoff.
    pub spool: Option<&'a Folder>,
    /// Settings that decide what agents may start without and were overridden for this call.
    pub overrides: &'a [Override],
}

/// What a project is built with, and the advice that goes with it.
#[derive(Debug)]
pub struct Technology {
    /// Languages, frameworks and tools, by component.
    pub stack: Stack,
    /// The templates that advice is composed from.
    pub templates: Templates,
}

/// Knows, or finds out, what a project is built with and where its parts are.
pub trait TechnologySource {
    /// What the project is built with; the same for every call.
    fn technology(&self) -> &Technology;

    /// Says that [`Self::where_to_look`] will be asked for this task, so that the search can begin.
    fn look_ahead(&self, _task: &str) {}

    /// The files that a task is about, best first; none if there is no index of them.
    fn where_to_look(&self, _task: &str) -> Vec<ShownPlace> {
        Vec::new()
    }

    /// The files of a project that an agent program loads by itself, so that briefs need not repeat them.
    fn loads(&self, _host: Host) -> &'static [&'static str] {
        &[]
    }

    /// Tells what became of what texts are about, for one brief.
    fn freshness(&self) -> Box<dyn Freshness + '_> {
        Box::new(Unchecked)
    }
}

impl TechnologySource for Technology {
    fn technology(&self) -> &Self {
        self
    }
}

/// A configuration key that a flag or a variable has overridden.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Override {
    /// The key.
    pub key: String,
    /// Where its value comes from.
    pub source: String,
}

impl Override {
    /// The keys by which an agent could start without its context: only a configuration file may
    /// set them, because a person wrote it down there on purpose.
    pub const KEYS: [&'static str; 5] = [
        "guard.mode",
        "assembly.enabled",
        "assembly.roles_disabled",
        "specialization.enabled",
        "specialization.roles_disabled",
    ];
}

impl<'a> Handoffs<'a> {
    pub(crate) fn store(&self) -> Result<&'a dyn Store> {
        self.store.map_err(unavailable)
    }

    /// The same on another view of the store, such as a transaction.
    pub(crate) fn on<'b>(&self, store: &'b dyn Store) -> Handoffs<'b>
    where
        'a: 'b,
    {
        Handoffs { store: Ok(store), ..*self }
    }

    /// Begins what can be done while the store is read.
    pub(crate) fn look_ahead(&self, request: &HandoffRequest) {
        if let Some(task) = request.task.as_deref().filter(|task| !task.trim().is_empty()) {
            self.technology.look_ahead(task);
        }
    }

    /// The part of a request that assembly answers.
    pub(crate) fn context_request(
        &self,
        request: &HandoffRequest,
        iteration: u32,
        cap: Option<u64>,
        delivery: Delivery,
    ) -> ContextRequest {
        let loaded = request.program().map(|host| self.technology.loads(host)).unwrap_or_default();
        ContextRequest {
            loaded: loaded.iter().map(|file| (*file).to_owned()).collect(),
            ..request.context_request(iteration, cap, delivery)
        }
    }

    /// Where assembly takes its context from.
    pub(crate) fn sources<'b>(
        &'b self,
        store: &'b dyn Store,
        binding: &'b dyn Fn() -> Binding,
        where_to_look: &'b dyn Fn(&str) -> Vec<ShownPlace>,
        fresh: &'b dyn Freshness,
    ) -> Sources<'b> {
        Sources {
            store,
            redactor: self.redactor,
            config: &self.config.assembly,
            where_to_look,
            fresh,
            notes: self.config.brief.notes,
            binding,
            places: Some(self.paths),
        }
    }
}

/// The error of a step that needs the store and has none.
pub(crate) fn unavailable(reason: &str) -> HandoffError {
    StoreError::Backend { fault: Fault::Unavailable, source: reason.into() }.into()
}
