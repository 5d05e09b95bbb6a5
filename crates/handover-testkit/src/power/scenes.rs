//! What is recorded, and what must survive.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;

use super::{Random, Recording};
use crate::{FakeAgent, Lock, TestEnv};

/// Something that was acknowledged and must survive.
enum Fact {
    Reasoning(String),
    Package(String),
    Verdict(String),
    /// What a person wrote down.
    Note(String),
    /// The solution of an error.
    Solution(String),
    /// A receipt in the spool.
    Receipt(String),
    /// A run that has ended.
    Ended,
}

/// A recording, and what to check after a power failure.
pub struct Scene {
    /// The project.
    pub env: TestEnv,
    recording: Recording,
    facts: Vec<(usize, Fact)>,
    /// What resumes the run, if there is one.
    resume: Option<Vec<String>>,
}

/// Simulates this many power failures per scene, spread over all of it, and checks what survives; panics if
/// something acknowledged is lost. Returns the number of failures and of syncs.
pub fn power_failures(program: &Path, failures: usize, seed: u64) -> (usize, usize) {
    let scenes: [fn(&Path) -> Scene; 2] = [Scene::store, Scene::run];
    // A run takes longer to check.
    let counts = [failures - failures / 4, failures / 4];
    let mut syncs = 0;
    for (make, count) in scenes.into_iter().zip(counts) {
        let scene = make(program);
        let mut random = Random(seed);
        syncs += scene.recording.syncs();
        for number in 0..count {
            let moments = scene.recording.moments();
            // Evenly spread, but not always at the same points; the last one when everything was acknowledged.
            let spread = number * moments / count.max(1);
            let moment = match number + 1 == count {
                true => moments,
                false => (spread + random.below(moments / count.max(1) + 1)).min(moments),
            };
            scene.fail(moment, random.next());
        }
    }
    (failures, syncs)
}

impl Scene {
    /// Commands that write, one after the other; one of them while the store is locked.
    pub fn store(program: &Path) -> Self {
        let env = TestEnv::new(program);
        for n in 0..4 {
            env.write(&format!("docs/{n}.md"), format!("# Page {n}\n## Summary\nFact {n}.\n"));
        }
        let mut scene =
            Self { recording: Recording::start(&env), env, facts: Vec::new(), resume: None };
        for n in 0..4 {
            let (thought, page) = (format!("thought {n}"), format!("docs/{n}.md"));
            let think = ["reasoning", "add", "--role", "developer", "--phase", "risks", &thought];
            scene.add(&think, Fact::Reasoning(thought.clone()));
            scene
                .add(&["package", "add", &page, "--kind", "research"], Fact::Package(page.clone()));
            let (rule, solution) = (format!("rule number {n}"), format!("solution {n}"));
            scene.add(&["note", "add", &rule], Fact::Note(rule.clone()));
            // Each is an error of its own, not another occurrence.
            let message = format!("{} is missing", ["alpha", "beta", "gamma", "delta"][n]);
            scene.add(
                &["error", "resolve", "--message", &message, "--solution", &solution],
                Fact::Solution(solution.clone()),
            );
            scene.just("", &["assemble", "--role", "developer", "--deliver"]);
            scene.just("{}", &["event", "log", "built"]);
        }
        scene.just("", &["group", "set", "P1", "--count", "revisions"]);
        let lock = Lock::take(&scene.env);
        let (number, output) = scene.recording.run(
            &scene.env,
            "",
            &["assemble", "--role", "qa_expert", "--deliver", "--json"],
        );
        lock.release();
        let receipt = output.ok().json()["receipt"].as_str().unwrap().to_owned();
        scene.facts.push((number, Fact::Receipt(receipt)));
        let debrief = "```handover\nverdict: complete\nsummary: All done.\n```\n";
        let number = scene.just(debrief, &["debrief", "--role", "developer"]);
        scene.facts.push((number, Fact::Verdict("complete".to_owned())));
        scene.add(
            &["reasoning", "add", "--role", "developer", "--phase", "risks", "the last one"],
            Fact::Reasoning("the last one".to_owned()),
        );
        scene
    }

    /// An epic with one story, in a git repository.
    pub fn run(program: &Path) -> Self {
        let env = TestEnv::empty(program);
        env.git("", &["init", "--quiet"]);
        env.run(["init"]).ok();
        env.write("docs/epics/epic-1-shop.md", "# Epic 1: Shop\n");
        let story = "# Story 1-1-cart\n\nStatus: ready-for-dev\n\n## Tasks\n\n- [ ] do it\n";
        env.write("docs/stories/1-1-cart.md", story);
        env.git("", &["add", "--all"]);
        env.git("", &["commit", "--quiet", "--message", "base"]);
        let script = env.folder().join("script");
        let lines = "* dev * | write {HANDOVER_STORY}.txt work print \"IMPLEMENTATION COMPLETE: {HANDOVER_STORY}\"\n\
            * review * | print \"REVIEW PASSED: {HANDOVER_STORY}\"\n";
        fs_err::write(&script, lines).unwrap();
        let agent = format!("{} --script {}", FakeAgent::program().display(), script.display());
        let run = ["run", "1", "--agent-command", &agent];
        let resume = run.iter().copied().chain(["--resume"]).map(str::to_owned).collect();
        let recording = Recording::start(&env);
        let mut scene = Self { recording, env, facts: Vec::new(), resume: Some(resume) };
        let (number, output) = scene.recording.run_to_its_end(&scene.env, &run);
        output.ok();
        scene.facts.push((number, Fact::Ended));
        scene
    }

    fn just(&mut self, stdin: &str, args: &[&str]) -> usize {
        let (number, output) = self.recording.run(&self.env, stdin, args);
        output.ok();
        number
    }

    fn add(&mut self, args: &[&str], fact: Fact) {
        let number = self.just("", args);
        self.facts.push((number, fact));
    }

    /// Simulates a power failure, and checks what survives.
    fn fail(&self, moment: usize, seed: u64) {
        let acknowledged = self.recording.fail(&self.env, moment, seed);
        let place = format!("power failure before step {moment}, seed {seed}");
        let doctor = self.env.run(["doctor", "--json"]);
        let document = doctor.json();
        for check in document["checks"].as_array().unwrap() {
            // Unsynced events may be lost with the end of the log.
            let name = check["name"].as_str().unwrap();
            let is_sound = check["ok"] == true || !name.starts_with("store") || name == "store log";
            assert!(is_sound, "{place}: {check}");
        }
        let has_ended = self
            .facts
            .iter()
            .any(|(number, fact)| matches!(fact, Fact::Ended) && acknowledged.contains(number));
        if let Some(resume) = &self.resume {
            return self.check_run(resume, has_ended, &place);
        }
        let kept = StoreContent::read(&self.env);
        for (number, fact) in &self.facts {
            if acknowledged.contains(number) {
                assert!(kept.has(&self.env, fact), "{place}: {} is gone", fact.name());
            }
        }
    }

    /// Whatever the journal names exists in the repository, including everything it refers to, and the run
    /// continues to its end: one commit for its story. A run whose end was acknowledged has it in the journal.
    fn check_run(&self, resume: &[String], has_ended: bool, place: &str) {
        let journal = self.env.run(["journal", "--json"]);
        if has_ended {
            let entries = journal.json();
            let is_end = |entry: &Value| entry["entry"]["event"] == "ended";
            let entries = entries["journal"].as_array().map_or(&[][..], Vec::as_slice);
            assert!(entries.iter().any(is_end), "{place}: the end of the run is gone: {journal}");
        }
        if journal.code != Some(0) {
            // The power failed before the run had an entry.
            assert!(!journal.stdout.contains("damaged"), "{place}: {journal}");
            return;
        }
        for hash in hashes(&journal.json()) {
            let whole = self
                .env
                .tool("git")
                .args(["rev-list", "--objects", "--quiet", &hash])
                .stderr(Stdio::null())
                .status();
            assert!(whole.unwrap().success(), "{place}: {hash} is in the journal, but not in git");
        }
        let resumed = self.env.run(resume);
        assert_eq!(resumed.code, Some(0), "{place}: {resumed}");
        let log = ["log", "--format=%s", "HEAD..handover/epic-1"];
        let log = self.env.tool("git").args(log).output().unwrap();
        let commits = String::from_utf8_lossy(&log.stdout);
        assert_eq!(commits.lines().count(), 1, "{place}: {commits}\n{resumed}");
    }
}

/// Every text that looks like the hash of an object.
fn hashes(value: &Value) -> BTreeSet<String> {
    match value {
        Value::String(text) => {
            let is_hash = text.len() == 40 && text.bytes().all(|b| b.is_ascii_hexdigit());
            is_hash.then(|| text.clone()).into_iter().collect()
        }
        Value::Array(values) => values.iter().flat_map(hashes).collect(),
        Value::Object(fields) => fields.values().flat_map(hashes).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => BTreeSet::new(),
    }
}

impl Fact {
    fn name(&self) -> String {
        match self {
            Self::Reasoning(text) => format!("reasoning `{text}`"),
            Self::Package(path) => format!("package {path}"),
            Self::Verdict(verdict) => format!("verdict {verdict}"),
            Self::Note(text) => format!("note `{text}`"),
            Self::Solution(text) => format!("solution `{text}`"),
            Self::Receipt(id) => format!("receipt {id}"),
            Self::Ended => "the end of the run".to_owned(),
        }
    }
}

/// The content of the store.
struct StoreContent {
    reasoning: BTreeSet<String>,
    packages: BTreeSet<String>,
    verdicts: BTreeSet<String>,
    notes: BTreeSet<String>,
    solutions: BTreeSet<String>,
}

impl StoreContent {
    fn read(env: &TestEnv) -> Self {
        let list = |args: &[&str], what: &str, of: fn(&Value) -> &Value| -> BTreeSet<String> {
            let found = env.run(args.iter().chain(&["--json", "--session", "s1"])).ok().json();
            let found = found[what].as_array().unwrap();
            found.iter().filter_map(|record| of(record).as_str()).map(str::to_owned).collect()
        };
        Self {
            reasoning: list(&["reasoning", "list"], "reasoning", |record| &record["content"]),
            packages: list(&["package", "list"], "packages", |record| &record["path"]),
            verdicts: list(&["event", "list", "--type", "verdict"], "events", |record| {
                &record["payload"]["verdict"]
            }),
            notes: list(&["note", "list"], "notes", |record| &record["title"]),
            solutions: list(&["error", "list"], "errors", |record| &record["solution"]),
        }
    }

    fn has(&self, env: &TestEnv, fact: &Fact) -> bool {
        match fact {
            Fact::Reasoning(text) => self.reasoning.contains(text),
            Fact::Package(path) => self.packages.contains(path),
            Fact::Verdict(verdict) => self.verdicts.contains(verdict),
            Fact::Note(text) => self.notes.contains(text),
            Fact::Solution(text) => self.solutions.contains(text),
            Fact::Receipt(id) => env.run(["receipt", "show", id]).code == Some(0),
            // The journal has it.
            Fact::Ended => true,
        }
    }
}
