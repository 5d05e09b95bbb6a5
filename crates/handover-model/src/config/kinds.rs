//! Which role is nearest to a type of subagent, by the words of its name.

use crate::{Role, roles};

/// What a word says about a subagent: the role nearest to it, and whether it only reads.
struct Word {
    /// How the word begins, in lower case.
    begins: &'static str,
    role: &'static str,
    reads: bool,
}

const fn works(begins: &'static str, role: &'static str) -> Word {
    Word { begins, role, reads: false }
}

const fn reads(begins: &'static str, role: &'static str) -> Word {
    Word { begins, role, reads: true }
}

/// The first word of the list that the name has decides.
const WORDS: &[Word] = &[
    reads("review", "tech_lead"),
    reads("audit", "tech_lead"),
    reads("critic", "tech_lead"),
    reads("explor", "investigator"),
    reads("codebase", "investigator"),
    reads("search", "investigator"),
    reads("locat", "investigator"),
    reads("plan", "requirements_engineer"),
    works("qa", "qa_expert"),
    works("test", "qa_expert"),
    works("verif", "qa_expert"),
    works("valid", "qa_expert"),
    works("debug", "investigator"),
    works("diagnos", "investigator"),
    works("investigat", "investigator"),
    works("research", "requirements_engineer"),
    works("require", "requirements_engineer"),
    works("analyst", "requirements_engineer"),
    works("architect", "tech_lead"),
    works("senior", "senior_software_engineer"),
    works("manager", "project_manager"),
    works("orchestrat", "orchestrator"),
    works("coordinat", "orchestrator"),
];

/// The role of a type of subagent, and whether it leaves a debrief. `general` lists the host's general-purpose
/// types.
pub(super) fn role_of(agent_type: &str, general: &[&str]) -> (Role, bool) {
    if general.contains(&agent_type) {
        return (Role::built_in(roles::DEVELOPER), true);
    }
    // Types named after our roles: `qa-expert`, `team:qa_expert`.
    let name = agent_type.rsplit(':').next().unwrap_or_default();
    let namesake = name.replace('-', "_");
    if let Some(role) = roles::BUILT_IN.iter().find(|role| **role == namesake) {
        return (Role::built_in(role), true);
    }
    let words = words(name);
    let says = |word: &&Word| words.iter().any(|one| one.starts_with(word.begins));
    match WORDS.iter().find(says) {
        Some(word) => (Role::built_in(word.role), !word.reads),
        None => (Role::built_in(roles::DEVELOPER), true),
    }
}

/// The words of a name such as `code-reviewer` or `CodeReviewer`, in lower case.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for c in name.chars() {
        if c.is_uppercase() || !c.is_alphanumeric() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(kind: &str) -> String {
        let (role, debrief) = role_of(kind, &["general-purpose"]);
        format!("{role}{}", if debrief { "" } else { ", reads" })
    }

    #[test]
    fn every_type_has_a_role() {
        for (kind, expected) in [
            ("general-purpose", "developer"),
            ("claude", "developer"),
            ("fork", "developer"),
            ("workflow-subagent", "developer"),
            ("api-builder", "developer"),
            ("", "developer"),
            ("team:", "developer"),
            ("Explore", "investigator, reads"),
            ("explorer", "investigator, reads"),
            ("codebase_investigator", "investigator, reads"),
            ("Plan", "requirements_engineer, reads"),
            ("code-reviewer", "tech_lead, reads"),
            ("SecurityAuditor", "tech_lead, reads"),
            ("plugin:code-reviewer", "tech_lead, reads"),
            ("test-runner", "qa_expert"),
            ("debugger", "investigator"),
            ("qa-expert", "qa_expert"),
            ("team:tech_lead", "tech_lead"),
            ("latest-news", "developer"),
        ] {
            assert_eq!(found(kind), expected, "{kind}");
        }
        for word in WORDS {
            assert!(roles::BUILT_IN.contains(&word.role), "{}", word.begins);
        }
    }

    #[test]
    fn names_are_split_into_words() {
        assert_eq!(words("CodeReviewer"), ["code", "reviewer"]);
        assert_eq!(words("a:b-c_d e"), ["a", "b", "c", "d", "e"]);
        assert_eq!(words("-"), Vec::<String>::new());
    }
}
