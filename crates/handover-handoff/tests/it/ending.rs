//! The last step: what is kept of an ending, what is refused, and what is learned.

use std::collections::BTreeMap;

use handover_context::package_file::ProjectPaths;
use handover_handoff::{
    Assignment, Debrief, Ended, Ending, ErrorNote, HandoffRequest, Kept, Learn, PackageNote,
    RunStep, TicketRequest, read_ending, read_fields,
};
use handover_model::{
    AgentId, BriefDelivery, Host, HostSessionId, KnownEvent, PackageKind, Phase, ReceiptState,
    RunId, RunPhase, SessionId, Verdict,
};
use handover_store::{
    ErrorFilter, ErrorPatterns, Packages, ReasoningFilter, Reasonings, Sessions, Strategies,
    StrategyFilter,
};
use serde_json::json;

use crate::world::{World, at, group, receipt_id, role, session};

fn debrief(verdict: Verdict, summary: &str) -> Debrief {
    Debrief { verdict: Some(verdict), summary: Some(summary.to_owned()), ..Debrief::default() }
}

impl World {
    fn end(&self, assignment: &Assignment, debrief: &Debrief, seconds: i64) -> Kept {
        let ended = self.handoffs().ended(Ending::new(assignment, debrief, at(seconds))).unwrap();
        ended.kept().unwrap().clone()
    }

    /// An agent that starts and ends at once.
    fn play(&self, who: &str, name: &str, seconds: i64, debrief: &Debrief) -> Kept {
        let handoff = self.started(who, name, seconds);
        self.end(&handoff.assignment, debrief, seconds)
    }

    fn reasoning(&self) -> Vec<(Phase, String, u32)> {
        let mut all = self.store.reasoning(&session(), &ReasoningFilter::default()).unwrap();
        all.sort_by_key(|entry| entry.id);
        all.into_iter().map(|entry| (entry.phase, entry.content, entry.iteration)).collect()
    }

    fn strategies(&self) -> Vec<String> {
        let project = self.store.session(&session()).unwrap().project;
        let all = self.store.strategies(&project, &StrategyFilter::default()).unwrap();
        all.into_iter().map(|strategy| strategy.insight).collect()
    }

    /// The messages and solutions of all error patterns.
    fn errors(&self) -> Vec<(String, Option<String>)> {
        let project = self.store.session(&session()).unwrap().project;
        let all = self.store.errors(&project, &ErrorFilter::default()).unwrap();
        let mut all: Vec<_> =
            all.into_iter().map(|error| (error.signature.message, error.solution)).collect();
        all.sort();
        all
    }
}

#[test]
fn everything_is_kept_under_the_receipt() {
    let world = World::new();
    let handoff = world.started("developer", "1", 1);
    fs_err::write(world.paths.root().join("found.md"), "# Found\n\n## Summary\nOne lock.\n")
        .unwrap();
    let debrief = Debrief {
        receipt: Some(receipt_id("1")),
        reasoning: BTreeMap::from([
            (Phase::Decisions, "password=correct-horse-battery".to_owned()),
            (Phase::Completion, "it holds".to_owned()),
        ]),
        packages: vec![PackageNote {
            path: "found.md".to_owned(),
            kind: Some(PackageKind::Decisions),
            consumers: vec![role("qa_expert")],
            ..PackageNote::default()
        }],
        errors: vec![
            ErrorNote { message: "ECONNREFUSED".into(), solution: Some("start it".into()) },
            ErrorNote { message: "ENOENT".into(), solution: None },
        ],
        ..debrief(Verdict::Complete, "Tokens rotate.")
    };
    let named = handoff.assignment.named(Some(AgentId::new("a1").unwrap()));
    let kept = world.end(&named, &debrief, 5);
    assert_eq!((kept.reasoning, kept.packages.len(), kept.errors.len()), (2, 1, 2));
    assert!(kept.confirmed && kept.refused.is_empty(), "{kept:?}");
    assert_eq!(world.receipt("1").state, ReceiptState::Confirmed);
    assert_eq!(
        world.reasoning(),
        [
            (Phase::Decisions, "password=[REDACTED-1]".to_owned(), 0),
            (Phase::Completion, "it holds".to_owned(), 0)
        ]
    );
    let package = world.store.package(kept.packages[0]).unwrap();
    assert_eq!((package.kind, package.group), (PackageKind::Decisions, Some(group())));
    assert_eq!((package.producer, package.consumers), (role("developer"), vec![role("qa_expert")]));
    let solutions: Vec<_> = world.errors().into_iter().map(|(_, solution)| solution).collect();
    assert_eq!(solutions, [Some("start it".to_owned()), None]);
    let logged = &world.events(KnownEvent::Debrief)[0];
    assert_eq!((&logged["verdict"], &logged["iteration"]), (&json!("complete"), &json!(0)));
    let verdict = &world.events(KnownEvent::Verdict)[0];
    assert_eq!(verdict["summary"], "Tokens rotate.");
}

#[test]
fn a_summary_stands_in_for_a_missing_completion() {
    let world = World::new();
    let said = Debrief {
        reasoning: BTreeMap::from([(Phase::Decisions, "one lock".to_owned())]),
        ..debrief(Verdict::Complete, "Tokens rotate.")
    };
    assert_eq!(world.play("developer", "1", 1, &said).reasoning, 2);
    let expected = [(Phase::Completion, "Tokens rotate."), (Phase::Decisions, "one lock")];
    assert_eq!(world.reasoning(), expected.map(|(phase, text)| (phase, text.to_owned(), 0)));
}

#[test]
fn an_agent_that_said_nothing_leaves_a_gap_that_is_logged() {
    let world = World::new();
    let handoff = world.started("developer", "1", 1);
    let silence = read_ending("I am done.");
    let ending = Ending::new(&handoff.assignment, &silence, at(2));
    let ended = world.handoffs().ended(Ending { asked_again: true, ..ending }).unwrap();
    assert_eq!(ended, Ended::Nothing);
    assert_eq!(ended.kept(), None);
    let logged = world.events(KnownEvent::Debrief);
    assert_eq!(
        (logged.len(), &logged[0]["missing"], &logged[0]["asked"]),
        (1, &json!(["block"]), &json!(true))
    );
    assert_eq!(world.events(KnownEvent::Verdict).len(), 0);
    assert_eq!(world.reasoning(), []);
}

#[test]
fn a_receipt_of_somebody_else_confirms_nothing() {
    let world = World::new();
    let handoff = world.started("developer", "1", 1);
    let said = Debrief { receipt: Some(receipt_id("2")), ..debrief(Verdict::Complete, "done") };
    let kept = world.end(&handoff.assignment, &said, 2);
    assert!(!kept.confirmed);
    assert_eq!(kept.refused, ["it names receipt r_2, but was given r_1"]);
    assert_eq!(world.receipt("1").state, ReceiptState::Delivered);
}

#[test]
fn an_agent_without_a_brief_can_leave_something_too() {
    let world = World::new();
    let assignment = Assignment::without_receipt(session(), None, role("gardener"));
    let kept = world.end(&assignment, &debrief(Verdict::Blocked, "no water"), 1);
    assert_eq!((kept.reasoning, kept.confirmed), (1, false));
    assert_eq!(world.events(KnownEvent::Verdict)[0]["receipt"], json!(null));
}

#[test]
fn nothing_is_kept_if_anything_fails() {
    let world = World::new();
    let nowhere = SessionId::new("nowhere").unwrap();
    let assignment = Assignment::without_receipt(nowhere, None, role("developer"));
    let said = debrief(Verdict::Complete, "done");
    assert!(world.handoffs().ended(Ending::new(&assignment, &said, at(1))).is_err());
    assert_eq!((world.reasoning().len(), world.errors().len()), (0, 0));
}

#[test]
fn what_cannot_be_a_package_is_refused_with_the_reason() {
    let world = World::new();
    let note = |path: &str| PackageNote { path: path.to_owned(), ..PackageNote::default() };
    let packages = vec![note("../outside.md"), note("missing.md")];
    let said = Debrief {
        packages,
        problems: vec!["`great` is no verdict".to_owned()],
        ..debrief(Verdict::Complete, "done")
    };
    let kept = world.play("developer", "1", 1, &said);
    assert_eq!(kept.packages, []);
    assert_eq!(kept.refused.len(), 3, "{:?}", kept.refused);
    assert_eq!(kept.refused[0], "`great` is no verdict");
    assert!(kept.refused[1].starts_with("package `../outside.md`:"), "{:?}", kept.refused);
    assert!(kept.refused[2].starts_with("package `missing.md`:"), "{:?}", kept.refused);
}

#[test]
fn files_of_a_worktree_are_found_there_and_others_in_the_project() {
    let world = World::new();
    let handoff = world.started("developer", "1", 1);
    let tree = tempfile::tempdir().unwrap();
    let root = fs_err::canonicalize(tree.path()).unwrap();
    fs_err::write(root.join("here.md"), "# Here\n\n## Summary\nIn the worktree.\n").unwrap();
    let outside = world.paths.root().join("there.md");
    fs_err::write(&outside, "# There\n\n## Summary\nIn the project.\n").unwrap();
    let kind = Some(PackageKind::Research);
    let note = |path: String| PackageNote { path, kind, ..PackageNote::default() };
    let said = Debrief {
        packages: vec![note("here.md".into()), note(outside.display().to_string())],
        ..debrief(Verdict::Complete, "done")
    };
    let worktree = ProjectPaths::new(&root, &[]).unwrap();
    let ending = Ending::new(&handoff.assignment, &said, at(2));
    let ended = world.handoffs().ended(Ending { worktree: Some(&worktree), ..ending }).unwrap();
    let kept = ended.kept().unwrap();
    assert_eq!((kept.packages.len(), &kept.refused), (2, &Vec::new()));
    assert_eq!(world.store.package(kept.packages[0]).unwrap().summary, "In the worktree.");
    assert_eq!(world.store.package(kept.packages[1]).unwrap().path, "there.md");
}

fn with_ticket(world: &World) -> Assignment {
    let ticket = Some(TicketRequest {
        host: Host::CLAUDE,
        conversation: HostSessionId::new("c-1").unwrap(),
        agent_type: "developer".to_owned(),
        name: None,
        tool_use: None,
        agent: None,
        parent: None,
        task_hash: "hash".to_owned(),
        way: BriefDelivery::Rewrite,
    });
    let request = HandoffRequest { ticket, ..world.request("1", 1) };
    world.handoffs().prepare(&request).unwrap().handoff.assignment
}

#[test]
fn every_ending_of_a_ticket_counts_once() {
    let world = World::new();
    let assignment = with_ticket(&world);
    let said = debrief(Verdict::Complete, "done");
    let ending = Ending { ended_with: Some("first"), ..Ending::new(&assignment, &said, at(2)) };
    assert!(world.handoffs().ended(ending).unwrap().kept().is_some());
    assert_eq!(world.handoffs().ended(ending).unwrap(), Ended::StoredEarlier);
    assert_eq!(world.reasoning().len(), 1);
    // It is continued, and ends twice more: with a debrief, and without one.
    let more = debrief(Verdict::Blocked, "one thing is missing");
    let second = Ending { debrief: &more, ended_with: Some("second"), ..ending };
    assert!(world.handoffs().ended(second).unwrap().kept().is_some());
    let nothing = read_ending("Thanks.");
    let third = Ending { debrief: &nothing, ended_with: Some("third"), ..ending };
    assert_eq!(world.handoffs().ended(third).unwrap(), Ended::Nothing);
    assert_eq!(world.reasoning().len(), 2);
    let verdicts: Vec<_> =
        world.events(KnownEvent::Debrief).iter().map(|event| event["verdict"].clone()).collect();
    assert_eq!(verdicts.len(), 2, "{verdicts:?}");
}

#[test]
fn a_prompt_that_was_lost_fails_its_receipt() {
    let world = World::new();
    let assignment = with_ticket(&world);
    let said = debrief(Verdict::Complete, "done without it");
    world
        .handoffs()
        .ended(Ending {
            ended_with: Some("hash"),
            lost_prompt: true,
            host: Some(Host::CLAUDE),
            ..Ending::new(&assignment, &said, at(2))
        })
        .unwrap();
    let receipt = world.receipt("1");
    assert_eq!(receipt.state, ReceiptState::Failed);
    assert!(receipt.failure.unwrap().contains("does not hold it"));
    assert_eq!(world.events(KnownEvent::Delivery).len(), 0, "nothing was delivered");
    assert_eq!(world.reasoning().len(), 1, "what it did counts all the same");
}

#[test]
fn events_of_a_run_say_where_in_it_they_happened() {
    let world = World::new();
    let handoff = world.started("developer", "1", 1);
    let step = RunStep {
        run: RunId::new("run_1").unwrap(),
        story: "1-1".to_owned(),
        phase: RunPhase::Dev,
        attempt: 2,
        voice: None,
        status: None,
    };
    let said = Debrief { summary: Some("unclear".to_owned()), ..Debrief::default() };
    let ending = Ending::new(&handoff.assignment, &said, at(2));
    world.handoffs().ended(Ending { run: Some(&step), ..ending }).unwrap();
    for kind in [KnownEvent::Debrief, KnownEvent::Verdict] {
        let event = &world.events(kind)[0];
        assert_eq!((&event["run"], &event["story"]), (&json!("run_1"), &json!("1-1")));
        assert_eq!((&event["phase"], &event["attempt"]), (&json!("dev"), &json!(2)));
        assert_eq!(event["verdict"], json!(null));
    }
}

#[test]
fn a_step_that_a_crash_repeats_is_stored_once() {
    let world = World::new();
    let step = |attempt| RunStep {
        run: RunId::new("run_1").unwrap(),
        story: "1-1".to_owned(),
        phase: RunPhase::Dev,
        attempt,
        voice: Some(json!({"persona": "winston", "round": 1})),
        status: None,
    };
    let said = debrief(Verdict::Complete, "done");
    let end = |name: &str, step: &RunStep| {
        let handoff = world.started("developer", name, 1);
        let ending = Ending::new(&handoff.assignment, &said, at(2));
        world.handoffs().ended(Ending { run: Some(step), ..ending }).unwrap()
    };
    assert!(end("1", &step(1)).kept().is_some());
    assert_eq!(end("2", &step(1)), Ended::StoredEarlier);
    let other = RunStep { voice: Some(json!({"persona": "amelia", "round": 1})), ..step(1) };
    assert!(end("3", &other).kept().is_some());
    assert!(end("4", &step(2)).kept().is_some());
    assert_eq!(world.reasoning().len(), 3);
    assert_eq!(world.events(KnownEvent::Verdict).len(), 3);
}

#[test]
fn the_reason_for_a_missing_verdict_is_no_completion() {
    let world = World::new();
    let handoff = world.started("developer", "1", 1);
    let said = Debrief {
        summary: Some("the API is overloaded".to_owned()),
        reasoning: BTreeMap::from([(Phase::Decisions, "one lock".to_owned())]),
        ..Debrief::default()
    };
    world.end(&handoff.assignment, &said, 2);
    assert_eq!(world.reasoning(), [(Phase::Decisions, "one lock".to_owned(), 0)]);
}

fn reasoned(verdict: Verdict, completion: &str) -> Debrief {
    let reasoning = BTreeMap::from([(Phase::Completion, completion.to_owned())]);
    Debrief { reasoning, ..debrief(verdict, "as it says") }
}

#[test]
fn work_that_nobody_accepted_teaches_nothing() {
    let world = World::new();
    let said = reasoned(Verdict::Complete, "one lock per user account");
    assert_eq!(world.play("developer", "1", 1, &said).strategies, 0);
    assert_eq!(world.strategies(), [""; 0]);
}

#[test]
fn a_run_learns_when_it_commits() {
    let world = World::new();
    let handoff = world.started("developer", "1", 1);
    let said = reasoned(Verdict::Complete, "one lock per user");
    let ending = Ending::new(&handoff.assignment, &said, at(1));
    let ended = world.handoffs().ended(Ending { learn: Learn::AtCommit, ..ending }).unwrap();
    assert_eq!(ended.kept().unwrap().strategies, 0);
    assert_eq!(world.strategies(), [""; 0]);
}

#[test]
fn failures_and_blocks_teach_nothing() {
    let world = World::new();
    for (n, verdict) in
        [Verdict::Failed, Verdict::Blocked, Verdict::Escalate].into_iter().enumerate()
    {
        let world = World::new();
        let kept = world.play("developer", &n.to_string(), 1, &reasoned(verdict, "a try"));
        assert_eq!(kept.strategies, 0, "{verdict}");
    }
    let kept = world.play("qa_expert", "1", 1, &reasoned(Verdict::Failed, "broken"));
    assert_eq!(kept.strategies, 0);
}

#[test]
fn an_approval_teaches_the_last_attempt_of_those_who_worked() {
    let world = World::new();
    world.play("developer", "1", 1, &reasoned(Verdict::Failed, "one global lock for all"));
    world.play("developer", "2", 2, &reasoned(Verdict::Complete, "one lock per user account"));
    let kept = world.play("tech_lead", "3", 3, &reasoned(Verdict::PassedWithFixes, "I approve"));
    assert_eq!(kept.strategies, 1);
    assert_eq!(world.strategies(), ["one lock per user account"]);
}

#[test]
fn strategies_come_from_the_agent_that_took_over_not_the_one_that_failed() {
    let world = World::new();
    for n in 1..4 {
        let said = reasoned(Verdict::Complete, "one global lock for all");
        world.play("developer", &n.to_string(), n, &said);
    }
    let said = reasoned(Verdict::Complete, "one lock per user account");
    world.play("senior_software_engineer", "5", 5, &said);
    world.play("qa_expert", "6", 6, &debrief(Verdict::Passed, "fine"));
    assert_eq!(world.strategies(), ["one lock per user account"]);
}

#[test]
fn qa_teaches_what_it_passes_and_nothing_of_a_bare_done() {
    let world = World::new();
    world.play("developer", "1", 1, &reasoned(Verdict::Complete, "one lock per user account"));
    assert_eq!(world.play("qa_expert", "2", 2, &debrief(Verdict::Failed, "no")).strategies, 0);
    world.play("developer", "3", 3, &reasoned(Verdict::Complete, "Done, all tests pass."));
    assert_eq!(world.play("qa_expert", "4", 4, &debrief(Verdict::Passed, "fine")).strategies, 0);
    assert_eq!(world.strategies(), [""; 0]);
}

#[test]
fn findings_that_were_fixed_are_known_errors() {
    let world = World::new();
    world.play("developer", "1", 1, &reasoned(Verdict::Complete, "one lock"));
    world.play("qa_expert", "2", 2, &debrief(Verdict::Failed, "two tabs sign the user out"));
    world.play("developer", "3", 3, &reasoned(Verdict::Complete, "the row is locked"));
    let kept = world.play("qa_expert", "4", 4, &debrief(Verdict::Passed, "fine"));
    assert_eq!(kept.errors.len(), 1);
    let errors = world.errors();
    assert_eq!(errors.len(), 1);
    assert_eq!(errors[0].1.as_deref(), Some("the row is locked"));
    // It is learned once: the next pass finds nothing that was sent back since.
    let again = world.play("qa_expert", "5", 5, &debrief(Verdict::Passed, "fine"));
    assert_eq!(again.errors, [""; 0]);
}

#[test]
fn findings_that_nobody_worked_on_since_are_not_solved() {
    let world = World::new();
    world.play("developer", "1", 1, &reasoned(Verdict::Complete, "one lock"));
    world.play("tech_lead", "2", 2, &debrief(Verdict::Failed, "the lock is too wide"));
    let kept = world.play("tech_lead", "3", 3, &debrief(Verdict::Passed, "on second thought"));
    assert_eq!(kept.errors, [""; 0]);
    // Nor does one judge's pass solve what another one found.
    world.play("developer", "4", 4, &reasoned(Verdict::Complete, "narrower"));
    let kept = world.play("qa_expert", "5", 5, &debrief(Verdict::Passed, "fine"));
    assert_eq!(kept.errors, [""; 0]);
}

#[test]
fn the_fields_of_a_result_are_read_like_a_block() {
    let read = read_fields(&json!({
        "verdict": "nonsense", "status": "READY_FOR_QA", "receipt": "r_1", "Summary": "done",
        "reasoning": {"decisions": "one lock", "mood": "great"},
        "packages": [
            {"path": "a.md", "kind": "Research", "priority": "HIGH", "consumers": "qa_expert, tech_lead,"},
            {"path": "b.md", "kind": "poem"},
            {"path": "c.md", "consumers": ["no role!"]},
            "d.md",
        ],
        "errors": ["boom", {"error": "bang", "fix": "hide"}],
    }));
    assert_eq!((read.verdict, read.receipt), (None, Some(receipt_id("1"))));
    assert_eq!(read.summary.as_deref(), Some("done"));
    assert_eq!(read.reasoning, BTreeMap::from([(Phase::Decisions, "one lock".to_owned())]));
    let paths: Vec<&str> = read.packages.iter().map(|note| note.path.as_str()).collect();
    assert_eq!(paths, ["a.md", "d.md"]);
    assert_eq!(read.packages[0].consumers, [role("qa_expert"), role("tech_lead")]);
    assert_eq!(read.packages[0].kind, Some(PackageKind::Research));
    assert_eq!(read.problems.len(), 3, "{:?}", read.problems);
    assert!(read.problems.iter().any(|problem| problem.contains("package `b.md`")));
    assert_eq!(read.errors.len(), 2);
    assert_eq!(read.errors[1].solution.as_deref(), Some("hide"));
    assert_eq!(read_fields(&json!("done")), Debrief::default());
}
