//! Which parts of which texts go in when there is a task.

use handover_context::assemble::{Assembly, ContextRequest};
use handover_model::{Form, Priority};

use crate::world::{Draft, World, names, package, request};

/// Minutes of a long meeting, and the one line that decides something.
fn minutes(topic: &str, decision: &str) -> String {
    let chat =
        |n: usize| format!("Ann: point {n} about the {topic} was discussed at some length.\n");
    let mut lines: Vec<String> = (0..40).map(chat).collect();
    lines[23] = format!("{decision}\n");
    lines.concat()
}

fn with_body(name: &str, body: String) -> Draft {
    let summary: String = body.chars().take(300).collect();
    Draft { summary, body: Some(body), ..package(name) }
}

fn asked(task: &str, cap: u64) -> ContextRequest {
    let (task, model) = (Some(task.to_owned()), Some("gpt-5".to_owned()));
    ContextRequest { task, model, cap: Some(cap), limit: Some(20), ..request("developer") }
}

fn shown(assembly: &Assembly, name: &str) -> Vec<String> {
    let path = format!("docs/{name}.md");
    let package = assembly.packages.iter().find(|package| package.path == path).unwrap();
    package.passages.iter().map(|passage| passage.text.clone()).collect()
}

#[test]
fn the_decisive_line_of_a_long_text_replaces_its_beginning() {
    let world = World::new();
    let decision = "Bob: refresh tokens rotate after every use, and a reused one ends the session.";
    world.add(with_body("auth", minutes("login", decision)));
    let assembly = world.compose(&asked("Do refresh tokens rotate when they are reused?", 2_000));
    assert_eq!(assembly.packages[0].form, Form::Focus);
    assert_eq!(shown(&assembly, "auth")[0], decision);
    assert!(assembly.markdown.contains("\n> L24: Bob: refresh tokens"), "{}", assembly.markdown);
}

#[test]
fn the_answer_after_its_question_goes_in_though_it_shares_no_word() {
    let world = World::new();
    let body = minutes(
        "cache",
        "Bob: how long do invoices stay in the archive?\nEve: seven years, says legal.",
    );
    world.add(with_body("archive", body));
    let assembly = world.compose(&asked("How long do invoices stay in the archive?", 2_000));
    assert!(shown(&assembly, "archive").contains(&"Eve: seven years, says legal.".to_owned()));
}

#[test]
fn the_best_passages_of_all_texts_share_a_small_room() {
    let world = World::new();
    for n in 0..6 {
        let decision = match n {
            2 => "Bob: webhooks are retried five times with growing pauses.".to_owned(),
            4 => "Eve: after the last retry of webhooks the order is parked.".to_owned(),
            _ => format!("Cid: webhooks came up {n} times."),
        };
        world.add(with_body(&format!("m{n}"), minutes("budget", &decision)));
    }
    let task = "How often are webhooks retried, and what follows the last retry of an order?";
    let assembly = world.compose(&asked(task, 240));
    assert!(assembly.tokens <= 240, "{}", assembly.tokens);
    assert!(shown(&assembly, "m2")[0].contains("five times"), "{}", assembly.markdown);
    assert!(shown(&assembly, "m4")[0].contains("parked"), "{}", assembly.markdown);
}

#[test]
fn whole_texts_go_in_before_shortened_ones() {
    let world = World::new();
    let long = "Sessions end after thirty minutes. ".repeat(11);
    world.add(Draft {
        summary: "Sessions end when a token is reused.".to_owned(),
        ..package("first")
    });
    world.add(Draft { summary: long, ..package("long") });
    world.add(Draft { summary: "Sessions are kept in Redis.".to_owned(), ..package("short") });
    let form = |assembly: &Assembly, name: &str| {
        let path = format!("docs/{name}.md");
        assembly.packages.iter().find(|package| package.path == path).map(|package| package.form)
    };
    let task = "When do sessions end, and where are sessions kept?";
    let mut narrower = (110..300).rev().map(|cap| world.compose(&asked(task, cap)));
    let short = narrower.find(|assembly| form(assembly, "long") != Some(Form::Full)).unwrap();
    let of = |name| form(&short, name);
    assert_eq!((of("first"), of("short")), (Some(Form::Full), Some(Form::Full)));
    assert!(matches!(of("long"), Some(Form::Short | Form::Pointer)), "{}", short.markdown);
}

#[test]
fn what_is_critical_goes_in_before_better_matches() {
    let world = World::new();
    for n in 0..8 {
        world.add(Draft {
            summary: format!("Sessions end after {n} minutes, and tokens with them, in zone {n}."),
            ..package(format!("match{n}"))
        });
    }
    world.add(Draft {
        summary: format!("{} sessions", "Production is frozen until the audit is over. ".repeat(5)),
        priority: Priority::Critical,
        ..package("freeze")
    });
    let assembly = world.compose(&asked("When do sessions and tokens end?", 150));
    assert_eq!(names(&assembly)[0], "freeze", "{}", assembly.markdown);
}

#[test]
fn a_summary_that_says_as_much_as_the_text_stays() {
    let world = World::new();
    let body = minutes("login", "Bob: refresh tokens rotate.");
    let summary = "Decided: refresh tokens rotate after every use.".to_owned();
    world.add(Draft { summary: summary.clone(), body: Some(body), ..package("auth") });
    let assembly = world.compose(&asked("Do refresh tokens rotate?", 2_000));
    assert_eq!((assembly.packages[0].form, &assembly.packages[0].summary), (Form::Full, &summary));
}

#[test]
fn packages_written_next_to_a_match_go_before_strangers() {
    let world = World::new();
    let add = |name: &str, summary: &str| {
        let summary = summary.to_owned();
        world.add(Draft { summary, group: Some("G"), ..package(name) })
    };
    world.add(Draft {
        summary: "Payments have a page for refunds of orders by clerks.".to_owned(),
        group: Some("H"),
        ..package("stranger")
    });
    add("before", "Payments are slow whenever many customers order at once.");
    add("match", "Payments time out because the bank answers slowly: refunds wait for it.");
    add("after", "Payments wait for a lock.");
    let task = "Payments time out: why do refunds wait for the bank?";
    let full = |assembly: &Assembly| {
        let full = assembly.packages.iter().filter(|package| package.form == Form::Full);
        let mut full: Vec<String> = full.map(|package| package.path.clone()).collect();
        full.sort_unstable();
        full
    };
    assert_eq!(full(&world.compose(&asked(task, 400))).len(), 4);
    let narrower = (100..400).rev().map(|cap| full(&world.compose(&asked(task, cap))));
    let first_out = narrower.into_iter().find(|full| full.len() < 4).unwrap();
    assert_eq!(first_out, ["docs/after.md", "docs/before.md", "docs/match.md"]);
}
