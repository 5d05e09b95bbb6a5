//! The first step: a brief, its receipt, and the guard's decision.

use std::path::PathBuf;

use handover_context::assemble::{self, Assembly};
use handover_context::learning::Binding;
use handover_files::Folder;
use handover_model::{
    AdmittedPrompt, BriefDelivery, KnownEvent, ReceiptId, ReceiptState, Role, SessionId,
    SessionStatus, Ticket, Timestamp,
};
use handover_store::{
    EventKey, Fault, NewEvent, NewReceipt, NewTicket, ReceiptStep, Store, StoreError,
};
use handover_text::with_causes;
use serde_json::json;

use crate::assignment::belongs_to;
use crate::brief::{self, Brief};
use crate::guard::{self, Admission, Evidence, Refusal};
use crate::handoffs::unavailable;
use crate::spool::Spooled;
use crate::zone::log_zone_change;
use crate::{
    Assignment, Attempt, Delivery, HandoffError, HandoffRequest, Handoffs, Result, TicketRequest,
    spool,
};

/// A handoff under way: an agent may be started with its prompt.
#[derive(Debug)]
pub struct Handoff {
    /// What the agent program reads.
    pub prompt: AdmittedPrompt,
    /// What the agent's ending is kept under.
    pub assignment: Assignment,
    /// What a strict guard would have refused.
    pub warnings: Vec<String>,
    /// Where the receipt is.
    pub recorded: Recorded,
}

/// A new brief, and the handoff that it started.
#[derive(Debug)]
pub struct Prepared {
    /// The prompt in its parts.
    pub brief: Brief,
    /// The steps that follow need this.
    pub handoff: Handoff,
    /// Earlier receipts that the store still does not take, with the reason.
    pub still_spooled: Vec<(PathBuf, String)>,
}

/// Where a receipt was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recorded {
    /// In the store.
    Store,
    /// In a file that is imported once the store works again.
    Spool {
        /// The folder of the file.
        folder: Folder,
        /// What is wrong with the store.
        reason: String,
    },
    /// Nowhere. A text without a receipt is only shown, never handed to an agent that we start.
    Nowhere {
        /// What is wrong with the store, and with the spool.
        reason: String,
    },
}

impl Handoff {
    /// Whether the store has the receipt, so that it can keep the ending too.
    pub fn in_store(&self) -> bool {
        self.recorded == Recorded::Store
    }
}

/// A session that is closed gets no new briefs.
fn open_session(
    store: &dyn Store,
    id: &SessionId,
) -> handover_store::Result<std::result::Result<(), HandoffError>> {
    let session = store.session(id)?;
    Ok(match session.status {
        SessionStatus::Active => Ok(()),
        status @ (SessionStatus::Completed | SessionStatus::Failed) => {
            Err(HandoffError::SessionClosed { session: session.id, status })
        }
    })
}

/// The receipt of a subagent that was briefed before: a host may run our hooks twice for one event.
fn briefed(store: &dyn Store, ticket: &TicketRequest) -> handover_store::Result<Option<ReceiptId>> {
    let (host, conversation) = (ticket.host, &ticket.conversation);
    let of_call = match &ticket.tool_use {
        Some(call) => store.ticket_of_call(host, conversation, call)?,
        None => None,
    };
    let found = match (of_call, &ticket.agent) {
        (None, Some(agent)) => store.ticket_of(host, agent)?,
        (found, _) => found,
    };
    Ok(found.map(|ticket| ticket.receipt))
}

/// What the store has after a preparation: a handoff, or the reason why there is none.
type Decision = std::result::Result<Prepared, HandoffError>;

impl Handoffs<'_> {
    /// Makes the brief of an agent that is about to start. Counting the attempt, choosing, storing
    /// the receipt and its ticket, and the guard's decision are one transaction, so that two agents
    /// never get the same package. A store that can only be read is read, and the receipt goes to the
    /// spool; so it does without a store.
    pub fn prepare(&self, request: &HandoffRequest) -> Result<Prepared> {
        self.check_overrides()?;
        let store = match self.store {
            Ok(store) => store,
            Err(reason) => return self.prepare_without_store(request, reason),
        };
        // Receipts that had to wait count as attempts.
        let imported = self.spool.map(|folder| spool::import(folder, store, self.redactor));
        self.look_ahead(request);
        // Detecting the technology may take longer than a writer should hold the lock.
        self.technology.technology();
        let prepared = match store.writing(|store| self.on(store).prepare_in(store, request)) {
            Ok(decision) => decision?,
            Err(error) if self.spool.is_some() && is_unwritable(&error) => {
                self.prepare_unwritten(store, request, &error)?
            }
            Err(error @ StoreError::Backend { .. }) if self.spool.is_some() => {
                self.prepare_without_store(request, &reason(&error))?
            }
            Err(error) => return Err(error.into()),
        };
        let still_spooled = imported.map(|imported| imported.waiting).unwrap_or_default();
        Ok(Prepared { still_spooled, ..prepared })
    }

    /// Makes a brief and stores its receipt, for a prompt that somebody may hand over later.
    pub fn draft(&self, request: &HandoffRequest) -> Result<(Brief, Recorded)> {
        let store = self.store()?;
        open_session(store, &request.session)??;
        self.look_ahead(request);
        let iteration = iteration(store, request)?;
        let made = store.reading(|store| {
            Ok(brief::compose(&self.on(store), request, iteration, Delivery::Later))
        })?;
        let written = store.writing(|store| made.store(store, self.redactor, request));
        let recorded = self.recorded(written, &made.receipt, ReceiptState::Assembled)?;
        Ok((made, recorded))
    }

    /// Makes a brief without leaving a trace.
    pub fn preview(&self, request: &HandoffRequest) -> Brief {
        let iteration = self.store.ok().and_then(|store| iteration(store, request).ok());
        brief::compose(self, request, iteration.unwrap_or_default(), Delivery::Later)
    }

    /// Assembles context alone, under a receipt of its own. The guard has no say: nothing is spawned.
    /// A store that cannot be written is read all the same.
    pub fn assemble(
        &self,
        request: &HandoffRequest,
        delivery: Delivery,
    ) -> Result<(Assembly, Recorded)> {
        let store = self.store()?;
        open_session(store, &request.session)??;
        self.look_ahead(request);
        let binding = || {
            let group = request.group.as_ref();
            let group = group.and_then(|group| store.group(&request.session, group).ok());
            let component = brief::component(self, request, group.as_ref());
            Binding::of(&self.technology.technology().stack, component.as_deref())
        };
        let compose = |store: &dyn Store| {
            let iteration = request.attempt.given();
            let request = self.context_request(request, iteration, None, delivery);
            let places = |task: &str| self.technology.where_to_look(task);
            let fresh = self.technology.freshness();
            let sources = self.sources(store, &binding, &places, &*fresh);
            let mut assembly = assemble::compose(sources, &request)?;
            assembly.receipt.text = Some(self.redactor.clean(&assembly.markdown));
            Ok(assembly)
        };
        let keep = |store: &dyn Store, assembly: &Assembly| {
            log_zone_change(store, self.redactor, &assembly.receipt)?;
            store.put_receipt(&assembly.receipt)
        };
        let written = match delivery {
            Delivery::Now => store.writing(|store| {
                let assembly = compose(store)?;
                keep(store, &assembly)?;
                Ok(assembly)
            }),
            Delivery::Later => {
                let assembly = store.reading(compose)?;
                let written = store.writing(|store| keep(store, &assembly));
                let recorded =
                    self.recorded(written, &assembly.receipt, ReceiptState::Assembled)?;
                return Ok((assembly, recorded));
            }
        };
        match written {
            Ok(assembly) => Ok((assembly, Recorded::Store)),
            Err(error) if is_unwritable(&error) => {
                let assembly = store.reading(compose)?;
                let recorded =
                    self.recorded(Err(error), &assembly.receipt, ReceiptState::Delivered)?;
                Ok((assembly, recorded))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Where the receipt of a text is that the store took or refused. What cannot be written now waits in
    /// the spool; if not even that is possible, the text goes out all the same.
    fn recorded(
        &self,
        written: handover_store::Result<()>,
        receipt: &NewReceipt,
        state: ReceiptState,
    ) -> Result<Recorded> {
        let error = match written {
            Ok(()) => return Ok(Recorded::Store),
            Err(error) if is_unwritable(&error) => error,
            Err(error) => return Err(error.into()),
        };
        let reason = reason(&error);
        let Some(folder) = self.spool else { return Err(error.into()) };
        let spooled = Spooled { receipt: spool::record(receipt, state), ticket: None };
        Ok(match spool::write(folder, &spooled) {
            Ok(()) => Recorded::Spool { folder: folder.clone(), reason },
            Err(spool) => Recorded::Nowhere { reason: format!("{reason}; {spool}") },
        })
    }

    /// Takes a prompt that [`draft`](Self::draft) made earlier. One agent alone gets it.
    pub fn adopt(
        &self,
        prompt: String,
        role: &Role,
        session: Option<&SessionId>,
        now: Timestamp,
    ) -> Result<Handoff> {
        self.check_overrides()?;
        let Some(id) = guard::marker_of(&prompt) else {
            let reasons = vec!["the prompt does not carry the marker of a receipt".to_owned()];
            return Err(Refusal { reasons }.into());
        };
        let store = self.store()?;
        let receipt = store.receipt(&id)?;
        belongs_to(&receipt, Some(role), session)?;
        let evidence = Evidence {
            receipt: &id,
            prompt_hash: &receipt.prompt_hash,
            state: receipt.state,
            provided: &receipt.provided,
        };
        let assignment = Assignment::of(&receipt);
        store.writing(|store| {
            if let Err(closed) = open_session(store, &assignment.session)? {
                return Ok(Err(closed));
            }
            let decision = guard::admit(self.config.guard.mode, prompt, evidence);
            self.log_decision(store, &assignment, &decision, now)?;
            let admission = match decision {
                Ok(admission) => admission,
                Err(refusal) => return Ok(Err(refusal.into())),
            };
            match store.claim_receipt(&id, now) {
                Ok(()) => {}
                // A guard that is not strict lets a prompt go out again.
                Err(StoreError::WrongState { .. }) if !admission.warnings.is_empty() => {}
                Err(source @ (StoreError::WrongState { .. } | StoreError::Claimed { .. })) => {
                    let (receipt, source) = (id.clone(), Box::new(source));
                    return Ok(Err(HandoffError::Taken { receipt, source }));
                }
                Err(error) => return Err(error),
            }
            Ok(Ok(Handoff::new(admission, assignment.clone(), Recorded::Store)))
        })?
    }

    /// Admits a prompt that another machine prepared, for an agent on this one. The text may name
    /// other paths here, so that the marker and the stored receipt vouch for it, not its hash.
    pub fn relay(&self, receipt: &ReceiptId, text: String) -> Result<AdmittedPrompt> {
        let state = self.store()?.receipt(receipt)?.state;
        let mut reasons = Vec::new();
        if guard::marker_of(&text).as_ref() != Some(receipt) {
            reasons.push("the prompt does not carry the marker of its receipt".to_owned());
        }
        if state == ReceiptState::Failed {
            reasons.push(format!("receipt {receipt} is already {state}"));
        }
        match reasons.is_empty() {
            true => Ok(AdmittedPrompt::admit_unchecked(text, receipt.clone())),
            false => Err(Refusal { reasons }.into()),
        }
    }

    /// Refuses a call for which a setting was overridden that decides what agents start without.
    pub fn check_overrides(&self) -> Result<()> {
        match self.overrides.first() {
            Some(first) => Err(HandoffError::Overridden {
                key: first.key.clone(),
                source_name: first.source.clone(),
            }),
            None => Ok(()),
        }
    }

    fn prepare_in(
        &self,
        store: &dyn Store,
        request: &HandoffRequest,
    ) -> handover_store::Result<Decision> {
        if let Err(closed) = open_session(store, &request.session)? {
            return Ok(Err(closed));
        }
        if let Some(ticket) = &request.ticket
            && let Some(receipt) = briefed(store, ticket)?
        {
            return Ok(Err(HandoffError::Briefed { receipt }));
        }
        let iteration = iteration(store, request)?;
        let brief = brief::compose(self, request, iteration, Delivery::Now);
        brief.store(store, self.redactor, request)?;
        let id = &brief.receipt.id;
        if let Some(ticket) = self.new_ticket(request) {
            store.open_ticket(&ticket)?;
        }
        let assignment = Assignment::of_new(&brief.receipt);
        let decision = self.decide(&brief);
        self.log_decision(store, &assignment, &decision, request.now)?;
        match decision {
            Ok(admission) => {
                let handoff = Handoff::new(admission, assignment, Recorded::Store);
                Ok(Ok(Prepared { brief, handoff, still_spooled: Vec::new() }))
            }
            Err(refusal) => {
                // The receipt stays as the record of a refusal; its packages are free again.
                let reason = self.redactor.clean(&refusal.to_string());
                store.advance_receipt(id, &ReceiptStep::Failed { reason }, request.now)?;
                if request.ticket.is_some() {
                    store.close_ticket(id, request.now)?;
                }
                Ok(Err(refusal.into()))
            }
        }
    }

    /// The ticket that a request asks for.
    fn new_ticket(&self, request: &HandoffRequest) -> Option<NewTicket> {
        let ticket = request.ticket.as_ref()?;
        Some(NewTicket {
            receipt: request.receipt.clone(),
            host: ticket.host,
            host_session: ticket.conversation.clone(),
            agent_type: self.redactor.clean(&ticket.agent_type),
            name: ticket.name.as_deref().map(|name| self.redactor.clean(name)),
            tool_use: ticket.tool_use.clone(),
            task_hash: ticket.task_hash.clone(),
            task: brief::task_line(self.redactor, request.task.as_deref()),
            way: ticket.way,
            agent: ticket.agent.clone(),
            now: request.now,
        })
    }

    /// The whole brief, of a store that can be read but not written.
    fn prepare_unwritten(
        &self,
        store: &dyn Store,
        request: &HandoffRequest,
        error: &StoreError,
    ) -> Result<Prepared> {
        let reason = reason(error);
        let composed = store.reading(|store| {
            if let Err(closed) = open_session(store, &request.session)? {
                return Ok(Err(closed));
            }
            let iteration = iteration(store, request)?;
            Ok(Ok(brief::compose(&self.on(store), request, iteration, Delivery::Now)))
        });
        match composed {
            Ok(brief) => self.spooled(brief?, request, &reason),
            Err(StoreError::Backend { .. }) => self.prepare_without_store(request, &reason),
            Err(error) => Err(error.into()),
        }
    }

    fn prepare_without_store(&self, request: &HandoffRequest, reason: &str) -> Result<Prepared> {
        let without = Handoffs { store: Err(reason), ..*self };
        let brief = brief::compose(&without, request, request.attempt.given(), Delivery::Now);
        self.spooled(brief, request, reason)
    }

    /// A handoff whose receipt waits in the spool.
    fn spooled(&self, brief: Brief, request: &HandoffRequest, reason: &str) -> Result<Prepared> {
        let Some(folder) = self.spool else { return Err(unavailable(reason)) };
        let admission = self.decide(&brief)?;
        let ticket = self.new_ticket(request).map(spool::ticket);
        // Others are spooled only because their prompts are about to go out.
        let waits =
            |ticket: &Ticket| ticket.agent.is_none() && ticket.way != BriefDelivery::Rewrite;
        let state = match ticket.as_ref().is_some_and(waits) {
            true => ReceiptState::Assembled,
            false => ReceiptState::Delivered,
        };
        let receipt = spool::record(&brief.receipt, state);
        spool::write(folder, &Spooled { receipt, ticket })
            .map_err(|spool| HandoffError::NoReceipt { store: reason.to_owned(), spool })?;
        let assignment = Assignment::of_new(&brief.receipt);
        let recorded = Recorded::Spool { folder: folder.clone(), reason: reason.to_owned() };
        let handoff = Handoff::new(admission, assignment, recorded);
        Ok(Prepared { brief, handoff, still_spooled: Vec::new() })
    }

    fn decide(&self, brief: &Brief) -> std::result::Result<Admission, Refusal> {
        let evidence = Evidence {
            receipt: &brief.receipt.id,
            prompt_hash: &brief.receipt.prompt_hash,
            state: ReceiptState::Assembled,
            provided: &brief.receipt.provided,
        };
        guard::admit(self.config.guard.mode, brief.text.clone(), evidence)
    }

    fn log_decision(
        &self,
        store: &dyn Store,
        assignment: &Assignment,
        decision: &std::result::Result<Admission, Refusal>,
        now: Timestamp,
    ) -> handover_store::Result<()> {
        let (allowed, reasons) = match decision {
            Ok(admission) => (true, &admission.warnings),
            Err(refusal) => (false, &refusal.reasons),
        };
        let id = assignment.receipt.as_ref();
        let payload = json!({
            "receipt": id, "role": assignment.role, "mode": self.config.guard.mode,
            "allowed": allowed, "reasons": reasons,
        });
        store.log_event(&NewEvent {
            session: assignment.session.clone(),
            group: assignment.group.clone(),
            kind: KnownEvent::Guard.into(),
            payload: self.redactor.clean_json(payload),
            // Refusals, and prompts that a lenient guard lets out again, are logged each time.
            key: id
                .filter(|_| allowed && reasons.is_empty())
                .map(|id| EventKey::new(id.as_str(), self.redactor)),
            now,
        })?;
        Ok(())
    }
}

impl Handoff {
    fn new(admission: Admission, assignment: Assignment, recorded: Recorded) -> Self {
        let Admission { prompt, warnings } = admission;
        Self { prompt, assignment, warnings, recorded }
    }
}

/// A further message in the conversation that an admitted prompt opened.
pub fn follow_up_prompt(prompt: &AdmittedPrompt, text: String) -> AdmittedPrompt {
    AdmittedPrompt::admit_unchecked(text, prompt.receipt().clone())
}

/// A prompt that hands nothing over: it only finds out what an agent program does.
pub fn probe_prompt(text: String, receipt: ReceiptId) -> AdmittedPrompt {
    AdmittedPrompt::admit_unchecked(text, receipt)
}

/// What is wrong with the store. Of a lock, its database knows nothing more to say.
fn reason(error: &StoreError) -> String {
    match matches!(error, StoreError::Backend { fault: Fault::Busy, .. }) {
        true => error.to_string(),
        false => with_causes(error),
    }
}

/// Whether the store may be readable all the same.
pub(crate) fn is_unwritable(error: &StoreError) -> bool {
    matches!(error, StoreError::Backend { fault, .. } if fault.is_unwritable())
}

fn iteration(store: &dyn Store, request: &HandoffRequest) -> handover_store::Result<u32> {
    match request.attempt {
        Attempt::Number(number) => Ok(number),
        Attempt::Count => {
            store.deliveries(&request.session, request.group.as_ref(), &request.role, request.now)
        }
    }
}
