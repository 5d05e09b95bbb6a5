//! `GET /metrics`: figures of the caller's project and of the service itself, in the text format of Prometheus.
//!
//! Labels are words of closed sets and roles, of which the most frequent are named: no ids, no texts. Figures of the
//! store are gauges, because purging a session lowers them; they are derived at most every few seconds, because that
//! reads every receipt.

use std::collections::BTreeMap;
use std::fmt::{Display, Write as _};

use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use handover_engine::EngineError;
use handover_engine::stats::{self, Stats, UseOf};
use handover_mcp::{RequestError, ToolError};
use handover_model::{RunState, TokenScope};
use handover_store::RunFilter;

use crate::counters::Counters;
use crate::policy::Caller;
use crate::response::{Response, error_response, response};
use crate::state::ServiceState;

const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// So many roles have a name; the others are `other`.
const ROLES: usize = 20;

/// What the service itself has done.
fn of_service(counters: &Counters) -> String {
    let mut page = Page::default();
    page.one(
        "handover_build_info",
        "Which program it is.",
        Kind::Gauge,
        1.0,
        &[("version", env!("CARGO_PKG_VERSION"))],
    );
    page.begin("handover_http_requests_total", "Requests answered.", Kind::Counter);
    let mut all = 0;
    for (class, count) in counters.requests() {
        all += count;
        let class = format!("{class}xx");
        page.sample("handover_http_requests_total", &[("status", &class)], count as f64);
    }
    let name = "handover_http_request_duration_seconds";
    page.begin(name, "Time until a response started.", Kind::Summary);
    page.sample(&format!("{name}_sum"), &[], counters.seconds());
    page.sample(&format!("{name}_count"), &[], all as f64);
    page.0
}

/// Needs the right to read.
pub(crate) async fn metrics(
    State(state): State<ServiceState>,
    Extension(caller): Extension<Caller>,
) -> Response {
    let counters = state.counters.clone();
    let figures = state.run(caller, TokenScope::Read, move |context| {
        if let Some(known) = counters.remembered(&context.project) {
            return Ok(known);
        }
        let stats =
            stats::of(context.store, &context.project, None, context.now).map_err(failed)?;
        let mut runs: BTreeMap<RunState, u64> = BTreeMap::new();
        for run in context.store.runs(&RunFilter::default())? {
            *runs.entry(run.state).or_default() += 1;
        }
        let text = of_project(&stats, &runs);
        counters.remember(context.project.clone(), &text);
        Ok(text)
    });
    match figures.await {
        Ok(figures) => {
            response(StatusCode::OK, CONTENT_TYPE, of_service(&state.counters) + &figures)
        }
        Err(error) => error_response(&error),
    }
}

fn failed(error: EngineError) -> ToolError {
    if let EngineError::Store(error) = error {
        return error.into();
    }
    ToolError::Request(RequestError::internal(&error.to_string()))
}

fn of_project(stats: &Stats, runs: &BTreeMap<RunState, u64>) -> String {
    let mut page = Page::default();
    page.counts("handover_sessions", "Sessions.", "status", &stats.sessions);
    page.counts("handover_receipts", "Receipts.", "state", &stats.receipts);
    page.counts("handover_runs", "Runs.", "state", runs);
    page.gauge("handover_delivered_tokens", "Tokens in delivered briefs.", stats.tokens.delivered);
    page.gauge("handover_saved_tokens", "Tokens of packages never opened.", stats.tokens.saved);
    page.gauge("handover_packages", "Packages, in their latest versions.", stats.packages.total);
    page.gauge(
        "handover_packages_never_delivered",
        "Packages that no agent got.",
        stats.packages.never_delivered,
    );
    page.counts("handover_item_uses", "What became of delivered items.", "use", &stats.used.by_use);
    page.uses("handover_kind", "kind", stats.used.by_kind.iter().map(|(kind, of)| (*kind, *of)));
    page.uses("handover_role", "role", frequent(&stats.used.by_role));
    page.gauge(
        "handover_never_used_items",
        "Items that could be retired because nobody uses them.",
        stats.never_used.len() as u64,
    );
    page.begin(
        "handover_learning_judged_items",
        "Items that learning from use goes by, those of a month ago counting half.",
        Kind::Gauge,
    );
    for (kind, state) in &stats.learning.kinds {
        let labels = [("kind", kind.as_str())];
        page.sample("handover_learning_judged_items", &labels, state.judged);
    }
    page.gauge(
        "handover_redactions",
        "Secrets that were removed from briefs.",
        stats.redactions.values().sum::<u64>(),
    );
    page.gauge("handover_error_patterns", "Known errors.", stats.errors.patterns);
    page.gauge(
        "handover_error_patterns_solved",
        "Known errors with a solution.",
        stats.errors.solved,
    );
    page.gauge("handover_run_tokens", "Tokens of agents in runs.", stats.cost.total.tokens);
    let cost = stats.cost.total.cost_usd;
    page.one("handover_run_cost_usd", "Cost of agents in runs.", Kind::Gauge, cost, &[]);
    page.begin("handover_run_phase_cost_usd", "Cost of agents in runs, by phase.", Kind::Gauge);
    for (phase, spent) in stats.cost.by_phase.iter().take(ROLES) {
        page.sample("handover_run_phase_cost_usd", &[("phase", phase)], spent.cost_usd);
    }
    page.0
}

/// The roles with the most items; the others together.
fn frequent<K: Display>(by_role: &BTreeMap<K, UseOf>) -> Vec<(String, UseOf)> {
    let mut roles: Vec<(String, UseOf)> =
        by_role.iter().map(|(role, of)| (role.to_string(), *of)).collect();
    roles.sort_by_key(|(_, of)| std::cmp::Reverse(of.items));
    let others = roles.split_off(ROLES.min(roles.len()));
    if !others.is_empty() {
        let sum = others.into_iter().fold(UseOf::default(), |sum, (_, of)| UseOf {
            items: sum.items + of.items,
            used: sum.used + of.used,
            tokens: sum.tokens + of.tokens,
            used_tokens: sum.used_tokens + of.used_tokens,
        });
        roles.push(("other".to_owned(), sum));
    }
    roles
}

/// What a figure is.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Gauge,
    Counter,
    Summary,
}

/// The text of the page.
#[derive(Default)]
struct Page(String);

impl Page {
    fn begin(&mut self, name: &str, help: &str, kind: Kind) {
        let kind = match kind {
            Kind::Gauge => "gauge",
            Kind::Counter => "counter",
            Kind::Summary => "summary",
        };
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: f64) {
        let pairs: Vec<String> =
            labels.iter().map(|(label, value)| format!("{label}=\"{}\"", escaped(value))).collect();
        let labels =
            if pairs.is_empty() { String::new() } else { format!("{{{}}}", pairs.join(",")) };
        let _ = writeln!(self.0, "{name}{labels} {value}");
    }

    fn one(&mut self, name: &str, help: &str, kind: Kind, value: f64, labels: &[(&str, &str)]) {
        self.begin(name, help, kind);
        self.sample(name, labels, value);
    }

    fn gauge(&mut self, name: &str, help: &str, value: u64) {
        self.one(name, help, Kind::Gauge, value as f64, &[]);
    }

    fn counts(
        &mut self,
        name: &str,
        help: &str,
        label: &str,
        counts: &BTreeMap<impl Display, u64>,
    ) {
        self.begin(name, help, Kind::Gauge);
        for (word, count) in counts {
            self.sample(name, &[(label, &word.to_string())], *count as f64);
        }
    }

    /// Items and tokens that were judged and used, by a label.
    fn uses<K: Display>(
        &mut self,
        prefix: &str,
        label: &str,
        uses: impl IntoIterator<Item = (K, UseOf)>,
    ) {
        let uses: Vec<(String, UseOf)> =
            uses.into_iter().map(|(word, of)| (word.to_string(), of)).collect();
        type Figure = fn(&UseOf) -> u64;
        let figures: [(&str, &str, Figure); 4] = [
            ("items_judged", "Delivered items whose agent was seen to its end.", |of| of.items),
            ("items_used", "Those of them that the agent used.", |of| of.used),
            ("tokens_judged", "Tokens of delivered items whose agent was seen.", |of| of.tokens),
            ("tokens_used", "Tokens of those that the agent used.", |of| of.used_tokens),
        ];
        for (what, help, figure) in figures {
            let name = format!("{prefix}_{what}");
            self.begin(&name, help, Kind::Gauge);
            for (word, of) in &uses {
                self.sample(&name, &[(label, word)], figure(of) as f64);
            }
        }
    }
}

fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_cannot_break_the_format() {
        let mut page = Page::default();
        page.sample("a", &[("role", "x\"} 1\nevil 2\\")], 3.0);
        assert_eq!(page.0, "a{role=\"x\\\"} 1\\nevil 2\\\\\"} 3\n");
    }

    #[test]
    fn many_roles_become_one() {
        let by_role: BTreeMap<String, UseOf> = (0..100_u64)
            .map(|n| (format!("role{n}"), UseOf { items: n, ..UseOf::default() }))
            .collect();
        let named = frequent(&by_role);
        assert_eq!(named.len(), ROLES + 1);
        assert_eq!(named[0].0, "role99");
        assert_eq!(
            named[ROLES],
            ("other".to_owned(), UseOf { items: (0..80).sum(), ..UseOf::default() })
        );
    }
}
