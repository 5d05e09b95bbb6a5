//! The agents of an experiment: their prompts go out as they are, under receipts that say so.
//!
//! An arm of an experiment gets less than its brief, or another one, and that is the point of it. So the guard is not
//! asked; instead the receipt says which experiment withheld what.

use std::collections::BTreeMap;

use handover_context::package_file::content_hash;
use handover_model::models::Model;
use handover_model::{
    AdmittedPrompt, Provided, Provision, ReceiptId, Role, Section, SessionId, Timestamp, Zone,
};
use handover_store::NewReceipt;
use handover_text::tokens;

use crate::{Handoffs, Result};

/// A prompt of an experiment.
#[derive(Debug)]
pub struct TrialPrompt<'a> {
    /// The experiment.
    pub experiment: &'a str,
    /// The id of the receipt to write.
    pub receipt: ReceiptId,
    /// The session of the experiment.
    pub session: SessionId,
    /// The role of the agent.
    pub role: Role,
    /// The model, as the caller named it.
    pub model: Option<&'a str>,
    /// What the agent reads.
    pub text: String,
    /// Whether it has context and specialization; whatever it has not is withheld by the experiment.
    pub has: Parts,
    /// The time of the request.
    pub now: Timestamp,
}

/// Which parts a prompt has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Parts {
    /// Knowledge from other agents.
    pub context: bool,
    /// Guidance for the technology.
    pub specialization: bool,
}

impl Handoffs<'_> {
    /// Stores the receipt of a trial and admits its prompt. The receipt has neither items nor text: what an experiment
    /// delivers must not count as use of the project's knowledge, and its prompts are kept with its journal.
    pub fn admit_trial(&self, trial: TrialPrompt<'_>) -> Result<AdmittedPrompt> {
        let tokenizer = Model::named(trial.model).tokenizer;
        let used = tokens::count(tokenizer, &trial.text);
        let withheld = || Provision::Disabled { by: format!("experiment {}", trial.experiment) };
        let part = |has: bool| if has { Provision::Present } else { withheld() };
        let receipt = NewReceipt {
            id: trial.receipt.clone(),
            session: trial.session,
            group: None,
            role: trial.role,
            iteration: 0,
            model: trial.model.map(|name| self.redactor.clean(name)),
            tokenizer: tokenizer.as_str().to_owned(),
            zone: Zone::Normal,
            tokens: used,
            prompt_hash: content_hash(trial.text.as_bytes()),
            sections: vec![Section { name: "prompt".to_owned(), budget: used, used }],
            items: Vec::new(),
            left_out: Vec::new(),
            left_out_counts: BTreeMap::new(),
            redactions: BTreeMap::new(),
            trimmed: Vec::new(),
            provided: Provided {
                context: part(trial.has.context),
                specialization: part(trial.has.specialization),
                use_learning: None,
            },
            task: None,
            text: None,
            claim: true,
            now: trial.now,
        };
        self.store()?.put_receipt(&receipt)?;
        Ok(AdmittedPrompt::admit_unchecked(trial.text, trial.receipt))
    }
}
