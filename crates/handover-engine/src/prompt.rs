//! What an agent is told. One seam: who puts context, role and task together can be exchanged.

use handover_context::assemble::{Assembly, Request, Setting, assemble, compose, deliver};
use handover_model::{
    GroupId, Host, ReasoningLevel, ReceiptId, ReceiptState, Role, RunPhase, SessionId, Timestamp,
};
use handover_store::{ReceiptFilter, StoreError};

/// One agent to be told something.
#[derive(Debug, Clone)]
pub struct Ask {
    /// Where its records go.
    pub session: SessionId,
    /// The group of its story.
    pub group: GroupId,
    /// As whom it works.
    pub role: Role,
    /// What for.
    pub phase: RunPhase,
    /// The program that will read it.
    pub host: Host,
    /// The model.
    pub model: Option<String>,
    /// What it is to do.
    pub task: String,
    /// What relevance is measured by: the story without our instructions.
    pub about: String,
    /// Makes the id of its receipt.
    pub unique: String,
    /// Now.
    pub now: Timestamp,
}

/// What an agent is told.
#[derive(Debug, Clone)]
pub struct Prompt {
    /// The text.
    pub text: String,
    /// The record of it.
    pub receipt: ReceiptId,
    assembly: Option<Box<Assembly>>,
}

impl Prompt {
    /// A prompt that was put together elsewhere.
    pub fn new(text: String, receipt: ReceiptId) -> Self {
        Self { text, receipt, assembly: None }
    }
}

/// Puts prompts together.
pub trait Prompter {
    /// The prompt of an agent that is about to be started; its receipt is kept.
    fn prompt(&self, ask: &Ask) -> Result<Prompt, StoreError>;

    /// The same without any trace, to be looked at.
    fn preview(&self, ask: &Ask) -> Result<String, StoreError>;

    /// The agent has been given the prompt.
    fn delivered(&self, prompt: &Prompt, host: Host, now: Timestamp) -> Result<(), StoreError>;
}

/// Context, a compact role, the task.
pub struct ContextPrompter<'a> {
    /// Where context comes from.
    pub setting: Setting<'a>,
}

/// At most so many tokens of context: what is known beside the story.
const CONTEXT_CAP: u64 = 1_800;

impl ContextPrompter<'_> {
    fn request(&self, ask: &Ask, deliver: bool) -> Result<Request, StoreError> {
        let iteration = if deliver { self.iteration(ask)? } else { 0 };
        Ok(Request {
            session: ask.session.clone(),
            role: ask.role.clone(),
            group: Some(ask.group.clone()),
            task: Some(ask.about.clone()),
            model: ask.model.clone(),
            current_tokens: 0,
            iteration,
            // A reviewer sees the code cold: the record, and none of the dead ends.
            reasoning: (ask.phase == RunPhase::Review).then_some(false),
            reasoning_level: ReasoningLevel::Medium,
            limit: None,
            cap: Some(CONTEXT_CAP),
            deliver,
            explain: false,
            receipt: ReceiptId::new(format!("r_{}", ask.unique))
                .map_err(|_| StoreError::not_found("receipt", &ask.unique))?,
            now: ask.now,
        })
    }

    /// How many agents of this role have been given something in this group.
    fn iteration(&self, ask: &Ask) -> Result<u32, StoreError> {
        let filter = ReceiptFilter {
            session: Some(ask.session.clone()),
            group: Some(ask.group.clone()),
            role: Some(ask.role.clone()),
            limit: None,
        };
        let receipts = self.setting.store.receipts(&filter)?;
        let given = receipts.iter().filter(|receipt| {
            matches!(receipt.state, ReceiptState::Delivered | ReceiptState::Confirmed)
        });
        Ok(u32::try_from(given.count()).unwrap_or(u32::MAX))
    }
}

impl Prompter for ContextPrompter<'_> {
    fn prompt(&self, ask: &Ask) -> Result<Prompt, StoreError> {
        let assembly = assemble(self.setting, &self.request(ask, true)?)?;
        let text = whole(&assembly.markdown, ask);
        Ok(Prompt {
            text,
            receipt: assembly.receipt.id.clone(),
            assembly: Some(Box::new(assembly)),
        })
    }

    fn preview(&self, ask: &Ask) -> Result<String, StoreError> {
        let context = match self.setting.store.session(&ask.session) {
            Ok(_) => compose(self.setting, &self.request(ask, false)?)?.markdown,
            // A first run has nothing to know yet.
            Err(StoreError::NotFound { .. }) => handover_context::assemble::fallback(&ask.role),
            Err(error) => return Err(error),
        };
        Ok(whole(&context, ask))
    }

    fn delivered(&self, prompt: &Prompt, host: Host, now: Timestamp) -> Result<(), StoreError> {
        match &prompt.assembly {
            Some(assembly) => {
                let host = self.setting.redactor.clean(host.as_str());
                deliver(self.setting, assembly, Some(&host), now)
            }
            None => Ok(()),
        }
    }
}

fn whole(context: &str, ask: &Ask) -> String {
    format!(
        "{}\n\n## Your Role\n\n{}\n\n## Your Task\n\n{}",
        context.trim_end(),
        role(ask),
        ask.task
    )
}

/// Who the agent is, and the few rules of the workflow.
fn role(ask: &Ask) -> String {
    let who = match ask.phase {
        RunPhase::Review => {
            "You review code. You are seeing this code for the first time. Look for what is wrong: \
             behaviour that the story asks for and that is missing, errors that are not handled, tests \
             that prove nothing, secrets, broken boundaries. Do not invent findings; none is a result. \
             You only look: change nothing, your findings are mended by somebody else."
        }
        RunPhase::Fix => {
            "You mend what checks found in work that somebody else has done. Mend exactly that, \
             and the cause rather than the symptom; never weaken or delete a test to make it pass."
        }
        RunPhase::Dev
        | RunPhase::Kickoff
        | RunPhase::Analysis
        | RunPhase::Uat
        | RunPhase::Retro => {
            "You implement one story, with tests, in one go. Nobody can answer questions: decide, \
             and say what you decided. If something outside stands in the way, say that you are blocked."
        }
    };
    format!("You work as {}. {who}", ask.role)
}
