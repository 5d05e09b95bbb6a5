//! A subagent is about to be spawned: who it is, how its brief goes to it, and in which form.

use handover_model::{GroupId, Host, ReceiptId, Role, TicketWay, Tokenizer};
use handover_text::tokens;

use crate::call::{Act, Spawn};

/// What is known before a brief is made.
#[derive(Debug, Clone)]
pub struct Facts {
    /// The role of this kind of subagent, if it has one.
    pub role: Option<Role>,
    /// Whether this version of the host is known to lose rewritten prompts.
    pub drops_rewrites: bool,
}

/// What to do about a spawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Plan {
    /// It is not ours.
    Leave,
    /// It gets a brief.
    Brief {
        /// For this role.
        role: Role,
        /// In this way: never in both.
        way: TicketWay,
    },
}

/// Whether a subagent gets a brief, and how.
pub fn plan(facts: Facts) -> Plan {
    match facts.role {
        None => Plan::Leave,
        Some(role) => {
            let way = if facts.drops_rewrites { TicketWay::Start } else { TicketWay::Rewrite };
            Plan::Brief { role, way }
        }
    }
}

/// What became of the brief.
#[derive(Debug, Clone)]
pub enum Outcome {
    /// It is this text, without the task.
    Made(String),
    /// The guard says no, for this reason and with this advice.
    Refused(String),
}

/// What the host shall do.
pub fn decide(spawn: &Spawn, way: TicketWay, outcome: Outcome) -> Act {
    match (outcome, way) {
        (Outcome::Refused(reason), _) => Act::Refuse(reason),
        (Outcome::Made(given), TicketWay::Rewrite) => {
            Act::Rewrite(spawn.with_prompt(with_task(&given, &spawn.prompt)))
        }
        // The subagent is told when it starts.
        (Outcome::Made(_), TicketWay::Start) => Act::Nothing,
    }
}

/// The heading of the task, after everything that is added.
const TASK: &str = "## Your Task\n\n";

fn with_task(given: &str, task: &str) -> String {
    format!("{}\n\n{TASK}{}\n", given.trim_end(), task.trim_end())
}

/// The group that a prompt names in a line of its own: `<!-- handover:group G -->`.
pub fn group_in(prompt: &str) -> Option<GroupId> {
    prompt.lines().find_map(|line| {
        let id = line.trim().strip_prefix("<!-- handover:group ")?.strip_suffix("-->")?;
        GroupId::new(id.trim()).ok()
    })
}

/// What goes to the subagent, and what waits in a file because the host takes no more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parts {
    /// What is sent.
    pub sent: String,
    /// The whole of it, for the file.
    pub file: Option<String>,
}

/// How much a host takes in one text of a hook. A little less than it says: our own words stand
/// around it.
fn fits(host: Host, tokenizer: Tokenizer, text: &str) -> bool {
    match host {
        Host::Codex => tokens::count(tokenizer, text) <= 2_400,
        Host::Claude | Host::Gemini | Host::Command => text.chars().count() <= 9_500,
    }
}

/// Keeps what is added within the limit of the host: what is too long goes by path.
pub fn within_limit(
    host: Host,
    tokenizer: Tokenizer,
    given: &str,
    receipt: &ReceiptId,
    path: &str,
) -> Parts {
    if fits(host, tokenizer, given) {
        return Parts { sent: given.to_owned(), file: None };
    }
    let cost = tokens::count(tokenizer, given);
    // What is stored is quoted, so the last heading of this name is ours.
    let role = given.rfind("## Your Role\n").map(|at| &given[at..]).unwrap_or_default();
    let role = if fits(host, tokenizer, role) { role } else { "" };
    let sent = format!(
        "## Context\n\nWhat other agents found out about this task, and what holds for the technology of this \
         project, is in the file `{path}` ({cost} tokens). It is meant to be read before anything else.\n\n\
         <!-- handover:receipt {receipt} -->\n\n{role}"
    );
    Parts { sent, file: Some(given.to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spawn() -> Spawn {
        let input = serde_json::json!({"prompt": "do it\n", "model": "opus", "new": [1]});
        Spawn {
            kind: "general-purpose".to_owned(),
            prompt: "do it\n".to_owned(),
            model: None,
            input: input.as_object().unwrap().clone(),
            field: "prompt",
        }
    }

    #[test]
    fn every_field_goes_back() {
        let act = decide(&spawn(), TicketWay::Rewrite, Outcome::Made("## Context\n".to_owned()));
        let Act::Rewrite(input) = act else { panic!("{act:?}") };
        assert_eq!(input["prompt"], "## Context\n\n## Your Task\n\ndo it\n");
        assert_eq!((&input["model"], &input["new"]), (&"opus".into(), &serde_json::json!([1])));
    }

    #[test]
    fn never_both_ways() {
        let role = Role::new("developer").unwrap();
        let facts = |drops_rewrites| Facts { role: Some(role.clone()), drops_rewrites };
        let way = |plan| match plan {
            Plan::Brief { way, .. } => way,
            Plan::Leave => panic!("left alone"),
        };
        assert_eq!(way(plan(facts(false))), TicketWay::Rewrite);
        assert_eq!(way(plan(facts(true))), TicketWay::Start);
        let made = Outcome::Made("x".to_owned());
        assert_eq!(decide(&spawn(), TicketWay::Start, made), Act::Nothing);
        assert_eq!(plan(Facts { role: None, drops_rewrites: false }), Plan::Leave);
    }

    #[test]
    fn a_refusal_has_its_reason() {
        let refused = Outcome::Refused("no context".to_owned());
        let act = decide(&spawn(), TicketWay::Rewrite, refused);
        assert_eq!(act, Act::Refuse("no context".to_owned()));
    }

    #[test]
    fn groups_are_named_on_a_line_of_their_own() {
        let group = |text: &str| group_in(text).map(String::from);
        assert_eq!(group("a\n<!-- handover:group P1 -->\nb").as_deref(), Some("P1"));
        assert_eq!(group("a <!-- handover:group P1 -->"), None);
        assert_eq!(group("<!-- handover:group ../x -->"), None);
    }

    #[test]
    fn what_is_too_long_goes_by_path() {
        let receipt = ReceiptId::new("r_1").unwrap();
        let parts = |host, text: &str| {
            within_limit(host, Tokenizer::Claude, text, &receipt, ".handover/briefs/r_1.md")
        };
        let short = "## Context\n\nshort\n\n## Your Role\n\nRole: x\n";
        assert_eq!(parts(Host::Claude, short), Parts { sent: short.to_owned(), file: None });
        let long = format!("## Context\n\n{}\n\n## Your Role\n\nRole: x\n", "word ".repeat(3_000));
        for host in [Host::Claude, Host::Codex] {
            let Parts { sent, file } = parts(host, &long);
            assert!(sent.chars().count() < 1_000, "{sent}");
            assert!(sent.contains(".handover/briefs/r_1.md") && sent.ends_with("Role: x\n"));
            assert!(sent.contains("\n<!-- handover:receipt r_1 -->\n"));
            assert_eq!(file.as_deref(), Some(long.as_str()));
        }
    }
}
