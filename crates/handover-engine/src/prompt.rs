//! What an agent is told. One seam: who puts context, role and task together can be exchanged.

use std::path::PathBuf;

use handover_context::assemble::{self, deliver};
use handover_context::brief::{Request, Setting, admit, brief, compose};
use handover_context::learning::Binding;
use handover_context::package_file::ProjectPaths;
use handover_context::specialize::Templates;
use handover_context::stack::Stack;
use handover_model::config::Config;
use handover_model::{GroupId, Host, ReasoningLevel, ReceiptId, Role, SessionId, Timestamp};
use handover_store::Store;
use handover_text::Redactor;

use crate::EngineError;

/// One agent to be told something.
#[derive(Debug, Clone)]
pub struct Ask {
    /// Where its records go.
    pub session: SessionId,
    /// The group of its story.
    pub group: GroupId,
    /// As whom it works.
    pub role: Role,
    /// Who it is, and the few rules of the workflow.
    pub role_text: String,
    /// Whether it is given what others thought; none leaves it to the role.
    pub reasoning: Option<bool>,
    /// The program that will read it.
    pub host: Host,
    /// The model.
    pub model: Option<String>,
    /// Where it works, once there is such a place.
    pub folder: Option<PathBuf>,
    /// What it is to do.
    pub task: String,
    /// What relevance is measured by: the story without our instructions.
    pub about: String,
    /// Makes the id of its receipt.
    pub unique: String,
    /// Now.
    pub now: Timestamp,
}

/// What an agent is told. The guard has let it through.
#[derive(Debug, Clone)]
pub struct Prompt {
    /// The text.
    pub text: String,
    /// The record of it.
    pub receipt: ReceiptId,
}

/// Puts prompts together.
pub trait Prompter {
    /// The prompt of an agent that is about to be started; its receipt is kept.
    fn prompt(&self, ask: &Ask) -> Result<Prompt, EngineError>;

    /// The same without any trace, to be looked at.
    fn preview(&self, ask: &Ask) -> Result<String, EngineError>;

    /// The agent has been given the prompt.
    fn delivered(&self, prompt: &Prompt, host: Host, now: Timestamp) -> Result<(), EngineError>;

    /// What is learned from agents that were told so is bound to this.
    fn binding(&self) -> Binding {
        Binding::default()
    }
}

/// Every prompt is a brief: context, specialization, what the phase is about, the task.
pub struct BriefPrompter<'a> {
    /// Where records go.
    pub store: &'a dyn Store,
    /// How secrets are found.
    pub redactor: &'a Redactor,
    /// The configuration.
    pub config: &'a Config,
    /// The technology of the project.
    pub stack: &'a Stack,
    /// What is known about technologies.
    pub templates: &'a Templates,
    /// Where package files are.
    pub places: &'a ProjectPaths,
}

impl BriefPrompter<'_> {
    /// Where package files are for an agent that works somewhere.
    fn places(&self, ask: &Ask) -> Result<ProjectPaths, EngineError> {
        match &ask.folder {
            Some(folder) => Ok(self.places.seen_from(folder)?),
            None => Ok(self.places.clone()),
        }
    }

    fn setting<'s>(&'s self, places: &'s ProjectPaths) -> Setting<'s> {
        Setting {
            store: Ok(self.store),
            redactor: self.redactor,
            config: self.config,
            stack: self.stack,
            templates: self.templates,
            places: Some(places),
        }
    }

    fn request(&self, ask: &Ask, deliver: bool) -> Result<Request, EngineError> {
        Ok(Request {
            spawn: assemble::Request {
                session: ask.session.clone(),
                role: ask.role.clone(),
                group: Some(ask.group.clone()),
                task: Some(ask.task.clone()),
                model: ask.model.clone(),
                current_tokens: 0,
                iteration: 0,
                reasoning: ask.reasoning,
                reasoning_level: ReasoningLevel::Medium,
                limit: None,
                cap: None,
                deliver,
                explain: false,
                receipt: ReceiptId::new(format!("r_{}", ask.unique))?,
                now: ask.now,
            },
            testing_mode: None,
            component: None,
            context: true,
            specialization: true,
            about: Some(ask.about.clone()),
            role_text: Some(ask.role_text.clone()),
            count_attempt: deliver,
        })
    }
}

impl Prompter for BriefPrompter<'_> {
    fn prompt(&self, ask: &Ask) -> Result<Prompt, EngineError> {
        let made = brief(self.setting(&self.places(ask)?), &self.request(ask, true)?)?;
        let receipt = self.store.receipt(&made.receipt.id)?;
        let admitted = admit(self.config.guard.mode, made.text, receipt)?;
        Ok(Prompt { text: admitted.prompt().to_owned(), receipt: admitted.receipt().id.clone() })
    }

    fn preview(&self, ask: &Ask) -> Result<String, EngineError> {
        Ok(compose(self.setting(&self.places(ask)?), &self.request(ask, false)?).text)
    }

    fn delivered(&self, prompt: &Prompt, host: Host, now: Timestamp) -> Result<(), EngineError> {
        let host = self.redactor.clean(host.as_str());
        Ok(deliver(self.store, self.redactor, &prompt.receipt, Some(&host), now)?)
    }

    fn binding(&self) -> Binding {
        Binding::of(self.stack, None)
    }
}
