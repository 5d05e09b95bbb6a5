//! The guard: no agent starts without its context and its specialization.
//!
//! The original system asked a model to remember this step; it forgot. Here every prompt that goes
//! to an agent program is an [`AdmittedPrompt`], and [`admit`] is what makes one.

use handover_context::package_file::content_hash;
use handover_model::{AdmittedPrompt, GuardMode, Provided, Provision, ReceiptId, ReceiptState};

/// A prompt that the guard let through.
#[derive(Debug)]
pub(crate) struct Admission {
    pub(crate) prompt: AdmittedPrompt,
    /// What a strict guard would have refused.
    pub(crate) warnings: Vec<String>,
}

/// Why a prompt may not go to an agent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the guard refuses this spawn: {}", reasons.join("; "))]
pub struct Refusal {
    /// One clause for each rule that the prompt breaks.
    pub reasons: Vec<String>,
}

impl Refusal {
    /// What to do about it.
    pub const HINT: &'static str = "Create the prompt with `handover brief` or `handover spawn`; to do without a part, \
        turn it off in the configuration (`assembly.enabled`, `specialization.enabled`), or set `guard.mode` to \
        `warn`.";
}

/// What a receipt says about the prompt that it is for.
#[derive(Clone, Copy)]
pub(crate) struct Evidence<'a> {
    pub(crate) receipt: &'a ReceiptId,
    pub(crate) prompt_hash: &'a str,
    pub(crate) state: ReceiptState,
    pub(crate) provided: &'a Provided,
}

/// Decides whether a prompt may go out under a receipt.
pub(crate) fn admit(
    mode: GuardMode,
    prompt: String,
    evidence: Evidence<'_>,
) -> Result<Admission, Refusal> {
    let reasons = match mode {
        GuardMode::Off => Vec::new(),
        GuardMode::Strict | GuardMode::Warn => reasons(&prompt, evidence),
    };
    if mode == GuardMode::Strict && !reasons.is_empty() {
        return Err(Refusal { reasons });
    }
    let prompt = AdmittedPrompt::admit_unchecked(prompt, evidence.receipt.clone());
    Ok(Admission { prompt, warnings: reasons })
}

fn reasons(prompt: &str, evidence: Evidence<'_>) -> Vec<String> {
    let Evidence { receipt, prompt_hash, state, provided } = evidence;
    let mut reasons = Vec::new();
    if content_hash(prompt.as_bytes()) != prompt_hash {
        reasons.push(format!("the prompt is not the one that receipt {receipt} is for"));
    }
    if marker_of(prompt).as_ref() != Some(receipt) {
        reasons.push("the prompt does not carry the marker of its receipt".to_owned());
    }
    if state != ReceiptState::Assembled {
        reasons.push(format!("receipt {receipt} is already {state}"));
    }
    let parts = [("context", &provided.context), ("specialization", &provided.specialization)];
    for (part, provision) in parts {
        match provision {
            Provision::Present | Provision::Disabled { .. } | Provision::Degraded { .. } => {}
            Provision::Missing => reasons.push(format!("it has no {part}")),
        }
    }
    reasons
}

/// The receipt that a prompt claims to have: the first marker on a line of its own. Stored text is
/// quoted before it gets into a prompt, and the task comes after the marker.
pub fn marker_of(prompt: &str) -> Option<ReceiptId> {
    prompt.lines().find_map(|line| {
        let id = line.strip_prefix("<!-- handover:receipt ")?.strip_suffix(" -->")?;
        ReceiptId::new(id).ok()
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PROMPT: &str = "## Context\n\n<!-- handover:receipt r_1 -->\n\n## Your Task\n\ndo it\n";

    /// The reasons against a prompt whose receipt was written for [`PROMPT`].
    fn reasons_against(prompt: &str, state: ReceiptState, provided: &Provided) -> Vec<String> {
        match decide(GuardMode::Strict, prompt, state, provided) {
            Ok(admission) => admission.warnings,
            Err(refusal) => refusal.reasons,
        }
    }

    fn decide(
        mode: GuardMode,
        prompt: &str,
        state: ReceiptState,
        provided: &Provided,
    ) -> Result<Admission, Refusal> {
        let receipt = ReceiptId::new("r_1").unwrap();
        let prompt_hash = content_hash(PROMPT.as_bytes());
        let evidence = Evidence { receipt: &receipt, prompt_hash: &prompt_hash, state, provided };
        admit(mode, prompt.to_owned(), evidence)
    }

    fn complete() -> Provided {
        Provided {
            context: Provision::Present,
            specialization: Provision::Disabled { by: "specialization.enabled".to_owned() },
            use_learning: None,
        }
    }

    #[test]
    fn admits_the_prompt_of_its_receipt() {
        assert_eq!(reasons_against(PROMPT, ReceiptState::Assembled, &complete()), [""; 0]);
        let degraded =
            Provided { context: Provision::Degraded { reason: "locked".into() }, ..complete() };
        assert_eq!(reasons_against(PROMPT, ReceiptState::Assembled, &degraded), [""; 0]);
    }

    #[test]
    fn names_everything_that_is_missing() {
        let assembled = ReceiptState::Assembled;
        assert_eq!(
            reasons_against(&format!("{PROMPT}more"), assembled, &complete()),
            ["the prompt is not the one that receipt r_1 is for"]
        );
        assert_eq!(
            reasons_against("do it", assembled, &complete()),
            [
                "the prompt is not the one that receipt r_1 is for",
                "the prompt does not carry the marker of its receipt"
            ]
        );
        for state in [ReceiptState::Delivered, ReceiptState::Confirmed, ReceiptState::Failed] {
            let expected = format!("receipt r_1 is already {state}");
            assert_eq!(reasons_against(PROMPT, state, &complete()), [expected]);
        }
        assert_eq!(
            reasons_against(PROMPT, assembled, &Provided::default()),
            ["it has no context", "it has no specialization"]
        );
    }

    #[test]
    fn warns_or_stays_silent_in_the_other_modes() {
        let decide = |mode| decide(mode, "do it", ReceiptState::Assembled, &complete()).unwrap();
        assert_eq!(decide(GuardMode::Warn).warnings.len(), 2);
        let silent = decide(GuardMode::Off);
        assert!(silent.warnings.is_empty());
        assert_eq!((silent.prompt.text(), silent.prompt.receipt().as_str()), ("do it", "r_1"));
    }

    #[test]
    fn finds_a_marker_only_on_its_own_line() {
        assert_eq!(marker_of(PROMPT).unwrap().as_str(), "r_1");
        assert_eq!(marker_of("x <!-- handover:receipt r_1 -->"), None);
        assert_eq!(marker_of("<!-- handover:receipt ; rm -->"), None);
    }

    #[test]
    fn every_combination_is_decided_by_its_faults() {
        let provisions = [
            (Provision::Present, false),
            (Provision::Disabled { by: "x".to_owned() }, false),
            (Provision::Degraded { reason: "x".to_owned() }, false),
            (Provision::Missing, true),
        ];
        let changed = format!("{PROMPT}more");
        let prompts = [(PROMPT, 0), (changed.as_str(), 1), ("do it", 2)];
        for (context, no_context) in &provisions {
            for (specialization, no_specialization) in &provisions {
                let provided = Provided {
                    context: context.clone(),
                    specialization: specialization.clone(),
                    use_learning: None,
                };
                for (prompt, wrong_prompt) in prompts {
                    for state in ReceiptState::ALL {
                        let faults = usize::from(*no_context)
                            + usize::from(*no_specialization)
                            + wrong_prompt
                            + usize::from(*state != ReceiptState::Assembled);
                        let decided = |mode| decide(mode, prompt, *state, &provided);
                        let case = format!("{provided:?} {prompt:?} {state}");
                        match decided(GuardMode::Strict) {
                            Ok(admission) => {
                                assert_eq!((faults, admission.warnings.len()), (0, 0), "{case}");
                            }
                            Err(refusal) => {
                                assert_eq!(refusal.reasons.len(), faults, "{case}");
                                assert!(faults > 0, "{case}");
                            }
                        }
                        assert_eq!(
                            decided(GuardMode::Warn).unwrap().warnings.len(),
                            faults,
                            "{case}"
                        );
                        assert_eq!(decided(GuardMode::Off).unwrap().warnings.len(), 0, "{case}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_refusal_states_all_reasons() {
        let refusal = Refusal { reasons: vec!["one".to_owned(), "two".to_owned()] };
        assert_eq!(refusal.to_string(), "the guard refuses this spawn: one; two");
        assert!(Refusal::HINT.contains("guard.mode"));
    }

    #[test]
    fn the_first_valid_marker_counts() {
        let two = "<!-- handover:receipt a b -->\n<!-- handover:receipt r_2 -->\n<!-- handover:receipt r_3 -->";
        assert_eq!(marker_of(two).unwrap().as_str(), "r_2");
        for none in [
            "",
            "<!-- handover:receipt -->",
            "<!-- handover:receipt  -->",
            "<!-- handover:receipt r_1-->",
        ] {
            assert_eq!(marker_of(none), None, "{none}");
        }
    }

    proptest! {
        /// One changed byte is another prompt.
        #[test]
        fn a_strict_guard_lets_no_other_text_pass(at in 0..PROMPT.len(), letter in "[A-Z]") {
            let mut changed = PROMPT.to_owned();
            changed.replace_range(at..=at, &letter);
            prop_assume!(changed != PROMPT);
            let decision = decide(GuardMode::Strict, &changed, ReceiptState::Assembled, &complete());
            prop_assert!(decision.is_err());
        }
    }
}
