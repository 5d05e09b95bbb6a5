//! Pages on paper.

use handover_testkit::Look;
use serde_json::json;

use super::demo;

/// What is cut off, or is of no use on paper.
const LOST: &str = "
    const seen = (one) => { const box = one.getBoundingClientRect(); return box.width > 1 && box.height > 1; };
    const lost = [];
    for (const one of document.querySelectorAll('form, .top, footer nav, nav.pages, .tabs, button')) {
        if (seen(one)) lost.push(`shown: ${one.outerHTML.slice(0, 80)}`);
    }
    for (const one of document.querySelectorAll('main pre, main .scroll, main .paper, main .sources')) {
        if (seen(one) && one.scrollHeight > one.clientHeight + 2 && getComputedStyle(one).overflowY !== 'visible') lost.push(`cut: ${one.className} ${one.id}`);
    }
    for (const one of document.querySelectorAll('main table, main svg')) {
        if (seen(one) && one.getBoundingClientRect().right > innerWidth + 2) lost.push(`too wide: ${one.getAttribute('class')} ${Math.round(one.getBoundingClientRect().right)}`);
    }
    const paper = getComputedStyle(document.body).backgroundColor;
    if (paper !== 'rgb(255, 255, 255)') lost.push(`on ${paper}`);
    return lost;";

#[test]
fn pages_can_be_printed() {
    let (demo, browser) = demo();
    // Landscape A4 at 96 dots per inch, without margins; a dark theme is not printed.
    browser.look(Look { width: 1_040, height: 720, dark: true });
    browser.devtools("Emulation.setEmulatedMedia", json!({"media": "print"}));
    for (name, path) in demo.pages(handover_web::demo_paths()) {
        browser.go(&format!("{}{path}", demo.url));
        let lost = browser.eval(LOST);
        assert_eq!(lost, json!([]), "{name}");
    }
}
