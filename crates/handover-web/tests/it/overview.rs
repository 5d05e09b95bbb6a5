//! The figures of the overview count everything, however much there is.

use handover_engine::stats;
use handover_model::{ItemKind, JournalKind, ReceiptState, RunPhase, RunState, Use, Verdict};
use handover_store::{ItemUse, ReceiptStep, Receipts as _};
use serde_json::json;

use crate::fixture::{Fixture, at, hides, shows};
use crate::run_scene::{Ends, STORIES, play};

/// More than any list has.
const BRIEFS: i64 = 600;
const RUNS: usize = 25;

#[test]
fn figures_equal_those_of_the_statistics() {
    let fixture = Fixture::new();
    for nth in 0..RUNS {
        play(&fixture, &format!("run_{nth}"), &STORIES, |_, phase, _| {
            Ends::With(if phase == RunPhase::Review { Verdict::Passed } else { Verdict::Complete })
        });
        fixture.let_go_of("1");
    }
    let package = fixture.package(1, "developer", "Prices", "Prices are cents.");
    let packages = fixture.register(&[package]);
    for nth in 0..BRIEFS {
        let receipt = fixture.receipt(60_000 + nth, "developer", &packages, "block");
        let used = if nth % 4 == 0 { Use::Echoed } else { Use::Unused };
        let item = packages[0].to_string();
        let uses = [ItemUse { kind: ItemKind::Package, item, used }];
        fixture.store.mark_used(&receipt, &uses).unwrap();
    }
    let lost = fixture.assemble(59_000, "tech_lead", &[], "Never arrived");
    let reason = fixture.redactor.clean("the agent was killed");
    fixture.advance(&lost, 59_001, &ReceiptStep::Failed { reason });

    let now = at(100_000);
    let stats =
        stats::of(&fixture.store, &fixture.project(), Some(now.days_before(7)), now).unwrap();
    let delivered: u64 = [ReceiptState::Delivered, ReceiptState::Confirmed]
        .iter()
        .filter_map(|state| stats.receipts.get(state))
        .sum();
    assert!(delivered > 600 && stats.receipts[&ReceiptState::Failed] == 1, "{delivered}");
    assert_eq!(stats.used.total.items, 600);
    let share = stats.used.total.used_tokens * 100 / stats.used.total.tokens;
    let page = fixture.page("/");
    let figure = |name: &str, value: &str| format!("<dt>{name}</dt><dd><strong>{value}</strong>");
    shows(
        &page,
        &[
            &figure("Agents briefed", &delivered.to_string()),
            &figure("Briefed today", "600"),
            &figure("Share of briefs used", &format!("{share} %")),
            &format!("${:.2} in 14 days", stats.cost.total.cost_usd),
            "600 briefs",
            "25 in total",
        ],
    );
    assert_eq!(share, 25);
    assert!(stats.cost.total.cost_usd > 1.0, "{:?}", stats.cost.total);
    shows(&page, &[">1</span></strong> <small>briefs that never arrived"]);
}

#[test]
fn the_overview_reads_no_more_journals_than_it_lists() {
    let fixture = Fixture::new();
    for nth in 0..20 {
        let run = fixture.run_on("elsewhere", &format!("run_{nth}"), &format!("e{nth}"));
        let stopped = json!({"event": "stopped", "state": "blocked", "reason": "a question"});
        fixture.append(&run, JournalKind::Result, stopped, Some(RunState::Blocked));
    }
    let page = fixture.page("/");
    shows(&page, &["At least 15 waiting.", "and 3 others"]);
    let few = Fixture::new();
    few.crashed_run("run_1", "1");
    hides(&few.page("/"), &["At least"]);
}
