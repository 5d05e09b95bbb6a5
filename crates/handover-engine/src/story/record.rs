//! Records that only the engine adds to a story.

use handover_text::quote::{quote_block, quote_inline};

use super::integrity::section_to_fill;

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

/// Adds a record to a text: in the section that a template has for it, else at the end.
pub fn append(text: &str, record: &Record) -> String {
    let body = body(record);
    if let Some(section) = section_to_fill(text, record.heading) {
        let (before, after) = text.split_at(section.start);
        let whole =
            format!("{}\n{body}\n{}", before.trim_end(), after.trim_start_matches(['\n', '\r']));
        return whole.trim_end().to_owned() + "\n";
    }
    format!("{}\n\n## {}\n{body}", text.trim_end_matches(['\n', '\r', ' ']), record.heading)
}

/// What stands below the heading. Text from agents is quoted, so that it cannot pose as structure.
fn body(record: &Record) -> String {
    let mut out = String::new();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_of_the_template_is_filled_in_once() {
        let record = |receipt: &str| Record {
            heading: "Dev Agent Record",
            fields: vec![("Receipt", receipt.to_owned())],
            texts: vec![("Implementation Summary", "done".to_owned())],
            lists: Vec::new(),
        };
        let story = "# S\n\n## Dev Agent Record\n\n### File List\n\n## Notes\n\nx\n";
        let first = append(story, &record("r_1"));
        assert_eq!(
            first,
            "# S\n\n## Dev Agent Record\n\n- **Receipt:** r_1\n\n### Implementation Summary\n\n> done\n\n\
             ### File List\n\n## Notes\n\nx\n"
        );
        let second = append(&first, &record("r_2"));
        assert!(second.starts_with(first.trim_end()), "{second}");
        assert_eq!(second.matches("## Dev Agent Record\n").count(), 2);
        assert_eq!(append("# S\n", &record("r_1")).matches("## Dev Agent Record\n").count(), 1);
    }
}
