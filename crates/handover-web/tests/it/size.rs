//! Pages stay small, however large the session is.

use crate::fixture::{Fixture, role};

const MOST: usize = 200_000;

#[test]
fn pages_stay_small_with_ten_thousand_packages() {
    let fixture = Fixture::new();
    let roles: Vec<String> = (0..20).map(|n| format!("role_{n}")).collect();
    let mut ids = Vec::new();
    for part in 0..20 {
        let new: Vec<_> = (0..500)
            .map(|n| {
                let number = part * 500 + n;
                let who = &roles[usize::try_from(number).unwrap() % 20];
                fixture.package(
                    number,
                    who,
                    &format!("What was found out about part {number}"),
                    "text",
                )
            })
            .collect();
        ids.extend(fixture.register(&new));
    }
    for n in 0..300 {
        let at = usize::try_from(n).unwrap();
        fixture.receipt(n * 33 + 40, &roles[at % 20], &ids[at * 33..at * 33 + 7], "block");
        fixture.think(n * 33, &roles[at % 20], "A decision that explains itself at some length");
    }
    let pages = [
        "/",
        "/sessions",
        "/sessions/s1",
        "/sessions/s1/packages",
        "/sessions/s1/reasoning",
        "/sessions/s1/receipts",
        "/packages/1",
        "/receipts/r_00000040",
        "/errors",
        "/strategies",
        "/notes",
        "/runs",
        "/knowledge",
        "/changes",
        "/away",
        "/sessions/s1/picture.svg",
    ];
    for path in pages {
        let page = fixture.page(path);
        assert!(page.len() < MOST, "{path} has {} bytes", page.len());
    }
    let search = fixture.get("/search", &[("q", "part")]);
    assert!(search.status == 200 && search.body.len() < MOST);

    let session = fixture.page("/sessions/s1");
    assert!(session.contains("10,000"), "the total is shown");
    assert!(
        session.contains("7,900") && session.contains("reached nobody"),
        "undelivered packages stand out"
    );
    assert!(session.contains("others"), "twenty roles share twelve lanes");
    let older = fixture.get("/sessions/s1/packages", &[("from", "9990"), ("reach", "all")]);
    let older = String::from_utf8(older.body).unwrap();
    assert!(older.contains("part 0<") && older.contains("Newer") && !older.contains("Older"));
    let only = fixture.get("/sessions/s1/packages", &[("role", role("role_3").as_str())]);
    let only = String::from_utf8(only.body).unwrap();
    assert!(only.contains("part 9983<") && !only.contains("part 9984<") && only.contains("Older"));
    let none = fixture.get("/sessions/s1/packages", &[("role", "no such role")]);
    assert!(String::from_utf8(none.body).unwrap().contains("None matches."));
}
