//! What a person should know before the first agent is paid.

use handover_agents::Registry;
use handover_model::config::Allowance;

use crate::reducer::Options;

/// What is said about a project without gates.
pub(crate) const NO_GATES: &str =
    "no tests were found that could check the work; `gates.commands` names commands";

/// Limits that will not hold as they are written.
pub(crate) fn cautions(options: &Options) -> Vec<String> {
    let (budget, host) = (&options.budget, options.host);
    let is_limited = |by: fn(&Allowance) -> bool| {
        [&budget.run, &budget.story, &budget.phase].into_iter().any(by)
    };
    let Ok(program) = Registry::built_in().find(host) else { return Vec::new() };
    let can = program.capabilities();
    let mut cautions = Vec::new();
    if can.reports_no_cost && is_limited(|limit| limit.usd.is_some()) {
        cautions.push(format!(
            "{host} reports no cost, so limits in USD have no effect; those of tokens do"
        ));
    }
    cautions
}
