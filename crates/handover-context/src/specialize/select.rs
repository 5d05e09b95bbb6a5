//! Selects the templates of an agent, in order.

use std::collections::{BTreeMap, BTreeSet};

use handover_model::{Category, Role, TestingMode};
use handover_text::words;

use super::templates::{Template, Templates};
use super::{Skipped, SpecializationRequest};
use crate::stack::{Item, View};

/// A selected template.
#[derive(Debug, Clone, Copy)]
pub(super) struct Selected<'t> {
    pub(super) template: &'t Template,
    /// Whether the role added it.
    pub(super) added: bool,
    /// Whether the task's words call for it.
    pub(super) named: bool,
    /// Whether it is about a language other than the main one. It is shown with the languages, but the
    /// frameworks of the main language are worth more.
    pub(super) aside: bool,
}

/// The selected templates, and those that were named or match but were not selected.
#[derive(Debug, Default)]
pub(super) struct Selection<'t> {
    /// In the order of the block.
    pub(super) templates: Vec<Selected<'t>>,
    pub(super) skipped: Vec<Skipped>,
}

/// Additional templates by role.
const ADDITIONS: &[(&str, &str)] = &[
    ("qa_expert", "qa-strategies"),
    ("qa_expert", "testing-patterns"),
    ("tech_lead", "code-review"),
    ("requirements_engineer", "research-analysis"),
];

/// The role that receives every general template about testing.
const TESTER: &str = "qa_expert";

/// Selects the planner's choice, else what matches the stack; then what the role adds.
pub(super) fn select<'t>(
    request: &SpecializationRequest<'_>,
    view: &View,
    templates: &'t Templates,
) -> Selection<'t> {
    let mut selection = Selection::default();
    let mut wanted: Vec<Selected<'t>> = Vec::new();
    let wants = |template, added| Selected { template, added, named: false, aside: false };
    let by_task = named_by(request.task.unwrap_or_default(), templates);
    for name in request.chosen {
        match templates.find(name) {
            Some(template) => wanted.push(wants(template, false)),
            None => selection.skip(name, "there is no such template"),
        }
    }
    if request.chosen.is_empty() {
        let called = templates.iter().filter(|template| calls_for(view, template));
        wanted.extend(called.map(|template| {
            let other = |language: &Item| !names(template, &language.name);
            let aside = template.header.category == Category::Language
                && view.language().is_some_and(other);
            Selected { aside, ..wants(template, false) }
        }));
    }
    wanted.extend(by_task.iter().map(|template| wants(template, false)));
    for one in &mut wanted {
        one.named = by_task.iter().any(|t| t.header.name == one.template.header.name);
    }
    let added = additions(request, templates);
    wanted.extend(added.into_iter().map(|template| wants(template, true)));
    for one in wanted {
        let header = &one.template.header;
        let known =
            selection.templates.iter().any(|known| known.template.header.name == header.name);
        if known {
            continue;
        }
        if !is_for(one.template, request.role) {
            selection.skip(&header.name, "it is not for this role");
        } else if header.category == Category::Testing
            && request.testing_mode == TestingMode::Disabled
        {
            selection.skip(&header.name, "testing is disabled");
        } else {
            selection.templates.push(one);
        }
    }
    let chosen = !request.chosen.is_empty();
    selection.templates.sort_by_cached_key(|one| {
        let header = &one.template.header;
        // A planner's order counts within a class; else the priority, then the order of the stack.
        let place = view.items.iter().position(|item| names(one.template, &item.name));
        let place = place.unwrap_or(usize::MAX);
        let (priority, place) = if chosen { (0, 0) } else { (header.priority, place) };
        // What the task is about comes before what the project is made of.
        (!one.named, class(header.category), priority, place)
    });
    selection
}

impl Selection<'_> {
    fn skip(&mut self, name: &str, reason: &'static str) {
        let name: String = name.chars().take(64).collect();
        if self.skipped.iter().all(|skipped| skipped.name != name) {
            self.skipped.push(Skipped { name, reason });
        }
    }
}

/// Language, framework, domain, quality: the order of the block.
const fn class(category: Category) -> u8 {
    match category {
        Category::Language => 0,
        Category::Framework
        | Category::Database
        | Category::Infrastructure
        | Category::Messaging
        | Category::Api
        | Category::Data
        | Category::Ai => 1,
        Category::Security | Category::Domain => 2,
        Category::Testing => 3,
    }
}

/// Whether the stack requires a template.
pub(super) fn calls_for(view: &View, template: &Template) -> bool {
    let header = &template.header;
    view.items.iter().any(|item| names(template, &item.name))
        && header.requires.iter().all(|name| view.has(name))
}

fn names(template: &Template, technology: &str) -> bool {
    template.header.detect.iter().any(|name| name == technology)
}

fn is_for(template: &Template, role: &Role) -> bool {
    let roles = &template.header.compatible_with;
    roles.is_empty() || roles.iter().any(|name| name == role.as_str())
}

/// The most templates that a task calls for.
const MOST_NAMED: usize = 2;

/// Parts of names that say nothing by themselves.
const GENERIC: &[&str] = &[
    "analysis",
    "api",
    "apps",
    "based",
    "chain",
    "code",
    "core",
    "data",
    "driven",
    "event",
    "management",
    "patterns",
    "property",
    "qa",
    "research",
    "rest",
    "review",
    "strategies",
    "supply",
    "testing",
    "tools",
    "web",
];

/// Other words for what a template is about.
const ALIASES: &[(&str, &str)] = &[
    ("a11y", "accessibility"),
    ("auth", "authentication"),
    ("authn", "authentication"),
    ("k8s", "kubernetes"),
    ("login", "authentication"),
    ("oidc", "openid-connect"),
    ("perf", "performance"),
    ("postgres", "postgresql"),
    ("sso", "authentication"),
];

/// The templates that the words of a task call for, best first. Languages, frameworks and tools for tests follow
/// from the stack, whatever a task mentions.
fn named_by<'t>(task: &str, templates: &'t Templates) -> Vec<&'t Template> {
    let mut said = Words::default();
    for word in task.split(|c: char| !(c.is_alphanumeric() || c == '_')) {
        said.add(word);
    }
    for (alias, word) in ALIASES {
        if said.has(alias) {
            word.split('-').for_each(|part| said.add(part));
        }
    }
    let mut found: Vec<(usize, &Template)> = templates
        .iter()
        .filter(|template| {
            !matches!(
                template.header.category,
                Category::Language | Category::Framework | Category::Testing
            )
        })
        .map(|template| (keys(template).into_iter().filter(|key| said.has(key)).count(), template))
        .filter(|(hits, _)| *hits > 0)
        .collect();
    // The order of templates is stable, and so is the sort.
    found.sort_by_key(|(hits, _)| std::cmp::Reverse(*hits));
    found.into_iter().take(MOST_NAMED).map(|(_, template)| template).collect()
}

/// The words of a task: the length of the longest word for each term.
#[derive(Default)]
struct Words(BTreeMap<String, usize>);

impl Words {
    fn add(&mut self, word: &str) {
        for term in words::terms(word) {
            let length = self.0.entry(term).or_default();
            *length = (*length).max(word.len());
        }
    }

    /// Whether a word was said in some form. Words of one stem may mean different things (access and accessibility,
    /// perform and performance), so they must be about equally long.
    fn has(&self, word: &str) -> bool {
        words::terms(word).iter().any(|term| {
            let said = self.0.get(term).copied().unwrap_or_default();
            said.min(word.len()) * 10 >= said.max(word.len()) * 7
        })
    }
}

/// The words that call for a template: what it detects, and the telling parts of its name.
fn keys(template: &Template) -> BTreeSet<&str> {
    let header = &template.header;
    let parts = header.name.split('-').filter(|part| !GENERIC.contains(part));
    let detected = header.detect.iter().map(String::as_str);
    let detected = detected.filter(|name| !GENERIC.contains(name) && !name.contains('-'));
    parts.chain(detected).collect()
}

fn additions<'t>(
    request: &SpecializationRequest<'_>,
    templates: &'t Templates,
) -> Vec<&'t Template> {
    let role = request.role.as_str();
    if role == TESTER && request.testing_mode != TestingMode::Full {
        return Vec::new();
    }
    let named = ADDITIONS.iter().filter(|(to, _)| *to == role);
    let mut added: Vec<&Template> = named.filter_map(|(_, name)| templates.get(name)).collect();
    if role == TESTER {
        // Only general ones: those for a tool match the stack.
        added.extend(templates.iter().filter(|template| {
            template.header.category == Category::Testing && template.header.detect.is_empty()
        }));
    }
    added
}
