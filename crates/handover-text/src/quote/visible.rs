//! Removes what cannot be seen: terminal sequences, control characters, and characters that hide,
//! reorder or smuggle others.

/// The text as lines ending in `\n`, with visible characters only.
pub fn visible(text: &str) -> String {
    // Most texts are plain, and every text of a brief is quoted.
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\t')) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars();
    let mut previous = ' ';
    while let Some(c) = rest.next() {
        let kept = match c {
            '\r' => {
                if !rest.as_str().starts_with('\n') {
                    out.push('\n');
                    previous = '\n';
                }
                continue;
            }
            '\u{1b}' | '\u{9b}' | '\u{9d}' => {
                rest = behind_sequence(c, rest.as_str()).chars();
                continue;
            }
            '\n' | '\t' => true,
            '\u{2028}' | '\u{2029}' | '\u{85}' | '\u{b}' | '\u{c}' => {
                out.push('\n');
                previous = '\n';
                continue;
            }
            _ if c.is_control() => false,
            // Joiners form emoji and letters of some scripts; between ASCII they only hide.
            '\u{200c}' | '\u{200d}' => !previous.is_ascii() && !previous.is_whitespace(),
            // One selector may change the appearance of a character; sequences of them carry hidden bytes.
            '\u{fe00}'..='\u{fe0f}' => !is_selector(previous) && !previous.is_whitespace(),
            '\u{e0100}'..='\u{e01ef}' => ('\u{3400}'..='\u{3ffff}').contains(&previous),
            _ => !is_invisible(c),
        };
        if kept {
            out.push(c);
            previous = c;
        }
    }
    out
}

fn is_selector(c: char) -> bool {
    matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

/// Characters without a glyph that change how others are read.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// The text after a terminal sequence (colours, titles, links, cursor movements).
fn behind_sequence(escape: char, rest: &str) -> &str {
    let (kind, body) = match escape {
        '\u{9b}' => (Some('['), rest),
        '\u{9d}' => (Some(']'), rest),
        _ => {
            let mut chars = rest.chars();
            (chars.next(), chars.as_str())
        }
    };
    match kind {
        // Parameters, then one final letter.
        Some('[') => {
            let end = body.find(|c: char| !matches!(c, ' '..='?'));
            let tail = end.map_or("", |end| &body[end..]);
            tail.strip_prefix(|c: char| matches!(c, '@'..='~')).unwrap_or(tail)
        }
        // A string up to a bell or terminator on this line; without one only the introducer is removed.
        Some(']' | 'P' | '^' | '_' | 'X') => match body.find(['\n', '\u{7}', '\u{9c}', '\u{1b}']) {
            Some(end) if !body[end..].starts_with('\n') => {
                let tail = &body[end..];
                tail.strip_prefix("\u{1b}\\")
                    .or_else(|| tail.strip_prefix(['\u{7}', '\u{9c}']))
                    .unwrap_or(tail)
            }
            Some(_) | None => body,
        },
        Some(' '..='~') => body,
        // Not a sequence.
        Some(_) | None => rest,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_visible_characters() {
        for text in ["tab\tand\nline", "e\u{301} ñ 漢字", "👩‍👩‍👧‍👦 ❤️ 👍🏽 🇩🇪 1️⃣", "می‌خواهم", "\u{a0}"]
        {
            assert_eq!(visible(text), text);
        }
    }

    #[test]
    fn plain_text_is_kept_as_it_is() {
        let plain: String = (' '..='~').chain(['\n', '\t']).collect();
        assert_eq!(visible(&plain), plain);
        // What makes it not plain is dropped, and nothing else.
        assert_eq!(visible(&format!("{plain}\u{200b}{plain}")), format!("{plain}{plain}"));
    }

    #[test]
    fn drops_hidden_characters() {
        for (text, expected) in [
            ("\u{1b}[31mred\u{1b}[0m", "red"),
            ("\u{1b}]0;title\u{7}x", "x"),
            ("\u{1b}]8;;http://a\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link"),
            ("\u{9b}1mbold", "bold"),
            ("a\u{1b}", "a"),
            ("a\u{0}b\u{8}c\u{7f}", "abc"),
            ("user\u{202e}gpj.exe", "usergpj.exe"),
            ("pass\u{200b}word \u{feff}x", "password x"),
            ("<\u{200d}!--", "<!--"),
            ("hi\u{e0068}\u{e0069}", "hi"),
            ("a\u{fe00}\u{fe01}\u{fe02}", "a\u{fe00}"),
            ("a\r\nb\rc\u{2028}d", "a\nb\nc\nd"),
        ] {
            assert_eq!(visible(text), expected, "{text:?}");
        }
    }
}
