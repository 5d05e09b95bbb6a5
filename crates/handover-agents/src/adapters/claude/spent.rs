//! What a run used. Three kinds of versions were seen: sums of the run, sums of the conversation since its
//! beginning, and the latter with the difference to the previous result. A run prints a result each time
//! it has nothing left to do, so with children in the background there are several.

use std::collections::BTreeMap;

use super::stream::{Final, MainUsage, Message, ModelUsage};
use crate::{Total, Usage};

/// Everything that the lines of a run say about tokens and money.
#[derive(Debug, Default)]
pub(super) struct Spent {
    /// The program's sums when the conversation was last left.
    before: Option<Total>,
    /// Each answer of the model: exact for input, a lower bound for output.
    messages: BTreeMap<String, Usage>,
    /// The sums of the last result that has them, including subagents.
    sums: Option<Total>,
    /// The differences of all results.
    differences: Option<Total>,
    /// What results without sums say.
    plain: Total,
    turns: Option<u32>,
}

impl Spent {
    pub(super) fn resumed(&mut self, before: Total) {
        self.before = Some(before);
    }

    /// Counts an answer of the model, or the rest of one; returns whether it is new, if it can be counted.
    pub(super) fn message(&mut self, message: &Message) -> Option<bool> {
        let (id, usage) = (message.id.as_ref()?, message.usage.as_ref()?);
        Some(self.messages.insert(id.clone(), of_message(usage)).is_none())
    }

    pub(super) fn result(&mut self, line: &Final) {
        if let Some(turns) = line.num_turns {
            self.turns = Some(self.turns.unwrap_or_default().saturating_add(turns));
        }
        if let Some(models) = &line.model_usage_since_last_result {
            self.differences = Some(self.differences.unwrap_or_default() + of_models(models));
        }
        match &line.model_usage {
            Some(models) if !models.is_empty() => {
                let usage = of_models(models).usage;
                self.sums = Some(Total { usage, cost_usd: line.total_cost_usd });
            }
            _ => {
                let usage = line.usage.as_ref().map(of_message).unwrap_or_default();
                let plain = self.plain.usage + usage;
                self.plain = Total { usage: plain, cost_usd: line.total_cost_usd };
            }
        }
    }

    pub(super) fn turns(&self) -> Option<u32> {
        self.turns
    }

    /// The program's own sums.
    pub(super) fn of_conversation(&self) -> Total {
        self.sums.unwrap_or_else(|| self.of_run())
    }

    /// What this run used. One that was killed has no result, and its messages must do.
    pub(super) fn of_run(&self) -> Total {
        match (self.differences, self.sums, self.before) {
            (Some(differences), _, _) => differences,
            (None, Some(sums), Some(before)) if self.includes(sums, before) => sums - before,
            (None, Some(sums), _) => sums,
            (None, None, _) if self.turns.is_some() || self.plain != Total::default() => self.plain,
            (None, None, _) => Total { usage: self.seen(), cost_usd: None },
        }
    }

    /// Whether the sums of a resumed conversation go back to its beginning: if so, what the messages of this
    /// run add up to is nearer to the difference than to the sums.
    fn includes(&self, sums: Total, before: Total) -> bool {
        let (seen, sums, before) = (self.seen().input, sums.usage.input, before.usage.input);
        sums >= before && (sums - before).abs_diff(seen) < sums.abs_diff(seen)
    }

    fn seen(&self) -> Usage {
        self.messages.values().fold(Usage::default(), |sum, message| sum + *message)
    }
}

fn of_models(models: &BTreeMap<String, ModelUsage>) -> Total {
    models.values().fold(Total::default(), |sum, model| {
        let created = model.cache_creation_input_tokens;
        let read = model.cache_read_input_tokens;
        let usage = usage(model.input_tokens, created, read, model.output_tokens);
        sum + Total { usage, cost_usd: model.cost_usd }
    })
}

fn of_message(said: &MainUsage) -> Usage {
    let created = said.cache_creation_input_tokens;
    usage(said.input_tokens, created, said.cache_read_input_tokens, said.output_tokens)
}

fn usage(input: u64, created: u64, read: u64, output: u64) -> Usage {
    let input = input.saturating_add(created).saturating_add(read);
    Usage { input, cached_input: read, output }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn total(input: u64, output: u64, cost: f64) -> Total {
        Total { usage: Usage { input, cached_input: 0, output }, cost_usd: Some(cost) }
    }

    fn models(total: Total) -> Value {
        let Usage { input, output, .. } = total.usage;
        json!({"m": {"inputTokens": input, "outputTokens": output, "costUSD": total.cost_usd}})
    }

    /// A run that resumes a conversation, reads `input` tokens, and reports these sums.
    fn resumed(before: Total, input: u64, sums: Total, difference: Option<Total>) -> Spent {
        let mut spent = Spent::default();
        spent.resumed(before);
        let message = json!({"id": "a", "usage": {"input_tokens": input, "output_tokens": 1}});
        spent.message(&serde_json::from_value(message).unwrap());
        let mut line = json!({
            "num_turns": 1, "total_cost_usd": sums.cost_usd, "modelUsage": models(sums),
        });
        if let Some(difference) = difference {
            line["model_usage_since_last_result"] = models(difference);
        }
        spent.result(&serde_json::from_value(line).unwrap());
        spent
    }

    #[test]
    fn a_follow_up_costs_the_same_in_every_version() {
        let (before, own, all) = (total(100, 50, 2.0), total(150, 20, 1.0), total(250, 70, 3.0));
        for (version, spent) in [
            ("per call", resumed(before, 150, own, None)),
            ("since the beginning", resumed(before, 150, all, None)),
            ("with the difference", resumed(before, 150, all, Some(own))),
        ] {
            assert_eq!(spent.of_run(), own, "{version}");
        }
        assert_eq!(resumed(before, 150, all, None).of_conversation(), all);
    }

    #[test]
    fn the_parts_of_a_message_are_one() {
        let mut spent = Spent::default();
        for output in [1, 9] {
            let message = json!({"id": "a", "usage": {"input_tokens": 5, "output_tokens": output}});
            spent.message(&serde_json::from_value(message).unwrap());
        }
        let expected = Usage { input: 5, cached_input: 0, output: 9 };
        assert_eq!(spent.of_run(), Total { usage: expected, cost_usd: None });
    }
}
