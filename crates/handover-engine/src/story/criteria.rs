//! The acceptance criteria of a story, with the ids that scenarios refer to.

use super::fields;

const HEADINGS: [&str; 2] = ["acceptance criteria", "acceptance criterion"];

/// One criterion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Criterion {
    /// Its id within the story, such as `AC1`.
    pub id: String,
    /// What it says.
    pub text: String,
}

/// The criteria of a story in order: `1. …`, `- AC2: …`, `**AC3** …`, `### AC4: …`, plain list items, or paragraphs that
/// begin with `Given`. Other lines belong to the item above.
pub fn criteria(text: &str) -> Vec<Criterion> {
    let mut found: Vec<Criterion> = Vec::new();
    // Below another heading nothing belongs to the criterion above, unless headings group the criteria.
    let (mut is_open, mut is_grouped) = (true, false);
    for line in lines(text) {
        let bare = line.trim();
        if bare.is_empty() {
            continue;
        }
        let is_inside = line.starts_with([' ', '\t']);
        let number = found.len() as u64 + 1;
        let goes_on = found.last().is_some_and(|last| continues(&last.text, bare));
        // A title may come before the first clause.
        let is_prose =
            begins_with(bare, &["given"]) && found.last().is_none_or(|last| has_given(&last.text));
        match (item(bare), is_inside || goes_on, found.last_mut()) {
            (Some((own, rest)), false, _) if is_open || bare.starts_with('#') => {
                let id = format!("AC{}", own.unwrap_or(number));
                found.push(Criterion { id, text: rest.to_owned() });
                is_open = true;
            }
            (None, false, _) if bare.starts_with('#') => {
                is_grouped |= found.is_empty();
                is_open = is_grouped;
            }
            (None, _, _) if is_prose && is_open => {
                found.push(Criterion { id: format!("AC{number}"), text: plain(bare) });
                is_open = true;
            }
            (_, _, Some(last)) if is_open => {
                if !last.text.is_empty() {
                    last.text.push(' ');
                }
                let added = if goes_on { plain(bare) } else { bare.to_owned() };
                last.text.push_str(&added);
            }
            (_, _, _) => {}
        }
    }
    found
}

/// The lines of the section with the criteria, below a heading or a label of its own: `**Acceptance Criteria:**`.
fn lines(text: &str) -> Vec<&str> {
    let lines: Vec<&str> = fields::body_lines(text).collect();
    let level = |line: &str| line.bytes().take_while(|byte| *byte == b'#').count();
    let is_label = |line: &str| line.starts_with("**") && line.trim_end().ends_with(":**");
    let is_it = |line: &&str| {
        let bare = line.trim_matches(['#', '*', ' ', ':']);
        (level(line) > 1 || is_label(line))
            && HEADINGS.iter().any(|heading| bare.eq_ignore_ascii_case(heading))
    };
    let Some(at) = lines.iter().position(is_it) else { return Vec::new() };
    let own = level(lines[at]);
    let ends = |line: &&&str| match (own, level(line)) {
        (0, 0) => is_label(line) && item(line).is_none(),
        (0, _) => true,
        (_, 0) => false,
        (own, other) => other <= own,
    };
    lines[at + 1..].iter().take_while(|line| !ends(line)).copied().collect()
}

const BULLETS: [char; 5] = ['-', '*', '_', '`', ' '];

fn begins_with(line: &str, words: &[&str]) -> bool {
    let rest = line.trim_start_matches(BULLETS);
    let end = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
    words.iter().any(|word| rest[..end].eq_ignore_ascii_case(word))
}

fn has_given(text: &str) -> bool {
    let mut words = text.split(|c: char| !c.is_ascii_alphabetic());
    words.any(|word| word.eq_ignore_ascii_case("given"))
}

/// Whether a line is a further clause of `Given …`, although it may be an item of a list.
fn continues(text: &str, line: &str) -> bool {
    has_given(text) && begins_with(line, &["when", "then", "and", "but"])
}

/// A clause without its emphasis.
fn plain(line: &str) -> String {
    line.trim_start_matches(BULLETS).replace("**", "")
}

/// The number, if it has one, and the text of a list item.
fn item(line: &str) -> Option<(Option<u64>, &str)> {
    let decoration = ['*', '_', '`', ' ', ':', '.', ')', '-', '–', '—', '[', ']'];
    let listed = line.strip_prefix("- ").or_else(|| line.strip_prefix("* "));
    let rest = listed.unwrap_or(line);
    let rest = rest.strip_prefix("[ ]").or_else(|| rest.strip_prefix("[x]")).unwrap_or(rest);
    let rest = rest.trim_start_matches(['*', '_', '`', ' ', '#']);
    let digits_of =
        rest.get(..2).filter(|word| word.eq_ignore_ascii_case("ac")).map(|_| &rest[2..]);
    let after = digits_of.map_or(rest, |it| it.trim_start_matches(['-', ' ']));
    let end = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
    let number = after[..end].parse().ok();
    let is_numbered = digits_of.is_some() || after[end..].starts_with(['.', ')', ':']);
    match number {
        Some(number) if is_numbered => {
            Some((Some(number), after[end..].trim_start_matches(decoration)))
        }
        Some(_) | None => listed.map(|_| (None, rest)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(list: &str) -> Vec<String> {
        let text =
            format!("# Story 1.1: Cart\n\n## Acceptance Criteria\n\n{list}\n## Tasks\n\n1. no\n");
        criteria(&text).into_iter().map(|one| format!("{} {}", one.id, one.text)).collect()
    }

    #[test]
    fn every_common_spelling_is_read() {
        assert_eq!(ids("1. adds\n2. removes\n"), ["AC1 adds", "AC2 removes"]);
        assert_eq!(ids("- AC1: adds\n- **AC2:** removes\n"), ["AC1 adds", "AC2 removes"]);
        assert_eq!(ids("**AC3** – adds\n"), ["AC3 adds"]);
        assert_eq!(
            ids("- [ ] adds\n- [x] removes\n"),
            ["AC1  adds", "AC2  removes"].map(|it| it.replace("  ", " "))
        );
        assert_eq!(
            ids("1. adds\n   - at once\n\n   even twice\n"),
            ["AC1 adds - at once even twice"]
        );
        assert_eq!(ids("It works.\n"), Vec::<String>::new());
        assert_eq!(
            ids(
                "### AC1: Adds\n\nOne thing.\n\n### AC2: Removes\n\nGiven a cart\nWhen it is empty\n\n### Notes\n\nno\n"
            ),
            ["AC1 Adds One thing.", "AC2 Removes Given a cart When it is empty"]
        );
        assert_eq!(
            ids("1. adds\n\n### Notes\n\n- no\n\n### AC2: removes\n"),
            ["AC1 adds", "AC2 removes"]
        );
        assert_eq!(
            ids("### Cart\n\n1. adds\n\n### Speed\n\n2. is fast\n"),
            ["AC1 adds", "AC2 is fast"]
        );
    }

    #[test]
    fn prose_is_read_by_its_first_word() {
        let two =
            ["AC1 Given a cart When I add Then it is there", "AC2 Given no cart Then it says so"];
        for text in [
            "Given a cart\nWhen I add\nThen it is there\n\nGiven no cart\nThen it says so\n",
            "**Given** a cart\n**When** I add\n**Then** it is there\n\n**Given** no cart\n**Then** it says so\n",
            "- Given a cart\n- When I add\n- Then it is there\n- Given no cart\n- Then it says so\n",
            "1. Given a cart\n   When I add\n   Then it is there\n2. **Given** no cart **Then** it says so\n",
        ] {
            let found: Vec<String> = ids(text).iter().map(|it| it.replace("**", "")).collect();
            assert_eq!(found, two, "{text}");
        }
        let labelled = "# Story 1.1\n\n**Acceptance Criteria:**\n\n**Given** a cart\n**Then** it is there\n\n**Technical Notes:**\n\n- no\n";
        let found = criteria(labelled);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].text, "Given a cart Then it is there");
        assert!(criteria("# Story 1.1\n\n1. no\n").is_empty());
    }
}
