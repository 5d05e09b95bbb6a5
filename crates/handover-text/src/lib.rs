//! Text processing: redacting secrets, cutting at words, quoting, counting tokens.
//!
//! Pure functions over strings. The store accepts only [`Clean`] text, which only a [`Redactor`] can
//! produce, so no text reaches the store unredacted.

pub mod amend;
mod backticks;
mod clean;
pub mod cut;
pub mod fence;
mod near;
pub mod quote;
mod redact;
pub mod related;
pub mod screen;
pub mod sentences;
mod short;
pub mod statement;
mod stem;
mod surrogates;
pub mod synonyms;
pub mod tokens;
pub mod typos;
pub mod words;

pub use clean::{Clean, CleanJson, redact_message};
pub use near::{Likeness, covers};
pub use redact::{Finding, InvalidRule, RedactionStream, Redactor, is_known_password, redactions};
pub use short::{short, with_causes};
pub use surrogates::{replace_in_bytes, replace_lone_surrogates};
