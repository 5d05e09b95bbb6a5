//! A scenario: how one acceptance criterion of an epic is tested.

use handover_model::{ScenarioKind, UatGate};
use serde::Serialize;
use serde_json::Value;

/// The longest timeout of a scenario, in seconds.
pub const MAX_TIMEOUT: u64 = 600;

/// How one criterion is tested.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Scenario {
    /// The id in reports.
    pub id: String,
    /// A title of one line.
    pub title: String,
    /// The criterion that it covers, such as `1-2-login AC1`.
    pub criterion: String,
    /// Whether a program or a person runs it.
    pub kind: ScenarioKind,
    /// The program and its arguments, without a shell.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub argv: Vec<String>,
    /// What the program must do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expect: Option<Expect>,
    /// The timeout, in seconds.
    pub timeout: u64,
    /// Programs to run before it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub setup: Vec<Vec<String>>,
    /// Programs to run after it, whatever the result.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cleanup: Vec<Vec<String>>,
    /// What a person does.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<String>,
    /// What a person should see.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub expected: String,
}

impl Scenario {
    /// All commands that it starts, in order.
    pub fn commands(&self) -> impl Iterator<Item = &Vec<String>> {
        let own = Some(&self.argv).filter(|argv| !argv.is_empty());
        self.setup.iter().chain(own).chain(&self.cleanup)
    }

    /// Whether a person has something to do.
    pub fn needs_a_person(&self) -> bool {
        match self.kind {
            ScenarioKind::Auto => false,
            ScenarioKind::Semi | ScenarioKind::Manual => true,
        }
    }
}

/// What a program must do.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Expect {
    /// Its exit code.
    pub exit: i32,
    /// Texts that it must print.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub text: Vec<String>,
    /// What it must print as JSON; members that are not named do not matter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub json: Option<Value>,
}

/// Whether a gate selects a scenario that a program can run.
pub fn is_run(scenario: &Scenario, gate: UatGate) -> bool {
    let wanted = match gate {
        UatGate::Quick => scenario.kind == ScenarioKind::Auto,
        UatGate::Full => scenario.kind != ScenarioKind::Manual,
        UatGate::Skip => false,
    };
    wanted && !scenario.argv.is_empty()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::uat::from_value;

    fn scenarios() -> Vec<Scenario> {
        from_value(&json!([
            {"id": "A", "criterion": "c", "kind": "auto", "argv": ["a"], "setup": [["s"]], "cleanup": [["c"]]},
            {"id": "B", "criterion": "c", "kind": "semi", "argv": ["b"], "steps": "look"},
            {"id": "C", "criterion": "c", "kind": "semi", "steps": "look"},
            {"id": "D", "criterion": "c", "kind": "manual", "steps": "look"},
        ]))
        .unwrap()
        .scenarios
    }

    #[test]
    fn gates_select_what_a_program_can_run() {
        let run = |gate| scenarios().iter().map(|it| is_run(it, gate)).collect::<Vec<_>>();
        assert_eq!(run(UatGate::Quick), [true, false, false, false]);
        assert_eq!(run(UatGate::Full), [true, true, false, false]);
        assert_eq!(run(UatGate::Skip), [false; 4]);
    }

    #[test]
    fn commands_come_in_order_and_people_are_needed_for_the_rest() {
        let all = scenarios();
        let commands: Vec<&str> = all[0].commands().map(|argv| argv[0].as_str()).collect();
        assert_eq!(commands, ["s", "a", "c"]);
        assert_eq!(all[3].commands().count(), 0);
        let people: Vec<bool> = all.iter().map(Scenario::needs_a_person).collect();
        assert_eq!(people, [false, true, true, true]);
    }
}
