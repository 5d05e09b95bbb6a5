//! Times are the reader's, everywhere on a page.

use handover_testkit::Look;
use serde_json::json;

use super::demo;

/// What is shown beside what it should be in the browser's time zone: clocks, labels of axes, days of lists.
const WRONG: &str = r#"
    const two = (n) => String(n).padStart(2, "0");
    const clock = (at) => `${two(at.getHours())}:${two(at.getMinutes())}`;
    const exact = (at) => `${clock(at)}:${two(at.getSeconds())}`;
    const day = (at) => `${at.getDate()} ${at.toLocaleString("en-US", { month: "short" })}`;
    const wrong = [];
    let clocks = 0, labels = 0;
    for (const time of document.querySelectorAll(".tale time, .timeline time:not([data-ago]), .journal time")) {
        clocks += 1;
        if (time.textContent !== exact(new Date(time.dateTime))) wrong.push(time.outerHTML);
    }
    for (const text of document.querySelectorAll("svg .axis text")) {
        labels += 1;
        const at = new Date(text.dataset.time);
        if (![clock(at), `${day(at)} ${clock(at)}`].includes(text.textContent)) wrong.push(text.outerHTML);
    }
    for (const head of document.querySelectorAll(".tale > .day, .timeline > .day")) {
        const at = new Date(head.nextElementSibling.querySelector("time").dateTime);
        if (head.textContent !== day(at)) wrong.push(head.outerHTML);
    }
    if (document.getElementById("main").innerText.includes("UTC")) wrong.push(document.getElementById("main").innerText);
    return [clocks, labels, wrong];
"#;

#[test]
fn times_are_those_of_the_reader() {
    let (demo, browser) = demo();
    browser.look(Look::DESK);
    let session = "/sessions/epic-1".to_owned();
    let runs = demo.get("/runs");
    let run = runs.split("href=\"").find(|link| link.starts_with("/runs/run_")).unwrap();
    let run = run.split('"').next().unwrap().to_owned();
    // Half an hour off, and another day for most of the time.
    for zone in ["Asia/Kolkata", "Pacific/Kiritimati", "America/St_Johns"] {
        browser.devtools("Emulation.setTimezoneOverride", json!({"timezoneId": zone}));
        let (mut clocks, mut labels) = (0, 0);
        for page in
            [session.clone(), format!("{session}/reasoning"), run.clone(), format!("{run}/journal")]
        {
            browser.go(&format!("{}{page}", demo.url));
            let found = browser.eval(WRONG);
            assert_eq!(found[2], json!([]), "{zone} {page}");
            clocks += found[0].as_u64().unwrap();
            labels += found[1].as_u64().unwrap();
        }
        assert!(clocks > 20 && labels > 2, "{zone}: {clocks} {labels}");
    }
    // Without the script they are UTC, and say so.
    browser.devtools("Emulation.setScriptExecutionDisabled", json!({"value": true}));
    browser.go(&format!("{}{session}", demo.url));
    assert!(browser.text("#tale").contains("Times are UTC."));
    assert!(browser.text("#picture .axis").contains(" UTC"));
    let svg = demo.get(&format!("{session}/picture.svg"));
    assert!(svg.contains(" UTC<"), "{svg}");
}
