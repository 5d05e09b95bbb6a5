//! Records that only the engine appends to a story.

use handover_text::quote::{quote_block, quote_inline};

/// A section to be appended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The heading, such as `Dev Agent Record`.
    pub heading: &'static str,
    /// Lines of `name: value`; values are quoted.
    pub fields: Vec<(&'static str, String)>,
    /// Longer texts under a heading of their own; quoted.
    pub texts: Vec<(&'static str, String)>,
    /// Lists under a heading of their own; items are quoted.
    pub lists: Vec<(&'static str, Vec<String>)>,
}

/// Appends a record to a text. Text from agents is quoted, so that it cannot pose as structure.
pub fn append(text: &str, record: &Record) -> String {
    let mut out = text.trim_end_matches(['\n', '\r', ' ']).to_owned();
    out.push_str("\n\n## ");
    out.push_str(record.heading);
    out.push('\n');
    let fields = record.fields.iter().filter(|(_, value)| !value.trim().is_empty());
    for (n, (name, value)) in fields.enumerate() {
        out.push_str(if n == 0 { "\n- **" } else { "- **" });
        out.push_str(name);
        out.push_str(":** ");
        out.push_str(&quote_inline(value));
        out.push('\n');
    }
    for (name, value) in record.texts.iter().filter(|(_, value)| !value.trim().is_empty()) {
        out.push_str("\n### ");
        out.push_str(name);
        out.push_str("\n\n");
        out.push_str(&quote_block(value));
        out.push('\n');
    }
    for (name, items) in record.lists.iter().filter(|(_, items)| !items.is_empty()) {
        out.push_str("\n### ");
        out.push_str(name);
        out.push_str("\n\n");
        for item in items {
            out.push_str("- ");
            out.push_str(&quote_inline(item));
            out.push('\n');
        }
    }
    out
}
