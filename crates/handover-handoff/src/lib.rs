//! One handoff from beginning to end.
//!
//! Every surface (command line, hooks, MCP, HTTP, runs) builds one [`HandoffRequest`], and calls the
//! steps of [`Handoffs`] in this order:
//!
//! 1. [`prepare`](Handoffs::prepare): the attempt is counted; context, specialization, role and task
//!    become one brief; the receipt is stored; the guard decides.
//! 2. [`started`](Handoffs::started) when the agent has the prompt, or
//!    [`not_started`](Handoffs::not_started) if it never will.
//! 3. [`ended`](Handoffs::ended): verdict, reasoning, packages, errors and what is learned from them.
//!    [`shorten`](Handoffs::shorten) keeps a long report for its parent.
//!
//! Each step is one transaction. An agent program takes only an
//! [`AdmittedPrompt`](handover_model::AdmittedPrompt), and this crate alone makes one.

mod assignment;
mod brief;
mod delivery;
mod ending;
mod error;
mod guard;
mod handoffs;
mod prepare;
mod request;
mod returns;
pub mod spool;
mod trial;
mod used;
mod zone;

pub use assignment::{Assignment, EndedAgent};
pub use brief::Brief;
pub use ending::{
    DEBRIEF_SCHEMA, Debrief, Ended, Ending, ErrorNote, Kept, Learn, Message, OutsideRead,
    PackageNote, RunStep, read_ending, read_endings, read_fields, request_for_debrief,
};
pub use error::{HandoffError, Result};
pub use guard::{Refusal, marker_of};
pub use handoffs::{Handoffs, Override, Technology, TechnologySource};
pub use prepare::{Handoff, Prepared, Recorded, follow_up_prompt, probe_prompt};
pub use request::{Attempt, Delivery, HandoffRequest, TicketRequest};
pub use returns::{Report, ReportError, Shortened};
pub use trial::{Parts, TrialPrompt};
pub use used::{BriefItem, judge};
