//! Tests of taking templates apart: sections, scopes of guards, what is wrong.

use super::*;

/// The pieces as `section/group text [guards]`.
fn pieces(text: &str) -> Vec<String> {
    let body = Body::parse(text, 1);
    let shown = |piece: &Piece| {
        let group = piece.group.as_deref().map(|g| format!("/{g}")).unwrap_or_default();
        let guards: String = piece.guards.iter().map(|guard| format!(" [{guard}]")).collect();
        format!("{}{group}: {}{guards}", piece.section.name(), piece.text.trim_end())
    };
    body.pieces.iter().map(shown).collect()
}

fn problems(text: &str) -> Vec<String> {
    let body = Body::parse(text, 1);
    body.problems.iter().map(|p| format!("{} {}: {}", p.line, p.rule.as_str(), p.message)).collect()
}

#[test]
fn reads_sections_in_both_spellings() {
    let new = "# X\n## Profile\n- p\n## Patterns to Apply\n- a\n## Patterns to Avoid\n- b\n## Checklist\n- [ ] c\n## Reference\n```sh\nls\n```\n";
    let old = "> disclaimer\n# X\n## Specialist Profile\n- p\n---\n## Patterns to Follow\n- a\n---\n## Patterns to Avoid\n- ❌ b\n---\n## Verification Checklist\n- [x] c\n---\n## Code Patterns (Reference)\n```sh\nls\n```\n";
    let expected = [
        "profile: p",
        "patterns to apply: a",
        "patterns to avoid: b",
        "checklist: c",
        "reference: ls",
    ];
    assert_eq!(pieces(new), expected);
    assert_eq!(pieces(old), expected);
    assert_eq!((problems(new), problems(old)), (vec![], vec![]));
    assert_eq!(Body::parse(new, 1).title.as_deref(), Some("X"));
}

#[test]
fn a_guard_ends_at_its_mark() {
    let text = "## Patterns to Apply\n<!-- version: python >= 3.12 -->\n- new\n<!-- /version -->\n- always\n";
    assert_eq!(pieces(text), ["patterns to apply: new [0]", "patterns to apply: always"]);
}

#[test]
fn a_guard_ends_at_the_next_one() {
    let text =
        "## Patterns to Apply\n<!-- version: a >= 2 -->\n- new\n<!-- version: a < 2 -->\n- old\n";
    assert_eq!(pieces(text), ["patterns to apply: new [0]", "patterns to apply: old [1]"]);
}

#[test]
fn a_guard_ends_at_the_next_heading_of_its_level_or_above() {
    // This lost `Error Handling` in the original.
    let text = "## Patterns to Apply\n### Idioms\n- one\n<!-- version: python >= 3.12 -->\n- new\n### Error Handling\n- kept\n## Patterns to Avoid\n- kept too\n";
    assert_eq!(
        pieces(text),
        [
            "patterns to apply/Idioms: one",
            "patterns to apply/Idioms: new [0]",
            "patterns to apply/Error Handling: kept",
            "patterns to avoid: kept too",
        ]
    );
    // A deeper heading does not end it.
    let text =
        "## Patterns to Apply\n<!-- version: a >= 2 -->\n- x\n### Deeper\n- y\n## Checklist\n- z\n";
    assert_eq!(
        pieces(text),
        ["patterns to apply: x [0]", "patterns to apply/Deeper: y [0]", "checklist: z"]
    );
    // Blank lines and rules do not end it either.
    let text = "## Patterns to Apply\n<!-- version: a >= 2 -->\n- x\n\n---\n\n- y\n";
    assert_eq!(pieces(text), ["patterns to apply: x [0]", "patterns to apply: y [0]"]);
}

#[test]
fn guard_before_a_heading_covers_its_content() {
    let text = "## Patterns to Apply\n<!-- version: a >= 2 -->\n\n### New\n- x\n#### More\n- y\n### Other\n- z\n";
    assert_eq!(
        pieces(text),
        [
            "patterns to apply/New: x [0]",
            "patterns to apply/More: y [0]",
            "patterns to apply/Other: z"
        ]
    );
}

#[test]
fn guard_after_a_bullet_covers_that_bullet() {
    let text = "## Patterns to Apply\n- new <!-- version: a >= 2 -->\n- always\n<!-- version: b >= 1 -->\n- both <!-- version: a >= 2 -->\n";
    assert_eq!(
        pieces(text),
        [
            "patterns to apply: new [0]",
            "patterns to apply: always",
            "patterns to apply: both [1] [2]"
        ]
    );
}

#[test]
fn ignores_guards_and_headings_in_code() {
    let text = "## Reference\n```md\n<!-- version: a >= 2 -->\n## Checklist\n```\n~~~~\n```\n~~~\n~~~~\n## Checklist\n- x\n";
    assert_eq!(
        pieces(text),
        [
            "reference: <!-- version: a >= 2 -->\n## Checklist",
            "reference: ```\n~~~",
            "checklist: x"
        ]
    );
    assert_eq!(problems(text), Vec::<String>::new());
}

#[test]
fn bullets_continue_and_nest() {
    let text = "## Patterns to Apply\n- one\n  more of it\n  - inner\n* star\nprose\n";
    let body = Body::parse(text, 1);
    let kinds: Vec<(&Kind, &str)> =
        body.pieces.iter().map(|p| (&p.kind, p.text.as_str())).collect();
    assert_eq!(
        kinds,
        [
            (&Kind::Bullet(0), "one more of it"),
            (&Kind::Bullet(1), "inner"),
            (&Kind::Bullet(0), "star"),
            (&Kind::Prose, "prose"),
        ]
    );
}

#[test]
fn reports_problems_by_line() {
    let text = "## Patterns to Apply\n## Ideas\n- x\n<!-- /version -->\n## Checklist\n<!-- version: jwt >= rfc9068 -->\n- y\n<!-- version: a >= 2 -->\n";
    assert_eq!(
        problems(text),
        [
            "2 section: the section above has nothing in it",
            "2 section: there is no section `Ideas`",
            "4 guard: no guard is open here",
            "6 guard: `rfc9068` is no version",
            "8 guard: the guard ends before anything is said",
        ]
    );
    assert_eq!(problems("nothing"), ["1 section: nothing is said in any known section"]);
}

#[test]
fn bounds_the_number_of_pieces() {
    for unit in
        ["- x\n", "<!-- version: a >= 2 -->\n", "```\n", "## Checklist\n", "#", "<!--", "\n", "  "]
    {
        let text = format!("## Patterns to Apply\n{}", unit.repeat(60_000 / unit.len()));
        assert!(Body::parse(&text, 1).pieces.len() <= MOST_PIECES);
    }
}
