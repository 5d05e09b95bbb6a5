//! Sentences, each with the line structure that it came from.

/// Abbreviations that do not end a sentence.
const ABBREVIATIONS: &[&str] =
    &["e.g", "i.e", "etc", "vs", "cf", "approx", "resp", "no", "fig", "incl", "dr", "mr", "ms"];

/// The sentences of a text: what ends with a full stop, an exclamation or a question mark, or with the line.
pub fn sentences(text: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    for line in text.lines() {
        let mut start = 0;
        for (at, c) in line.char_indices() {
            let after = &line[at + c.len_utf8()..];
            let ends = match c {
                '。' | '！' | '？' => true,
                '.' | '!' | '?' => after.starts_with(' ') && !is_abbreviation(&line[start..at]),
                _ => false,
            };
            if ends {
                push(&mut sentences, &line[start..at + c.len_utf8()]);
                start = at + c.len_utf8();
            }
        }
        push(&mut sentences, &line[start..]);
    }
    sentences
}

fn push<'t>(sentences: &mut Vec<&'t str>, sentence: &'t str) {
    let sentence = sentence.trim();
    if sentence.chars().any(char::is_alphanumeric) {
        sentences.push(sentence);
    }
}

fn is_abbreviation(before: &str) -> bool {
    let word = before.rsplit(|c: char| c.is_whitespace() || c == '(').next().unwrap_or_default();
    ABBREVIATIONS.contains(&word.to_ascii_lowercase().as_str())
        // The number of a list: `1. Use WAL`.
        || before.trim().bytes().all(|b| b.is_ascii_digit())
}

/// How many words a text has.
pub fn words(text: &str) -> usize {
    let of_letters =
        text.split_whitespace().filter(|word| word.chars().any(char::is_alphabetic)).count();
    // Languages without spaces: two characters are about a word.
    let wide = text.chars().filter(|c| ('\u{2e80}'..'\u{e000}').contains(c)).count();
    of_letters + wide / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_end_where_readers_end_them() {
        let text = "Use e.g. WAL. Not v1.2 of src/db.rs! Why?\n1. First point\n- second\n\n---\n用它。不用别的。";
        assert_eq!(
            sentences(text),
            [
                "Use e.g. WAL.",
                "Not v1.2 of src/db.rs!",
                "Why?",
                "1. First point",
                "- second",
                "用它。",
                "不用别的。"
            ]
        );
    }

    #[test]
    fn words_are_counted_in_any_script() {
        assert_eq!(words("use WAL, not 3 - ok"), 4);
        assert_eq!(words("使用预写日志模式"), 1 + 4);
    }
}
