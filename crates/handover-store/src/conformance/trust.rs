//! Cases of trust classes: what is derived has the lowest class of its sources, and nothing rises.

use handover_model::{Phase, Trust};

use super::Backend;
use super::fixture::*;
use crate::{ErrorFilter, NewStrategy, ReasoningFilter, StrategyFilter, WrittenBy};

/// A pattern has the lowest class of all that reported or solved it.
pub fn an_error_has_the_lowest_class_of_its_sightings(backend: &dyn Backend) {
    let store = backend.open();
    for (of_this, expected) in [
        (Trust::Person, Trust::Person),
        (Trust::Agent, Trust::Agent),
        (Trust::Project, Trust::Agent),
        (Trust::Outside, Trust::Outside),
        (Trust::Person, Trust::Outside),
    ] {
        let mut seen = sighting("boom");
        seen.trust = of_this;
        assert_eq!(store.record_error(&seen).unwrap().trust, expected, "{of_this}");
        let solved = store.resolve_error(&seen, &clean("calm down")).unwrap();
        assert_eq!(solved.trust, expected, "{of_this}");
    }
}

/// A strategy has the lowest class of all reasoning that it was extracted from.
pub fn a_strategy_has_the_lowest_class_of_its_sources(backend: &dyn Backend) {
    let store = backend.open();
    let learn = |trust, source| {
        let new = NewStrategy { trust, ..strategy("Use adapters", source) };
        store.learn_strategies(&[new]).unwrap().remove(0).trust
    };
    assert_eq!(learn(Trust::Agent, 1), Trust::Agent);
    assert_eq!(learn(Trust::Person, 2), Trust::Agent);
    assert_eq!(learn(Trust::Outside, 3), Trust::Outside);
    assert_eq!(learn(Trust::Agent, 4), Trust::Outside);
    // The same source again, seen with other eyes.
    assert_eq!(learn(Trust::Person, 3), Trust::Outside);
}

/// What an agent stored after it read from outside is lowered; everything else stays.
pub fn what_an_agent_wrote_is_lowered(backend: &dyn Backend) {
    let store = backend.open();
    let (s1, s2) = (session(&*store, "s1"), session(&*store, "s2"));
    let group = Some(group_id("P1"));
    let mut ids = Vec::new();
    for (n, (session, of_group, name, time, trust)) in [
        (&s1, &group, "developer", 5, Trust::Agent),
        (&s1, &group, "developer", 4, Trust::Agent),
        (&s1, &group, "qa_expert", 5, Trust::Agent),
        (&s1, &None, "developer", 5, Trust::Agent),
        (&s2, &group, "developer", 5, Trust::Agent),
        (&s1, &group, "developer", 5, Trust::Person),
    ]
    .into_iter()
    .enumerate()
    {
        let text = format!("text {n}");
        let mut new = package(session, &format!("{n}.md"), &text);
        (new.group, new.producer, new.created_at, new.trust) =
            (of_group.clone(), role(name), at(time), trust);
        let package = register(&*store, new).id;
        let mut new = reasoning(session, Phase::Decisions, &text);
        (new.group, new.role, new.now, new.trust) = (of_group.clone(), role(name), at(time), trust);
        let reasoning = store.add_reasoning(&new).unwrap().id;
        let learned = NewStrategy { trust, ..strategy(&text, reasoning.0) };
        let strategy = store.learn_strategies(&[learned]).unwrap().remove(0).id;
        let mut seen = sighting(&format!("error {}", ["a", "b", "c", "d", "e", "f"][n]));
        (seen.session, seen.group, seen.role, seen.now, seen.trust) =
            (Some(session.clone()), of_group.clone(), Some(role(name)), at(time), trust);
        let error = store.record_error(&seen).unwrap().hash;
        ids.push((session.clone(), package, reasoning, strategy, error, trust));
    }
    let written = WrittenBy { session: s1, group, role: role("developer"), since: at(5) };
    let lower = |trust| store.lower_trust(&written, trust).unwrap();
    // Nothing rises.
    assert_eq!((lower(Trust::Person), lower(Trust::Agent)), (0, 0));
    assert_eq!((lower(Trust::Outside), lower(Trust::Outside)), (8, 0));
    for (n, (session, package, reasoning, strategy, error, before)) in ids.into_iter().enumerate() {
        // The first is of its group, the fourth of no group: both may be its own.
        let expected = if matches!(n, 0 | 3) { Trust::Outside } else { before };
        let of_package = store.package(package).unwrap().trust;
        let all = store.reasoning(&session, &ReasoningFilter::default()).unwrap();
        let of_reasoning = all.iter().find(|one| one.id == reasoning).unwrap().trust;
        let all = store.strategies(&project(), &StrategyFilter::default()).unwrap();
        let of_strategy = all.iter().find(|one| one.id == strategy).unwrap().trust;
        let all = store.errors(&project(), &ErrorFilter::default()).unwrap();
        let of_error = all.iter().find(|one| one.hash == error).unwrap().trust;
        assert_eq!([of_package, of_reasoning, of_strategy, of_error], [expected; 4], "record {n}");
    }
}
