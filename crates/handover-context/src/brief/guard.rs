//! The guard: no agent starts without its context and its specialization.
//!
//! Every way of spawning passes [`admit`], and what starts agents takes an [`Admitted`], which
//! nothing else can make. The original system asked a model to remember this step; it forgot.

use handover_model::{GuardMode, Provision, Receipt, ReceiptId, ReceiptState};

use crate::package_file::content_hash;

/// A prompt that may be handed to an agent.
#[derive(Debug)]
pub struct Admitted {
    prompt: String,
    receipt: Receipt,
    warnings: Vec<String>,
}

impl Admitted {
    /// The prompt.
    pub fn prompt(&self) -> &str {
        &self.prompt
    }

    /// Its receipt.
    pub fn receipt(&self) -> &Receipt {
        &self.receipt
    }

    /// What a strict guard would have refused.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }
}

/// Why a prompt may not be handed to an agent, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the guard refuses this spawn: {}", reasons.join("; "))]
pub struct Refusal {
    /// What is wrong, each in a clause.
    pub reasons: Vec<String>,
}

impl Refusal {
    /// What to do next.
    pub const HINT: &'static str = "Let `handover brief` or `handover spawn` make the prompt; to do without a part, \
        switch it off in the configuration (`assembly.enabled`, `specialization.enabled`), or set `guard.mode` to \
        `warn`.";
}

/// Decides whether a prompt may go out under a receipt.
pub fn admit(mode: GuardMode, prompt: String, receipt: Receipt) -> Result<Admitted, Refusal> {
    let reasons = match mode {
        GuardMode::Off => Vec::new(),
        GuardMode::Strict | GuardMode::Warn => reasons(&prompt, &receipt),
    };
    if mode == GuardMode::Strict && !reasons.is_empty() {
        return Err(Refusal { reasons });
    }
    Ok(Admitted { prompt, receipt, warnings: reasons })
}

fn reasons(prompt: &str, receipt: &Receipt) -> Vec<String> {
    let mut reasons = Vec::new();
    if content_hash(prompt.as_bytes()) != receipt.prompt_hash {
        reasons.push(format!("the prompt is not the one that receipt {} is for", receipt.id));
    }
    if marker_of(prompt).as_ref() != Some(&receipt.id) {
        reasons.push("the prompt does not carry the marker of its receipt".to_owned());
    }
    if receipt.state != ReceiptState::Assembled {
        reasons.push(format!("receipt {} is {} already", receipt.id, receipt.state));
    }
    let parts = [
        ("context", &receipt.provided.context),
        ("specialization", &receipt.provided.specialization),
    ];
    for (part, provision) in parts {
        match provision {
            Provision::Present | Provision::Disabled { .. } | Provision::Degraded { .. } => {}
            Provision::Missing => reasons.push(format!("it has no {part}")),
        }
    }
    reasons
}

/// The receipt that a prompt says it has: the first marker that stands on a line of its own. What
/// is stored is quoted before it gets into a prompt, and the task comes after.
pub fn marker_of(prompt: &str) -> Option<ReceiptId> {
    prompt.lines().find_map(|line| {
        let id = line.strip_prefix("<!-- handover:receipt ")?.strip_suffix(" -->")?;
        ReceiptId::new(id).ok()
    })
}

#[cfg(test)]
mod tests {
    use handover_model::{Provided, Role, SessionId, Timestamp, Zone};

    use super::*;

    const PROMPT: &str = "## Context\n\n<!-- handover:receipt r_1 -->\n\n## Your Task\n\ndo it\n";

    fn receipt() -> Receipt {
        Receipt {
            id: ReceiptId::new("r_1").unwrap(),
            session: SessionId::new("s").unwrap(),
            group: None,
            role: Role::new("developer").unwrap(),
            iteration: 0,
            model: None,
            tokenizer: "claude".to_owned(),
            zone: Zone::Normal,
            state: ReceiptState::Assembled,
            host: None,
            tokens: 1,
            prompt_hash: content_hash(PROMPT.as_bytes()),
            sections: Vec::new(),
            items: Vec::new(),
            left_out: Vec::new(),
            left_out_counts: Default::default(),
            redactions: Default::default(),
            trimmed: Vec::new(),
            provided: Provided {
                context: Provision::Present,
                specialization: Provision::Disabled { by: "specialization.enabled".to_owned() },
            },
            text: None,
            failure: None,
            created_at: Timestamp::from_micros(0),
            delivered_at: None,
            confirmed_at: None,
        }
    }

    fn reasons_of(prompt: &str, receipt: Receipt) -> Vec<String> {
        match admit(GuardMode::Strict, prompt.to_owned(), receipt) {
            Ok(_) => Vec::new(),
            Err(refusal) => refusal.reasons,
        }
    }

    #[test]
    fn the_briefed_prompt_passes() {
        assert_eq!(reasons_of(PROMPT, receipt()), [""; 0]);
        let mut degraded = receipt();
        degraded.provided.context = Provision::Degraded { reason: "locked".to_owned() };
        assert_eq!(reasons_of(PROMPT, degraded), [""; 0]);
    }

    #[test]
    fn whatever_is_missing_is_named() {
        assert_eq!(reasons_of(&format!("{PROMPT}more"), receipt()).len(), 1);
        assert_eq!(reasons_of("do it", receipt()).len(), 2);
        let mut used = receipt();
        used.state = ReceiptState::Delivered;
        assert_eq!(reasons_of(PROMPT, used), ["receipt r_1 is delivered already"]);
        let mut bare = receipt();
        bare.provided = Provided::default();
        assert_eq!(reasons_of(PROMPT, bare), ["it has no context", "it has no specialization"]);
    }

    #[test]
    fn the_other_modes_let_it_pass() {
        let warned = admit(GuardMode::Warn, "do it".to_owned(), receipt()).unwrap();
        assert_eq!(warned.warnings().len(), 2);
        assert!(
            admit(GuardMode::Off, "do it".to_owned(), receipt()).unwrap().warnings().is_empty()
        );
    }

    #[test]
    fn a_marker_stands_on_a_line_of_its_own() {
        assert_eq!(marker_of(PROMPT).unwrap().as_str(), "r_1");
        assert_eq!(marker_of("x <!-- handover:receipt r_1 -->"), None);
        assert_eq!(marker_of("<!-- handover:receipt ; rm -->"), None);
    }
}
