//! Code in Markdown, line by line: which lines are fenced, which are code by their indent, and which are
//! text.

/// The least characters of a fence.
const LEAST: usize = 3;
/// Text that is indented this much further than the list item above it is code.
const CODE: usize = 4;

/// Where a line is in relation to code fences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FenceLine<'t> {
    /// Outside of all fences.
    Outside,
    /// Outside of all fences, but code by its indent, such as the example of a fence.
    Indented,
    /// Opens a fence. The text after the mark is usually a language.
    Opens(&'t str),
    /// Inside a fence.
    Inside,
    /// Closes the fence.
    Closes,
}

/// Follows the fences of a text. In an item of a list, a fence is indented as its text is.
#[derive(Debug, Clone, Default)]
pub struct Fences {
    open: Option<Fence>,
    /// How far the text of the last list item is indented.
    item: usize,
}

#[derive(Debug, Clone, Copy)]
struct Fence {
    mark: char,
    length: usize,
    indent: usize,
}

impl Fences {
    /// Takes the next line, without its end.
    pub fn line<'t>(&mut self, line: &'t str) -> FenceLine<'t> {
        let text = line.trim_start();
        let indent = columns(line);
        if self.open.is_none() && !text.is_empty() {
            if indent >= self.item + CODE {
                return FenceLine::Indented;
            }
            self.item = match item_text(text) {
                Some(text) => indent + text,
                None if indent < self.item => 0,
                None => self.item,
            };
        }
        let mark = text.chars().next().filter(|c| matches!(c, '`' | '~'));
        let length = mark.map_or(0, |mark| text.chars().take_while(|c| *c == mark).count());
        let rest = text[length..].trim();
        match (self.open, mark.filter(|_| length >= LEAST)) {
            // Code in a line, not a fence.
            (None, Some('`')) if rest.contains('`') => FenceLine::Outside,
            (None, Some(mark)) => {
                self.open = Some(Fence { mark, length, indent });
                FenceLine::Opens(rest)
            }
            (None, None) => FenceLine::Outside,
            (Some(open), Some(mark))
                if mark == open.mark
                    && length >= open.length
                    && indent < open.indent + CODE
                    && rest.is_empty() =>
            {
                self.open = None;
                FenceLine::Closes
            }
            (Some(_), _) => FenceLine::Inside,
        }
    }
}

impl FenceLine<'_> {
    /// Whether the line is in a fence or part of one.
    pub fn is_fenced(self) -> bool {
        match self {
            Self::Outside | Self::Indented => false,
            Self::Opens(_) | Self::Inside | Self::Closes => true,
        }
    }
}

/// The lines of a text that are neither in a fence nor part of one.
pub fn outside_fences(text: &str) -> impl Iterator<Item = &str> {
    let mut fences = Fences::default();
    text.lines().filter(move |line| !fences.line(line).is_fenced())
}

/// How far a line is indented.
fn columns(line: &str) -> usize {
    let spaces = line.chars().take_while(|c| matches!(c, ' ' | '\t'));
    spaces.fold(0, |column, c| if c == '\t' { column / 4 * 4 + 4 } else { column + 1 })
}

/// Where the text of a list item begins, if the line is one.
fn item_text(line: &str) -> Option<usize> {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let marker = match line.as_bytes().get(digits)? {
        b'-' | b'*' | b'+' if digits == 0 => 1,
        b'.' | b')' if (1..10).contains(&digits) => digits + 1,
        _ => return None,
    };
    line[marker..].starts_with(' ').then_some(marker + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<FenceLine<'_>> {
        let mut fences = Fences::default();
        text.lines().map(|line| fences.line(line)).collect()
    }

    #[test]
    fn a_fence_is_closed_by_the_same_mark_at_least_as_long() {
        use FenceLine::{Closes, Inside, Opens, Outside};
        assert_eq!(
            kinds("a\n```rust\nb\n```\nc"),
            [Outside, Opens("rust"), Inside, Closes, Outside]
        );
        assert_eq!(kinds("````\n```\n`````"), [Opens(""), Inside, Closes]);
        assert_eq!(kinds("~~~ text x\n```\n~~~ y\n~~~"), [Opens("text x"), Inside, Inside, Closes]);
        assert_eq!(kinds("```\nnever closed"), [Opens(""), Inside]);
    }

    #[test]
    fn short_marks_and_code_in_a_line_are_no_fences() {
        for line in ["``", "~~ x", "```code``` in a line", "", "text ```"] {
            assert_eq!(kinds(line), vec![FenceLine::Outside; line.lines().count()], "{line}");
        }
        // Tildes have no such form.
        assert_eq!(kinds("~~~ a~b"), [FenceLine::Opens("a~b")]);
    }

    #[test]
    fn fences_of_a_list_are_indented_and_code_inside_may_be_more_so() {
        use FenceLine::{Closes, Indented, Inside, Opens, Outside};
        let list = "- x\n    ```sh\n    ls\n    ```\ny";
        assert_eq!(kinds(list), [Outside, Opens("sh"), Inside, Closes, Outside]);
        assert_eq!(kinds("```\n    ```\n   ```"), [Opens(""), Inside, Closes]);
        // Further in, it is the example of a fence, with spaces or with a tab.
        assert_eq!(kinds("    ```\nx\n\t~~~\ny"), [Indented, Outside, Indented, Outside]);
        assert_eq!(
            kinds("1. x\n      ```\n2) y\n       ```"),
            [Outside, Opens(""), Inside, Closes]
        );
        assert_eq!(kinds("- x\n      ```"), [Outside, Indented]);
        // A list ends with text that is not indented as it is.
        assert_eq!(kinds("- x\ntext\n    ```"), [Outside, Outside, Indented]);
        assert_eq!(kinds("- x\n\n  more\n    ```"), [Outside, Outside, Outside, Opens("")]);
    }

    #[test]
    fn list_items_are_known_by_their_marks() {
        for (line, text) in [
            ("- x", Some(2)),
            ("* x", Some(2)),
            ("+ x", Some(2)),
            ("1. x", Some(3)),
            ("123456789) x", Some(11)),
            ("1234567890. x", None),
            ("-x", None),
            ("1- x", None),
            (". x", None),
            ("12", None),
            ("", None),
        ] {
            assert_eq!(item_text(line), text, "{line}");
        }
        assert_eq!((columns("  x"), columns("\tx"), columns(" \t x"), columns("x")), (2, 4, 5, 0));
    }

    #[test]
    fn lines_outside_of_fences_are_listed() {
        let text = "one\n```\ntwo\n```\nthree\n~~~\nfour";
        assert_eq!(outside_fences(text).collect::<Vec<_>>(), ["one", "three"]);
    }
}
