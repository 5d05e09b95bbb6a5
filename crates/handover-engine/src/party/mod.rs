//! Several voices on one question: what each says, how that becomes one answer, and the record of it.
//!
//! Everything here is a function from data to data. What comes out does not depend on the order in
//! which the voices ended: they are sorted by who asked for them, and every tie is broken by text.

mod analysis;
mod findings;
mod kickoff;
mod parties;
pub mod prompt;
mod prose;
mod record;
mod review;
mod word;

pub use analysis::{Analysed, is_new, settle_analysis, signature};
pub use findings::{Merged, kind_of, merge, severity_of};
pub use kickoff::{Insights, settle_kickoff};
pub use parties::Parties;
pub(crate) use prose::fill_in;
pub use record::{analysis_record, kickoff_record, review_record};
pub use review::{Reviewed, Rules, Vote, settle_review};
pub use word::{Analysis, Contribution, Stance, Topic, Word};
