//! What an agent program can do, as data.

/// What a program can do. The default is nothing, so that a new program promises nothing by accident.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// Continues an earlier conversation by the id in [`Report::host_session`](crate::Report::host_session), so that it can be
    /// asked for what it forgot.
    pub resumable: bool,
    /// Prints a result when it is done, so that ending without one is a failure.
    pub reports_result: bool,
    /// Reports no cost in US dollars, so that limits of cost have no effect.
    pub reports_no_cost: bool,
}
