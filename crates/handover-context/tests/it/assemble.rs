//! Assembly on a real store: who gets what, in which form, and why the rest is out.

use std::collections::BTreeMap;

use handover_context::assemble::ContextRequest;
use handover_context::learning::Binding;
use handover_context::package_file::{ProjectPaths, content_hash};
use handover_model::{
    Fate, Form, ItemKind, Phase, Priority, Provision, ReasoningLevel, Routing, Trust, Zone,
};
use handover_store::{GroupUpdate, Groups, ReceiptStep, Receipts};
use handover_text::Redactor;

use crate::world::*;

#[test]
fn without_a_task_metadata_decides() {
    let world = World::new();
    world.add(Draft { priority: Priority::Low, ..package("low") });
    world.add(Draft { created: 1, ..package("newer") });
    world.add(package("older"));
    world.add(Draft { consumers: &["developer"], ..package("addressed") });
    world.add(Draft { priority: Priority::High, ..package("high") });
    let all = ContextRequest { limit: Some(9), ..request("developer") };
    assert_eq!(world.names(&all), ["high", "addressed", "newer", "older", "low"]);
    // 4 x priority + 1.5 addressed + 1/(days + 1), exactly.
    let assembly = world.compose(&all);
    let scores: Vec<f64> = assembly.packages.iter().map(|package| package.score).collect();
    let third = 1.0 / 3.0;
    let expected = [12.0 + third, 9.5 + third, 8.5, 8.0 + third, 4.0 + third];
    for (score, expected) in scores.iter().zip(expected) {
        assert!((score - expected).abs() < 1e-9, "{scores:?}");
    }
    assert_eq!((assembly.available, assembly.overflow), (5, 0));
}

#[test]
fn the_limit_of_the_role_or_of_the_request_holds() {
    let world = World::new();
    for name in ["a", "b", "c", "d", "e", "f"] {
        world.add(package(name));
    }
    for (who, limit) in [("developer", 3), ("qa_expert", 5), ("gardener", 3)] {
        let assembly = world.compose(&request(who));
        assert_eq!((assembly.packages.len(), assembly.overflow), (limit, 6 - limit), "{who}");
        let more = format!("+{} more packages available", 6 - limit);
        assert!(assembly.markdown.contains(&more), "{}", assembly.markdown);
        let counts = &assembly.receipt.left_out_counts;
        assert_eq!(counts["over the limit"], 6 - limit as u64);
    }
    let one = ContextRequest { limit: Some(1), ..request("developer") };
    assert_eq!(world.compose(&one).packages.len(), 1);
    let none = ContextRequest { limit: Some(0), ..request("developer") };
    assert_eq!(world.compose(&none).packages.len(), 0);
}

#[test]
fn groups_and_consumers_are_hard_limits_unless_routing_is_open() {
    let mut world = World::new();
    world.add(Draft { group: Some("login"), ..package("own") });
    world.add(Draft { group: Some("cart"), ..package("foreign") });
    let chosen = world.add(Draft { group: Some("cart"), ..package("chosen") });
    world.add(Draft { consumers: &["qa_expert"], ..package("addressed") });
    world.add(package("global"));
    let references = Some(vec![chosen]);
    let update = GroupUpdate { references, ..GroupUpdate::new(session(), group("login"), day(0)) };
    world.store.set_group(&update).unwrap();
    let asked = ContextRequest {
        group: Some(group("login")),
        limit: Some(9),
        explain: true,
        ..request("developer")
    };
    let assembly = world.compose(&asked);
    let mut found = names(&assembly);
    found.sort();
    assert_eq!(found, ["chosen", "global", "own"]);
    assert_eq!(fates(&assembly)["package 2"], Fate::AnotherGroup);
    assert_eq!(fates(&assembly)["package 4"], Fate::AddressedToOthers);
    assert_eq!(assembly.available, 3);
    // Without a group the whole session counts.
    assert_eq!(world.names(&ContextRequest { group: None, ..asked.clone() }).len(), 4);
    world.config.routing = Routing::Open;
    let open = world.names(&asked);
    assert_eq!(open.len(), 5);
    assert_eq!(open[0], "own", "its own group still ranks higher: {open:?}");
}

#[test]
fn what_an_attempt_got_stays_out_of_it() {
    let world = World::new();
    world.add(package("a"));
    let delivered = world.compose(&request("developer")).receipt;
    world.store.put_receipt(&delivered).unwrap();
    assert_eq!(world.names(&request("developer")), ["a"], "assembling alone consumes nothing");
    let step = ReceiptStep::Delivered { host: None };
    world.store.advance_receipt(&delivered.id, &step, day(2)).unwrap();
    let again = world.compose(&ContextRequest { explain: true, ..request("developer") });
    assert_eq!(names(&again), [""; 0]);
    assert_eq!(fates(&again)["package 1"], Fate::DeliveredAlready);
    assert_eq!(world.names(&ContextRequest { iteration: 1, ..request("developer") }), ["a"]);
    assert_eq!(world.names(&request("tech_lead")), ["a"]);
}

#[test]
fn relevance_comes_first_and_critical_packages_keep_their_slots() {
    let world = World::new();
    for name in ["noise-1", "noise-2", "noise-3"] {
        world.add(Draft { priority: Priority::High, ..package(name) });
    }
    let summary = "Refresh tokens rotate after a grace period.".to_owned();
    world.add(Draft { summary, priority: Priority::Low, ..package("tokens") });
    let task = Some("Refresh the tokens in parallel".to_owned());
    let asked = ContextRequest { task, ..request("developer") };
    assert_eq!(world.names(&asked)[0], "tokens");
    for name in ["alarm-1", "alarm-2", "alarm-3"] {
        world.add(Draft { priority: Priority::Critical, ..package(name) });
    }
    // Half of three, rounded up.
    let found = world.names(&asked);
    let critical = found.iter().filter(|name| name.starts_with("alarm")).count();
    assert_eq!((critical, found.contains(&"tokens".to_owned())), (2, true), "{found:?}");
}

#[test]
fn zones_shorten_and_then_withhold() {
    let world = World::new();
    let long = "word ".repeat(70);
    for (name, priority) in [
        ("low", Priority::Low),
        ("medium", Priority::Medium),
        ("high", Priority::High),
        ("critical", Priority::Critical),
    ] {
        world.add(Draft { summary: format!("{name} {long}"), priority, ..package(name) });
    }
    let at = |tokens: u64| {
        let asked =
            ContextRequest { current_tokens: tokens, limit: Some(9), ..request("developer") };
        world.compose(&asked)
    };
    let normal = at(0);
    assert_eq!((normal.zone, normal.packages[0].form), (Zone::Normal, Form::Full));
    let soft = at(102_000);
    assert_eq!((soft.zone, soft.packages[0].form), (Zone::SoftWarning, Form::Short));
    assert!(soft.packages.iter().all(|package| package.summary.chars().count() <= 200));
    assert!(soft.markdown.contains("Soft Warning (60.0%)"), "{}", soft.markdown);
    let conservative = at(127_500);
    assert_eq!(conservative.zone, Zone::Conservative);
    assert_eq!(names(&conservative), ["critical", "high", "medium"]);
    assert_eq!(conservative.available, 4, "a deferred one is still for this role");
    assert!(conservative.markdown.contains("### Priority Packages (3/4) - medium level"));
    assert!(!conservative.markdown.contains("more packages available"));
    let wrap_up = at(144_500);
    assert_eq!((wrap_up.zone, wrap_up.packages.len()), (Zone::WrapUp, 0));
    let emergency = at(161_500);
    assert_eq!(emergency.zone, Zone::Emergency);
    assert!(emergency.markdown.contains("Emergency (95.0%) - Checkpoint recommended"));
}

#[test]
fn an_item_that_does_not_fit_is_tried_shorter_and_then_skipped() {
    let world = World::new();
    let long = "A long summary of many words. ".repeat(13);
    world.add(Draft { summary: long, priority: Priority::High, ..package("long") });
    world.add(package("short"));
    let forms = |cap: u64| {
        let assembly = world.compose(&ContextRequest { cap: Some(cap), ..request("developer") });
        assert!(assembly.tokens <= cap.max(130), "{} > {cap}", assembly.tokens);
        assembly.packages.iter().map(|package| package.form).collect::<Vec<_>>()
    };
    assert_eq!(forms(1_000), [Form::Full, Form::Full]);
    assert_eq!(forms(210)[0], Form::Short);
    let none =
        world.compose(&ContextRequest { cap: Some(100), explain: true, ..request("developer") });
    assert_eq!(none.packages.len(), 0);
    assert!(fates(&none).values().all(|fate| *fate == Fate::OverTheBudget), "{:?}", fates(&none));
}

#[test]
fn reasoning_comes_from_the_sources_of_the_role() {
    let world = World::new();
    world.think("developer", Phase::Understanding, "I understand");
    world.think("developer", Phase::Decisions, "I decided");
    world.think("developer", Phase::Completion, "I am done");
    world.think("qa_expert", Phase::Completion, "It holds");
    world.think("orchestrator", Phase::Completion, "Next");
    let said = |who: &str, change: &dyn Fn(&mut ContextRequest)| -> Vec<String> {
        let mut asked = request(who);
        change(&mut asked);
        let entries = world.compose(&asked).reasoning;
        entries.into_iter().map(|entry| entry.content).collect()
    };
    // Completion first, then decisions.
    let lead = said("tech_lead", &|_| {});
    assert_eq!(lead, ["It holds", "I am done", "I decided", "I understand"]);
    assert_eq!(said("qa_expert", &|_| {}), ["I am done", "I decided", "I understand"]);
    assert_eq!(said("developer", &|_| {}), [""; 0], "a first attempt gets none");
    assert_eq!(said("developer", &|asked| asked.iteration = 1).len(), 4);
    assert_eq!(said("developer", &|asked| asked.reasoning = Some(true)).len(), 4);
    assert_eq!(said("tech_lead", &|asked| asked.reasoning = Some(false)), [""; 0]);
    let minimal = said("qa_expert", &|asked| asked.reasoning_level = Some(ReasoningLevel::Minimal));
    assert_eq!(minimal, ["I am done", "I decided"]);
}

#[test]
fn reasoning_is_cut_and_counted() {
    let world = World::new();
    world.think("developer", Phase::Completion, &"word ".repeat(100));
    let assembly = world.compose(&request("qa_expert"));
    let entry = &assembly.reasoning[0];
    assert!(entry.content.chars().count() <= 300, "{}", entry.content);
    let explained = ContextRequest { explain: true, ..request("qa_expert") };
    assert_eq!(fates(&world.compose(&explained))["reasoning 1"], Fate::FitsShortened);
    let section = assembly.receipt.sections.iter().find(|s| s.name == "reasoning").unwrap();
    assert_eq!(section.used, entry.tokens);
    assert_eq!(section.budget, ReasoningLevel::Medium.tokens());
}

#[test]
fn trusted_errors_are_recalled_best_match_first() {
    let world = World::new();
    world.error("disk quota exceeded on volume", 9);
    world.error("connection refused by database", 9);
    world.error("new and untrusted failure", 1);
    let shown = |task: Option<&str>| {
        let task = task.map(str::to_owned);
        let assembly = world.compose(&ContextRequest { task, ..request("developer") });
        let errors = assembly.errors.into_iter();
        errors.map(|error| error.signature.message).collect::<Vec<_>>()
    };
    assert_eq!(shown(None).len(), 2, "only above 0.7");
    assert_eq!(
        shown(Some("Why is the connection refused by the database?"))[0],
        "connection refused by database"
    );
    assert_eq!(
        shown(Some("The disk quota is exceeded on the volume"))[0],
        "disk quota exceeded on volume"
    );
    for n in 0..4 {
        world.error(&format!("failure of kind {}", ["one", "two", "three", "four"][n]), 9);
    }
    assert_eq!(shown(None).len(), 3, "at most three");
}

#[test]
fn strategies_fit_the_technology_of_the_project() {
    let mut world = World::new();
    world.strategy("for everybody", None);
    world.strategy("for Rust", Some("rust"));
    world.strategy("for Python", Some("python"));
    let shown = |world: &World| {
        let strategies = world.compose(&request("developer")).strategies.into_iter();
        let mut insights: Vec<String> = strategies.map(|strategy| strategy.insight).collect();
        insights.sort();
        insights
    };
    assert_eq!(shown(&world).len(), 3, "nothing is known of the project");
    world.binding = Binding { language: Some("Rust".to_owned()), framework: None };
    assert_eq!(shown(&world), ["for Rust", "for everybody"]);
}

#[test]
fn secrets_are_removed_and_counted_by_rule() {
    let mut world = World::new();
    // Stored before redaction was turned on.
    world.redactor = Redactor::new(&handover_model::config::RedactionConfig {
        mode: handover_model::RedactionMode::Off,
        ..Default::default()
    })
    .unwrap();
    let summary = "The tenant takes password=correct-horse-battery".to_owned();
    world.add(Draft { summary, ..package("tenant") });
    world.redactor = Redactor::default();
    let assembly = world.compose(&request("developer"));
    assert!(!assembly.markdown.contains("correct-horse"), "{}", assembly.markdown);
    assert_eq!(assembly.redactions, 1);
    assert_eq!(assembly.receipt.redactions.values().sum::<u64>(), 1);
}

#[test]
fn files_that_vanished_are_left_out_and_changed_ones_marked() {
    let world = World::new();
    let root = fs_err::canonicalize(world.folder.path()).unwrap();
    fs_err::create_dir_all(root.join("docs")).unwrap();
    let same = package("same");
    fs_err::write(root.join("docs/same.md"), &same.summary).unwrap();
    world.add(same);
    world.add(package("changed"));
    fs_err::write(root.join("docs/changed.md"), "something else").unwrap();
    world.add(package("vanished"));
    let places = ProjectPaths::new(&root, &[]).unwrap();
    let explained = ContextRequest { explain: true, ..request("developer") };
    let assembly = world.compose_with(&explained, Some(&places));
    assert_eq!(fates(&assembly)["package 3"], Fate::FileGone);
    let changed: BTreeMap<String, bool> =
        assembly.packages.iter().map(|one| (one.path.clone(), one.changed)).collect();
    let expected = [("docs/changed.md", true), ("docs/same.md", false)];
    assert_eq!(changed, expected.map(|(path, changed)| (path.to_owned(), changed)).into());
    assert!(assembly.markdown.contains("The file has changed since this was written"));
}

#[test]
fn every_candidate_is_explained_and_its_terms_add_up() {
    let world = World::new();
    for n in 0..60 {
        world.add(package(format!("p{n}")));
    }
    let task = Some("Read about p7".to_owned());
    let brief = world.compose(&ContextRequest { task: task.clone(), ..request("developer") });
    assert_eq!(brief.receipt.left_out.len(), 50);
    assert_eq!(brief.receipt.left_out_counts["over the limit"], 57);
    let explain = true;
    let all = world.compose(&ContextRequest { task, explain, ..request("developer") });
    assert_eq!(all.candidates.len(), 60);
    assert_eq!(all.candidates.iter().filter(|one| one.included).count(), 3);
    for one in &all.candidates {
        let terms = one.terms;
        let sum = terms.priority + terms.same_group + terms.addressed + terms.recency + terms.task;
        assert!((sum - one.score).abs() < 1e-9, "{one:?}");
        assert_eq!(one.kind, ItemKind::Package);
    }
    assert_eq!(all.markdown, brief.markdown, "explaining changes nothing");
}

#[test]
fn the_receipt_says_what_is_in_the_block() {
    let world = World::new();
    world.add(package("a"));
    world.think("developer", Phase::Completion, "done");
    world.error("connection refused by database", 9);
    world.strategy("one lock", None);
    let claim = true;
    let assembly = world.compose(&ContextRequest { claim, ..request("tech_lead") });
    let receipt = &assembly.receipt;
    let kinds: Vec<ItemKind> = receipt.items.iter().map(|item| item.kind).collect();
    let expected = [ItemKind::Package, ItemKind::Reasoning, ItemKind::Error, ItemKind::Strategy];
    assert_eq!(kinds, expected);
    assert!(receipt.claim);
    assert_eq!(receipt.tokens, assembly.tokens);
    assert_eq!(receipt.prompt_hash, content_hash(assembly.markdown.as_bytes()));
    assert_eq!(receipt.provided.context, Provision::Present);
    assert!(assembly.markdown.ends_with("<!-- handover:receipt r_1 -->\n"));
    let again = world.compose(&ContextRequest { claim, ..request("tech_lead") });
    assert_eq!(again.markdown, assembly.markdown, "same input, same bytes");
}

/// A project whose packages may have files.
fn places(world: &World) -> ProjectPaths {
    let root = fs_err::canonicalize(world.folder.path()).unwrap();
    fs_err::create_dir_all(root.join("docs")).unwrap();
    ProjectPaths::new(&root, &[]).unwrap()
}

#[test]
fn packages_whose_files_vanished_do_not_use_up_the_search() {
    let world = World::new();
    let places = places(&world);
    // More than are held at once: the rest is found in another pass.
    for n in 0..120 {
        world.add(Draft { priority: Priority::Critical, ..package(format!("gone-{n}")) });
    }
    for name in ["first", "second"] {
        let one = Draft { priority: Priority::Low, ..package(name) };
        fs_err::write(places.root().join(format!("docs/{name}.md")), &one.summary).unwrap();
        world.add(one);
    }
    let assembly = world.compose_with(&request("developer"), Some(&places));
    assert_eq!(names(&assembly), ["second", "first"]);
    assert_eq!((assembly.available, assembly.overflow), (2, 0), "what is gone is not available");
    assert_eq!(assembly.receipt.left_out_counts["its file is gone"], 120);
    assert!(!assembly.receipt.left_out_counts.contains_key("over the limit"));
    // The same, with a task that reserves slots for critical packages.
    let task = Some("first and second".to_owned());
    let asked = ContextRequest { task, ..request("developer") };
    let mut found = names(&world.compose_with(&asked, Some(&places)));
    found.sort();
    assert_eq!(found, ["first", "second"]);
}

#[test]
fn the_search_for_something_that_fits_ends_after_many_misses() {
    let fits_after = |misses: usize| {
        let world = World::new();
        for n in 0..misses {
            // Even its path is too long.
            let name = format!("{n}-{}", "long-and-winding-".repeat(14));
            world.add(Draft { priority: Priority::High, ..package(name) });
        }
        world.add(Draft { priority: Priority::Low, ..package("short") });
        let asked = ContextRequest { cap: Some(130 + 25), ..request("developer") };
        let assembly = world.compose(&asked);
        let counts = assembly.receipt.left_out_counts.clone();
        (names(&assembly), counts.get("over the budget").copied())
    };
    assert_eq!(fits_after(49), (vec!["short".to_owned()], Some(49)));
    // Three are read at a time.
    assert_eq!(fits_after(51), (Vec::new(), Some(51)));
}

#[test]
fn conservative_windows_order_by_priority_whatever_the_task() {
    let world = World::new();
    let summary = "Refresh tokens rotate.".to_owned();
    world.add(Draft { summary, priority: Priority::Medium, ..package("tokens") });
    world.add(Draft { priority: Priority::High, ..package("high") });
    world.add(Draft { priority: Priority::Low, ..package("refresh-tokens") });
    let task = Some("refresh tokens".to_owned());
    let asked =
        ContextRequest { task, current_tokens: 127_500, explain: true, ..request("developer") };
    let assembly = world.compose(&asked);
    assert_eq!(names(&assembly), ["high", "tokens"]);
    assert_eq!(fates(&assembly)["package 3"], Fate::LowPriority);
    assert_eq!(assembly.receipt.left_out_counts["low priority in this zone"], 1);
}

#[test]
fn strategies_and_errors_over_their_limits_are_explained() {
    let world = World::new();
    for n in ["one", "two", "three", "four", "five"] {
        world.strategy(&format!("lesson {n}"), None);
        world.error(&format!("failure of kind {n}"), 9);
    }
    let explain = true;
    let assembly = world.compose(&ContextRequest { explain, ..request("developer") });
    assert_eq!((assembly.strategies.len(), assembly.errors.len()), (3, 3));
    let over = |kind: ItemKind| {
        let of_kind = assembly.candidates.iter().filter(|one| one.kind == kind);
        of_kind.filter(|one| one.reason == Fate::OverTheLimit && !one.included).count()
    };
    assert_eq!((over(ItemKind::Strategy), over(ItemKind::Error)), (2, 2));
    // A budget too small for any of them is another reason.
    let asked = ContextRequest { cap: Some(5), explain, ..request("developer") };
    let fates = fates(&world.compose(&asked));
    assert!(fates.values().all(|fate| *fate == Fate::OverTheBudget), "{fates:?}");
}

#[test]
fn minimal_is_two_from_each_role_and_five_in_all() {
    let world = World::new();
    for who in ["developer", "senior_software_engineer", "qa_expert"] {
        for n in 0..3 {
            world.think(who, Phase::Completion, &format!("{who} {n}"));
        }
    }
    let explain = true;
    let reasoning_level = Some(ReasoningLevel::Minimal);
    let asked = ContextRequest { explain, reasoning_level, ..request("tech_lead") };
    let assembly = world.compose(&asked);
    let said: Vec<&str> = assembly.reasoning.iter().map(|entry| entry.content.as_str()).collect();
    assert_eq!(said.len(), 5, "{said:?}");
    for who in ["developer", "senior_software_engineer", "qa_expert"] {
        assert!(said.iter().filter(|text| text.starts_with(who)).count() <= 2, "{said:?}");
    }
    // The newest of each role come first.
    assert_eq!(&said[..2], ["qa_expert 2", "qa_expert 1"]);
    let left_out = assembly.candidates.iter().filter(|one| one.reason == Fate::OverTheLimit);
    assert_eq!(left_out.count(), 4);
}

#[test]
fn of_packages_in_nearly_the_same_words_the_newest_goes_in() {
    let world = World::new();
    let body = |seconds: u32, end: &str| {
        format!(
            "# Payment timeouts\n\nA payment waits {seconds} seconds for the gateway, then it is cancelled and the \
             customer sees why. Retries use the same idempotency key, so nobody pays {end}.\n"
        )
    };
    let add = |name: &'static str, body: String, created: i64, trust: Trust| {
        let summary = format!("How long a payment waits: {name}");
        world.add(Draft { summary, body: Some(body), created, trust, ..package(name) })
    };
    let old = add("old", body(30, "twice"), 1, Trust::Project);
    let new = add("new", body(30, "again"), 2, Trust::Project);
    // Another number is no repetition, and what is believed less takes nothing away.
    let other = add("other", body(60, "twice"), 3, Trust::Project);
    let outside = add("outside", body(30, "more"), 4, Trust::Outside);
    let task = Some("How long does a payment wait for the gateway?".to_owned());
    let asked = ContextRequest { task, explain: true, limit: Some(9), ..request("developer") };
    let made = world.compose(&asked);
    let mut shown: Vec<_> = made.packages.iter().map(|package| package.id).collect();
    shown.sort_unstable();
    assert_eq!(shown, [new, other, outside]);
    assert_eq!(fates(&made)[&format!("package {old}")], Fate::ShownAlready);
    assert_eq!((made.available, made.overflow), (3, 0));
}
