//! Laws of an assembly, for any store and any request.

use handover_context::assemble::{Assembly, ContextRequest};
use handover_model::config::RedactionConfig;
use handover_model::models::Model;
use handover_model::{Form, Phase, Priority, ReasoningLevel, RedactionMode};
use handover_text::{Redactor, tokens};
use proptest::prelude::*;

use crate::world::{Draft, World, group, package, request};

#[derive(Debug, Clone)]
struct Filling {
    summary: String,
    priority: Priority,
    group: Option<&'static str>,
    consumers: &'static [&'static str],
    created: i64,
}

fn filling() -> impl Strategy<Value = Filling> {
    let summary = prop_oneof![
        "[a-zA-Z ,.]{1,80}",
        "([a-z]{2,9} ){1,70}",
        "[\u{4e00}-\u{4e40}🔶`*<>#_ ]{1,120}",
    ];
    let consumers: Vec<&'static [&'static str]> =
        vec![&[], &["developer"], &["qa_expert", "tech_lead"]];
    (
        summary,
        prop::sample::select(Priority::ALL),
        prop::sample::select(vec![None, Some("login"), Some("cart")]),
        prop::sample::select(consumers),
        0_i64..30,
    )
        .prop_map(|(summary, priority, group, consumers, created)| Filling {
            summary,
            priority,
            group,
            consumers,
            created,
        })
}

fn any_request() -> impl Strategy<Value = ContextRequest> {
    (
        prop::sample::select(vec!["developer", "qa_expert", "tech_lead", "gardener"]),
        prop::sample::select(vec![None, Some("login")]),
        prop::sample::select(vec![
            None,
            Some("opus"),
            Some("gpt-4"),
            Some("gpt-4o"),
            Some("claude-3-opus"),
        ]),
        prop::option::of("[a-z ]{0,40}"),
        prop_oneof![Just(0_u64), 0_u64..200_000],
        prop::option::of(0_u64..1_200),
        prop::option::of(0_usize..8),
        prop::sample::select(ReasoningLevel::ALL),
    )
        .prop_map(
            |(who, in_group, model, task, current_tokens, cap, limit, reasoning_level)| {
                ContextRequest {
                    group: in_group.map(group),
                    model: model.map(str::to_owned),
                    task,
                    current_tokens,
                    cap,
                    limit,
                    reasoning: Some(true),
                    reasoning_level: Some(reasoning_level),
                    explain: true,
                    ..request(who)
                }
            },
        )
}

fn fill(world: &World, fillings: &[Filling]) {
    for (n, one) in fillings.iter().enumerate() {
        world.add(Draft {
            summary: one.summary.clone(),
            priority: one.priority,
            group: one.group,
            consumers: one.consumers,
            created: one.created,
            ..package(format!("{n}-{}", "x".repeat(n * 5 % 40)))
        });
        world.think(["developer", "qa_expert"][n % 2], Phase::ALL[n % 7], &one.summary);
    }
    for message in ["connection refused by database", "disk quota exceeded on volume"] {
        world.error(message, 9);
    }
    world.strategy("one lock per user", None);
}

fn is_empty(made: &Assembly) -> bool {
    made.packages.is_empty()
        && made.reasoning.is_empty()
        && made.errors.is_empty()
        && made.strategies.is_empty()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn budgets_limits_and_counts_hold(
        fillings in prop::collection::vec(filling(), 0..12), requests in prop::collection::vec(any_request(), 1..5)
    ) {
        let world = World::new();
        fill(&world, &fillings);
        for asked in &requests {
            let made = world.compose(asked);
            let tokenizer = Model::named(asked.model.as_deref()).tokenizer;
            prop_assert_eq!(made.tokens, tokens::count(tokenizer, &made.markdown));
            let cap = asked.cap.unwrap_or(u64::MAX).min(made.budget.context + made.budget.errors);
            // Only the frame of a block may be larger than a tiny cap.
            prop_assert!(made.tokens <= cap || is_empty(&made), "{} of {}", made.tokens, cap);
            if let Some(limit) = asked.limit {
                prop_assert!(made.packages.len() <= limit);
            }
            if asked.reasoning_level == Some(ReasoningLevel::Minimal) {
                prop_assert!(made.reasoning.len() <= 5);
            }
            let reasoning: u64 = made.reasoning.iter().map(|entry| entry.tokens).sum();
            prop_assert!(reasoning <= asked.reasoning_level.unwrap().tokens());
            prop_assert_eq!(made.available, made.packages.len() + made.overflow);
            for one in &made.packages {
                prop_assert!(one.summary.chars().count() <= made.zone.summary_chars());
                let is_empty = one.summary.is_empty() && one.passages.is_empty();
                prop_assert_eq!(is_empty, one.form == Form::Pointer);
                // Where many share a folder, it is said once.
                let name = one.path.rsplit('/').next().unwrap_or_default();
                prop_assert!(made.markdown.contains(name));
                let folder_is_common = made.markdown.contains(" unless noted.");
                prop_assert!(folder_is_common || made.markdown.contains(&one.path));
            }
            // Everything that was looked at is explained once, and the receipt lists what is in.
            let included: Vec<String> = made.candidates.iter().filter(|one| one.included)
                .map(|one| format!("{} {}", one.kind, one.id)).collect();
            let mut listed: Vec<String> =
                made.receipt.items.iter().map(|item| format!("{} {}", item.kind, item.id)).collect();
            let mut sorted = included.clone();
            sorted.sort();
            listed.sort();
            prop_assert_eq!(sorted, listed);
            let mut all: Vec<String> = made.candidates.iter().map(|one| format!("{} {}", one.kind, one.id)).collect();
            let count = all.len();
            all.sort();
            all.dedup();
            prop_assert_eq!(all.len(), count);
            let left_out: u64 = made.receipt.left_out_counts.values().sum();
            prop_assert_eq!(left_out as usize + included.len(), made.candidates.len());
        }
    }

    #[test]
    fn the_same_request_gets_the_same_bytes(
        fillings in prop::collection::vec(filling(), 0..10), asked in any_request()
    ) {
        let (one, other) = (World::new(), World::new());
        fill(&one, &fillings);
        fill(&other, &fillings);
        let (first, second) = (one.compose(&asked), one.compose(&asked));
        prop_assert_eq!(&first.markdown, &second.markdown);
        // Another store with the same records, too.
        prop_assert_eq!(&first.markdown, &other.compose(&asked).markdown);
        // And nothing in it depends on whether it is explained.
        let silent = ContextRequest { explain: false, ..asked };
        prop_assert_eq!(first.markdown, one.compose(&silent).markdown);
    }

    /// A higher limit only adds: nobody loses a package by asking for more.
    #[test]
    fn a_higher_limit_keeps_what_a_lower_one_gave(
        fillings in prop::collection::vec(filling(), 0..12), limit in 0_usize..6
    ) {
        let world = World::new();
        fill(&world, &fillings);
        let ids = |limit: usize| {
            let made = world.compose(&ContextRequest { limit: Some(limit), ..request("developer") });
            made.packages.into_iter().map(|one| one.id).collect::<Vec<_>>()
        };
        let (less, more) = (ids(limit), ids(limit + 2));
        prop_assert!(less.iter().all(|id| more.contains(id)), "{:?} {:?}", less, more);
        prop_assert!(more.len() >= less.len());
    }

    /// Secrets are removed before a summary is cut: no border shows the beginning of one.
    #[test]
    fn no_cut_shows_a_part_of_a_secret(before in 0_usize..210, tokens in 0_u64..140_000, cap in 150_u64..600) {
        let mut world = World::new();
        let off = RedactionConfig { mode: RedactionMode::Off, ..RedactionConfig::default() };
        world.redactor = Redactor::new(&off).unwrap();
        let secret = "Zq7XwK2vB9mT4rLs8NdY";
        let summary = format!("{} password={secret} {}", "a ".repeat(before / 2), "b ".repeat(60));
        world.add(Draft { summary: summary.clone(), ..package("tenant") });
        world.think("developer", Phase::Completion, &summary);
        world.redactor = Redactor::default();
        let asked = ContextRequest {
            current_tokens: tokens, cap: Some(cap), reasoning: Some(true), ..request("tech_lead")
        };
        let made = world.compose(&asked);
        prop_assert!(!made.markdown.contains(&secret[..3]), "{}", made.markdown);
    }
}
