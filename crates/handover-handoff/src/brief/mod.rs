//! The brief: the whole prompt of a spawn. Context first, specialization second, a compact role
//! third, the task last.
//!
//! Context and specialization share one cap per tier of models: evidence about this project first, general
//! advice in what it leaves.
//! One receipt covers the whole prompt: its hash, its parts, what was trimmed.

mod beside;
mod role;

use std::collections::BTreeMap;

use handover_context::assemble::{self, Assembly};
use handover_context::learning::Binding;
use handover_context::package_file::content_hash;
use handover_context::specialize::{self, Specialization};
use handover_model::models::Model;
use handover_model::{
    Budget, Fate, Group, Provided, Provision, ReceiptId, ReceiptState, Section, TestingMode,
    Tokenizer, Zone,
};
use handover_store::{NewReceipt, Store, kept_task};
use handover_text::{Redactor, tokens};
use serde_json::{Value, json};

pub(crate) use beside::task_line;

use crate::{Delivery, HandoffRequest, Handoffs};

/// A whole prompt, with its receipt and its parts.
#[derive(Debug, Clone)]
pub struct Brief {
    /// The receipt to store.
    pub receipt: NewReceipt,
    /// The context, unless it is turned off or failed.
    pub context: Option<Assembly>,
    /// The specialization, unless it is turned off.
    pub specialization: Option<Specialization>,
    /// Tokens of each part.
    pub sections: BTreeMap<&'static str, u64>,
    /// Tokens of the whole prompt.
    pub tokens: u64,
    /// The prompt.
    pub text: String,
    /// How many bytes of the prompt come before the task.
    preface_bytes: usize,
    /// What the specialization was composed for.
    composed_for: ComposedFor,
}

/// The settings that a specialization was composed with, as its record keeps them.
#[derive(Debug, Clone)]
struct ComposedFor {
    testing_mode: TestingMode,
    component: Option<String>,
    chosen: Vec<String>,
}

impl Brief {
    /// The prompt without its task: what a host puts in front of a task that it has itself.
    pub fn preface(&self) -> &str {
        &self.text[..self.preface_bytes]
    }

    /// Stores the receipt and the composition of the specialization.
    pub(crate) fn store(
        &self,
        store: &dyn Store,
        redactor: &Redactor,
        request: &HandoffRequest,
    ) -> handover_store::Result<()> {
        store.put_receipt(&self.receipt)?;
        let Some(made) = &self.specialization else { return Ok(()) };
        let composed = specialize::SpecializationRequest {
            role: &request.role,
            model: request.model.as_deref(),
            budget: made.budget,
            testing_mode: self.composed_for.testing_mode,
            chosen: &self.composed_for.chosen,
            component: self.composed_for.component.as_deref(),
            task: None,
        };
        let owner = (&request.session, request.group.as_ref());
        made.keep(store, redactor, &composed, owner, request.now)
    }

    /// The JSON that the command line and the service print.
    pub fn document(&self, state: ReceiptState) -> Value {
        let mut document = json!({
            "schema": 1,
            "receipt": self.receipt.id,
            "state": state,
            "tokens": self.tokens,
            "sections": self.sections,
            "trimmed": self.receipt.trimmed,
            "provided": self.receipt.provided,
            "text": self.text,
        });
        if let Some(specialization) = &self.specialization {
            document["templates"] = json!(specialization.templates);
        }
        if let Some(context) = &self.context {
            document["packages"] = json!(context.packages);
            document["available"] = json!(context.available);
            document["notes"] = json!(context.notes);
            document["places"] = json!(context.places);
        }
        document
    }
}

/// Puts a brief together. Whatever fails is in the receipt as the reason for what is missing.
pub(crate) fn compose(
    handoffs: &Handoffs<'_>,
    request: &HandoffRequest,
    iteration: u32,
    delivery: Delivery,
) -> Brief {
    let model = Model::named(request.model.as_deref());
    let group = handoffs
        .store
        .ok()
        .zip(request.group.as_ref())
        .and_then(|(store, group)| store.group(&request.session, group).ok());
    let composer =
        Composer { handoffs, request, tokenizer: model.tokenizer, group, iteration, delivery };
    let limits = &handoffs.config.brief;
    let whole = limits.preface(model.tier);
    let beside = beside::beside(handoffs, request, model.tokenizer, beside::budget(whole));
    let cap = whole - beside.tokens;
    let floor = limits.specialization_floor(model.tier, iteration > 0);
    let budget = composer.budget(model.window);
    let (context, special) = composer.fitted(cap, cap - floor.min(cap), budget.specialization);
    let role = composer.role();
    let task = match request.task.as_deref().map(str::trim_end).filter(|task| !task.is_empty()) {
        Some(task) => format!("## Your Task\n\n{task}\n"),
        None => String::new(),
    };
    let preface = join(&[&context.text, &beside.text, special.text(), &role]);
    let text = join(&[&preface, &task]);
    let mut sections: BTreeMap<&'static str, u64> = [
        ("context", context.tokens),
        ("specialization", special.tokens()),
        ("role", composer.count(&role)),
        ("task", composer.count(&task)),
    ]
    .into();
    let mut receipt = composer.receipt(&context, &special, &preface, &text);
    let left = cap - context.tokens.min(cap);
    let budgets = [
        ("context", cap - floor.min(cap)),
        ("specialization", left.min(budget.specialization)),
        ("role", sections["role"]),
        ("task", budget.task),
    ];
    let also = (beside.tokens > 0).then_some(("beside", beside::budget(whole)));
    sections.extend(also.map(|(name, _)| (name, beside.tokens)));
    for (name, budget) in budgets.into_iter().chain(also) {
        receipt.sections.push(Section { name: name.to_owned(), budget, used: sections[name] });
    }
    Brief {
        tokens: receipt.tokens,
        preface_bytes: preface.len(),
        composed_for: composer.composed_for(),
        context: context.made,
        specialization: special.made,
        receipt,
        sections,
        text,
    }
}

/// The built-in section about a role.
#[cfg(test)]
pub(crate) fn role_section(
    role: &handover_model::Role,
    receipt: &ReceiptId,
    session: &handover_model::SessionId,
) -> String {
    role::section(
        role,
        None,
        receipt,
        &role::Place { session, group: None, attempt: 1, debrief: true },
    )
}

/// How often parts are shrunk until they fit together.
const FIT_ROUNDS: usize = 4;

/// Parts with an empty line between them.
fn join(parts: &[&str]) -> String {
    let parts: Vec<&str> =
        parts.iter().map(|part| part.trim_end()).filter(|p| !p.is_empty()).collect();
    let mut text = parts.join("\n\n");
    if !text.is_empty() {
        text.push('\n');
    }
    text
}

/// Composes the parts of one brief.
struct Composer<'a> {
    handoffs: &'a Handoffs<'a>,
    request: &'a HandoffRequest,
    tokenizer: Tokenizer,
    group: Option<Group>,
    iteration: u32,
    delivery: Delivery,
}

struct ContextPart {
    text: String,
    tokens: u64,
    provision: Provision,
    made: Option<Assembly>,
}

struct SpecializationPart {
    provision: Provision,
    made: Option<Specialization>,
}

impl Composer<'_> {
    fn count(&self, text: &str) -> u64 {
        tokens::count(self.tokenizer, text)
    }

    /// The shares of the role in the model's window.
    fn budget(&self, window: u64) -> Budget {
        let HandoffRequest { role, current_tokens, .. } = self.request;
        self.handoffs.config.assembly.budget(role, window, *current_tokens)
    }

    /// Context and specialization within one cap. What is known of the project goes first, and may take all
    /// but the floor of the specialization; general advice gets what that leaves, up to its share of the window.
    fn fitted(&self, cap: u64, most: u64, share: u64) -> (ContextPart, SpecializationPart) {
        let mut context = self.context(most);
        let mut special = self.specialization((cap - context.tokens.min(cap)).min(share));
        // Parts that fit one by one may be over by a token or two when they are joined.
        for _ in 0..FIT_ROUNDS {
            let joined = format!("{}\n", join(&[&context.text, special.text()]));
            let over = self.count(&joined).saturating_sub(cap);
            if over == 0 {
                break;
            }
            // Advice yields: a token too many must not cost a piece of evidence.
            let before = special.tokens();
            special = self.specialization(before.saturating_sub(over));
            if special.tokens() + over > before {
                context = self.context(context.tokens.saturating_sub(over));
            }
        }
        (context, special)
    }

    fn context(&self, cap: u64) -> ContextPart {
        let (request, config) = (self.request, self.handoffs.config);
        let marker = || marker(&request.receipt);
        let (text, provision, made) =
            if let Some(key) = config.assembly.switched_off_by(&request.role) {
                (marker(), Provision::Disabled { by: key.to_owned() }, None)
            } else if !request.context {
                (marker(), Provision::Missing, None)
            } else {
                match self.assembled(cap) {
                    Ok(made) => (made.markdown.clone(), Provision::Present, Some(made)),
                    Err(reason) => {
                        let text = format!("{}\n{}", assemble::fallback(&request.role), marker());
                        (text, Provision::Degraded { reason }, None)
                    }
                }
            };
        let tokens = made.as_ref().map_or_else(|| self.count(&text), |made| made.tokens);
        ContextPart { tokens, text, provision, made }
    }

    fn assembled(&self, cap: u64) -> Result<Assembly, String> {
        let store = self.handoffs.store.map_err(str::to_owned)?;
        let (handoffs, request) = (self.handoffs, self.request);
        let request = handoffs.context_request(request, self.iteration, Some(cap), self.delivery);
        let binding = || {
            let stack = &self.handoffs.technology.technology().stack;
            Binding::of(stack, self.component().as_deref())
        };
        let places = |task: &str| self.handoffs.technology.where_to_look(task);
        let fresh = self.handoffs.technology.freshness();
        assemble::compose(self.handoffs.sources(store, &binding, &places, &*fresh), &request)
            .map_err(|error| error.to_string())
    }

    fn specialization(&self, budget: u64) -> SpecializationPart {
        let (request, config) = (self.request, &self.handoffs.config.specialization);
        if let Some(key) = config.switched_off_by(&request.role) {
            let provision = Provision::Disabled { by: key.to_owned() };
            return SpecializationPart { provision, made: None };
        }
        if !request.specialization {
            return SpecializationPart { provision: Provision::Missing, made: None };
        }
        let technology = self.handoffs.technology.technology();
        let ComposedFor { testing_mode, component, chosen } = self.composed_for();
        let made = specialize::specialize(
            &specialize::SpecializationRequest {
                role: &request.role,
                model: request.model.as_deref(),
                budget,
                testing_mode,
                chosen: &chosen,
                component: component.as_deref(),
                task: request.relevance.as_deref().or(request.task.as_deref()),
            },
            &technology.stack,
            &technology.templates,
            self.handoffs.redactor,
        );
        let provision = if made.text.is_empty() {
            Provision::Degraded { reason: format!("nothing of it fits into {budget} tokens") }
        } else {
            Provision::Present
        };
        SpecializationPart { provision, made: Some(made) }
    }

    /// What the request leaves open, the group and the configuration decide.
    fn composed_for(&self) -> ComposedFor {
        let configured = self.handoffs.config.specialization.testing_mode;
        let group = self.group.as_ref();
        ComposedFor {
            testing_mode: self.request.testing_mode.unwrap_or(configured),
            component: self.component(),
            chosen: group.map(|group| group.specializations.clone()).unwrap_or_default(),
        }
    }

    fn component(&self) -> Option<String> {
        component(self.handoffs, self.request, self.group.as_ref())
    }

    fn role(&self) -> String {
        let request = self.request;
        match &request.role_text {
            Some(text) => format!("## Your Role\n\n{}\n", text.trim_end()),
            None => {
                let text = self.handoffs.config.brief.roles.get(request.role.as_str());
                let place = role::Place {
                    session: &request.session,
                    group: request.group.as_ref(),
                    attempt: self.iteration + 1,
                    debrief: request.debrief,
                };
                role::section(&request.role, text, &request.receipt, &place)
            }
        }
    }

    /// The receipt of the whole prompt, without its sections.
    fn receipt(
        &self,
        context: &ContextPart,
        special: &SpecializationPart,
        preface: &str,
        text: &str,
    ) -> NewReceipt {
        let mut receipt = match &context.made {
            Some(made) => made.receipt.clone(),
            None => self.empty_receipt(),
        };
        receipt.tokens = self.count(text);
        receipt.prompt_hash = content_hash(text.as_bytes());
        receipt.task = kept_task(self.handoffs.redactor, self.request.task.as_deref());
        receipt.text = Some(self.handoffs.redactor.clean(preface));
        receipt.trimmed = context.trimmed();
        receipt.provided = Provided {
            context: context.provision.clone(),
            specialization: special.provision.clone(),
            use_learning: receipt.provided.use_learning,
        };
        if let Some(made) = &special.made {
            receipt.trimmed.extend(made.trimmed.iter().cloned());
            for (rule, count) in &made.redactions {
                *receipt.redactions.entry(rule.clone()).or_default() += count;
            }
        }
        receipt
    }

    /// The receipt of a brief that has no context.
    fn empty_receipt(&self) -> NewReceipt {
        let request = self.request;
        NewReceipt {
            id: request.receipt.clone(),
            session: request.session.clone(),
            group: request.group.clone(),
            role: request.role.clone(),
            iteration: self.iteration,
            model: request.model.as_deref().map(|name| self.handoffs.redactor.clean(name)),
            tokenizer: self.tokenizer.as_str().to_owned(),
            zone: Zone::Normal,
            tokens: 0,
            prompt_hash: String::new(),
            sections: Vec::new(),
            items: Vec::new(),
            left_out: Vec::new(),
            left_out_counts: BTreeMap::new(),
            redactions: BTreeMap::new(),
            trimmed: Vec::new(),
            provided: Provided::default(),
            task: None,
            text: None,
            claim: self.delivery == Delivery::Now,
            now: request.now,
        }
    }
}

/// The component that the request, the group or the task names.
pub(crate) fn component(
    handoffs: &Handoffs<'_>,
    request: &HandoffRequest,
    group: Option<&Group>,
) -> Option<String> {
    let of_group = || group.and_then(|group| group.component.as_ref());
    let given = request.component.as_ref().or_else(of_group);
    if given.is_some() {
        return given.cloned();
    }
    let task = request.relevance.as_deref().or(request.task.as_deref())?;
    let stack = &handoffs.technology.technology().stack;
    stack.component_named(task).map(|component| component.path.clone())
}

fn marker(receipt: &ReceiptId) -> String {
    format!("<!-- handover:receipt {receipt} -->\n")
}

impl ContextPart {
    /// The items that the budget left out.
    fn trimmed(&self) -> Vec<String> {
        let Some(made) = &self.made else { return Vec::new() };
        made.receipt
            .left_out
            .iter()
            .filter(|item| item.reason == Fate::OverTheBudget)
            .map(|item| format!("{} {}", item.kind, item.id))
            .collect()
    }
}

impl SpecializationPart {
    fn text(&self) -> &str {
        self.made.as_ref().map_or("", |made| made.text.as_str())
    }

    fn tokens(&self) -> u64 {
        self.made.as_ref().map_or(0, |made| made.tokens)
    }
}

#[cfg(test)]
mod tests;
