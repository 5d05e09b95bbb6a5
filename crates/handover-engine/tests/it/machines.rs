//! Two machines on one run: a shared store, a shared remote, two clones.

use handover_engine::pipeline::Pipeline;
use handover_engine::question::{self, AnswerContext};
use handover_engine::{EngineError, Progress};
use handover_model::{Profile, RunState, Timestamp};
use handover_text::Redactor;

use crate::stage::{Stage, result};

fn plain() -> Pipeline {
    Pipeline::story(false, Profile::Edit)
}

/// A leader whose project has a bare remote, and its address.
fn leader(stories: &[&str]) -> (Stage, String) {
    let mut stage = Stage::new(stories, "");
    let remote = stage.env.folder().join("remote.git").display().to_string();
    stage.env.git("", &["clone", "--quiet", "--bare", ".", &remote]);
    stage.env.git("", &["remote", "add", "origin", &remote]);
    stage.config.runs.remote = Some("origin".to_owned());
    stage.config.runs.lease = 3;
    (stage, remote)
}

fn remote_refs(stage: &Stage) -> Vec<String> {
    let listed = stage.git(&["ls-remote", "--refs", "origin"]);
    listed.lines().filter_map(|line| line.split('\t').nth(1)).map(str::to_owned).collect()
}

/// Each agent waits for the other, so the run only ends if both work concurrently; the leader alone has one
/// slot.
#[test]
fn another_machine_runs_agents_for_the_leader() {
    let (stage, remote) = leader(&["1-1-a", "1-2-b"]);
    let at = stage.env.folder().join("met");
    fs_err::create_dir_all(&at).unwrap();
    let meets = |own: &str, other: &str| {
        format!(
            "1-{own} dev * | write {at}/{own} x wait-for {at}/{other} write {own}.txt work \
             print \"IMPLEMENTATION COMPLETE: 1-{own}\"",
            at = at.display()
        )
    };
    stage.script(&format!("{}\n{}", meets("1-a", "2-b"), meets("2-b", "1-a")));
    let helper = stage.another_machine("there", &remote);
    stage.store();
    let mut leader = None;
    let ((led, state), (helped, seen)) = std::thread::scope(|scope| {
        let leading = scope.spawn(|| stage.try_run(&stage.request(plain())).unwrap());
        // The leader is busy with its first agent, which waits for the second.
        while !at.join("1-a").exists() {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        let request = helper.request(plain());
        let helped = helper.with_engine(|engine| {
            engine.run(&request, &mut |_, progress| {
                if let Progress::Helping { leader: name, .. } = progress {
                    leader = Some((*name).to_owned());
                }
            })
        });
        (leading.join().unwrap(), helped.unwrap())
    });
    assert_eq!(state.state, RunState::Done, "{:?}", state.stopped);
    assert_eq!((&led, leader.as_deref()), (&helped, Some("here")), "both worked on the same run");
    assert_eq!(seen.state, RunState::Done);
    assert!(helper.env.path(".handover/runs").join(led.as_str()).join("remote-jobs").exists());
    for id in ["1-a", "2-b"] {
        assert_eq!(stage.show("handover/epic-1", &format!("{id}.txt")), "work");
    }
    // The branch is shared, and nothing else is left on the remote.
    let refs = remote_refs(&stage);
    assert_eq!(refs, ["refs/heads/handover/epic-1", "refs/heads/main"]);
}

#[test]
fn another_machine_continues_a_run_that_waits_for_an_answer() {
    let (stage, remote) = leader(&["1-1-a", "1-2-b"]);
    let asks = result("1-2-b", "dev", "escalate", ",\"summary\":\"Which key?\"");
    stage.script(&format!("1-2-b dev 1 | write half.txt x {asks}"));
    let (run, state) = stage.run(plain());
    assert_eq!((state.state, state.is_over()), (RunState::Blocked, false));
    // Whatever the journal names was pushed.
    let refs = remote_refs(&stage);
    for name in ["refs/heads/handover/epic-1", "refs/heads/handover/failed/1-2-b"] {
        assert!(refs.iter().any(|other| other == name), "{name} is missing in {refs:?}");
    }
    let ours = format!("refs/handover/{run}/");
    assert!(refs.iter().any(|name| *name == format!("{ours}@base")), "{refs:?}");
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
    let asked = question::meant(question::open(&store, None).unwrap(), None).unwrap();
    context.answer(&asked, "the blue one").unwrap();
    let other = stage.another_machine("there", &remote);
    let mut request = other.request(plain());
    request.resume = true;
    let (resumed, state) = other.try_run(&request).unwrap();
    assert_eq!((resumed, state.state), (run, RunState::Done), "{:?}", state.stopped);
    assert_eq!(other.show("handover/epic-1", "1-1-a.txt"), "work");
    assert_eq!(other.show("handover/epic-1", "1-2-b.txt"), "work");
    assert!(!remote_refs(&stage).iter().any(|name| name.starts_with("refs/handover/")));
}

#[test]
fn without_a_remote_a_second_engine_is_refused() {
    let (mut stage, _) = leader(&["1-1-a"]);
    stage.config.runs.remote = None;
    let flag = stage.env.folder().join("flag");
    let go = stage.env.folder().join("go");
    stage.script(&format!(
        "* dev * | write {} x wait-for {} write a.txt x print \"IMPLEMENTATION COMPLETE: 1-1-a\"",
        flag.display(),
        go.display()
    ));
    std::thread::scope(|scope| {
        let first = scope.spawn(|| stage.try_run(&stage.request(plain())).unwrap());
        while !flag.exists() {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        let second = stage.try_run(&stage.request(plain()));
        fs_err::write(&go, "").unwrap();
        let error = second.unwrap_err();
        assert!(
            matches!(error, EngineError::Store(handover_store::StoreError::Locked { .. })),
            "{error}"
        );
        assert_eq!(first.join().unwrap().1.state, RunState::Done);
    });
}

#[test]
fn a_remote_that_is_gone_stops_the_run() {
    let (stage, remote) = leader(&["1-1-a"]);
    fs_err::remove_dir_all(&remote).unwrap();
    let (_, state) = stage.run(plain());
    assert_eq!(state.state, RunState::Environment);
    assert!(state.stopped.as_ref().unwrap().starts_with("`git push"), "{:?}", state.stopped);
}
