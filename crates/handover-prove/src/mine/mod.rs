//! Tasks from a project's own history: commits that fixed a bug and came with a test. The agent starts at the parent,
//! the test judges, and the message is the prompt as far as it says what was wrong and not what was done.
//!
//! This finds candidates; whether the test fails at the parent and passes at the fix only running it can tell.

mod fixes;
mod judges;
mod prompt;
mod write;

pub use fixes::{Fix, HistoryCommit, is_source};
pub use judges::{Ecosystem, Judge, TestFile, changed_tests, is_build_failure};
pub use prompt::prompt;
pub use write::{Mined, write};
