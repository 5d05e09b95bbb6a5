//! The brief: the whole prompt of a spawn. Context first, specialization second, a compact role
//! third, the task last.
//!
//! Context and specialization share one cap per tier of models; what one leaves, the other may use.
//! One receipt covers the whole prompt: its hash, its parts, what was trimmed.

mod guard;
mod role;
pub mod spool;

use std::collections::BTreeMap;

use handover_model::config::Config;
use handover_model::models::Model;
use handover_model::{Provided, Provision, ReceiptId, Section, TestingMode, Tokenizer, Zone};
use handover_store::{NewReceipt, Result, Store, StoreError};
use handover_text::{Redactor, tokens};

pub use guard::{Admitted, Refusal, admit, marker_of};

use crate::assemble::{self, Assembly};
use crate::learning::Binding;
use crate::package_file::{ProjectPaths, content_hash};
use crate::specialize::{self, Specialization, Templates};
use crate::stack::Stack;

/// What is asked for.
#[derive(Debug, Clone)]
pub struct Request {
    /// Whom the brief is for and what it is about.
    pub spawn: assemble::Request,
    /// How much testing the workflow does; the configuration decides if nobody says.
    pub testing_mode: Option<TestingMode>,
    /// The part of the project that the agent works in; the group's if nobody says.
    pub component: Option<String>,
    /// Whether context is wanted at all.
    pub context: bool,
    /// Whether a specialization is wanted at all.
    pub specialization: bool,
    /// What relevance is measured by, if the task has more in it than what it is about.
    pub about: Option<String>,
    /// What the agent is told about its role, instead of the built-in text and its form of an ending.
    pub role_text: Option<String>,
    /// Whether the attempt is counted here, by what the role of the group got before.
    pub count_attempt: bool,
}

/// What a brief is made of besides the store.
#[derive(Clone, Copy)]
pub struct Setting<'a> {
    /// The store; the reason if there is none.
    pub store: std::result::Result<&'a dyn Store, &'a str>,
    /// How secrets are found.
    pub redactor: &'a Redactor,
    /// The configuration.
    pub config: &'a Config,
    /// The technology of the project.
    pub stack: &'a Stack,
    /// What is known about technologies.
    pub templates: &'a Templates,
    /// Where package files are.
    pub places: Option<&'a ProjectPaths>,
}

/// A whole prompt.
#[derive(Debug, Clone)]
pub struct Brief {
    /// The record of it.
    pub receipt: NewReceipt,
    /// The context, unless it is switched off or could not be made.
    pub context: Option<Assembly>,
    /// The specialization, unless it is switched off.
    pub specialization: Option<Specialization>,
    /// Tokens of each part.
    pub sections: BTreeMap<&'static str, u64>,
    /// Tokens of the whole.
    pub tokens: u64,
    /// The prompt.
    pub text: String,
}

/// Composes a brief, keeps its receipt and the composition of its specialization.
///
/// A store that cannot be read degrades the context; one that cannot be written is an error.
pub fn brief(setting: Setting<'_>, request: &Request) -> Result<Brief> {
    let store = setting.store.map_err(|reason| StoreError::Backend {
        fault: handover_store::Fault::Unavailable,
        source: reason.into(),
    })?;
    if request.spawn.deliver {
        // Deciding and claiming are one step, so that two agents never get the same package.
        store.writing(|store| {
            let request = &counted(store, request)?;
            let brief = compose(Setting { store: Ok(store), ..setting }, request);
            keep(store, setting.redactor, request, &brief)?;
            Ok(brief)
        })
    } else {
        let request = &counted(store, request)?;
        let brief =
            store.reading(|store| Ok(compose(Setting { store: Ok(store), ..setting }, request)))?;
        store.writing(|store| keep(store, setting.redactor, request, &brief))?;
        Ok(brief)
    }
}

/// The request with its attempt.
fn counted(store: &dyn Store, request: &Request) -> Result<Request> {
    let mut request = request.clone();
    if request.count_attempt {
        let spawn = &mut request.spawn;
        let group = spawn.group.as_ref();
        spawn.iteration = store.deliveries(&spawn.session, group, &spawn.role, spawn.now)?;
    }
    Ok(request)
}

fn keep(store: &dyn Store, redactor: &Redactor, request: &Request, brief: &Brief) -> Result<()> {
    store.put_receipt(&brief.receipt)?;
    let Some(made) = &brief.specialization else { return Ok(()) };
    let spawn = &request.spawn;
    let asked = specialize::Request {
        role: &spawn.role,
        model: spawn.model.as_deref(),
        budget: made.budget,
        testing_mode: request.testing_mode.unwrap_or_default(),
        chosen: &[],
        component: request.component.as_deref(),
    };
    made.keep(store, redactor, &asked, (&spawn.session, spawn.group.as_ref()), spawn.now)
}

/// Puts a brief together without keeping anything. Whatever fails is in the receipt as the reason
/// for what is missing.
pub fn compose(setting: Setting<'_>, request: &Request) -> Brief {
    let spawn = &request.spawn;
    let model = Model::named(spawn.model.as_deref());
    let tokenizer = model.tokenizer;
    let cap = setting.config.brief.preface(model.tier);
    let group = setting
        .store
        .ok()
        .zip(spawn.group.as_ref())
        .and_then(|(store, group)| store.group(&spawn.session, group).ok());
    let maker = Maker { setting, request, tokenizer, group };

    // The specialization in its share; the context in what that leaves; the specialization again in
    // what the context leaves, if it had to be trimmed.
    let mut special = maker.specialization(setting.config.brief.specialization(model.tier));
    let mut context = maker.context(cap - special.tokens().min(cap));
    if special.is_trimmed() {
        special = maker.specialization(cap - context.tokens().min(cap));
    }
    // Parts that fit one by one may be over by a token or two when they stand together.
    for _ in 0..MENDS {
        let preface = format!("{}\n", join(&[&context.text, special.text()]));
        let over = maker.count(&preface).saturating_sub(cap);
        if over == 0 {
            break;
        }
        let before = context.tokens();
        context = maker.context(before.saturating_sub(over));
        // A context that has nothing to leave out cannot give way.
        if context.tokens() + over > before {
            special = maker.specialization(special.tokens().saturating_sub(over));
        }
    }

    let role = match &request.role_text {
        Some(text) => format!("## Your Role\n\n{}\n", text.trim_end()),
        None => {
            let text = setting.config.brief.roles.get(spawn.role.as_str());
            role::section(&spawn.role, text, &spawn.receipt)
        }
    };
    let task = match spawn.task.as_deref().map(str::trim_end).filter(|task| !task.is_empty()) {
        Some(task) => format!("## Your Task\n\n{task}\n"),
        None => String::new(),
    };
    let given = join(&[&context.text, special.text(), &role]);
    let text = join(&[&given, &task]);
    let sections: BTreeMap<&'static str, u64> = [
        ("context", maker.count(&context.text)),
        ("specialization", special.tokens()),
        ("role", maker.count(&role)),
        ("task", maker.count(&task)),
    ]
    .into();
    let tokens = maker.count(&text);
    let mut receipt = context.receipt(&maker);
    receipt.tokens = tokens;
    receipt.prompt_hash = content_hash(text.as_bytes());
    receipt.text = Some(setting.redactor.clean(&given));
    receipt.trimmed = context.trimmed();
    receipt.provided =
        Provided { context: context.provision.clone(), specialization: special.provision };
    let share = setting.config.brief.specialization(model.tier);
    for (name, budget) in [("context", cap - share.min(cap)), ("specialization", share)] {
        receipt.sections.push(Section { name: name.to_owned(), budget, used: sections[name] });
    }
    for name in ["role", "task"] {
        let used = sections[name];
        receipt.sections.push(Section { name: name.to_owned(), budget: used, used });
    }
    if let Some(made) = &special.made {
        receipt.trimmed.extend(made.trimmed.iter().cloned());
        for (rule, count) in &made.redactions {
            *receipt.redactions.entry(rule.clone()).or_default() += count;
        }
    }
    Brief { receipt, context: context.made, specialization: special.made, sections, tokens, text }
}

/// The section on a role as it is built in.
#[cfg(test)]
pub(crate) fn role_section(role: &handover_model::Role, receipt: &ReceiptId) -> String {
    role::section(role, None, receipt)
}

/// How often parts are made smaller to fit together.
const MENDS: usize = 4;

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

/// Makes the parts.
struct Maker<'a> {
    setting: Setting<'a>,
    request: &'a Request,
    tokenizer: Tokenizer,
    group: Option<handover_model::Group>,
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

impl Maker<'_> {
    fn count(&self, text: &str) -> u64 {
        tokens::count(self.tokenizer, text)
    }

    fn context(&self, cap: u64) -> ContextPart {
        let (request, config) = (&self.request.spawn, self.setting.config);
        let switched_off = config.assembly.switched_off_by(&request.role);
        let (text, provision, made) = if let Some(key) = switched_off {
            (marker(&request.receipt), Provision::Disabled { by: key.to_owned() }, None)
        } else if !self.request.context {
            (marker(&request.receipt), Provision::Missing, None)
        } else {
            let task = self.request.about.clone().or_else(|| request.task.clone());
            let spawn = assemble::Request { cap: Some(cap), task, ..request.clone() };
            let assembled = self.setting.store.map_err(str::to_owned).and_then(|store| {
                let component = self.request.component.as_deref();
                let setting = assemble::Setting {
                    store,
                    redactor: self.setting.redactor,
                    config: &config.assembly,
                    binding: &|| Binding::of(self.setting.stack, component),
                    places: self.setting.places,
                };
                assemble::compose(setting, &spawn).map_err(|error| error.to_string())
            });
            match assembled {
                Ok(assembly) => (assembly.markdown.clone(), Provision::Present, Some(assembly)),
                Err(reason) => {
                    let text = format!(
                        "{}\n{}",
                        assemble::fallback(&request.role),
                        marker(&request.receipt)
                    );
                    (text, Provision::Degraded { reason }, None)
                }
            }
        };
        ContextPart { tokens: self.count(&text), text, provision, made }
    }

    fn specialization(&self, budget: u64) -> SpecializationPart {
        let (request, config) = (&self.request.spawn, &self.setting.config.specialization);
        if let Some(key) = config.switched_off_by(&request.role) {
            let provision = Provision::Disabled { by: key.to_owned() };
            return SpecializationPart { provision, made: None };
        }
        if !self.request.specialization {
            return SpecializationPart { provision: Provision::Missing, made: None };
        }
        let (chosen, component) = match &self.group {
            Some(group) => (group.specializations.as_slice(), group.component.as_deref()),
            None => (&[][..], None),
        };
        let made = specialize::specialize(
            &specialize::Request {
                role: &request.role,
                model: request.model.as_deref(),
                budget,
                testing_mode: self.request.testing_mode.unwrap_or(config.testing_mode),
                chosen,
                component: self.request.component.as_deref().or(component),
            },
            self.setting.stack,
            self.setting.templates,
            self.setting.redactor,
        );
        let provision = if made.text.is_empty() {
            Provision::Degraded { reason: format!("nothing of it fits into {budget} tokens") }
        } else {
            Provision::Present
        };
        SpecializationPart { provision, made: Some(made) }
    }
}

fn marker(receipt: &ReceiptId) -> String {
    format!("<!-- handover:receipt {receipt} -->\n")
}

impl ContextPart {
    fn tokens(&self) -> u64 {
        self.tokens
    }

    /// What did not fit, in words.
    fn trimmed(&self) -> Vec<String> {
        let Some(made) = &self.made else { return Vec::new() };
        made.receipt
            .left_out
            .iter()
            .filter(|item| item.reason == handover_model::Fate::OverTheBudget)
            .map(|item| format!("{} {}", item.kind, item.id))
            .collect()
    }

    fn receipt(&self, maker: &Maker<'_>) -> NewReceipt {
        if let Some(made) = &self.made {
            return made.receipt.clone();
        }
        let spawn = &maker.request.spawn;
        NewReceipt {
            id: spawn.receipt.clone(),
            session: spawn.session.clone(),
            group: spawn.group.clone(),
            role: spawn.role.clone(),
            iteration: spawn.iteration,
            model: spawn.model.as_deref().map(|name| maker.setting.redactor.clean(name)),
            tokenizer: maker.tokenizer.as_str().to_owned(),
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
            text: None,
            claim: spawn.deliver,
            now: spawn.now,
        }
    }
}

impl SpecializationPart {
    fn text(&self) -> &str {
        self.made.as_ref().map_or("", |made| made.text.as_str())
    }

    fn tokens(&self) -> u64 {
        self.made.as_ref().map_or(0, |made| made.tokens)
    }

    fn is_trimmed(&self) -> bool {
        self.made.as_ref().is_some_and(|made| !made.trimmed.is_empty())
    }
}

#[cfg(test)]
mod tests;
