//! The content of a message: a text, or a list of blocks, in the forms that the programs share.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, de};
use serde_json::Value;

/// The parts of a message.
#[derive(Debug, Default)]
pub(super) struct Blocks(pub(super) Vec<Block>);

/// A part of a message. Every field may be missing; fields that are not needed are skipped unread.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Block {
    #[serde(rename = "type")]
    pub(super) kind: Option<String>,
    pub(super) text: Option<String>,
    pub(super) id: Option<String>,
    pub(super) name: Option<String>,
    pub(super) input: Option<Value>,
    pub(super) tool_use_id: Option<String>,
    pub(super) is_error: Option<bool>,
    pub(super) content: Option<Text>,
    #[serde(rename = "functionResponse")]
    pub(super) function_response: Option<IgnoredAny>,
}

impl<'de> Deserialize<'de> for Blocks {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OfBlocks;
        impl<'de> Visitor<'de> for OfBlocks {
            type Value = Blocks;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text or a list of blocks")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Blocks, E> {
                let kind = Some("text".to_owned());
                Ok(Blocks(vec![Block { kind, text: Some(text.to_owned()), ..Block::default() }]))
            }

            fn visit_unit<E: de::Error>(self) -> Result<Blocks, E> {
                Ok(Blocks::default())
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Blocks, A::Error> {
                let mut blocks = Vec::new();
                while let Some(block) = list.next_element()? {
                    blocks.push(block);
                }
                Ok(Blocks(blocks))
            }
        }
        deserializer.deserialize_any(OfBlocks)
    }
}

/// All the text in a value, whatever its form: the strings that it is, or that are under `text`, `content`,
/// `output`, `message` or `error`.
#[derive(Debug, Default)]
pub(super) struct Text(pub(super) String);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut text = Self::default();
        Collect(&mut text.0).deserialize(deserializer)?;
        Ok(text)
    }
}

/// Results longer than this are not collected further.
const ENOUGH: usize = 256 << 10;

struct Collect<'t>(&'t mut String);

impl<'de> DeserializeSeed<'de> for Collect<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Collect<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<(), E> {
        if self.0.len() < ENOUGH {
            if !self.0.is_empty() {
                self.0.push('\n');
            }
            self.0.push_str(text);
        }
        Ok(())
    }

    fn visit_bool<E: de::Error>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E: de::Error>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E: de::Error>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E: de::Error>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E: de::Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while list.next_element_seed(Collect(self.0))?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        const TEXTS: &[&str] = &["text", "content", "output", "message", "error"];
        while let Some(key) = map.next_key::<std::borrow::Cow<'de, str>>()? {
            if TEXTS.contains(&key.as_ref()) {
                map.next_value_seed(Collect(self.0))?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

impl Blocks {
    /// The text of the blocks that are text, a paragraph each.
    pub(super) fn text(&self) -> String {
        let is_text = |block: &&Block| {
            block.function_response.is_none()
                && matches!(
                    block.kind.as_deref(),
                    None | Some("text" | "input_text" | "output_text")
                )
        };
        let texts = self.0.iter().filter(is_text).filter_map(|block| block.text.as_deref());
        texts.collect::<Vec<_>>().join("\n\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_and_a_list_are_both_read() {
        let text = |json: &str| serde_json::from_str::<Blocks>(json).unwrap().text();
        assert_eq!(text("\"a\""), "a");
        assert_eq!(text("null"), "");
        let list = r#"[{"type":"text","text":"a"},{"type":"thinking","text":"x"},{"text":"b","other":[1]}]"#;
        assert_eq!(text(list), "a\n\nb");
    }

    #[test]
    fn results_of_any_form_are_collected() {
        let text = |json: &str| serde_json::from_str::<Text>(json).unwrap().0;
        assert_eq!(text("\"a\""), "a");
        assert_eq!(
            text(r#"[{"type":"text","text":"a"},{"content":{"text":["b",1,null,true]}}]"#),
            "a\nb"
        );
        assert_eq!(text("12.5"), "");
    }
}
