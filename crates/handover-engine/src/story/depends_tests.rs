use super::*;

fn story(id: &str, number: Option<u64>, depends_on: &[&str]) -> Story {
    Story {
        id: id.to_owned(),
        path: format!("docs/stories/{id}.md"),
        title: id.to_owned(),
        number,
        status: None,
        depends_on: depends_on.iter().map(|&on| on.to_owned()).collect(),
        text: String::new(),
    }
}

fn order(stories: Vec<Story>) -> Result<Vec<(String, Vec<String>)>, String> {
    let order = in_order("1", stories).map_err(|error| error.to_string())?;
    Ok(order.into_iter().map(|(story, on)| (story.id, on)).collect())
}

fn ids(stories: Vec<Story>) -> Vec<String> {
    order(stories).unwrap().into_iter().map(|(id, _)| id).collect()
}

#[test]
fn numbers_decide_and_stories_without_one_come_last() {
    let stories = vec![
        story("b", None, &[]),
        story("1-10-x", Some(10), &[]),
        story("1-2-y", Some(2), &[]),
        story("a", None, &[]),
    ];
    assert_eq!(ids(stories), ["1-2-y", "1-10-x", "a", "b"]);
}

#[test]
fn a_story_comes_after_its_dependencies() {
    let stories = vec![
        story("1-1-a", Some(1), &["1-3-c", "1.2"]),
        story("1-2-b", Some(2), &["1-3-c"]),
        story("1-3-c", Some(3), &["2.1", "nothing"]),
    ];
    let ordered = order(stories).unwrap();
    let names: Vec<&str> = ordered.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(names, ["1-3-c", "1-2-b", "1-1-a"]);
    assert_eq!(ordered[2].1, ["1-2-b", "1-3-c"]);
    assert!(ordered[0].1.is_empty(), "stories of other epics do not matter");
}

#[test]
fn cycles_and_unknown_stories_are_named() {
    let stories = vec![
        story("1-1-a", Some(1), &["1.2"]),
        story("1-2-b", Some(2), &["1.3"]),
        story("1-3-c", Some(3), &["1.2"]),
    ];
    assert_eq!(
        order(stories).unwrap_err(),
        "these stories depend on each other: 1-2-b → 1-3-c → 1-2-b"
    );
    let itself = vec![story("1-1-a", Some(1), &["1-1-a"])];
    assert_eq!(order(itself).unwrap_err(), "these stories depend on each other: 1-1-a → 1-1-a");
    let stranger = vec![story("1-1-a", Some(1), &["1.9"])];
    assert_eq!(
        order(stranger).unwrap_err(),
        "story `1-1-a` depends on `1.9`, and epic `1` has no such story"
    );
}

#[test]
fn a_number_shared_by_two_stories_is_ambiguous() {
    let twins = vec![
        story("1-1-a", Some(1), &[]),
        story("1-1-b", Some(1), &[]),
        story("1-2-c", Some(2), &["1.1"]),
    ];
    let error = order(twins.clone()).unwrap_err();
    assert!(error.contains("story `1.1`, on which `1-2-c` depends, could be"), "{error}");
    // Its id is unique.
    let mut named = twins;
    named[2].depends_on = vec!["1-1-b".to_owned()];
    assert_eq!(ids(named), ["1-1-a", "1-1-b", "1-2-c"]);
}
