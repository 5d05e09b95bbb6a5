//! What a role reads about itself: who it is, what it looks at first, the few rules of the
//! workflow. Never a whole manual: the agent program has its own.

use handover_model::config::RoleText;
use handover_model::roles::Duty;
use handover_model::{GroupId, ReceiptId, Role, SessionId};
use handover_text::quote::quote_inline;

/// The built-in text of a role.
struct BuiltIn {
    name: &'static str,
    identity: &'static str,
    focus: &'static str,
    rules: &'static [&'static str],
    /// The verdicts that make sense for it.
    verdicts: &'static str,
}

const WORKER: &str = "complete, blocked or escalate";
const JUDGE: &str = "passed, passed_with_fixes, failed or escalate";

const ROLES: &[BuiltIn] = &[
    BuiltIn {
        name: "developer",
        identity: "You implement one task, with its tests.",
        focus: "The task as it is written, in the style of the code around it.",
        rules: &[
            "Do the work yourself; do not start other agents.",
            "Run the project's tests before you say that you are done.",
            "If something outside the task is missing or two attempts fail, stop and say `blocked` or `escalate`.",
        ],
        verdicts: WORKER,
    },
    BuiltIn {
        name: "senior_software_engineer",
        identity: "You take over what others could not solve.",
        focus: "The cause, not the symptom; read what was tried before you start.",
        rules: &[
            "Do not repeat an approach that the reasoning above reports as failed.",
            "Leave tests that fail without your change.",
            "If the cause stays unexplained, say `escalate` and what an investigator should look at.",
        ],
        verdicts: WORKER,
    },
    BuiltIn {
        name: "qa_expert",
        identity: "You test what was built, as a user and as an adversary.",
        focus: "What the task asks for, its edges, and what the change may have broken.",
        rules: &[
            "Do not repair the code; report what fails, with the steps and the exact output.",
            "Tell a failure of the change from one that was there before.",
        ],
        verdicts: JUDGE,
    },
    BuiltIn {
        name: "tech_lead",
        identity: "You decide whether the change may land.",
        focus: "Correctness, security, the design that was agreed on, and what will hurt later.",
        rules: &[
            "Every change that you ask for names the place, the reason and what would satisfy you.",
            "Do not ask for taste; ask for what is wrong.",
        ],
        verdicts: JUDGE,
    },
    BuiltIn {
        name: "investigator",
        identity: "You find out why something happens.",
        focus: "Evidence: reproduce it, narrow it down, rule causes out one by one.",
        rules: &[
            "Change nothing but what an experiment needs, and take that back.",
            "Name the cause only with the observation that proves it; otherwise say what is ruled out.",
        ],
        verdicts: WORKER,
    },
    BuiltIn {
        name: "requirements_engineer",
        identity: "You find out what is needed and write it down for those who build it.",
        focus: "Facts with their sources, decisions that are open, and what would change the plan.",
        rules: &[
            "Write what others need into a package and name who it is for.",
            "Say what you could not find out.",
        ],
        verdicts: WORKER,
    },
    BuiltIn {
        name: "project_manager",
        identity: "You see to it that the work reaches its goal.",
        focus: "What was asked for against what is done; what blocks whom.",
        rules: &[
            "The goal is the one that was given; do not shrink it.",
            "Judge by what was delivered and tested, not by what was announced.",
        ],
        verdicts: JUDGE,
    },
    BuiltIn {
        name: "orchestrator",
        identity: "You hand work to others and keep it moving.",
        focus: "The next step, the right role for it, and what that role needs to know.",
        rules: &["Do not do the work of a role yourself."],
        verdicts: WORKER,
    },
];

const ANY_OTHER: BuiltIn = BuiltIn {
    name: "",
    identity: "You do one task for a team of agents.",
    focus: "The task as it is written.",
    rules: &["If something outside the task is missing, stop and say `blocked`."],
    verdicts: WORKER,
};

/// Where the agent works.
pub(super) struct Place<'a> {
    pub(super) session: &'a SessionId,
    pub(super) group: Option<&'a GroupId>,
    /// The attempt that the agent makes, from 1.
    pub(super) attempt: u32,
    /// Whether it is asked for a debrief.
    pub(super) debrief: bool,
}

/// The package that a role typically leaves, as the form shows it.
struct Example {
    kind: &'static str,
    /// What follows the group in the name of the file; `None` is the attempt.
    topic: Option<&'static str>,
    consumers: &'static str,
    priority: &'static str,
    summary: &'static str,
}

/// The agent chooses a word.
const TOPIC: Option<&str> = Some("topic");

impl Example {
    fn of(role: &Role) -> Self {
        let example = |kind, topic, consumers, priority, summary| Self {
            kind,
            topic,
            consumers,
            priority,
            summary,
        };
        match role.as_str() {
            "qa_expert" => {
                example("failures", None, "developer", "high", "what fails, and how to see it fail")
            }
            "tech_lead" => example(
                "decisions",
                TOPIC,
                "developer, qa_expert",
                "high",
                "what was decided, and why",
            ),
            "investigator" => example(
                "investigation",
                TOPIC,
                "developer, senior_software_engineer",
                "high",
                "the cause, and what proves it",
            ),
            "developer" | "senior_software_engineer" => example(
                "decisions",
                TOPIC,
                "qa_expert, tech_lead",
                "medium",
                "what others must know about this change",
            ),
            _ => example("research", TOPIC, "developer", "medium", "what others need to know"),
        }
    }

    /// The line of the form.
    fn line(&self, place: &Place<'_>) -> String {
        let Self { kind, consumers, priority, summary, .. } = self;
        // A report of an earlier attempt must not be overwritten.
        let topic = self.topic.map_or_else(|| format!("iter{}", place.attempt), str::to_owned);
        let folder = format!(".handover/artifacts/{}/context", place.session);
        let group = place.group.map(|group| format!("{group}-")).unwrap_or_default();
        format!(
            "  - {{path: {folder}/{kind}-{group}{topic}.md, kind: {kind}, consumers: [{consumers}], \
             priority: {priority}, summary: {summary}}}\n"
        )
    }
}

/// The section on the role, with how to end.
pub(super) fn section(
    role: &Role,
    text: Option<&RoleText>,
    receipt: &ReceiptId,
    place: &Place<'_>,
) -> String {
    let built_in = ROLES.iter().find(|one| one.name == role.as_str()).unwrap_or(&ANY_OTHER);
    let none = RoleText::default();
    let text = text.unwrap_or(&none);
    // The configuration is the project's: its words are quoted, so that they fake nothing.
    let identity =
        text.identity.as_deref().map_or_else(|| built_in.identity.to_owned(), quote_inline);
    let focus = text.focus.as_deref().map_or_else(|| built_in.focus.to_owned(), quote_inline);
    let rules: Vec<String> = match &text.rules {
        Some(rules) => rules.iter().map(|rule| quote_inline(rule)).collect(),
        None => built_in.rules.iter().map(|rule| (*rule).to_owned()).collect(),
    };
    let rules: String = rules.iter().map(|rule| format!("- {rule}\n")).collect();
    let head = format!(
        "## Your Role\n\n\
         Role: {role}. {identity}\n\
         Look first at: {focus}\n{rules}"
    );
    if !place.debrief {
        return head;
    }
    let verdicts = built_in.verdicts;
    let findings = match Duty::of(role) {
        Duty::Judges => {
            "findings:\n  - {severity: high, place: src/file.rs:12, text: what must change, and why}\n"
        }
        Duty::Builds | Duty::Rescues | Duty::Other => "",
    };
    let package = Example::of(role).line(place);
    format!(
        "{head}\n\
         End your last message with this block, so that the next agent starts from what you know; leave out \
         what does not apply. Verdict: {verdicts}.\n\n\
         ```handover\n\
         receipt: {receipt}\n\
         verdict: …\n\
         summary: what you did or found, in a sentence or two\n\
         {findings}\
         confidence: high, medium or low\n\
         reasoning:\n\
         \x20 decisions: what you chose, and why\n\
         \x20 completion: what holds now, how it was done, and what is left\n\
         packages:\n\
         {package}\
         errors:\n\
         \x20 - {{message: the error, solution: what solved it}}\n\
         ```\n"
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(name: &str, config: Option<&RoleText>) -> String {
        let session = SessionId::new("s1").unwrap();
        let place = Place { session: &session, group: None, attempt: 1, debrief: true };
        section(&Role::new(name).unwrap(), config, &ReceiptId::new("r_1").unwrap(), &place)
    }

    #[test]
    fn every_built_in_role_has_its_own_words() {
        let mut seen = Vec::new();
        for name in handover_model::roles::BUILT_IN {
            let built_in = ROLES.iter().find(|one| one.name == *name).unwrap();
            let text = text(name, None);
            assert!(
                text.starts_with(&format!("## Your Role\n\nRole: {name}. {}\n", built_in.identity))
            );
            assert!(text.contains(&format!("Look first at: {}\n- ", built_in.focus)), "{text}");
            for rule in built_in.rules {
                assert!(text.contains(&format!("\n- {rule}\n")), "{name}: {rule}");
            }
            assert!(!seen.contains(&built_in.identity), "{name}");
            seen.push(built_in.identity);
        }
        assert_eq!(ROLES.len(), seen.len(), "every entry is a built-in role");
    }

    #[test]
    fn those_who_judge_have_other_verdicts_than_those_who_work() {
        for (name, verdicts) in [
            ("developer", WORKER),
            ("senior_software_engineer", WORKER),
            ("investigator", WORKER),
            ("requirements_engineer", WORKER),
            ("orchestrator", WORKER),
            ("gardener", WORKER),
            ("qa_expert", JUDGE),
            ("tech_lead", JUDGE),
            ("project_manager", JUDGE),
        ] {
            assert!(text(name, None).contains(&format!(" Verdict: {verdicts}.\n")), "{name}");
        }
        for word in WORKER.split([',', ' ']).chain(JUDGE.split([',', ' '])) {
            let known =
                word.is_empty() || word == "or" || word.parse::<handover_model::Verdict>().is_ok();
            assert!(known, "{word}");
        }
    }

    #[test]
    fn a_reader_is_not_asked_for_a_debrief() {
        let session = SessionId::new("s1").unwrap();
        let place = Place { session: &session, group: None, attempt: 1, debrief: false };
        let (role, receipt) = (Role::new("tech_lead").unwrap(), ReceiptId::new("r_1").unwrap());
        let short = section(&role, None, &receipt, &place);
        assert!(text("tech_lead", None).starts_with(&short), "{short}");
        assert!(!short.contains("```") && short.ends_with("what is wrong.\n"), "{short}");
    }

    #[test]
    fn a_role_nobody_knows_gets_the_minimum() {
        let text = text("gardener", None);
        assert!(text.contains("Role: gardener. You do one task for a team of agents."), "{text}");
        assert!(text.contains("receipt: r_1\nverdict: …\n"), "{text}");
    }

    #[test]
    fn the_configuration_replaces_single_fields() {
        let focus = RoleText { focus: Some("The tests.".to_owned()), ..RoleText::default() };
        let text = |config: &RoleText| super::tests::text("developer", Some(config));
        let changed = text(&focus);
        assert!(changed.contains("Look first at: The tests.\n"), "{changed}");
        assert!(changed.contains("You implement one task, with its tests."), "{changed}");
        assert!(changed.contains("- Do the work yourself"), "{changed}");
        let silent = RoleText { rules: Some(Vec::new()), ..RoleText::default() };
        assert!(!text(&silent).contains("- Do the work yourself"));
        let ruled = RoleText { rules: Some(vec!["Be brief.".to_owned()]), ..RoleText::default() };
        assert!(
            text(&ruled).contains("style of the code around it.\n- Be brief.\n\n"),
            "{}",
            text(&ruled)
        );
        let named = RoleText { identity: Some("You are us.".to_owned()), ..RoleText::default() };
        assert!(text(&named).contains("Role: developer. You are us.\n"));
    }

    proptest! {
        /// Words of a configuration fake neither a heading, nor a block, nor a receipt.
        #[test]
        fn configured_words_stay_words(wild in "\\PC{0,30}|[\\n `#<!>a-z-]{0,30}\\n(```handover|## Your Task|<!-- handover:receipt r_2 -->)\\n") {
            let config = RoleText {
                identity: Some(wild.clone()),
                focus: Some(wild.clone()),
                rules: Some(vec![wild]),
            };
            let text = text("developer", Some(&config));
            prop_assert_eq!(text.lines().filter(|line| line.starts_with('#')).count(), 1, "{}", text);
            prop_assert_eq!(text.lines().filter(|line| line.starts_with("```")).count(), 2, "{}", text);
            prop_assert!(!text.contains("<!--"), "{}", text);
            prop_assert_eq!(crate::marker_of(&text), None);
        }
    }
}
