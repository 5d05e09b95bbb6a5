//! Several epics, one after the other.

use handover_engine::chain::{ChainRequest, Report};
use handover_engine::pipeline::Pipeline;
use handover_engine::{EngineError, Progress, RunRequest};
use handover_model::{EpicId, Profile, RunState};

use crate::stage::{Stage, result};

/// Epics 1, 2 and 3 with one story each; 2 depends on 1.
fn stage(script: &str) -> Stage {
    let stage = Stage::new(&["1-1-a", "2-1-b", "3-1-c"], script);
    stage.env.write("docs/epics/epic-2.md", "# Epic 2\nDepends on: Epic 1\n");
    stage.env.write("docs/epics/epic-3.md", "# Epic 3\n");
    stage.commit("epics");
    stage
}

fn each(stage: &Stage) -> RunRequest {
    stage.request(Pipeline::story(false, Profile::Edit))
}

fn chain(stage: &Stage, epics: &[&str], each: RunRequest) -> Result<Report, EngineError> {
    let epics = epics.iter().map(|epic| EpicId::new(*epic).unwrap()).collect();
    let request = ChainRequest { epics, each };
    stage.with_engine(|engine| engine.chain(&request, &mut |_, _, _| {}))
}

fn states(report: &Report) -> Vec<(String, Option<RunState>)> {
    report.epics.iter().map(|epic| (epic.epic.to_string(), epic.state)).collect()
}

#[test]
fn an_epic_starts_from_the_head_of_its_dependency() {
    let stage = stage("");
    let report = chain(&stage, &["2", "1"], each(&stage)).unwrap();
    assert_eq!(report.state, RunState::Done);
    let done = Some(RunState::Done);
    assert_eq!(states(&report), [("1".to_owned(), done), ("2".to_owned(), done)]);
    let files = stage.git(&["ls-tree", "-r", "--name-only", "handover/epic-2"]);
    assert!(files.contains("1-1-a.txt") && files.contains("2-1-b.txt"), "{files}");
    let document = report.document();
    assert_eq!(document["epics"][1]["builds_on"][0], "1");
    assert_eq!(document["epics"][1]["stories"]["done"], 1);
}

#[test]
fn a_failed_epic_blocks_its_dependents_and_no_others() {
    let stage = stage("1-1-a dev * | exit 1");
    let report = chain(&stage, &["1", "2", "3"], each(&stage)).unwrap();
    assert_eq!(report.state, RunState::Failed);
    assert_eq!(
        states(&report),
        [
            ("1".to_owned(), Some(RunState::Failed)),
            ("2".to_owned(), Some(RunState::Blocked)),
            ("3".to_owned(), Some(RunState::Done)),
        ]
    );
    assert_eq!(report.epics[1].reason, "waits for epic `1`");
    assert_eq!(report.epics[0].failures.len(), 1);
    assert!(report.epics[1].run.is_none());
}

#[test]
fn whatever_stops_the_engine_stops_the_chain_and_it_can_be_resumed() {
    let mut stage = stage("");
    let good = stage.options.command.replace(stage.broken_program());
    let report = chain(&stage, &["1", "3"], each(&stage)).unwrap();
    assert_eq!(report.state, RunState::Environment);
    assert_eq!(
        states(&report),
        [("1".to_owned(), Some(RunState::Environment)), ("3".to_owned(), None)]
    );
    stage.options.command = good;
    let error = chain(&stage, &["1", "3"], each(&stage)).unwrap_err();
    assert!(matches!(error, EngineError::Unfinished { .. }), "{error}");
    let mut again = each(&stage);
    again.resume = true;
    again.overrides.host = Some((stage.options.host, stage.options.command.clone()));
    let report = chain(&stage, &["1", "3"], again).unwrap();
    assert_eq!(report.state, RunState::Done, "{report:?}");
}

#[test]
fn the_order_of_a_chain_is_known_before_it_runs() {
    let stage = stage("");
    let order = |epics: &[&str]| {
        let epics: Vec<EpicId> = epics.iter().map(|epic| EpicId::new(*epic).unwrap()).collect();
        stage.with_engine(|engine| {
            let order = engine.chain_order(&epics)?;
            Ok::<_, EngineError>(order.iter().map(|link| link.epic.to_string()).collect::<Vec<_>>())
        })
    };
    assert_eq!(order(&["3", "2", "1"]).unwrap(), ["3", "1", "2"]);
    assert!(matches!(order(&["1", "1"]), Err(EngineError::Chain(_))));
    assert!(order(&["9"]).is_err());
}

#[test]
fn the_money_of_a_chain_is_shared() {
    let costly = result("{HANDOVER_STORY}", "dev", "complete", ",\"usage\":{\"cost_usd\":0.6}");
    let stage = stage(&format!("* dev * | append {{HANDOVER_STORY}}.txt x {costly}"));
    let mut each = each(&stage);
    each.overrides.max_cost = Some(1.0);
    let report = chain(&stage, &["1", "3"], each.clone()).unwrap();
    // The second epic has 0.4 left; its first agent may start, and then nothing else.
    assert!((report.spent().cost_usd - 1.2).abs() < 1e-9);
    assert_eq!(report.state, RunState::Done);
    each.all = true;
    let report = chain(&stage, &["1", "2", "3"], each).unwrap();
    assert_eq!(report.state, RunState::Budget, "{:?}", states(&report));
    assert_eq!(report.epics[2].reason, "the run would exceed its limit of 0 USD (0.0000 spent)");
}

#[test]
fn several_dependencies_are_merged() {
    let stage = Stage::new(&["1-1-a", "2-1-b", "3-1-c"], "");
    stage.env.write("docs/epics/epic-3.md", "# Epic 3\nDepends on: Epic 1, Epic 2\n");
    stage.commit("epics");
    let report = chain(&stage, &["3", "2", "1"], each(&stage)).unwrap();
    assert_eq!(report.state, RunState::Done, "{:?}", report.epics);
    for file in ["1-1-a.txt", "2-1-b.txt", "3-1-c.txt"] {
        assert_eq!(stage.show("handover/epic-3", file), "work");
    }
    let merge = stage.git(&["log", "--merges", "--format=%s", "handover/epic-3"]);
    assert_eq!(merge, "merge: dependencies of epic 3");
}

#[test]
fn dependencies_that_contradict_each_other_fail_their_epic_alone() {
    let script = "* dev * | write shared.txt {HANDOVER_STORY} print \"IMPLEMENTATION COMPLETE: {HANDOVER_STORY}\"";
    let stage = Stage::new(&["1-1-a", "2-1-b", "3-1-c", "4-1-d"], script);
    stage.env.write("docs/epics/epic-3.md", "# Epic 3\nDepends on: Epic 1, Epic 2\n");
    stage.commit("epics");
    let report = chain(&stage, &["1", "2", "3", "4"], each(&stage)).unwrap();
    assert_eq!(report.state, RunState::Failed);
    let failed = report.epics.iter().find(|epic| epic.epic.as_str() == "3").unwrap();
    assert!(failed.reason.contains("change the same lines"), "{}", failed.reason);
    assert_eq!(report.epics.last().unwrap().state, Some(RunState::Done));
}

#[test]
fn a_finished_chain_is_resumed_without_repeating_anything() {
    let append = "* dev * | append {HANDOVER_STORY}.txt x print \"IMPLEMENTATION COMPLETE: {HANDOVER_STORY}\"";
    let stage = stage(append);
    let first = chain(&stage, &["1", "3"], each(&stage)).unwrap();
    let mut again = each(&stage);
    again.resume = true;
    let second = chain(&stage, &["1", "3"], again.clone()).unwrap();
    assert_eq!(second.state, RunState::Done);
    assert_eq!(first.epics[0].run, second.epics[0].run);
    assert_eq!(stage.show("handover/epic-1", "1-1-a.txt"), "x");
    // Without `resume` it is a new chain with new runs.
    again.resume = false;
    again.all = true;
    let third = chain(&stage, &["1", "3"], again).unwrap();
    assert_ne!(first.epics[0].run, third.epics[0].run);
    assert_eq!(stage.show("handover/epic-1", "1-1-a.txt"), "xx");
    let session = handover_model::SessionId::new("chain-1-3").unwrap();
    let status = handover_store::Sessions::session(&stage.store(), &session).unwrap().status;
    assert_eq!(status, handover_model::SessionStatus::Completed);
}

#[test]
fn progress_names_the_epic() {
    let stage = stage("");
    let mut seen = Vec::new();
    let epics = ["1", "2"].map(|epic| EpicId::new(epic).unwrap()).to_vec();
    let request = ChainRequest { epics, each: each(&stage) };
    let report = stage.with_engine(|engine| {
        engine.chain(&request, &mut |epic, _, progress| {
            if let Progress::Started { resumed, .. } = progress {
                seen.push((epic.to_string(), *resumed));
            }
        })
    });
    assert_eq!(report.unwrap().state, RunState::Done);
    assert_eq!(seen, [("1".to_owned(), false), ("2".to_owned(), false)]);
}
