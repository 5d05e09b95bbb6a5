//! Compares what a program did with what a scenario expects.

use handover_agents::{Ended, Outcome};
use serde_json::Value;

use super::Expect;

/// Compares; the error says what differs.
pub fn judge(expect: &Expect, outcome: &Outcome) -> Result<(), String> {
    match outcome.ended {
        Ended::Exited(code) if code == expect.exit => {}
        Ended::Exited(code) => {
            return Err(format!("exit code {code} instead of {}", expect.exit));
        }
        Ended::WallTimeout => return Err("it exceeded its time limit".to_owned()),
        Ended::IdleTimeout => return Err("it was silent for too long".to_owned()),
        Ended::OutputFlood => return Err("it printed too much".to_owned()),
        Ended::Signalled(signal) => return Err(format!("it was killed by signal {signal}")),
        Ended::OverLimit(_) | Ended::Cancelled => return Err("it was stopped".to_owned()),
    }
    let (stdout, stderr) = (outcome.stdout.text(), outcome.stderr.text());
    for text in &expect.text {
        if !stdout.contains(text.as_str()) && !stderr.contains(text.as_str()) {
            return Err(format!("it did not print `{text}`"));
        }
    }
    if let Some(expected) = &expect.json {
        let value: Value = serde_json::from_str(&stdout)
            .map_err(|error| format!("its output is not JSON: {error}"))?;
        if let Some(place) = differs(expected, &value, "") {
            return Err(format!("its JSON differs at `{place}`"));
        }
    }
    Ok(())
}

/// The path at which a value differs; unexpected members are ignored.
fn differs(expected: &Value, value: &Value, at: &str) -> Option<String> {
    let here = || if at.is_empty() { "/".to_owned() } else { at.to_owned() };
    match (expected, value) {
        (Value::Object(expected), Value::Object(value)) => {
            expected.iter().find_map(|(key, expected)| {
                let at = format!("{at}/{key}");
                match value.get(key) {
                    Some(value) => differs(expected, value, &at),
                    None => Some(at),
                }
            })
        }
        (Value::Array(expected), Value::Array(value)) if expected.len() == value.len() => {
            let pairs = expected.iter().zip(value).enumerate();
            pairs.map(|(n, (e, v))| differs(e, v, &format!("{at}/{n}"))).find_map(|found| found)
        }
        (Value::Number(one), Value::Number(other)) => (one.as_f64() != other.as_f64()).then(here),
        _ => (expected != value).then(here),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn unexpected_members_are_ignored() {
        let value = json!({"a": 1, "b": {"c": [1, {"d": null, "e": 2}]}, "f": "x"});
        for fits in
            [json!({}), json!({"a": 1.0}), json!({"b": {"c": [1, {"d": null}]}}), value.clone()]
        {
            assert_eq!(differs(&fits, &value, ""), None, "{fits}");
        }
        for (other, place) in [
            (json!({"z": 1}), "/z"),
            (json!({"a": 2}), "/a"),
            (json!({"b": {"c": [1]}}), "/b/c"),
            (json!({"b": {"c": [1, {"d": 1}]}}), "/b/c/1/d"),
            (json!([]), "/"),
        ] {
            assert_eq!(differs(&other, &value, "").as_deref(), Some(place), "{other}");
        }
    }

    fn outcome(ended: Ended, stdout: &str, stderr: &str) -> Outcome {
        let captured = |text: &str| handover_agents::Captured {
            head: text.to_owned(),
            tail: None,
            total: text.len() as u64,
        };
        Outcome {
            ended,
            report: handover_agents::Report::default(),
            stdout: captured(stdout),
            stderr: captured(stderr),
            duration: std::time::Duration::ZERO,
            survivors: 0,
            left_behind: 0,
            tee_error: None,
            final_text: String::new(),
            failure: None,
        }
    }

    #[test]
    fn every_unexpected_end_is_reported() {
        let expect = Expect { exit: 3, ..Expect::default() };
        let said = |ended| judge(&expect, &outcome(ended, "", ""));
        assert_eq!(said(Ended::Exited(3)), Ok(()));
        for (ended, why) in [
            (Ended::Exited(0), "exit code 0 instead of 3"),
            (Ended::WallTimeout, "it exceeded its time limit"),
            (Ended::IdleTimeout, "it was silent for too long"),
            (Ended::OutputFlood, "it printed too much"),
            (Ended::Signalled(9), "it was killed by signal 9"),
            (Ended::Cancelled, "it was stopped"),
        ] {
            assert_eq!(said(ended), Err(why.to_owned()), "{ended:?}");
        }
    }

    #[test]
    fn texts_may_be_on_either_stream_and_json_only_on_the_first() {
        let expect = Expect { text: vec!["one".into(), "two".into()], ..Expect::default() };
        let said = |stdout, stderr| judge(&expect, &outcome(Ended::Exited(0), stdout, stderr));
        assert_eq!(said("one", "and two"), Ok(()));
        assert_eq!(said("one", ""), Err("it did not print `two`".to_owned()));
        let expect = Expect { json: Some(json!({"a": 1})), ..Expect::default() };
        let said = |stdout, stderr| judge(&expect, &outcome(Ended::Exited(0), stdout, stderr));
        assert_eq!(said(r#"{"a": 1, "b": 2}"#, "noise"), Ok(()));
        assert_eq!(said(r#"{"a": 2}"#, ""), Err("its JSON differs at `/a`".to_owned()));
        assert!(said("", r#"{"a": 1}"#).unwrap_err().starts_with("its output is not JSON"));
    }
}
