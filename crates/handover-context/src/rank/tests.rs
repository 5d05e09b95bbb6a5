//! The laws of ranking, on a real store.

use std::collections::BTreeMap;

use handover_model::PackageId;
use proptest::prelude::*;

use super::*;
use crate::testing::{TestProject, at, group, role};

/// Relevance by path.
fn relevance(project: &TestProject, text: &str, weights: &ColumnWeights) -> BTreeMap<String, f64> {
    let view = View { store: &project.store, session: &project.session, group: None, role: None };
    let ranking = Ranking::new(view, Some(text), weights).unwrap();
    let mut found = BTreeMap::new();
    ranking
        .each(&mut |candidate, relevance| {
            let path =
                handover_store::Packages::package(&project.store, candidate.id).unwrap().path;
            found.insert(path, relevance);
        })
        .unwrap();
    found
}

fn add(project: &TestProject, path: &str, summary: &str, body: &str) -> PackageId {
    project.register(project.package(path, summary, body)).id
}

/// Of packages with these bodies, in order.
fn of_bodies(bodies: &[&str], text: &str) -> Vec<f64> {
    let project = TestProject::new();
    for (n, body) in bodies.iter().enumerate() {
        add(&project, &format!("{n:02}.md"), "plain", body);
    }
    relevance(&project, text, &ColumnWeights::default()).into_values().collect()
}

#[test]
fn without_a_text_everything_is_visited_and_nothing_relevant() {
    let project = TestProject::new();
    add(&project, "a.md", "dragons", "dragons");
    add(&project, "b.md", "unicorns", "unicorns");
    let view = View { store: &project.store, session: &project.session, group: None, role: None };
    let ranking = Ranking::new(view, None, &ColumnWeights::default()).unwrap();
    let mut seen = Vec::new();
    ranking.each(&mut |candidate, relevance| seen.push((candidate.id, relevance))).unwrap();
    assert_eq!(seen, [(PackageId(1), 0.0), (PackageId(2), 0.0)]);
}

#[test]
fn the_best_match_of_line_and_whole_has_all_of_it() {
    let found = of_bodies(&["dragons fly", "unicorns walk", "dragons walk far away"], "dragons");
    assert_eq!((found[0], found[1]), (1.0, 0.0));
    assert!(found[2] > 0.0 && found[2] < 1.0, "{found:?}");
}

#[test]
fn more_matches_count_more_but_less_and_less() {
    let padding = |n: usize| format!("{} {}", "dragons ".repeat(n), "walk ".repeat(12 - n));
    let bodies: Vec<String> = (0..=6).map(padding).collect();
    let bodies: Vec<&str> = bodies.iter().map(String::as_str).collect();
    let found = of_bodies(&bodies, "dragons");
    let gains: Vec<f64> = found.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(gains.iter().all(|gain| *gain > 0.0), "{found:?}");
    assert!(gains.windows(2).all(|pair| pair[0] > pair[1]), "{gains:?}");
}

#[test]
fn a_rare_word_counts_more_than_a_common_one() {
    let found = of_bodies(
        &["dragons here", "unicorns here", "unicorns there", "unicorns far", "nothing near"],
        "dragons unicorns",
    );
    assert!(found[0] > found[1], "{found:?}");
    assert_eq!(found[4], 0.0);
}

#[test]
fn a_match_in_a_longer_text_counts_less() {
    let long = format!("dragons {}", "walk ".repeat(50));
    let found = of_bodies(&["dragons walk", &long], "dragons");
    assert!(found[0] > found[1] && found[1] > 0.0, "{found:?}");
}

#[test]
fn columns_count_by_their_weight() {
    let project = TestProject::new();
    let mut titled = project.package("title.md", "plain", "walk");
    titled.title = Some(project.redactor.clean("dragons"));
    project.register(titled);
    add(&project, "summary.md", "dragons", "walk");
    let mut filed = project.package("files.md", "plain", "walk");
    filed.files = vec![project.redactor.clean("src/dragons.rs")];
    project.register(filed);
    add(&project, "body.md", "plain", "dragons");
    let only = |set: fn(&mut ColumnWeights)| {
        let mut weights =
            ColumnWeights { title: 0.0, summary: 0.0, files: 0.0, body: 0.0, context: 0.0 };
        set(&mut weights);
        let found = relevance(&project, "dragons", &weights);
        found
            .into_iter()
            .filter(|(_, score)| *score > 0.0)
            .map(|(path, _)| path)
            .collect::<Vec<_>>()
    };
    assert_eq!(only(|weights| weights.title = 1.0), ["title.md"]);
    assert_eq!(only(|weights| weights.summary = 1.0), ["summary.md"]);
    assert_eq!(only(|weights| weights.files = 1.0), ["files.md"]);
    assert_eq!(only(|weights| weights.body = 1.0), ["body.md"]);
    // Nonsense is no weight, and never turns an order around.
    for nonsense in [-3.0, f64::NAN, f64::INFINITY] {
        let weights = ColumnWeights {
            title: nonsense,
            summary: nonsense,
            files: nonsense,
            body: nonsense,
            context: nonsense,
        };
        let found = relevance(&project, "dragons", &weights);
        assert!(found.values().all(|score| *score == 0.0), "{nonsense}: {found:?}");
    }
    let default = relevance(&project, "dragons", &ColumnWeights::default());
    assert!(default["title.md"] > default["body.md"], "{default:?}");
    assert!(default["files.md"] > default["body.md"], "{default:?}");
}

#[test]
fn the_first_line_of_a_task_counts_as_much_as_all_of_it() {
    let bodies = ["dragons here", "unicorns here"];
    let both = of_bodies(&bodies, "dragons\nunicorns");
    assert_eq!((both[0], both[1]), (1.0, 0.5));
    // Lines without a word say nothing.
    assert_eq!(of_bodies(&bodies, "\n  \ndragons\nunicorns"), both);
    assert_eq!(of_bodies(&bodies, "dragons unicorns"), [1.0, 1.0]);
}

#[test]
fn repeating_a_word_of_the_question_changes_nothing() {
    let bodies = ["dragons here", "unicorns here and there"];
    let once = of_bodies(&bodies, "dragons unicorns");
    assert_eq!(of_bodies(&bodies, "dragons dragons unicorns Dragons unicorn"), once);
}

#[test]
fn long_questions_are_cut_after_the_first_words() {
    let question = Question::new(
        &(0..200).map(|n| format!("w{n}x ")).collect::<String>(),
        &ColumnWeights::default(),
    );
    assert_eq!((question.terms.len(), question.heading), (MAX_TERMS, MAX_TERMS));
    let short = Question::new("one\ntwo three", &ColumnWeights::default());
    assert_eq!((short.terms.len(), short.heading), (3, 1));
    let empty = Question::new("the\nand", &ColumnWeights::default());
    assert_eq!((empty.terms.len(), empty.heading), (0, 0));
}

#[test]
fn averages_are_at_least_one_word() {
    let slopes = |columns| Lengths { columns, ..Lengths::default() }.slopes();
    assert_eq!(slopes(Vec::new()), [B; COLUMNS]);
    assert_eq!(slopes(vec![[4; COLUMNS], [8; COLUMNS]]), [B / 6.0; COLUMNS]);
    assert_eq!(slopes(vec![[0; COLUMNS], [1; COLUMNS]]), [B; COLUMNS]);
}

#[test]
fn other_sessions_do_not_count() {
    let project = TestProject::new();
    add(&project, "a.md", "plain", "dragons here");
    add(&project, "b.md", "plain", "unicorns here");
    let alone = relevance(&project, "dragons unicorns", &ColumnWeights::default());
    let other = handover_model::SessionId::new("other").unwrap();
    let new = handover_store::NewSession {
        id: other.clone(),
        project: crate::testing::project(),
        metadata: Default::default(),
        now: at(0),
    };
    handover_store::Sessions::open_session(&project.store, &new).unwrap();
    for n in 0..5 {
        let mut package = project.package(&format!("{n}.md"), "plain", "dragons everywhere");
        package.session = other.clone();
        project.register(package);
    }
    assert_eq!(relevance(&project, "dragons unicorns", &ColumnWeights::default()), alone);
}

#[test]
fn candidates_know_their_group_and_their_reader() {
    let project = TestProject::new();
    let mut new = project.package("a.md", "plain", "walk");
    (new.group, new.scope) = (Some(group("P1")), handover_model::Scope::Group);
    new.consumers = vec![role("qa_expert")];
    project.register(new);
    let seen = |name: &str, who: &str| {
        let (group, role) = (group(name), role(who));
        let view = View {
            store: &project.store,
            session: &project.session,
            group: Some(&group),
            role: Some(&role),
        };
        let mut found = Vec::new();
        let ranking = Ranking::new(view, Some("walk"), &ColumnWeights::default()).unwrap();
        ranking
            .each(&mut |one, _| found.push((one.same_group, one.addressed, one.restricted)))
            .unwrap();
        found
    };
    assert_eq!(seen("P1", "qa_expert"), [(true, true, true)]);
    assert_eq!(seen("P2", "developer"), [(false, false, true)]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// Relevance is a share, does not depend on how the store is read, and is the same every time.
    #[test]
    fn relevance_is_a_share_whatever_the_slices(
        bodies in prop::collection::vec("(dragon|unicorn|gryphon|walk|fly| ){1,12}", 1..14),
        text in "(dragon|unicorn|gryphon|walk|\n| ){1,8}",
        slice in 1_u32..6,
    ) {
        let project = TestProject::new();
        for (n, body) in bodies.iter().enumerate() {
            add(&project, &format!("{n}.md"), "plain", body);
        }
        let view = View { store: &project.store, session: &project.session, group: None, role: None };
        let weights = ColumnWeights::default();
        let read = |slice: u32| {
            let mut all = Vec::new();
            let ranking = Ranking::in_slices(view, Some(&text), &weights, slice).unwrap();
            ranking.each(&mut |candidate, relevance| all.push((candidate.id, relevance))).unwrap();
            all
        };
        let whole = read(SLICE);
        prop_assert_eq!(whole.len(), bodies.len());
        prop_assert!(whole.iter().all(|(_, relevance)| (0.0..=1.0).contains(relevance)), "{:?}", whole);
        prop_assert!(whole.is_sorted_by_key(|(id, _)| *id));
        prop_assert_eq!(read(slice), whole);
    }

    /// A package with one more match never falls behind its twin.
    #[test]
    fn matches_are_monotonic(
        others in prop::collection::vec("(dragon|unicorn|walk| ){1,8}", 0..6),
        body in "(walk|fly| ){4,10}",
        times in 1_usize..5,
    ) {
        let project = TestProject::new();
        for (n, other) in others.iter().enumerate() {
            add(&project, &format!("other-{n}.md"), "plain", other);
        }
        // As long as its twin: only the matching word differs.
        let matching = |times: usize| format!("{body} {}{}", "dragon ".repeat(times), "filler ".repeat(6 - times));
        add(&project, "less.md", "plain", &matching(times));
        add(&project, "more.md", "plain", &matching(times + 1));
        let found = relevance(&project, "dragon", &ColumnWeights::default());
        prop_assert!(found["more.md"] > found["less.md"], "{:?}", found);
    }
}
