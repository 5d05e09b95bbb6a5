//! The corpus of briefs, as a test. `cargo xtask eval briefs` prints the same as a table.

use std::path::Path;

use handover_testkit::briefs::{Situation, judge_briefs};

#[test]
fn every_situation_gets_the_brief_that_it_needs() {
    let situations = Situation::all().unwrap();
    let mut failed = String::new();
    for verdict in judge_briefs(Path::new(crate::handover()), &situations) {
        let name = &verdict.situation.name;
        for complaint in &verdict.complaints {
            failed.push_str(&format!("{name}: {complaint}\n"));
        }
    }
    assert!(failed.is_empty(), "{failed}`cargo xtask eval briefs --show NAME` prints a brief");
}
