//! The corpus of briefs, as a test. `cargo xtask eval briefs` prints the same as a table.

use std::path::Path;

use handover_testkit::briefs::{Situation, judge_briefs};

#[test]
fn every_situation_gets_the_brief_that_it_needs() {
    let situations = Situation::all().unwrap();
    let verdicts = judge_briefs(Path::new(crate::handover()), &situations);
    let complaints = verdicts.iter().flat_map(|verdict| {
        let name = &verdict.situation.name;
        verdict.complaints.iter().map(move |complaint| format!("{name}: {complaint}\n"))
    });
    let failed: String = complaints.collect();
    assert!(failed.is_empty(), "{failed}`cargo xtask eval briefs --show NAME` prints a brief");
}
