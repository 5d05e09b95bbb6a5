//! Files of experiments.

use handover_model::{Host, Timestamp};
use handover_prove::mine::{Mined, prompt, write};
use handover_prove::{Arm, Plan, Progress, Report, TaskFile};

use super::{halves, lossy};

/// A larger experiment only takes longer.
const MOST_TRIALS: usize = 48;

/// A file of tasks, which survives being written again; and the message of a commit, which becomes a prompt.
pub(super) fn tasks(data: &[u8]) {
    let text = lossy(data);
    let _ = prompt(&text);
    let Ok(file) = TaskFile::parse(&text) else { return };
    let found: Vec<Mined> = file
        .tasks
        .iter()
        .map(|task| Mined {
            task: task.clone(),
            fix: task.start.clone(),
            subject: task.prompt.clone(),
            seen: task.prompt.clone(),
        })
        .collect();
    let again = TaskFile::parse(&write(&found)).expect("a written file can be read");
    for (one, other) in file.tasks.iter().zip(&again.tasks) {
        let same = (&one.id, &one.start, &one.judge, &one.judge_files, &one.setup)
            == (&other.id, &other.start, &other.judge, &other.judge_files, &other.setup);
        assert!(same && one.prompt == other.prompt, "{one:?} {other:?}");
    }
}

/// A journal, with a plan of its own and with a usual one.
pub(super) fn experiment(data: &[u8]) {
    let (plan, journal) = halves(data);
    if let Ok(plan) = Plan::read(&lossy(plan))
        && plan.tasks.len() * plan.arms.len() * plan.repeat as usize <= MOST_TRIALS
    {
        read(&plan, &lossy(journal));
    }
    read(&usual(), &lossy(data));
}

fn read(plan: &Plan, journal: &str) {
    let Ok(progress) = Progress::read(plan, journal) else { return };
    assert!(progress.judged() + progress.dropped() <= progress.trials.len());
    let report = Report::new(plan, &progress);
    let _ = serde_json::to_string(&report).expect("a report is JSON");
}

fn usual() -> Plan {
    Plan {
        id: "x_0".to_owned(),
        version: Plan::VERSION,
        file: "tasks.toml".into(),
        fingerprint: String::new(),
        tasks: (0..4).map(|task| task.to_string()).collect(),
        arms: Arm::USUAL.to_vec(),
        repeat: 2,
        seed: 7,
        host: Host::COMMAND,
        model: None,
        max_cost: None,
        timeout: None,
        created_at: Timestamp::from_micros(0),
    }
}
