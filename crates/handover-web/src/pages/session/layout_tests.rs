use super::super::drawing::Drawing;
use super::super::graph::Reach;
use super::*;

#[test]
fn merges_moments_into_a_bounded_number_of_columns() {
    let few: Vec<i64> = (0..10).map(|n| n * 3).collect();
    assert_eq!(by_activity(&few, COLUMNS).len(), 10);
    // Bursts of work separated by gaps.
    let bursts: Vec<i64> = (0..30)
        .flat_map(|part| (0..10).map(move |n| part * 3_600_000_000 + n * 1_000_000))
        .collect();
    assert_eq!(by_activity(&bursts, COLUMNS).len(), 30);
    let steady: Vec<i64> = (0..10_000).map(|n| n * 1_000_000).collect();
    assert_eq!(by_activity(&steady, COLUMNS).len(), COLUMNS);
    assert!(by_activity(&[], COLUMNS).is_empty());
    assert_eq!(by_activity(&[5; 500], COLUMNS).len(), 1);
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig {
        failure_persistence: None,
        ..proptest::prelude::ProptestConfig::default()
    })]

    /// Whatever the moments: few enough columns, in order, and each moment in exactly one of them.
    #[test]
    fn columns_cover_every_moment(
        mut times in proptest::collection::vec(0..4_000_000_000_000_i64, 1..300),
        most in 1..=COLUMNS,
        is_to_scale: bool,
    ) {
        times.sort_unstable();
        let layout = Layout::with(Vec::new(), &times, most, is_to_scale);
        let starts: Vec<i64> = layout.columns.iter().map(|start| start.as_micros()).collect();
        proptest::prop_assert!((1..=most).contains(&starts.len()), "{} of {most}", starts.len());
        proptest::prop_assert!(starts.windows(2).all(|pair| pair[0] < pair[1]), "{starts:?}");
        proptest::prop_assert_eq!(starts[0], times[0]);
        let mut used: Vec<usize> = Vec::new();
        for time in &times {
            let column = layout.column(Timestamp::from_micros(*time));
            proptest::prop_assert!(starts[column] <= *time);
            proptest::prop_assert!(starts.get(column + 1).is_none_or(|next| time < next));
            used.push(column);
            let x = layout.x(column);
            proptest::prop_assert!(x > EDGE && x < WIDTH - EDGE, "{x}");
        }
        used.dedup();
        proptest::prop_assert_eq!(used.len(), starts.len(), "no column is empty");
    }
}

#[test]
fn the_busiest_roles_have_a_lane_and_the_others_share_one() {
    let role = |name: &str| handover_model::Role::new(name).unwrap();
    let entry = |name: &str, at: i64| super::super::graph::ReasoningNode {
        role: role(name),
        phase: handover_model::Phase::Risks,
        content: String::new(),
        at: Timestamp::from_micros(at),
        reach: Reach::Undelivered,
    };
    let mut reasoning = Vec::new();
    for n in 0..20 {
        // The later ones are busier.
        reasoning.extend((0..=n).map(|_| entry(&format!("role_{n:02}"), n)));
    }
    let graph = SessionGraph {
        packages: Vec::new(),
        reasoning,
        receipts: Vec::new(),
        edges: Vec::new(),
        outcomes: Vec::new(),
        since: None,
    };
    let layout = Layout::new(&graph, &View::default());
    assert_eq!(layout.lanes.len(), LANES);
    assert_eq!(layout.lanes.first().map(String::as_str), Some("role_09"));
    assert_eq!(layout.lanes.last().map(String::as_str), Some(OTHERS));
    assert_eq!(layout.lane("role_10"), 1, "in the order of their first appearance");
    assert_eq!(layout.lane("role_03"), LANES - 1);
    let session = "s1".parse().unwrap();
    let drawn = Drawing::new(&session, &graph, &View::default()).on_the_page().into_string();
    assert_eq!(drawn.matches("class=\"lane\"").count(), LANES);
    assert!(drawn.contains("others: 9 pieces of reasoning"), "{drawn}");
}

#[test]
fn to_scale_pauses_are_as_long_as_they_were() {
    let minutes = |list: &[i64]| -> Vec<i64> { list.iter().map(|n| n * 60_000_000).collect() };
    let times = minutes(&[0, 1, 100]);
    let at = |is_to_scale: bool, nth: usize| {
        let layout = Layout::with(Vec::new(), &times, COLUMNS, is_to_scale);
        layout.x(layout.column(Timestamp::from_micros(times[nth])))
    };
    assert!(at(true, 2) - at(true, 1) > 10.0 * (at(true, 1) - at(true, 0)));
    assert!((at(false, 2) - at(false, 1) - (at(false, 1) - at(false, 0))).abs() < 1.0);
}
