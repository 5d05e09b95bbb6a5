//! Runs of every pipeline that are killed at any moment, again and again: they reach the same end as without,
//! no finished phase is paid for twice, and nothing is left running. `HANDOVER_TEST_KILLS` sets how often,
//! `HANDOVER_TEST_SEED` other moments, `HANDOVER_TEST_SCENE` the only kind of run.

use std::process::Child;
use std::thread::sleep;
use std::time::{Duration, Instant};

use handover_testkit::processes_with;

use super::killed::{Scene, calls, finished, journal};
use super::{chain, closing, crashes, parallel, party, team};

/// All pipelines: story, `--parallel`, parties, their failures, team, chain, and acceptance tests.
const SCENES: [(&str, Scene); 7] = [
    ("story", crashes::SCENE),
    ("parallel", parallel::SCENE),
    ("party", party::crashes::PARTY),
    ("failure", party::crashes::FAILURE),
    ("team", team::SCENE),
    ("chain", chain::SCENE),
    ("closing", closing::SCENE),
];

/// After so many kills a run may end.
const PER_RUN: usize = 8;

#[expect(clippy::disallowed_methods, reason = "the nightly job sets it")]
fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(usual)
}

/// Numbers that look random (splitmix64).
struct Random(u64);

impl Random {
    fn below(&mut self, most: Duration) -> Duration {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        most.mul_f64((mixed >> 40) as f64 / (1u64 << 24) as f64)
    }
}

/// Waits for the end until it is time; then kills.
fn end_or_kill(mut engine: Child, after: Duration) -> Option<i32> {
    let until = Instant::now() + after;
    while Instant::now() < until {
        if let Some(status) = engine.try_wait().unwrap() {
            return Some(status.code().unwrap());
        }
        sleep(Duration::from_millis(2));
    }
    engine.kill().unwrap();
    let status = engine.wait().unwrap();
    status.code()
}

/// Kills a run again and again until it has ended. Returns how often it was killed.
fn kill_often(name: &str, scene: &Scene, random: &mut Random) -> usize {
    let begin = Instant::now();
    let expected = expected(scene);
    let whole = begin.elapsed();
    let epic = (scene.make)();
    let said = epic.env.folder().join("said");
    let mut flags = scene.flags;
    let mut kills = 0;
    let mut paid: Vec<(Vec<String>, usize)> = Vec::new();
    let code = loop {
        let mut engine = epic.env.command();
        engine.args((scene.command)(&epic, flags));
        let said = fs_err::File::create(&said).unwrap();
        engine.stdout(std::process::Stdio::null()).stderr(said.into_parts().0);
        // Anywhere in the run, then soon after it was resumed, so that one run is killed often.
        let after = match kills {
            PER_RUN.. => whole * 60,
            even if even % 2 == 0 => random.below(whole),
            _ => random.below(whole / 8),
        };
        let code = end_or_kill(engine.spawn().unwrap(), after);
        let all = calls(&epic);
        for (done, count) in &paid {
            let again = all.iter().skip(*count).find(|call| done.contains(*call));
            assert_eq!(again, None, "{name}: finished, and paid again");
        }
        if code.is_some() {
            break code;
        }
        kills += 1;
        paid.push((finished(&epic).into_iter().collect(), all.len()));
        // One that was killed before it began has nothing to resume, and its options were never recorded.
        if !journal(&epic).is_empty() {
            flags = scene.again;
        }
    };
    let said = fs_err::read_to_string(said).unwrap();
    assert_eq!(code, Some(scene.code), "{name} after {kills} kills: {said}");
    let run = epic.status()["id"].as_str().unwrap().to_owned();
    assert_eq!(processes_with("HANDOVER_RUN", &run), Vec::<u32>::new(), "{name}");
    assert_eq!((scene.left)(&epic), expected, "{name} after {kills} kills: {said}");
    kills
}

/// What a run that nobody kills leaves.
fn expected(scene: &Scene) -> Vec<String> {
    let epic = (scene.make)();
    let output = epic.env.run((scene.command)(&epic, scene.flags));
    assert_eq!(output.code, Some(scene.code), "{output}");
    (scene.left)(&epic)
}

#[test]
fn killed_at_random() {
    let wanted = number("HANDOVER_TEST_KILLS", 7) as usize;
    let mut random = Random(number("HANDOVER_TEST_SEED", 1));
    let (mut kills, mut runs) = (0, 0);
    let only = std::env::var_os("HANDOVER_TEST_SCENE");
    let is_wanted = |name: &str| only.as_ref().is_none_or(|only| only == name);
    let scenes: Vec<_> = SCENES.iter().filter(|(name, _)| is_wanted(name)).collect();
    for (name, scene) in scenes.iter().copied().cycle() {
        kills += kill_often(name, scene, &mut random);
        runs += 1;
        if std::env::var_os("HANDOVER_TEST_KILLS").is_some() {
            eprintln!("{name}: {kills} kills in {runs} runs");
        }
        if kills >= wanted && runs >= scenes.len() {
            break;
        }
    }
    assert!(kills >= wanted, "{kills}");
}
