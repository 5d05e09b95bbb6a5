//! Specialization: guidance for an agent on the project's technology and versions, with patterns to follow
//! and to avoid.
//!
//! One pass over plain data: `select` chooses templates for a stack and a role, `body` and `guard` parse
//! them, `compose` assembles the block within its budget. Equal input produces equal bytes. Templates from a
//! project or a user are untrusted: redacted and quoted.

mod body;
mod compose;
mod guard;
mod header;
mod identity;
mod select;
mod templates;

use std::collections::BTreeMap;

use handover_model::models::Model;
use handover_model::{
    Category, EventType, GroupId, Role, SessionId, SkillName, TestingMode, Timestamp,
};
use handover_store::{NewEvent, NewSkillOutput, Store};
use handover_text::Redactor;
use serde::Serialize;
use serde_json::{Value, json};

pub use body::{Problem, Rule};
pub use header::Header;
pub use templates::{BadTemplate, FOLDER, MOST_TOKENS, Source, Template, Templates};

use crate::stack::Stack;

/// The skill name under which compositions are recorded.
pub const SKILL: &str = "specialization";

/// What a specialization is composed for.
#[derive(Debug, Clone, Copy)]
pub struct SpecializationRequest<'a> {
    /// The role of the agent.
    pub role: &'a Role,
    /// The model, which determines the tokenizer.
    pub model: Option<&'a str>,
    /// The token budget of the block.
    pub budget: u64,
    /// How much testing the workflow includes.
    pub testing_mode: TestingMode,
    /// The templates a planner chose for the group; empty: those that match the stack.
    pub chosen: &'a [String],
    /// The part of the project the group works on.
    pub component: Option<&'a str>,
    /// The task, whose words may call for templates too.
    pub task: Option<&'a str>,
}

/// A composed block.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Specialization {
    /// The block as the agent sees it; empty if not even the identity fits.
    pub text: String,
    /// Its exact token count.
    pub tokens: u64,
    /// The token budget.
    pub budget: u64,
    /// The identity line.
    pub identity: String,
    /// The templates it contains, in order.
    pub templates: Vec<Used>,
    /// What was left out to meet the budget, in words.
    pub trimmed: Vec<String>,
    /// The relevant technologies with their versions.
    pub versions: BTreeMap<String, String>,
    /// Templates that were named or match the stack but are not included.
    pub skipped: Vec<Skipped>,
    /// Problems: files that are not templates, guards that cannot be evaluated.
    pub notes: Vec<String>,
    /// Secrets removed from templates, by rule.
    pub redactions: BTreeMap<String, u64>,
}

/// A template in a block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Used {
    /// The name of the template.
    pub name: String,
    /// What it is about.
    pub category: Category,
    /// Where it was loaded from.
    pub source: Source,
    /// Whether the role added it, rather than the stack or the planner.
    pub added: bool,
}

/// A template that is not in a block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Skipped {
    /// The name of the template.
    pub name: String,
    /// Why it is not included.
    pub reason: &'static str,
}

/// Composes the specialization of one agent.
pub fn specialize(
    request: &SpecializationRequest<'_>,
    stack: &Stack,
    templates: &Templates,
    redactor: &Redactor,
) -> Specialization {
    let view = stack.view(request.component);
    let selection = select::select(request, &view, templates);
    let identity = identity::identity(request.role, &view);
    let block = compose::compose(&compose::Parts {
        role: request.role,
        identity: &identity,
        selected: &selection.templates,
        view: &view,
        tokenizer: Model::named(request.model).tokenizer,
        budget: request.budget,
        redactor,
    });
    let mut skipped = selection.skipped;
    let mut used = Vec::new();
    for (one, is_used) in selection.templates.iter().zip(&block.used) {
        let (header, added) = (&one.template.header, one.added);
        let (name, category, source) = (header.name.clone(), header.category, one.template.source);
        match is_used {
            true => used.push(Used { name, category, source, added }),
            false => skipped.push(Skipped { name, reason: "nothing of it fits or applies" }),
        }
    }
    let bad = templates.bad.iter().map(|bad| {
        let file = bad.file.file_name().unwrap_or_default().to_string_lossy();
        format!("template file {file}, line {}: {}", bad.problem.line, bad.problem.message)
    });
    let versions =
        view.items.iter().filter_map(|item| Some((item.name.clone(), item.version.clone()?)));
    Specialization {
        text: block.text,
        tokens: block.tokens,
        budget: request.budget,
        identity,
        templates: used,
        trimmed: block.trimmed,
        versions: versions.collect(),
        skipped,
        notes: bad.chain(block.notes).collect(),
        redactions: block.redactions,
    }
}

/// The templates that match a stack for any role, for display.
pub fn suggested<'t>(
    stack: &Stack,
    component: Option<&str>,
    templates: &'t Templates,
) -> Vec<&'t str> {
    let view = stack.view(component);
    let called = templates.iter().filter(|template| select::calls_for(&view, template));
    called.map(|template| template.header.name.as_str()).collect()
}

impl Specialization {
    /// The composition as recorded in its skill output.
    pub fn record(&self, request: &SpecializationRequest<'_>, group: Option<&str>) -> Value {
        let names = |added: Option<bool>| -> Vec<&str> {
            let used = self.templates.iter().filter(|u| added.is_none_or(|added| u.added == added));
            used.map(|used| used.name.as_str()).collect()
        };
        json!({
            "group_id": group,
            "agent_type": request.role,
            "model": request.model,
            "templates_used": names(None),
            "token_count": self.tokens,
            "token_budget": self.budget,
            "trimmed_sections": self.trimmed,
            "versions_detected": self.versions,
            "composed_identity": self.identity,
            "augmented_templates": names(Some(true)),
            "skipped": self.skipped,
            "testing_mode_used": request.testing_mode,
            "component": request.component,
            "notes": self.notes,
        })
    }

    /// Records the composition as a skill output and an event, both named [`SKILL`].
    pub fn keep(
        &self,
        store: &dyn Store,
        redactor: &Redactor,
        request: &SpecializationRequest<'_>,
        place: (&SessionId, Option<&GroupId>),
        now: Timestamp,
    ) -> handover_store::Result<()> {
        let (session, group) = place;
        let (Ok(skill), Ok(kind)) = (SkillName::new(SKILL), EventType::new(SKILL)) else {
            return Ok(());
        };
        let record = self.record(request, group.map(GroupId::as_str));
        let payload = json!({
            "role": request.role,
            "templates": self.templates.iter().map(|used| &used.name).collect::<Vec<_>>(),
            "tokens": self.tokens,
            "budget": self.budget,
            "trimmed": self.trimmed,
        });
        store.save_skill_output(&NewSkillOutput {
            session: session.clone(),
            skill,
            role: Some(request.role.clone()),
            group: group.cloned(),
            output: redactor.clean_json(record),
            now,
        })?;
        store.log_event(&NewEvent {
            session: session.clone(),
            group: group.cloned(),
            kind,
            payload: redactor.clean_json(payload),
            key: None,
            now,
        })?;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
