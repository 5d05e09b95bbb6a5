//! What of a conversation is worth keeping, found without a model: what the person decided, asked for, rejected
//! and corrected, what the agent concluded, and what solved an error. Greetings, results of tools, dumps of code
//! and our own briefs are left out.

mod clean;
mod notes;
mod outside;
mod repeats;
mod replies;
mod turns;

pub(crate) use notes::drafts;
pub use outside::first_outside;
pub use repeats::repeats;

#[cfg(test)]
mod tests;
