//! Totals across runs, and runs as JSON.

use handover_engine::pipeline::{Closing, Pipeline};
use handover_engine::{Spent, report, stats};
use handover_model::{
    Profile, ProjectId, ReceiptState, RunState, SessionStatus, StoryState, Timestamp,
};
use handover_store::Runs as _;

use crate::stage::{Stage, result};

fn plain() -> Pipeline {
    Pipeline::story(false, Profile::Edit)
}

fn reviewed() -> Pipeline {
    Pipeline::story(true, Profile::Edit)
}

fn project() -> ProjectId {
    ProjectId::new("p").unwrap()
}

fn now() -> Timestamp {
    Timestamp::from_micros(1_800_000_000_000_000)
}

fn costly(phase: &str, verdict: &str, usd: f64, tokens: u64) -> String {
    let more = format!(
        ",\"summary\":\"ok\",\"usage\":{{\"cost_usd\":{usd},\"tokens\":{tokens},\"turns\":2}}"
    );
    result("{HANDOVER_STORY}", phase, verdict, &more)
}

#[test]
fn costs_are_summed_by_phase_and_role() {
    let stage = Stage::new(&["1-1-a", "1-2-b"], "");
    stage.script(&format!(
        "* dev * | write {{HANDOVER_STORY}}.txt x {}\n* review * | {}",
        costly("dev", "complete", 0.5, 100),
        costly("review", "passed", 0.25, 10),
    ));
    let (_, state) = stage.run(reviewed());
    assert_eq!(state.state, RunState::Done);
    let stats = stats::of(&stage.store(), &project(), None, now()).unwrap();
    let sum = |spent: &Spent| (spent.cost_usd, spent.tokens, spent.turns);
    assert_eq!(sum(&stats.cost.total), (1.5, 220, 8));
    assert_eq!(sum(&stats.cost.by_phase["dev"]), (1.0, 200, 4));
    assert_eq!(sum(&stats.cost.by_phase["review"]), (0.5, 20, 4));
    assert_eq!(sum(&stats.cost.by_phase["gates"]), (0.0, 0, 0));
    assert_eq!(sum(&stats.cost.by_role["developer"]), (1.0, 200, 4));
    assert_eq!(sum(&stats.cost.by_role["tech_lead"]), (0.5, 20, 4));
    assert_eq!(stats.cost.by_role.len(), 2, "gates have no role");
    assert_eq!(stats.sessions[&SessionStatus::Completed], 1);
    assert_eq!(stats.receipts[&ReceiptState::Delivered], 4);
    assert!(stats.tokens.delivered > 0);
    // Another project shares none of it, and neither does a later period.
    let other = stats::of(&stage.store(), &ProjectId::new("q").unwrap(), None, now()).unwrap();
    let nothing = |stats: stats::Stats| stats::Stats { use_over_time: Vec::new(), ..stats };
    assert!(other.use_over_time.iter().all(|period| period.delivered_tokens == 0));
    assert_eq!(nothing(other), stats::Stats::default());
    let later = Timestamp::from_micros(1_900_000_000_000_000);
    let later_stats = stats::of(&stage.store(), &project(), Some(later), now()).unwrap();
    let expected = stats::Stats { since: Some(later), ..stats::Stats::default() };
    assert_eq!(nothing(later_stats), expected);
    let start = Timestamp::from_micros(1_600_000_000_000_000);
    let all = stats::of(&stage.store(), &project(), Some(start), now()).unwrap();
    assert_eq!(stats::Stats { since: None, ..all }, stats);
}

#[test]
fn unread_packages_are_counted() {
    let more = ",\"packages\":[{\"path\":\"docs/notes.md\",\"kind\":\"research\",\"summary\":\"how it works\"}]";
    let stage = Stage::new(&["1-1-a"], "");
    let long = format!("# Notes\n\n{}", "It works like this and like that. ".repeat(80));
    let notes = stage.env.folder().join("notes.md");
    fs_err::write(&notes, long).unwrap();
    stage.script(&format!(
        "* dev * | write a.txt x run \"cp {} docs/notes.md\" {}",
        notes.display(),
        result("1-1-a", "dev", "complete", more)
    ));
    stage.run(reviewed());
    let stats = stats::of(&stage.store(), &project(), None, now()).unwrap();
    assert_eq!(stats.packages.total, 1);
    // The reviewer received it but has not opened it.
    assert_eq!((stats.packages.never_delivered, stats.packages.never_read), (0, 1));
    assert!(stats.tokens.saved > 100, "{:?}", stats.tokens);
}

#[test]
fn errors_are_counted_with_their_solutions() {
    let more = ",\"errors\":[{\"message\":\"port in use\",\"solution\":\"use port 0\"},{\"message\":\"no disk space\"}]";
    let stage = Stage::new(&["1-1-a"], "");
    stage.script(&format!("* dev * | write a.txt x {}", result("1-1-a", "dev", "complete", more)));
    stage.run(plain());
    let stats = stats::of(&stage.store(), &project(), None, now()).unwrap();
    assert_eq!((stats.errors.patterns, stats.errors.solved, stats.errors.occurrences), (2, 1, 2));
}

#[test]
fn a_run_is_one_document() {
    let stage = Stage::new(&["1-1-a", "1-2-b"], "");
    stage.script(&format!(
        "1-2-b dev * | exit 1\n* dev * | write a.txt x {}",
        costly("dev", "complete", 0.5, 100)
    ));
    let closing = Closing { retro: true, commit: true, ..Closing::default() };
    let (run, state) = stage.run(plain().closed_with(closing));
    let store = stage.store();
    let record = store.run_record(&run).unwrap();
    let document = report::of_run(&store, &record, "here").unwrap().unwrap();
    assert_eq!(document["id"], run.as_str());
    assert_eq!((&document["epic"], &document["session"]), (&"1".into(), &"epic-1".into()));
    assert_eq!(
        (&document["state"], &document["reason"]),
        (&"failed".into(), &serde_json::Value::Null)
    );
    assert_eq!((&document["cost_usd"], &document["tokens"]), (&0.5.into(), &100.into()));
    assert_eq!(document["branch"], "handover/epic-1");
    assert_eq!(document["head"], state.head);
    assert_eq!(document["merged"], serde_json::Value::Null);
    assert_eq!(document["uat"], serde_json::Value::Null);
    let stories = document["stories"].as_array().unwrap();
    assert_eq!(stories[0]["state"], "done");
    assert_eq!(stories[0]["commit"], *state.stories[0].commit.as_ref().unwrap());
    assert_eq!(stories[0]["reason"], serde_json::Value::Null);
    assert_eq!(stories[0]["phases"][0]["role"], "developer");
    assert_eq!(stories[0]["phases"][0]["turns"], 2);
    assert_eq!(stories[1]["state"], "failed");
    assert!(stories[1]["reason"].as_str().unwrap().starts_with("dev 1: "), "{}", stories[1]);
    assert_eq!(stories[1]["commit"], serde_json::Value::Null);
    assert_eq!(document["closing"]["id"], "epic-1");
    assert_eq!(report::counts(&state), [(StoryState::Done, 1), (StoryState::Failed, 1)]);
}

#[test]
fn a_merge_and_its_refusal_are_shown() {
    let stage = Stage::new(&["1-1-a"], "");
    let (run, mut state) = stage.run(plain());
    let record = stage.store().run_record(&run).unwrap();
    state.merged = Some(None);
    let document = report::document(&record, &state, false);
    assert_eq!(
        (&document["merged"], &document["merge_refused"]),
        (&true.into(), &serde_json::Value::Null)
    );
    state.merged = Some(Some("diverged".to_owned()));
    let document = report::document(&record, &state, false);
    assert_eq!(
        (&document["merged"], &document["merge_refused"]),
        (&false.into(), &"diverged".into())
    );
    // Without commits, there is none to show.
    state.options.no_commit = true;
    let document = report::document(&record, &state, false);
    assert_eq!(document["stories"][0]["commit"], serde_json::Value::Null);
}

#[test]
fn the_voices_of_a_party_are_lines_of_their_own() {
    let doubts = "result '{\"nonce\":\"{HANDOVER_NONCE}\",\"story\":\"1-1-a\",\"phase\":\"review\",\"verdict\":\"passed\",\"findings\":[{\"severity\":\"low\",\"issue\":\"a name\"}]}'";
    let stage = Stage::new(&["1-1-a"], &format!("* review * | {doubts}"));
    let mut parties = handover_engine::party::Parties::new(false);
    let who = crate::reducer::personas(&["ann", "bob"]);
    let config = handover_model::config::PartyConfig::default();
    parties.invite(handover_model::PartyPhase::Review, who, false, &config, Profile::Edit);
    let (run, _) = stage.run(parties.join(reviewed()));
    let store = stage.store();
    let record = store.run_record(&run).unwrap();
    let document = report::of_run(&store, &record, "here").unwrap().unwrap();
    let lines = document["stories"][0]["phases"].as_array().unwrap();
    let mut voices: Vec<(String, u64)> = lines
        .iter()
        .filter_map(|line| Some((line["persona"].as_str()?.to_owned(), line["round"].as_u64()?)))
        .collect();
    voices.sort();
    let expected = [("ann", 1), ("ann", 2), ("bob", 1), ("bob", 2)];
    assert_eq!(voices, expected.map(|(name, round)| (name.to_owned(), round)));
}
