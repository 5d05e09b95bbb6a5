//! An agent's last message, taken apart once: fenced blocks, and the lines outside of them.

use handover_text::fence::{FenceLine, Fences};
use serde_json::Value;

/// The language of a debrief block.
const LANGUAGE: &str = "handover";

/// An agent's last message.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Message<'t> {
    pub(super) text: &'t str,
    blocks: Vec<Block<'t>>,
    /// The lines that are no code.
    pub prose: Vec<&'t str>,
}

/// A fenced block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Block<'t> {
    language: &'t str,
    content: &'t str,
    is_closed: bool,
}

impl<'t> Message<'t> {
    /// Takes a text apart.
    pub fn new(text: &'t str) -> Self {
        let mut message = Self { text, blocks: Vec::new(), prose: Vec::new() };
        let mut fences = Fences::default();
        let mut open: Option<(&str, usize)> = None;
        let mut start = 0;
        for whole in text.split_inclusive('\n') {
            let line = whole.trim_end_matches(['\n', '\r']);
            let end = start + whole.len();
            match fences.line(line) {
                FenceLine::Outside => message.prose.push(line),
                FenceLine::Opens(language) => open = Some((language, end)),
                // Code by its indent is an example, not something that the agent says.
                FenceLine::Inside | FenceLine::Indented => {}
                FenceLine::Closes => message.add(open.take(), start, true),
            }
            start = end;
        }
        // A message that was cut off in the middle of its block still says something.
        message.add(open, text.len(), false);
        message
    }

    fn add(&mut self, open: Option<(&'t str, usize)>, end: usize, is_closed: bool) {
        if let Some((info, start)) = open {
            let language = info.split_whitespace().next().unwrap_or_default();
            self.blocks.push(Block { language, content: &self.text[start..end], is_closed });
        }
    }

    /// The content of the debrief blocks, also of one that was cut off.
    pub(super) fn debriefs(&self) -> impl Iterator<Item = &'t str> {
        self.blocks.iter().filter(|block| block.language == LANGUAGE).map(|block| block.content)
    }

    /// The JSON in blocks of any language, without forms that were not filled in.
    pub fn values(&self) -> impl Iterator<Item = Value> {
        let whole = self.blocks.iter().filter(|block| block.is_closed);
        let values = whole.filter_map(|block| serde_json::from_str::<Value>(block.content).ok());
        values.filter(|value| {
            let verdict = value.get("verdict").and_then(Value::as_str);
            !verdict.is_some_and(is_placeholder)
        })
    }
}

/// Whether a verdict is the placeholder of a form that an agent repeats without filling it in.
pub(super) fn is_placeholder(verdict: &str) -> bool {
    matches!(verdict, "…" | "...") || (verdict.starts_with('<') && verdict.contains('|'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_and_prose_are_separated() {
        let text =
            "one\r\n```json\r\n{\"a\":1}\r\n```\r\ntwo\n~~~handover x\nverdict: passed\n~~~\n";
        let message = Message::new(text);
        assert_eq!(message.prose, ["one", "two"]);
        assert_eq!(message.debriefs().collect::<Vec<_>>(), ["verdict: passed\n"]);
        assert_eq!(message.values().collect::<Vec<_>>(), [serde_json::json!({"a": 1})]);
    }

    #[test]
    fn a_block_that_was_cut_off_is_a_debrief_but_no_value() {
        let message = Message::new("```handover\n{\"verdict\":\"passed\"}");
        assert_eq!(message.debriefs().count(), 1);
        assert_eq!(message.values().count(), 0);
        assert_eq!(Message::new("```handover").debriefs().collect::<Vec<_>>(), [""]);
        assert_eq!(Message::new("").prose.len(), 0);
    }

    #[test]
    fn forms_are_no_values() {
        for (verdict, counts) in
            [("<complete|blocked>", 0), ("…", 0), ("...", 0), ("<complete>", 1), ("complete", 1)]
        {
            let text = format!("```\n{{\"verdict\":\"{verdict}\"}}\n```");
            assert_eq!(Message::new(&text).values().count(), counts, "{verdict}");
        }
        // What is no object has no verdict.
        assert_eq!(Message::new("```\n[1]\n```\n```\nno JSON\n```").values().count(), 1);
    }
}
