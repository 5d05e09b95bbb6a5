//! Cases of [`Strategies`](crate::Strategies).

use super::Backend;
use super::fixture::*;
use crate::{StoreError, StrategyFilter};

/// The same insight from another source raises helpfulness; so does a report that it helped.
pub fn the_same_insight_grows(backend: &dyn Backend) {
    let store = backend.open();
    let one = store.learn_strategies(&[strategy("Use adapters", 1)]).unwrap();
    assert_eq!(one[0].helpfulness, 1);
    let mut again = strategy("use  adapters", 2);
    again.now = at(9);
    let two = store.learn_strategies(&[again]).unwrap();
    assert_eq!((&two[0].id, two[0].helpfulness), (&one[0].id, 2));
    assert_eq!((two[0].created_at, two[0].last_seen), (at(0), at(9)));
    assert_eq!(store.strategy_helped(&one[0].id, at(10)).unwrap().helpfulness, 3);
    assert!(matches!(store.strategy_helped("st_none", at(0)), Err(StoreError::NotFound { .. })));
}

/// Extracting an insight again from the same reasoning changes nothing.
pub fn extracting_twice_is_once(backend: &dyn Backend) {
    let store = backend.open();
    for _ in 0..3 {
        let kept = store.learn_strategies(&[strategy("Use adapters", 1)]).unwrap();
        assert_eq!(kept[0].helpfulness, 1);
    }
}

/// Most helpful first, then latest.
pub fn ordered_by_help_then_time(backend: &dyn Backend) {
    let store = backend.open();
    let mut late = strategy("late", 2);
    late.now = at(5);
    store.learn_strategies(&[strategy("early", 1), late, strategy("best", 3)]).unwrap();
    store.learn_strategies(&[strategy("best", 4)]).unwrap();
    let list = |limit| -> Vec<String> {
        let filter = StrategyFilter { limit, ..Default::default() };
        let found = store.strategies(&project(), &filter).unwrap();
        found.into_iter().map(|s| s.insight).collect()
    };
    assert_eq!(list(None), ["best", "late", "early"]);
    assert_eq!(list(Some(1)), ["best"]);
}

/// A strategy without a language fits every language.
pub fn filtered_by_language_and_framework(backend: &dyn Backend) {
    let store = backend.open();
    let mut rust = strategy("rust", 1);
    rust.language = Some(clean("Rust"));
    let mut axum = strategy("axum", 2);
    axum.language = Some(clean("rust"));
    axum.framework = Some(clean("axum"));
    store.learn_strategies(&[rust, axum, strategy("any", 3)]).unwrap();
    let list = |language: Option<&str>, framework: Option<&str>| -> Vec<String> {
        let filter = StrategyFilter {
            language: language.map(ToOwned::to_owned),
            framework: framework.map(ToOwned::to_owned),
            ..StrategyFilter::default()
        };
        let found = store.strategies(&project(), &filter).unwrap();
        let mut names: Vec<String> = found.into_iter().map(|s| s.insight).collect();
        names.sort();
        names
    };
    assert_eq!(list(Some("rust"), None), ["any", "axum", "rust"]);
    assert_eq!(list(Some("python"), None), ["any"]);
    assert_eq!(list(Some("rust"), Some("rocket")), ["any", "rust"]);
}
