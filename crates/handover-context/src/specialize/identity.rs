//! The line that tells an agent who it is.

use handover_model::Role;

use crate::stack::{Item, View};

/// The identity of a role in a project. Unknown parts are left out.
pub(super) fn identity(role: &Role, view: &View) -> String {
    let title = |item: Option<&Item>| item.map(|item| item.title().to_owned());
    let versioned = |item: Option<&Item>| {
        item.map(|item| match &item.version {
            Some(version) => format!("{} {version}", item.title()),
            None => item.title().to_owned(),
        })
    };
    let (language, framework) = (view.language(), view.framework());
    let both = || join(&[title(language), title(framework)]);
    let what = match role.as_str() {
        "developer" | "senior_software_engineer" => {
            let domain = Some(view.domain().to_owned());
            let who = join(&[versioned(language), domain, Some("Developer".to_owned())]);
            match versioned(framework) {
                Some(framework) => format!("{who} specialized in {framework}"),
                None => who,
            }
        }
        "qa_expert" => {
            let who = join(&[title(language), Some("QA Specialist".to_owned())]);
            match title(framework) {
                Some(framework) => format!("{who} with expertise in {framework} testing patterns"),
                None => who,
            }
        }
        "tech_lead" => {
            let lead = "Tech Lead focused on code quality and security".to_owned();
            join(&[Some(both()), Some(lead)])
        }
        "requirements_engineer" => {
            let known: Vec<String> =
                [title(language), title(framework)].into_iter().flatten().collect();
            match known.is_empty() {
                true => "Requirements Engineer".to_owned(),
                false => {
                    format!("Requirements Engineer with {} technical expertise", known.join("/"))
                }
            }
        }
        "investigator" => {
            let who = "Investigator specializing in debugging and root cause analysis".to_owned();
            join(&[Some(both()), Some(who)])
        }
        other => {
            let words = other.split(['_', '-']).filter(|word| !word.is_empty()).map(capital);
            let who = words.collect::<Vec<_>>().join(" ");
            let project = both();
            match project.is_empty() {
                true => who,
                false => format!("{who} in {} {project} project", article(&project)),
            }
        }
    };
    format!("You are {} {what}.", article(&what))
}

fn join(words: &[Option<String>]) -> String {
    let words: Vec<&str> =
        words.iter().flatten().map(String::as_str).filter(|w| !w.is_empty()).collect();
    words.join(" ")
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => String::new(),
    }
}

/// The article by pronunciation: `an Elixir`, `an F#`, but `a Unity`.
fn article(what: &str) -> &'static str {
    let spelled = ["F#", "R ", "htmx"].iter().any(|start| what.starts_with(start));
    let vowel = what.starts_with(['A', 'E', 'I', 'O', 'a', 'e', 'i', 'o']);
    if spelled || vowel { "an" } else { "a" }
}
