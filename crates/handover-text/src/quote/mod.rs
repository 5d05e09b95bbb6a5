//! Quotes untrusted text in our Markdown, as data that opens and closes nothing.
//!
//! The text is changed as little as possible: a backslash is put before anything that would be a
//! heading, a list, a fence, a tag, a link or a definition, and invisible characters are removed. Our
//! own markers are comments, so no comment survives, not even in code: programs search for markers
//! without parsing.

mod inline;
mod lines;
mod visible;

use inline::Container;
use lines::Before;
pub use visible::visible;

/// The prefix of every quoted line.
const PREFIX: &str = "> ";

/// A block quote: every line starts with `>` and contains only paragraphs.
///
/// A line directly below would continue the last paragraph: follow it with a blank line or a heading.
pub fn quote_block(text: &str) -> String {
    let text = without_comments(&visible::visible(text));
    let mut out = String::with_capacity(text.len() + 16);
    let mut paragraph = String::new();
    let mut rest = text.trim_matches('\n');
    loop {
        let (line, following) = match rest.split_once('\n') {
            Some((line, following)) => (line, Some(following)),
            None => (rest, None),
        };
        if line.trim_matches([' ', '\t']).is_empty() {
            flush(&mut out, &mut paragraph);
            push_line(&mut out, "");
        } else if paragraph.is_empty() {
            paragraph.push_str(&lines::escape_start(line, rest, Before::Blank, PREFIX.len()));
        } else {
            paragraph.push('\n');
            paragraph.push_str(&lines::escape_start(line, rest, Before::Text, PREFIX.len()));
        }
        match following {
            Some(following) => rest = following,
            None => break,
        }
    }
    flush(&mut out, &mut paragraph);
    out
}

/// A text on one line, for use inside a line of Markdown with white space around it.
pub fn quote_inline(text: &str) -> String {
    let text = without_comments(&crate::cut::one_line(&visible::visible(text)));
    let line = lines::escape_start(&text, &text, Before::Text, 0);
    inline::escape(&line, Container::SharedLine)
}

/// A fenced block that nothing in the text can close. `language` follows the opening fence if it is a
/// plain word.
pub fn quote_code(text: &str, language: &str) -> String {
    let text = without_comments(&visible::visible(text));
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '+' | '#' | '.');
    let language = if language.chars().all(plain) { language } else { "" };
    format!("{fence}{language}\n{}\n{fence}", text.trim_end_matches('\n'))
}

/// Breaks the start of every comment: `<\!--` renders the same but no search finds it.
fn without_comments(text: &str) -> String {
    text.replace("<!--", "<\\!--")
}

/// Appends the paragraph to the output, quoted.
fn flush(out: &mut String, paragraph: &mut String) {
    if !paragraph.is_empty() {
        for line in inline::escape(paragraph, Container::OwnBlock).split('\n') {
            push_line(out, line);
        }
        paragraph.clear();
    }
}

fn push_line(out: &mut String, line: &str) {
    if !out.is_empty() {
        out.push('\n');
    }
    out.push_str(if line.is_empty() { PREFIX.trim_end() } else { PREFIX });
    out.push_str(line);
}

#[cfg(test)]
#[path = "quote_tests.rs"]
mod quote_tests;
