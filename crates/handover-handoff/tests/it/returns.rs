//! The way back: what becomes of a report that is too long for its parent.

use handover_context::package_file::content_hash;
use handover_handoff::{Assignment, OutsideRead, Report, Shortened};
use handover_model::{PackageKind, Priority, Tokenizer, Trust};
use handover_store::{PackageFilter, Packages};
use handover_text::tokens;

use crate::world::{World, at, session};

const SECRET: &str = "ghp_aB3dE5fG7hI9jK1lM2nO4pQ6rS8tU0vW1xYz";

fn report(paragraphs: usize) -> String {
    let filler = |n| format!("Paragraph {n} is about the weather in town {n}.\n\n");
    let filler: String = (0..paragraphs).map(filler).collect();
    format!(
        "# What I found\n\nThe key was {SECRET}.\n\n{filler}\
         Refresh tokens rotate under one lock per family.\n\n\
         ```handover\nverdict: complete\nsummary: Tokens rotate.\n```\n"
    )
}

fn shortened(world: &World, name: &str, text: &str, limit: u64) -> Option<Shortened> {
    let handoff = world.started("developer", name, 1);
    shorten(world, &handoff.assignment, text, limit, None)
}

fn shorten(
    world: &World,
    assignment: &Assignment,
    text: &str,
    limit: u64,
    outside: Option<&OutsideRead>,
) -> Option<Shortened> {
    let (task, tokenizer) = ("Do the refresh tokens rotate?", Tokenizer::Claude);
    let report = Report { assignment, text, task, limit, tokenizer, outside, now: at(9) };
    world.handoffs().shorten(&report).unwrap()
}

#[test]
fn a_long_report_becomes_a_package_and_its_parent_reads_what_answers_the_task() {
    let world = World::new();
    let text = report(200);
    let Shortened { package, text: short, before, after } =
        shortened(&world, "1", &text, 200).unwrap();
    assert!(after <= 200 && after == tokens::count(Tokenizer::Claude, &short), "{short}");
    assert_eq!(before, tokens::count(Tokenizer::Claude, &text));
    let command =
        format!("`handover package show {} --body` or open `{}`", package.id, package.path);
    assert!(short.contains(&command), "{short}");
    assert!(short.contains("Verdict: complete. Tokens rotate."), "{short}");
    assert!(short.contains("# What I found"), "{short}");
    assert!(short.contains("Refresh tokens rotate under one lock per family."), "{short}");
    assert!(short.contains("[…]") && !short.contains("```handover"), "{short}");
    // The package has every byte but for the secret.
    let body = world.store.package_body(package.id).unwrap();
    assert_eq!(body, text.replace(SECRET, "[REDACTED-1]"));
    let file = fs_err::read_to_string(world.paths.root().join(&package.path)).unwrap();
    assert!(file.ends_with(&body) && !short.contains(SECRET), "{short}");
    assert_eq!(package.content_hash, content_hash(file.as_bytes()));
    assert_eq!((package.kind, package.priority), (PackageKind::Handoff, Priority::Low));
    assert_eq!(
        (package.group, package.producer.as_str()),
        (Some(crate::world::group()), "developer")
    );
    assert_eq!((package.summary.as_str(), package.trust), ("Tokens rotate.", Trust::Agent));
    assert!(package.consumers.is_empty());
}

#[test]
fn a_report_within_its_limit_is_left_alone() {
    let world = World::new();
    let text = report(2);
    let limit = tokens::count(Tokenizer::Claude, &text);
    assert_eq!(shortened(&world, "1", &text, limit), None);
    assert!(world.store.packages(&session(), &PackageFilter::default()).unwrap().is_empty());
    assert!(shortened(&world, "2", &text, limit - 1).is_some());
}

#[test]
fn the_same_report_is_one_package_and_another_one_another() {
    let world = World::new();
    let handoff = world.started("developer", "1", 1);
    let kept = |text: String| shorten(&world, &handoff.assignment, &text, 300, None).unwrap();
    let (first, again, other) = (kept(report(200)), kept(report(200)), kept(report(201)));
    assert_eq!(first.package.id, again.package.id);
    assert_ne!(first.package.path, other.package.path);
    let all = world.store.packages(&session(), &PackageFilter::default()).unwrap();
    assert_eq!(all.len(), 2, "neither replaces the other");
}

#[test]
fn a_report_of_an_agent_that_read_from_outside_is_from_outside() {
    let world = World::new();
    let handoff = world.started("qa_expert", "1", 1);
    let outside = OutsideRead { tool: "WebFetch".to_owned(), at: None };
    let kept = shorten(&world, &handoff.assignment, &report(200), 300, Some(&outside)).unwrap();
    assert_eq!((kept.package.trust, kept.package.kind), (Trust::Outside, PackageKind::Research));
}

#[test]
fn a_report_that_cannot_be_stored_is_not_shortened() {
    let mut world = World::new();
    world.config.packages.max_bytes = 1_000;
    let handoff = world.started("developer", "1", 1);
    let report = Report {
        assignment: &handoff.assignment,
        text: &report(200),
        task: "",
        limit: 300,
        tokenizer: Tokenizer::Claude,
        outside: None,
        now: at(9),
    };
    let error = world.handoffs().shorten(&report).unwrap_err().to_string();
    assert!(error.contains("1000"), "{error}");
    assert!(world.store.packages(&session(), &PackageFilter::default()).unwrap().is_empty());
}

#[test]
fn every_limit_is_kept() {
    let world = World::new();
    let handoff = world.started("developer", "1", 1);
    for limit in [100, 101, 150, 333, 1_000] {
        for paragraphs in [150, 400] {
            let text = report(paragraphs);
            let kept = shorten(&world, &handoff.assignment, &text, limit, None).unwrap();
            assert!(kept.after <= limit, "{limit}: {}", kept.text);
            assert!(kept.text.contains("handover package show"), "{limit}: {}", kept.text);
        }
    }
}
