//! The one type in which a prompt reaches an agent program.

use crate::ReceiptId;

/// A prompt that the guard let through, and its receipt.
///
/// Rust cannot seal a constructor across crates, so this one is public; `cargo xtask tidy` checks
/// that handover-handoff alone calls it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdmittedPrompt {
    text: String,
    receipt: ReceiptId,
}

impl AdmittedPrompt {
    /// Declares a prompt admitted. The caller is the guard.
    pub fn admit_unchecked(text: String, receipt: ReceiptId) -> Self {
        Self { text, receipt }
    }

    /// The bytes that the agent program reads.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The receipt that the prompt goes out under.
    pub fn receipt(&self) -> &ReceiptId {
        &self.receipt
    }
}
