//! Compares scenarios with the acceptance criteria of an epic's stories.

use crate::story::Criterion;

use super::{Document, ScenarioProblem};

/// The criteria of each story.
pub type Criteria = [(String, Vec<Criterion>)];

/// Scenarios that name a criterion which its story does not have. Stories without a list of criteria, and
/// free texts, are not judged.
pub fn unknown(document: &Document, criteria: &Criteria) -> Vec<ScenarioProblem> {
    let mut problems = Vec::new();
    for (n, scenario) in document.scenarios.iter().enumerate() {
        let Some((story, id)) = split(&scenario.criterion) else { continue };
        let Some((_, own)) = criteria.iter().find(|(name, _)| name == story) else { continue };
        if !own.iter().any(|criterion| criterion.id.eq_ignore_ascii_case(id)) {
            let ids: Vec<&str> = own.iter().map(|criterion| criterion.id.as_str()).collect();
            let rule = format!("`{story}` has no {id}; it has {}", ids.join(", "));
            problems.push(ScenarioProblem { place: format!("scenarios[{n}].criterion"), rule });
        }
    }
    problems
}

/// The criteria that no scenario covers, as `1-1-cart AC2: …`.
pub fn uncovered(document: &Document, criteria: &Criteria) -> Vec<String> {
    let covers = |story: &str, id: &str| {
        let mut named = document.scenarios.iter().filter_map(|it| split(&it.criterion));
        named.any(|(of, which)| of == story && which.eq_ignore_ascii_case(id))
    };
    let all = criteria.iter().flat_map(|(story, own)| own.iter().map(move |one| (story, one)));
    all.filter(|(story, one)| !covers(story, &one.id))
        .map(|(story, one)| format!("{story} {}: {}", one.id, one.text))
        .collect()
}

/// What the criterion of a scenario says, if it names one of a story.
pub(super) fn text_of<'a>(criterion: &str, criteria: &'a Criteria) -> Option<&'a str> {
    let (story, id) = split(criterion)?;
    let (_, own) = criteria.iter().find(|(name, _)| name == story)?;
    let one = own.iter().find(|one| one.id.eq_ignore_ascii_case(id))?;
    // A scenario may repeat the text.
    (!criterion.contains(one.text.as_str())).then_some(one.text.as_str())
}

/// `1-1-cart AC1`, also with a colon or more text after it.
fn split(criterion: &str) -> Option<(&str, &str)> {
    let (story, rest) = criterion.trim().split_once([' ', ':', '/'])?;
    let id = rest.trim().split([' ', ':', ',', '.', '(']).next()?;
    let digits = id.get(2..)?;
    let is_id = id.get(..2)?.eq_ignore_ascii_case("ac")
        && !digits.is_empty()
        && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_id.then_some((story.trim_end_matches(':'), id))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::uat::from_value;

    #[test]
    fn criteria_are_compared_with_those_of_the_stories() {
        let document = from_value(&json!([
            {"id": "S1", "criterion": "1-1-a AC1: it adds", "kind": "auto", "argv": ["cat"]},
            {"id": "S2", "criterion": "1-1-a AC9", "kind": "auto", "argv": ["cat"]},
            {"id": "S3", "criterion": "1-2-b AC4", "kind": "auto", "argv": ["cat"]},
            {"id": "S4", "criterion": "It is fast", "kind": "manual", "steps": ["Look"]},
        ]))
        .unwrap();
        let one = |id: &str| Criterion { id: id.to_owned(), text: format!("text of {id}") };
        let criteria = [("1-1-a".to_owned(), vec![one("AC1"), one("AC2")])];
        let wrong: Vec<String> =
            unknown(&document, &criteria).iter().map(ToString::to_string).collect();
        assert_eq!(wrong, ["scenarios[1].criterion: `1-1-a` has no AC9; it has AC1, AC2"]);
        assert_eq!(uncovered(&document, &criteria), ["1-1-a AC2: text of AC2"]);
        assert!(unknown(&document, &[]).is_empty() && uncovered(&document, &[]).is_empty());
    }
}
