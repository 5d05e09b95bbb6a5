//! Story and epic files: which belong to a run, what they say, and what may be written into them.
//!
//! Files belong to their authors. The engine sets a status, appends records, and makes sure that agents change
//! nothing else.

mod account;
mod companion;
mod criteria;
mod depends;
mod discover;
mod epic;
mod error;
mod fields;
mod integrity;
mod layout;
mod parse;
mod record;
mod sprint;
mod status;

pub use account::account;
pub use criteria::{Criterion, criteria};
pub use depends::in_order;
pub use discover::{Discovery, Match, discover, epic_id};
pub(crate) use epic::section as epic_section;
pub use epic::{epic_dependencies, epic_title};
pub use error::StoryError;
pub(crate) use fields::{body_lines, section};
pub use integrity::{Integrity, verify};
pub use layout::Layout;
pub use parse::Story;
pub use record::{Record, append};
pub use sprint::{
    find as find_sprint_status, get as sprint_status, lists_open as sprint_lists_open,
    set as set_sprint_status,
};
pub use status::{Status, set as set_status};
