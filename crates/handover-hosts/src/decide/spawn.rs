//! A subagent is about to be spawned: whether it is briefed, how the brief reaches it, and how much
//! of it fits.

use handover_model::{BriefDelivery, GroupId, ReceiptId, Tokenizer};
use handover_text::tokens;

use crate::event::{Action, SubagentSpawn};
use crate::host::{Capabilities, TextLimit};

/// How a brief reaches a subagent: by exactly one method. None if the host has none.
///
/// `keeps_prompt` means that the prompt stays as it is: this version of the host is known to ignore rewritten ones, or it
/// is sealed.
pub fn delivery(can: Capabilities, keeps_prompt: bool) -> Option<BriefDelivery> {
    if can.rewrites_prompt && !keeps_prompt {
        Some(BriefDelivery::Rewrite)
    } else if can.injects_at_start {
        Some(BriefDelivery::Start)
    } else if can.holds_back {
        Some(BriefDelivery::HoldBack)
    } else {
        None
    }
}

/// The result of preparing a brief.
#[derive(Debug, Clone)]
pub enum Outcome {
    /// Everything that goes before the task.
    Made(String),
    /// The guard refused it, with a reason and advice.
    Refused(String),
}

/// What the host should do about a spawn.
pub fn decide(spawn: &SubagentSpawn, way: BriefDelivery, outcome: Outcome) -> Action {
    match (outcome, way) {
        (Outcome::Refused(reason), _) => Action::Refuse(reason),
        (Outcome::Made(preface), BriefDelivery::Rewrite) => {
            Action::Rewrite(spawn.with_prompt(with_task(&preface, &spawn.prompt)))
        }
        // The brief follows when the subagent starts or stops.
        (Outcome::Made(_), BriefDelivery::Start | BriefDelivery::HoldBack) => Action::Proceed,
    }
}

/// The heading of the task, after everything that is added.
const TASK: &str = "## Your Task\n\n";

fn with_task(preface: &str, task: &str) -> String {
    format!("{}\n\n{TASK}{}\n", preface.trim_end(), task.trim_end())
}

/// The group that a prompt names on a separate line: `<!-- handover:group G -->`.
pub fn group_in(prompt: &str) -> Option<GroupId> {
    prompt.lines().find_map(|line| {
        let id = line.trim().strip_prefix("<!-- handover:group ")?.strip_suffix("-->")?;
        GroupId::new(id.trim()).ok()
    })
}

/// The reason why a prompt asks that its subagent gets no brief: `<!-- handover:exempt REASON -->` on a line by
/// itself. It is up to the user's configuration whether that counts.
pub fn exempt_in(prompt: &str) -> Option<&str> {
    prompt.lines().find_map(|line| {
        let reason = line.trim().strip_prefix("<!-- handover:exempt")?.strip_suffix("-->")?;
        Some(reason.trim())
    })
}

/// A brief split by the limit of the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parts {
    /// What goes to the subagent.
    pub sent: String,
    /// The whole brief, to be written to the file that `sent` names.
    pub file: Option<String>,
}

/// Keeps a preface within the host's limit: a longer one goes into a file whose path is sent instead.
pub fn within_limit(
    limit: Option<TextLimit>,
    tokenizer: Tokenizer,
    preface: &str,
    receipt: &ReceiptId,
    path: &str,
) -> Parts {
    let fits = |text: &str| limit.is_none_or(|limit| limit.fits(tokenizer, text));
    if fits(preface) {
        return Parts { sent: preface.to_owned(), file: None };
    }
    let cost = tokens::count(tokenizer, preface);
    // Stored text is quoted, so the last heading with this name is ours.
    let role = preface.rfind("## Your Role\n").map(|at| &preface[at..]).unwrap_or_default();
    let role = if fits(role) { role } else { "" };
    let sent = format!(
        "## Context\n\nWhat other agents found out about this task, and what holds for the technology of this \
         project, is in the file `{path}` ({cost} tokens). It is meant to be read before anything else.\n\n\
         <!-- handover:receipt {receipt} -->\n\n{role}"
    );
    Parts { sent, file: Some(preface.to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spawn() -> SubagentSpawn {
        let input = serde_json::json!({"prompt": "do it\n", "model": "opus", "new": [1]});
        SubagentSpawn {
            kind: "general-purpose".to_owned(),
            prompt: "do it\n".to_owned(),
            model: None,
            input: input.as_object().unwrap().clone(),
            prompt_field: "prompt",
            name_field: "name",
            sealed: false,
        }
    }

    #[test]
    fn a_rewrite_puts_the_preface_before_the_task() {
        let made = Outcome::Made("## Context\n".to_owned());
        let action = decide(&spawn(), BriefDelivery::Rewrite, made);
        let Action::Rewrite(input) = action else { panic!("{action:?}") };
        assert_eq!(input["prompt"], "## Context\n\n## Your Task\n\ndo it\n");
        assert_eq!((&input["model"], &input["new"]), (&"opus".into(), &serde_json::json!([1])));
    }

    #[test]
    fn a_brief_is_delivered_by_the_best_method_of_the_host() {
        let can = |rewrites_prompt, injects_at_start, holds_back| Capabilities {
            rewrites_prompt,
            injects_at_start,
            holds_back,
            ..Capabilities::default()
        };
        for (host, drops_rewrites, expected) in [
            (can(true, true, true), false, Some(BriefDelivery::Rewrite)),
            (can(true, true, true), true, Some(BriefDelivery::Start)),
            (can(true, false, true), true, Some(BriefDelivery::HoldBack)),
            (can(true, false, false), true, None),
            (can(false, true, true), false, Some(BriefDelivery::Start)),
            (can(false, false, true), false, Some(BriefDelivery::HoldBack)),
            (can(false, false, false), false, None),
        ] {
            assert_eq!(delivery(host, drops_rewrites), expected, "{host:?} {drops_rewrites}");
        }
    }

    #[test]
    fn a_brief_delivered_later_does_not_change_the_prompt() {
        for way in [BriefDelivery::Start, BriefDelivery::HoldBack] {
            let made = Outcome::Made("x".to_owned());
            assert_eq!(decide(&spawn(), way, made), Action::Proceed);
        }
    }

    #[test]
    fn a_refusal_has_a_reason_whatever_the_method() {
        for way in BriefDelivery::ALL.iter().copied() {
            let action = decide(&spawn(), way, Outcome::Refused("no context".to_owned()));
            assert_eq!(action, Action::Refuse("no context".to_owned()));
        }
    }

    #[test]
    fn finds_the_group_on_a_line_by_itself() {
        let group = |text: &str| group_in(text).map(String::from);
        assert_eq!(group("a\n<!-- handover:group P1 -->\nb").as_deref(), Some("P1"));
        assert_eq!(group("a <!-- handover:group P1 -->"), None);
        assert_eq!(group("<!-- handover:group ../x -->"), None);
    }

    #[test]
    fn finds_an_exemption_on_a_line_by_itself() {
        assert_eq!(
            exempt_in("a\n <!-- handover:exempt a trivial task -->\nb"),
            Some("a trivial task")
        );
        assert_eq!(exempt_in("<!-- handover:exempt -->"), Some(""));
        assert_eq!(exempt_in("say <!-- handover:exempt x -->"), None);
    }

    #[test]
    fn a_brief_beyond_the_limit_is_sent_as_a_path() {
        let receipt = ReceiptId::new("r_1").unwrap();
        let parts = |limit, text: &str| {
            within_limit(limit, Tokenizer::Claude, text, &receipt, ".handover/briefs/r_1.md")
        };
        let whole = |text: &str| Parts { sent: text.to_owned(), file: None };
        let short = "## Context\n\nshort\n\n## Your Role\n\nRole: x\n";
        let long = format!("## Context\n\n{}\n\n## Your Role\n\nRole: x\n", "word ".repeat(3_000));
        assert_eq!(parts(None, &long), whole(&long));
        for limit in [TextLimit::Chars(9_500), TextLimit::Tokens(2_400)] {
            assert_eq!(parts(Some(limit), short), whole(short));
            let Parts { sent, file } = parts(Some(limit), &long);
            assert!(sent.chars().count() < 1_000, "{sent}");
            assert!(sent.contains(".handover/briefs/r_1.md") && sent.ends_with("Role: x\n"));
            assert!(sent.contains("\n<!-- handover:receipt r_1 -->\n"));
            assert_eq!(file.as_deref(), Some(long.as_str()));
        }
    }

    #[test]
    fn a_role_beyond_the_limit_is_left_to_the_file() {
        let receipt = ReceiptId::new("r_1").unwrap();
        let long = format!("## Your Role\n\n{}", "word ".repeat(3_000));
        let limit = Some(TextLimit::Chars(9_500));
        let Parts { sent, .. } = within_limit(limit, Tokenizer::Claude, &long, &receipt, "p");
        assert!(sent.ends_with("<!-- handover:receipt r_1 -->\n\n"), "{sent}");
    }
}
