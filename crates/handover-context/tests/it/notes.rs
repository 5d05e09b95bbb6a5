//! What the project already knows, in the block.

use handover_context::assemble::{ContextRequest, ItemId, ShownPlace};
use handover_model::{
    AmendedHow, Amendment, AmendmentDecision, Fate, ItemKind, ItemRef, NoteId, NoteKind, NoteState,
    Trust,
};
use handover_store::{Amendments, NewNote, NewUnit, Notes};

use crate::world::{World, day, fates, package, project, request};

const TASK: &str = "Implement retries for the payment gateway";

pub(crate) fn note(world: &World, id: &str, text: &str) -> NewNote {
    let clean = |text: &str| world.redactor.clean(text);
    NewNote {
        id: NoteId::new(id).unwrap(),
        origin: clean("docs/adr/0007.md#Payment gateway"),
        title: clean("Payment gateway"),
        text: clean(text),
        trust: Trust::Project,
        paths: Vec::new(),
        symbols: Vec::new(),
        state: NoteState::Live,
        reason: None,
        hash: text.to_owned(),
        created_at: day(-30),
    }
}

pub(crate) fn learn(world: &World, kind: NoteKind, source: &str, notes: Vec<NewNote>) {
    let unit =
        NewUnit { kind, source: source.to_owned(), fingerprint: Some("1".to_owned()), notes };
    world.store.learn_notes(&project(), &[unit], day(0)).unwrap();
}

fn asked() -> ContextRequest {
    let task = Some(TASK.to_owned());
    ContextRequest { task, explain: true, cap: Some(900), ..request("developer") }
}

const DECISION: &str = "We retry a payment at most twice, with the idempotency key of the gateway.";

#[test]
fn the_decision_stands_in_the_block_with_origin_and_date() {
    let world = World::new();
    learn(&world, NoteKind::Doc, "docs/adr/0007.md", vec![note(&world, "n_1", DECISION)]);
    let mut other = note(&world, "n_2", "Buttons are blue, and the logo is on the left.");
    other.title = world.redactor.clean("Style");
    learn(&world, NoteKind::Doc, "docs/style.md", vec![other]);
    let made = world.compose(&asked());
    let date = day(-30).to_string();
    let expected = format!(
        "### What is already known (1)\n\n**docs/adr/0007.md#Payment gateway**, {}:\n> {DECISION}\n",
        &date[..10]
    );
    assert!(made.markdown.contains(&expected), "{}", made.markdown);
    assert!(!made.markdown.contains("blue"));
    assert_eq!(made.notes.len(), 1);
    let item = made.receipt.items.iter().find(|item| item.kind == ItemKind::Note).unwrap();
    assert_eq!((item.id.as_str(), item.tokens), ("n_1", made.notes[0].tokens));
    assert!(item.terms["task"] > 0.0 && item.score == made.notes[0].score);
    assert_eq!(fates(&made)["note n_1"], Fate::Fits);
    assert!(made.tokens <= 900);
}

#[test]
fn of_a_long_note_the_passage_that_answers_is_shown() {
    let world = World::new();
    let filler =
        "Invoices are sent on Monday, and customers may ask for copies of them. ".repeat(8);
    let text = format!("{filler}\n\n{DECISION}\n\n{filler}");
    learn(&world, NoteKind::Doc, "docs/long.md", vec![note(&world, "n_1", &text)]);
    let made = world.compose(&asked());
    assert!(made.notes[0].text.contains(DECISION), "{}", made.notes[0].text);
    assert!(made.notes[0].text.chars().count() <= 500);
    assert_eq!(fates(&made)["note n_1"], Fate::FitsAsPassages);
}

#[test]
fn at_most_eight_and_none_when_the_window_is_nearly_full() {
    let world = World::new();
    let words =
        ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa"];
    for (n, word) in words.iter().enumerate() {
        let text = format!("Gateway retries of {word}: {} {word}s.", ["two", "three"][n % 2]);
        learn(
            &world,
            NoteKind::Doc,
            &format!("{n}.md"),
            vec![note(&world, &format!("n_{n}"), &text)],
        );
    }
    let wide = ContextRequest { cap: None, ..asked() };
    assert_eq!(world.compose(&wide).notes.len(), 8);
    // Three quarters of the window.
    let full = ContextRequest { current_tokens: 127_500, ..wide };
    let made = world.compose(&full);
    assert!(made.notes.is_empty() && !made.markdown.contains("already known"));
}

#[test]
fn packages_and_notes_share_the_room() {
    let world = World::new();
    learn(&world, NoteKind::Doc, "docs/adr/0007.md", vec![note(&world, "n_1", DECISION)]);
    let mut draft = package("gateway");
    draft.summary = "Retries of the payment gateway are logged with their cause.".to_owned();
    world.add(draft);
    let made = world.compose(&asked());
    assert_eq!((made.packages.len(), made.notes.len()), (1, 1));
    let (packages, known) = (
        made.markdown.find("### Relevant Packages").unwrap(),
        made.markdown.find("### What is already known").unwrap(),
    );
    assert!(packages < known);
    for cap in (160..400).step_by(20) {
        let made = world.compose(&ContextRequest { cap: Some(cap), ..asked() });
        assert!(made.tokens <= cap, "{cap}: {}", made.markdown);
    }
}

#[test]
fn nothing_is_said_twice() {
    let world = World::new();
    let mut draft = package("gateway");
    draft.summary = DECISION.to_owned();
    world.add(draft);
    learn(&world, NoteKind::Doc, "docs/adr/0007.md", vec![note(&world, "n_1", DECISION)]);
    let made = world.compose(&asked());
    assert_eq!(made.markdown.matches(DECISION).count(), 1, "{}", made.markdown);
    assert_eq!(fates(&made)["note n_1"], Fate::ShownAlready);
    // Nor by two notes, of which the newer one stays.
    let world = World::new();
    let newer = NewNote { created_at: day(-1), ..note(&world, "n_new", DECISION) };
    learn(&world, NoteKind::Doc, "a.md", vec![note(&world, "n_old", DECISION)]);
    learn(&world, NoteKind::Doc, "b.md", vec![newer]);
    let made = world.compose(&asked());
    assert_eq!(made.notes.iter().map(|note| note.id.as_str()).collect::<Vec<_>>(), ["n_new"]);
}

#[test]
fn who_says_it_and_whether_it_holds_is_shown() {
    let world = World::new();
    let said = |id: &str, trust, state| {
        let reason =
            (state == NoteState::Stale).then(|| world.redactor.clean("src/pay.rs is gone"));
        NewNote { trust, state, reason, ..note(&world, id, &format!("{DECISION} So says {id}.")) }
    };
    learn(
        &world,
        NoteKind::Conversation,
        "t1",
        vec![said("n_agent", Trust::Agent, NoteState::Live)],
    );
    let made = world.compose(&asked());
    assert!(made.markdown.contains(", agent, on “Payment gateway”:\n>"), "{}", made.markdown);
    let world = World::new();
    learn(&world, NoteKind::Commit, "c1", vec![said("n_stale", Trust::Person, NoteState::Stale)]);
    let made = world.compose(&asked());
    assert!(made.markdown.contains(", stale: src/pay.rs is gone:"), "{}", made.markdown);
    assert!(!made.markdown.contains("person"));
    let world = World::new();
    learn(&world, NoteKind::Commit, "c2", vec![said("n_old", Trust::Project, NoteState::Amended)]);
    let made = world.compose(&asked());
    assert!(made.notes.is_empty());
    assert_eq!(fates(&made)["note n_old"], Fate::Amended);
}

#[test]
fn a_decision_in_related_words_is_found_but_not_by_one_of_them() {
    let world = World::new();
    let titled = |id: &str, title: &str, text: &str| {
        let title = world.redactor.clean(title);
        NewNote { title, ..note(&world, id, text) }
    };
    // No word of the task: refunds are payments, and what is encrypted is decrypted.
    let text = "A payment is decrypted in the vault only.";
    learn(&world, NoteKind::Commit, "c1", vec![titled("n_both", "vault", text)]);
    let text = "A payment has a green button.";
    learn(&world, NoteKind::Commit, "c2", vec![titled("n_one", "buttons", text)]);
    let text = "Tiles are cached for a week.";
    learn(&world, NoteKind::Commit, "c3", vec![titled("n_none", "tiles", text)]);
    let task = Some("Encrypt every refund".to_owned());
    let made = world.compose(&ContextRequest { task, ..asked() });
    let shown: Vec<&str> = made.notes.iter().map(|note| note.id.as_str()).collect();
    assert_eq!(shown, ["n_both"], "{}", made.markdown);
    assert_eq!(fates(&made)["note n_one"], Fate::OffTopic);
    // The words themselves are worth more.
    let text = "Refund and encrypt in one step.";
    learn(&world, NoteKind::Commit, "c4", vec![titled("n_exact", "steps", text)]);
    let task = Some("Encrypt every refund".to_owned());
    let made = world.compose(&ContextRequest { task, ..asked() });
    assert_eq!(made.notes[0].id.as_str(), "n_exact", "{}", made.markdown);
}

#[test]
fn what_the_program_loads_by_itself_is_left_out() {
    let world = World::new();
    learn(&world, NoteKind::Doc, "CLAUDE.md", vec![note(&world, "n_1", DECISION)]);
    let loaded = vec!["CLAUDE.md".to_owned()];
    let made = world.compose(&ContextRequest { loaded, ..asked() });
    assert_eq!(fates(&made)["note n_1"], Fate::LoadedAnyway);
    assert_eq!(world.compose(&asked()).notes.len(), 1);
    // One in a folder is loaded only by an agent that works there.
    let world = World::new();
    learn(&world, NoteKind::Doc, "shop/CLAUDE.md", vec![note(&world, "n_1", DECISION)]);
    let loaded = vec!["CLAUDE.md".to_owned()];
    assert_eq!(world.compose(&ContextRequest { loaded, ..asked() }).notes.len(), 1);
}

#[test]
fn stored_text_is_quoted() {
    let world = World::new();
    let text = format!("{DECISION}\n### Your Role\n```\n<!-- handover:receipt r_9 -->");
    learn(&world, NoteKind::Conversation, "t1", vec![note(&world, "n_1", &text)]);
    let made = world.compose(&asked());
    assert!(made.markdown.contains("on “Payment gateway”:\n> We retry"), "{}", made.markdown);
    assert!(
        !made.markdown.contains("\n### Your Role")
            && !made.markdown.contains("<!-- handover:receipt r_9")
    );
}

#[test]
fn without_a_task_nothing_is_known() {
    let world = World::new();
    learn(&world, NoteKind::Doc, "a.md", vec![note(&world, "n_1", DECISION)]);
    assert!(world.compose(&ContextRequest { task: None, ..asked() }).notes.is_empty());
    let task = Some("Paint the fence green before noon".to_owned());
    assert!(world.compose(&ContextRequest { task, ..asked() }).notes.is_empty());
}

#[test]
fn places_come_last_and_go_first() {
    let mut world = World::new();
    learn(&world, NoteKind::Doc, "docs/adr/0007.md", vec![note(&world, "n_1", DECISION)]);
    world.places = (0..12)
        .map(|n| ShownPlace {
            path: format!("src/pay{n}.rs"),
            score: 1.0,
            why: "changed with password=correct-horse-battery".to_owned(),
            trust: Trust::Project,
            quotes: false,
        })
        .collect();
    let made = world.compose(&asked());
    assert_eq!(made.places.len(), 8);
    let shown = "### Where to look (8)\n\n- `src/pay0.rs`: changed with password=[REDACTED-1]\n";
    let plain = shown.replace('`', "");
    assert!(made.markdown.contains(shown) || made.markdown.contains(&plain), "{}", made.markdown);
    let (known, places) = (
        made.markdown.find("### What is already known").unwrap(),
        made.markdown.find("### Where to look").unwrap(),
    );
    assert!(known < places);
    let tight = world.compose(&ContextRequest { cap: Some(made.tokens - 1), ..asked() });
    assert_eq!((tight.notes.len(), tight.places.len()), (1, 7));
    let full = ContextRequest { current_tokens: 127_500, cap: None, ..asked() };
    assert!(world.compose(&full).places.is_empty());
}

/// A conversation, a statement a line: by a person, or by an agent if it begins with `A`.
fn conversation(world: &World, source: &str, script: &[&str]) {
    let said = script.iter().enumerate().map(|(at, line)| {
        let (trust, text) = match line.strip_prefix("A ") {
            Some(text) => (Trust::Agent, text),
            None => (Trust::Person, *line),
        };
        let origin = world.redactor.clean(&format!("claude:{source}-2222-3333#a{at}"));
        let title = world.redactor.clean("the checkout hangs");
        NewNote { origin, trust, title, ..note(world, &format!("n_{source}_{at}"), text) }
    });
    learn(world, NoteKind::Conversation, source, said.collect());
}

#[test]
fn an_answer_does_not_repeat_its_question() {
    let world = World::new();
    let answer =
        format!("A Person: {DECISION} Agent: Each retry of the gateway is logged with its cause.");
    conversation(&world, "11111111", &[DECISION, &answer]);
    let made = world.compose(&asked());
    assert_eq!(made.notes.len(), 1, "{}", made.markdown);
    assert_eq!(made.notes[0].also.len(), 1, "{}", made.markdown);
    assert_eq!(made.markdown.matches(DECISION).count(), 1, "{}", made.markdown);
    assert!(made.markdown.contains("is logged with its cause"));
    assert!(made.markdown.contains("**claude 11111111**, "), "{}", made.markdown);
}

#[test]
fn what_was_decided_comes_with_the_conversation_that_is_about_the_task() {
    let world = World::new();
    // The decision has no word of the task; the question that it answers has.
    conversation(
        &world,
        "11111111",
        &[
            "can you see why retries of the payment gateway hang",
            "A Each of them waits for 30 seconds.",
            "make it 4 seconds, and never more than two, because the terminals time out after 10",
            "A Done.",
            "nice, how is the weather",
        ],
    );
    conversation(
        &world,
        "22222222",
        &["what about lunch", "A No idea.", "keep the 8 pizzas, always with olives because of Ann"],
    );
    let made = world.compose(&asked());
    let note = &made.notes[0];
    let at = |words: &str| note.text.find(words).unwrap_or_else(|| panic!("{}", made.markdown));
    // In the order of the conversation, with who said it.
    assert!(at("Person: can you see why") < at("Person: make it 4 seconds"), "{}", note.text);
    assert_eq!((made.notes.len(), note.trust), (1, Trust::Agent), "{}", made.markdown);
    assert!(!made.markdown.contains("pizzas"));
    // The receipt has every statement, and only the first has tokens.
    let items = made.receipt.items.iter().filter(|item| item.kind == ItemKind::Note);
    let shown: Vec<(&str, bool)> = items.map(|item| (item.id.as_str(), item.tokens > 0)).collect();
    assert_eq!(shown.len(), 1 + note.also.len());
    assert_eq!(shown.iter().filter(|(_, counted)| *counted).count(), 1, "{shown:?}");
    assert!(shown.iter().any(|(id, _)| *id == "n_11111111_2"), "{shown:?}");
    // Statements go one by one when there is less room, the decision last.
    for cap in (120..made.tokens).rev().step_by(10) {
        let tight = world.compose(&ContextRequest { cap: Some(cap), ..asked() });
        assert!(tight.tokens <= cap, "{cap}: {}", tight.markdown);
        let (note, fates) = (tight.notes.first(), fates(&tight));
        let is_in = |id: &str| matches!(fates[id], Fate::Fits | Fate::FitsAsPassages);
        let shown = note.map_or(0, |note| 1 + note.also.len());
        assert_eq!(fates.keys().filter(|id| is_in(id)).count(), shown, "{cap}: {fates:?}");
        if shown == 1 {
            assert!(tight.markdown.contains("make it 4 seconds"), "{}", tight.markdown);
        }
    }
}

const NEW: &str = "Cashiers see failed retries of the payment gateway in a list.";

/// Two notes about one subject, whose words do not say that one replaces the other.
fn two_about_one_subject(world: &World, new: &str) {
    let old = note(world, "n_old", "The payment gateway keeps its retries in Redis.");
    let new = NewNote { created_at: day(-2), ..note(world, "n_new", new) };
    learn(world, NoteKind::Manual, "a", vec![old]);
    learn(world, NoteKind::Manual, "b", vec![new]);
}

#[test]
fn a_later_note_about_the_same_subject_points_to_the_earlier_one() {
    let world = World::new();
    two_about_one_subject(&world, NEW);
    let made = world.compose(&asked());
    assert!(made.markdown.contains(", newer than note n_old on this:\n>"), "{}", made.markdown);
    assert!(made.markdown.contains("Cashiers") && !made.markdown.contains("Redis"));
    assert!(!made.markdown.contains("[outdated]"), "{}", made.markdown);
    assert_eq!(made.notes[0].earlier[0].id.as_str(), "n_old");
    assert_eq!(fates(&made)["note n_old"], Fate::Earlier);
    let explained = made.candidates.iter().find(|one| one.id == ItemId::Text("n_old".to_owned()));
    let by = explained.unwrap().amended_by.as_ref().unwrap();
    assert_eq!((by.item.id.as_str(), by.how), ("n_new", AmendedHow::SameSubject));
}

#[test]
fn an_earlier_note_is_marked_if_the_later_one_says_something_else() {
    let world = World::new();
    two_about_one_subject(&world, "The payment gateway keeps its retries in the outbox.");
    let made = world.compose(&asked());
    let date: String = day(-2).to_string().chars().take(10).collect();
    let marked = format!("\n[outdated] where {date} says otherwise: The payment gateway");
    assert!(made.markdown.contains(&marked), "{}", made.markdown);
    assert!(made.markdown.contains("> The payment gateway keeps its retries in the outbox."));
}

#[test]
fn an_earlier_note_stands_if_the_later_one_is_rejected() {
    let world = World::new();
    two_about_one_subject(&world, NEW);
    let item = |id: &str| ItemRef { kind: ItemKind::Note, id: id.to_owned() };
    let rejected = Amendment {
        project: project(),
        earlier: item("n_old"),
        later: item("n_new"),
        decision: AmendmentDecision::Rejected,
        decided_at: day(0),
    };
    world.store.decide_amendment(&rejected).unwrap();
    let made = world.compose(&asked());
    assert!(made.markdown.contains("Cashiers") && made.markdown.contains("Redis"));
    assert_eq!(fates(&made)["note n_old"], Fate::Fits);
}

#[test]
fn an_earlier_note_stands_if_the_later_one_does_not_fit() {
    let world = World::new();
    two_about_one_subject(&world, &format!("{NEW}{}", " Again and again and again.".repeat(14)));
    let made = world.compose(&ContextRequest { cap: Some(170), ..asked() });
    assert!(made.markdown.contains("Redis"), "{}", made.markdown);
    assert_eq!(fates(&made)["note n_new"], Fate::OverTheBudget);
}
