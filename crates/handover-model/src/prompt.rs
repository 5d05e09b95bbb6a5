//! The one type in which a prompt reaches an agent program.

use crate::ReceiptId;

/// A prompt that the guard admitted, and its receipt.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_keeps_every_byte_and_its_receipt() {
        let receipt = ReceiptId::new("r_1").unwrap();
        for text in ["", " \n\ttext\r\n\0", "ä 🔶"] {
            let prompt = AdmittedPrompt::admit_unchecked(text.to_owned(), receipt.clone());
            assert_eq!((prompt.text(), prompt.receipt()), (text, &receipt));
            assert_eq!(prompt.clone(), prompt);
        }
        let other = ReceiptId::new("r_2").unwrap();
        assert_ne!(
            AdmittedPrompt::admit_unchecked("x".to_owned(), other),
            AdmittedPrompt::admit_unchecked("x".to_owned(), receipt)
        );
    }
}
