//! What agents used: the page, and retiring what nobody uses.

use handover_model::{ItemKind, Use};
use handover_store::{ItemUse, Receipts as _};
use handover_web::PageRequest;

use crate::fixture::{Fixture, hides, shows};

/// Three weeks before the time of the page.
const LONG_AGO: i64 = -1_800_000;

#[test]
fn what_nobody_uses_is_offered_for_retirement_and_goes() {
    let fixture = Fixture::new();
    shows(&fixture.page("/use"), &["Nothing was judged yet."]);
    let packages = fixture.register(&[
        fixture.package(LONG_AGO, "developer", "The old gateway", "It is gone."),
        fixture.package(LONG_AGO + 1, "developer", "Prices", "Prices are cents."),
    ]);
    for number in 1..=6 {
        let receipt = fixture.receipt(number * 10, "developer", &packages, "block");
        let used = |at: usize, used: Use| ItemUse {
            kind: ItemKind::Package,
            item: packages[at].to_string(),
            used,
        };
        let uses = [used(0, Use::Unused), used(1, Use::Echoed)];
        fixture.store.mark_used(&receipt, &uses).unwrap();
    }
    let page = fixture.page("/use");
    let idle = packages[0].to_string();
    shows(
        &page,
        &[
            "7 days",
            "50 %",
            "developer",
            &format!("handover package retire {idle}"),
            &format!("href=\"/packages/{idle}\""),
            "packages not yet (12 of 100 uses)",
        ],
    );
    hides(&page, &[&format!("handover package retire {}", packages[1])]);
    let request = PageRequest::get("/use");
    let writable = String::from_utf8(fixture.answer(&request, true).body).unwrap();
    shows(&writable, &["<button>Retire</button>"]);
    let fields = [
        ("what", "package"),
        ("id", idle.as_str()),
        ("do", "retire"),
        ("back", "/use"),
        ("reason", ""),
    ];
    assert_eq!(fixture.post("/changes", &fields).status, 303);
    let after = fixture.page("/use");
    hides(&after, &[&format!("handover package retire {idle}")]);
    shows(&after, &["was used at least once"]);
}

#[test]
fn the_use_of_an_item_is_shown_over_time() {
    let fixture = Fixture::new();
    let packages =
        fixture.register(&[fixture.package(LONG_AGO, "developer", "Prices", "Prices are cents.")]);
    for (seconds, used) in [(LONG_AGO + 10, Use::Unused), (20, Use::Opened)] {
        let receipt = fixture.receipt(seconds, "developer", &packages, "block");
        let item = packages[0].to_string();
        let uses = [ItemUse { kind: ItemKind::Package, item, used }];
        fixture.store.mark_used(&receipt, &uses).unwrap();
    }
    let page = fixture.page("/use");
    let (_, table) = page.split_once("What costs most unused").unwrap();
    let (_, row) = table.split_once("href=\"/packages/").unwrap();
    let (row, _) = row.split_once("</tr>").unwrap();
    for (period, share) in [("7 days", "100 %"), ("7–30 days", "0 %"), ("before", "–")] {
        shows(row, &[&format!("data-name=\"{period}\">{share}</td>")]);
    }
}
