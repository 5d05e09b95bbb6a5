//! Tasks from a project's own history: commits that fixed a bug and came with a test. The agent starts at the parent,
//! the test judges, and the message is the prompt as far as it says what was wrong and not what was done.
//!
//! This finds candidates; whether the test fails at the parent and passes at the fix only running it can tell.

mod changed;
mod fixes;
mod judges;
mod names;
mod prompt;
mod subject;
mod told;
mod wording;
mod write;

pub use changed::changed_tests;
pub use fixes::{Fix, HistoryCommit, is_source, merged_message};
pub use judges::{Ecosystem, Judge, TestFile, build_failure};
pub use names::{new_names, told_names};
pub use prompt::{prompt, task_id};
pub use write::{Mined, write};
