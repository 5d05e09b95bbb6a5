//! What an agent's ending leaves in the store: delivery, confirmation, reasoning, solved errors.

use std::time::{Duration, Instant};

use handover_engine::pipeline::Pipeline;
use handover_engine::question::{self, AnswerContext};
use handover_engine::{EngineError, report};
use handover_model::{
    KnownEvent, Phase, Profile, ProjectId, ReceiptState, RunState, SessionId, StoryState, Timestamp,
};
use handover_store::{
    ErrorFilter, ErrorPatterns as _, EventFilter, Events as _, ReasoningFilter, Reasonings as _,
    ReceiptFilter, Receipts as _, Runs as _,
};
use handover_text::Redactor;

use crate::stage::Stage;

fn pipeline() -> Pipeline {
    Pipeline::story(false, Profile::Edit)
}

fn session() -> SessionId {
    SessionId::new("epic-1").unwrap()
}

fn states(stage: &Stage) -> Vec<ReceiptState> {
    let filter = ReceiptFilter { session: Some(session()), ..ReceiptFilter::default() };
    stage.store().receipts(&filter).unwrap().into_iter().map(|receipt| receipt.state).collect()
}

/// The result file of a developer, with more fields.
fn result(more: &str) -> String {
    format!(
        "1-1-a dev 1 | write a.txt x result '{{\"nonce\":\"{{HANDOVER_NONCE}}\",\"story\":\"1-1-a\",\
         \"phase\":\"dev\",\"verdict\":\"complete\",\"summary\":\"built it\"{more}}}'"
    )
}

/// The agent waits until its receipt is delivered, so it could not end otherwise.
#[test]
fn a_receipt_is_delivered_when_the_agent_starts() {
    let stage = Stage::new(&["1-1-a"], "");
    let flag = stage.env.folder().join("delivered");
    let line = format!(
        "1-1-a dev 1 | wait-for {} write a.txt x print \"IMPLEMENTATION COMPLETE: 1-1-a\"\n{}",
        flag.display(),
        crate::stage::GOOD
    );
    fs_err::write(&stage.script, line).unwrap();
    stage.store();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let store = stage.store();
            let filter = ReceiptFilter { session: Some(session()), ..ReceiptFilter::default() };
            let begin = Instant::now();
            while begin.elapsed() < Duration::from_secs(40) {
                // The session does not exist before the run has started.
                let receipts = store.receipts(&filter).unwrap_or_default();
                if receipts.iter().any(|receipt| receipt.state == ReceiptState::Delivered) {
                    fs_err::write(&flag, "").unwrap();
                    return;
                }
                std::thread::sleep(Duration::from_millis(50));
            }
        });
        let (_, state) = stage.run(pipeline());
        assert_eq!(state.state, RunState::Done, "{:?}", state.stories[0].reason);
    });
}

#[test]
fn a_program_that_does_not_start_releases_the_packages() {
    let mut stage = Stage::new(&["1-1-a"], "");
    stage.options.command = Some(stage.broken_program());
    let (_, state) = stage.run(pipeline());
    assert_eq!(state.state, RunState::Environment);
    assert_eq!(states(&stage), [ReceiptState::Failed]);
}

#[test]
fn an_ending_keeps_reasoning_errors_and_the_verdict() {
    let more = ",\"reasoning\":{\"decisions\":\"a file per story\"},\
                \"errors\":[{\"message\":\"port 8080 is in use\",\"solution\":\"use port 0\"}]";
    let stage = Stage::new(&["1-1-a"], &result(more));
    let (run, state) = stage.run(pipeline());
    assert_eq!(state.state, RunState::Done, "{:?}", state.stories[0]);
    let store = stage.store();
    let errors = store.errors(&ProjectId::new("p").unwrap(), &ErrorFilter::default()).unwrap();
    assert_eq!(errors.len(), 1);
    assert_eq!(errors[0].solution.as_deref(), Some("use port 0"));
    let kept = store.reasoning(&session(), &ReasoningFilter::default()).unwrap();
    let decisions = kept.iter().find(|entry| entry.phase == Phase::Decisions).unwrap();
    assert_eq!(decisions.content, "a file per story");
    let filter = EventFilter { kind: Some(KnownEvent::Verdict.into()), ..EventFilter::default() };
    let verdicts = store.events(&session(), &filter).unwrap();
    assert_eq!(verdicts.len(), 1);
    let payload = &verdicts[0].payload;
    assert_eq!(payload["run"], run.as_str());
    assert_eq!((&payload["phase"], &payload["attempt"]), (&"dev".into(), &1.into()));
    let filter = EventFilter { kind: Some(KnownEvent::Guard.into()), ..EventFilter::default() };
    assert_eq!(store.events(&session(), &filter).unwrap().len(), 1);
}

#[test]
fn an_agent_that_names_its_receipt_confirms_it() {
    // The engine's sixth generated id, after the run, the nonce and the result name, two of each.
    let stage = Stage::new(&["1-1-a"], &result(",\"receipt\":\"r_n0x6\""));
    stage.run(pipeline());
    assert_eq!(states(&stage), [ReceiptState::Confirmed]);
    let stage = Stage::new(&["1-1-a"], &result(",\"receipt\":\"r_other\""));
    stage.run(pipeline());
    assert_eq!(states(&stage), [ReceiptState::Delivered]);
}

#[test]
fn a_question_is_answered_and_the_run_resumed() {
    let script = "1-1-a dev 1 | result '{\"nonce\":\"{HANDOVER_NONCE}\",\"story\":\"1-1-a\",\
                  \"phase\":\"dev\",\"verdict\":\"escalate\",\"summary\":\"Which port?\"}'";
    let stage = Stage::new(&["1-1-a"], script);
    let (run, state) = stage.run(pipeline());
    assert_eq!(state.state, RunState::Blocked);
    let store = stage.store();
    let redactor = Redactor::new(&stage.config.redaction).unwrap();
    let context = AnswerContext {
        store: &store,
        redactor: &redactor,
        config: &stage.config,
        machine: "here",
        author: "someone",
        now: Timestamp::from_micros(1_700_000_000_500_000),
    };
    let open = question::open(&store, None).unwrap();
    assert_eq!(open.len(), 1);
    assert_eq!((open[0].story.as_str(), open[0].question.as_str()), ("1-1-a", "Which port?"));
    let asked = question::meant(open, None).unwrap();
    for (text, is_long) in [("  \n", false), (&"x".repeat(question::MAX_ANSWER_BYTES + 1), true)] {
        match context.answer(&asked, text) {
            Err(EngineError::EmptyAnswer) if !is_long => {}
            Err(EngineError::LongAnswer { .. }) if is_long => {}
            other => panic!("{other:?}"),
        }
    }
    context.answer(&asked, &"y".repeat(question::MAX_ANSWER_BYTES)).unwrap();
    // It cannot be answered twice.
    assert!(matches!(context.answer(&asked, "no"), Err(EngineError::NothingAsked { .. })));
    assert!(question::open(&store, Some(&run)).unwrap().is_empty());
    let mut request = stage.request(pipeline());
    request.resume = true;
    let (resumed, state) = stage.try_run(&request).unwrap();
    assert_eq!((resumed, state.state), (run, RunState::Done));
    assert_eq!(state.stories[0].answers.len(), 1);
}

#[test]
fn the_question_to_answer_must_be_unique() {
    let stage = Stage::new(&["1-1-a", "1-2-b"], "");
    let ask = |id: &str| {
        format!(
            "{id} dev 1 | result '{{\"nonce\":\"{{HANDOVER_NONCE}}\",\"story\":\"{id}\",\
             \"phase\":\"dev\",\"verdict\":\"escalate\",\"summary\":\"Why {id}?\"}}'\n"
        )
    };
    fs_err::write(&stage.script, format!("{}{}", ask("1-1-a"), ask("1-2-b"))).unwrap();
    let (run, state) = stage.run(pipeline());
    assert_eq!(state.stories[1].state, StoryState::Blocked);
    let open = question::open(&stage.store(), Some(&run)).unwrap();
    assert_eq!(open.len(), 2);
    assert!(matches!(question::meant(open.clone(), None), Err(EngineError::SeveralAsked)));
    assert_eq!(question::meant(open.clone(), Some("1-2-b")).unwrap().question, "Why 1-2-b?");
    let none = question::meant(open, Some("1-9-x"));
    assert!(matches!(none, Err(EngineError::NothingAsked { .. })), "{none:?}");
}

#[test]
fn a_run_without_an_engine_is_shown_as_interrupted() {
    let stage = Stage::new(&["1-1-a"], "");
    let (run, state) = stage.run(pipeline());
    let store = stage.store();
    let record = store.run_record(&run).unwrap();
    let document = report::of_run(&store, &record, "here").unwrap().unwrap();
    assert_eq!(document["state"], "done");
    assert_eq!(document["stories"][0]["phases"][0]["phase"], "dev");
    assert_eq!(report::counts(&state), [(StoryState::Done, 1)]);
    let mut running = state;
    running.state = RunState::Running;
    assert_eq!(report::document(&record, &running, false)["state"], "interrupted");
    assert_eq!(report::document(&record, &running, true)["state"], "running");
}
