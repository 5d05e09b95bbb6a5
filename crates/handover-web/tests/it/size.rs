//! However much a session holds, its pages stay small.

use crate::scene::{Scene, role};

const MOST: usize = 300_000;

#[test]
fn ten_thousand_packages_make_no_large_page() {
    let scene = Scene::new();
    let roles: Vec<String> = (0..20).map(|n| format!("role_{n}")).collect();
    let mut ids = Vec::new();
    for part in 0..20 {
        let new: Vec<_> = (0..500)
            .map(|n| {
                let number = part * 500 + n;
                let who = &roles[usize::try_from(number).unwrap() % 20];
                scene.package(
                    number,
                    who,
                    &format!("What was found out about part {number}"),
                    "text",
                )
            })
            .collect();
        ids.extend(scene.register(&new));
    }
    for n in 0..300 {
        let at = usize::try_from(n).unwrap();
        scene.receipt(n * 33 + 40, &roles[at % 20], &ids[at * 33..at * 33 + 7], "block");
        scene.think(n * 33, &roles[at % 20], "A decision that explains itself at some length");
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
        "/runs",
    ];
    for path in pages {
        let page = scene.page(path);
        assert!(page.len() < MOST, "{path} has {} bytes", page.len());
    }
    let search = scene.get("/search", &[("q", "part")]);
    assert!(search.status == 200 && search.body.len() < MOST);

    let picture = scene.page("/sessions/s1");
    assert!(picture.contains("10,000"), "how many there are is said");
    assert!(
        picture.contains("7,900") && picture.contains("reached nobody"),
        "what was lost stands out"
    );
    assert!(picture.contains("others"), "twenty roles share twelve lanes");
    let older = scene.get("/sessions/s1/packages", &[("from", "9990"), ("reach", "all")]);
    let older = String::from_utf8(older.body).unwrap();
    assert!(older.contains("part 0<") && older.contains("Newer") && !older.contains("Older"));
    let only = scene.get("/sessions/s1/packages", &[("role", role("role_3").as_str())]);
    assert!(String::from_utf8(only.body).unwrap().contains("500 packages"));
}
