//! Reads manifests that are code as text: quoted words, and what follows a word.

/// The quoted words of a line.
pub(super) fn quoted(line: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = line;
    while let Some(start) = rest.find(['"', '\'']) {
        let quote = rest.as_bytes()[start];
        let inside = &rest[start + 1..];
        let Some(end) = inside.bytes().position(|b| b == quote) else { break };
        words.push(&inside[..end]);
        rest = &inside[end + 1..];
    }
    words
}

/// The first quoted word after a mark.
pub(super) fn quoted_after<'t>(line: &'t str, mark: &str) -> Option<&'t str> {
    let at = line.find(mark)?;
    quoted(&line[at + mark.len()..]).first().copied()
}

/// The number after a mark: `sourceCompatibility = 17`, `JavaVersion.VERSION_1_8`.
pub(super) fn number_after(line: &str, mark: &str) -> Option<String> {
    let rest = &line[line.find(mark)? + mark.len()..];
    let rest = rest.trim_start_matches([' ', '=', '(', '"', '\'', ':', '\t']);
    let end =
        rest.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_').unwrap_or(rest.len());
    let number = rest[..end].trim_end_matches(['.', '_']).replace('_', ".");
    (!number.is_empty()).then_some(number)
}

/// The lines without comments.
pub(super) fn lines<'t>(text: &'t str, comment: &'static str) -> impl Iterator<Item = &'t str> {
    text.lines().map(str::trim).filter(move |line| !line.is_empty() && !line.starts_with(comment))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_in_quotes() {
        assert_eq!(quoted("gem 'rails', \"~> 7.1\""), ["rails", "~> 7.1"]);
        assert_eq!(quoted("it's open"), Vec::<&str>::new());
        assert_eq!(quoted_after("x version \"3.2\"", "version"), Some("3.2"));
    }

    #[test]
    fn numbers_after_a_mark() {
        assert_eq!(
            number_after("sourceCompatibility = '1.8'", "Compatibility").as_deref(),
            Some("1.8")
        );
        assert_eq!(number_after("JavaVersion.VERSION_1_8", "VERSION_").as_deref(), Some("1.8"));
        assert_eq!(number_after("jvmToolchain(17)", "jvmToolchain").as_deref(), Some("17"));
        assert_eq!(number_after("jvmToolchain(x)", "jvmToolchain"), None);
    }
}
