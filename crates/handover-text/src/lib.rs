//! Text as Handover treats it: secrets redacted, cut at words, quoted, counted in tokens.
//!
//! Pure functions over strings. [`Clean`] is the type that the store demands, and only a
//! [`Redactor`] makes one, so no text reaches the store unseen.

mod clean;
pub mod cut;
pub mod quote;
mod redact;
mod ticks;
pub mod tokens;
pub mod words;

pub use clean::{Clean, CleanJson};
pub use redact::{Finding, InvalidRule, Redactor};
