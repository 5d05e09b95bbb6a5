//! Quoting: untrusted text in our Markdown, as data that opens and closes nothing.
//!
//! The text stays as it is wherever it can: what would be a heading, a list, a fence, a tag, a link
//! or a definition gets a backslash, and what cannot be seen goes. Our own marks are comments, and
//! no comment survives, not even in code, since programs search for them without parsing.

mod inline;
mod lines;
mod visible;

use inline::Place;
use lines::Before;
pub use visible::visible;

/// What every quoted line begins with.
const PREFIX: &str = "> ";

/// A text as a block quote: every line begins with `>`, and inside are only paragraphs.
///
/// A line directly below it would continue its last paragraph: a blank one or a heading must follow.
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

/// A text on one line, to stand anywhere in a line of ours with white space around it.
pub fn quote_inline(text: &str) -> String {
    let text = without_comments(&crate::cut::one_line(&visible::visible(text)));
    let line = lines::escape_start(&text, &text, Before::Text, 0);
    inline::escape(&line, Place::Shared)
}

/// A text as a fenced block that nothing in it can close. `language` is what stands behind the
/// fence; only a plain word does.
pub fn quote_code(text: &str, language: &str) -> String {
    let text = without_comments(&visible::visible(text));
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '+' | '#' | '.');
    let language = if language.chars().all(plain) { language } else { "" };
    format!("{fence}{language}\n{}\n{fence}", text.trim_end_matches('\n'))
}

/// Breaks the beginning of every comment: `<\!--` reads the same and is found by nobody.
fn without_comments(text: &str) -> String {
    text.replace("<!--", "<\\!--")
}

/// Moves a paragraph to the output, quoted.
fn flush(out: &mut String, paragraph: &mut String) {
    if !paragraph.is_empty() {
        for line in inline::escape(paragraph, Place::Own).split('\n') {
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
