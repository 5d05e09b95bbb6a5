//! What came from outside stays from outside, no matter who repeats it: chains from the web through agents, packages,
//! strategies and errors to the next agents, in generated variations.

use std::collections::BTreeMap;

use handover_handoff::{Debrief, Ending, ErrorNote, OutsideRead, PackageNote};
use handover_model::{ItemKind, KNOWN_FIX, PackageKind, Phase, ToolCall, Trace, Trust, Verdict};
use handover_store::{
    ErrorFilter, ErrorPatterns, NewReasoning, PackageFilter, Packages, ReasoningFilter, Reasonings,
    Receipts, Sessions, Strategies, StrategyFilter, VerdictFilter, Verdicts,
};

use crate::world::{World, at, group, receipt_id, role, session};

/// How a text from outside reaches the first agent.
#[derive(Debug, Clone, Copy)]
enum Entry {
    /// It fetched a page.
    Web,
    /// Its brief had a package from outside.
    Brief,
    /// It stored what it read before anybody could know that it had.
    Midway,
    /// It found a text from outside with our search.
    Search,
    /// It read a package from outside with our tool.
    Read,
    /// A hook told it a solution from outside.
    Fix,
}

impl Entry {
    const ALL: [Self; 6] =
        [Self::Web, Self::Brief, Self::Midway, Self::Search, Self::Read, Self::Fix];

    /// What the first agent saw, if only that tells.
    fn trace(self, marker: &str) -> Option<Trace> {
        let mut trace = Trace::default();
        let mut tool = |name: &str, shown: &str| {
            let [id, name, input] = ["call", name, "{}"].map(str::to_owned);
            trace.called(ToolCall { id, name, input });
            trace.shown("call", false, shown);
        };
        match self {
            Self::Web | Self::Brief | Self::Midway => return None,
            Self::Search => tool(
                "mcp__handover__search",
                &format!(r#"{{"results":[{{"snippet":"{marker}","trust":"outside"}}]}}"#),
            ),
            Self::Read => tool(
                "mcp__handover__read_package",
                &format!(r#"{{"id":1,"trust":"outside","text":"{marker}"}}"#),
            ),
            Self::Fix => trace.given(&format!(
                "{KNOWN_FIX}: it was seen once, and this solved it (confidence 0.9, outside):\n> {marker}"
            )),
        }
        Some(trace)
    }
}

/// One chain, read from a number.
#[derive(Debug, Clone, Copy)]
struct Chain {
    number: usize,
    entry: Entry,
    by_package: bool,
    by_error: bool,
    by_decision: bool,
    accepted: bool,
    hops: usize,
}

impl Chain {
    fn of(number: usize) -> Self {
        // At least one way out, in every combination with the others.
        let ways = 1 + number / 6 % 7;
        Self {
            number,
            entry: Entry::ALL[number % 6],
            by_package: ways & 1 != 0,
            by_error: ways & 2 != 0,
            by_decision: ways & 4 != 0,
            accepted: (number / 42).is_multiple_of(2),
            hops: 1 + number / 84 % 3,
        }
    }

    /// A word that only what came from outside has.
    fn marker(self) -> String {
        format!("zebrafish{}", self.number)
    }

    /// What an agent says that repeats it.
    fn debrief(self, world: &World, agent: usize) -> Debrief {
        let (marker, n) = (self.marker(), self.number);
        let mut debrief = Debrief {
            verdict: Some(Verdict::Complete),
            summary: Some(format!("Refresh the tokens the {marker} way, step {agent}")),
            ..Debrief::default()
        };
        if self.by_decision {
            let text = format!("Refresh the tokens through the {marker} adapter, variant {agent}");
            debrief.reasoning = BTreeMap::from([(Phase::Decisions, text)]);
        }
        if self.by_package {
            let path = format!("found/{n}-{agent}.md");
            let file = world.paths.root().join(&path);
            fs_err::create_dir_all(file.parent().unwrap()).unwrap();
            let body =
                format!("# Tokens {agent}\n\n## Summary\nRefresh tokens: {marker} {agent}\n");
            fs_err::write(file, body).unwrap();
            let kind = Some(PackageKind::Research);
            debrief.packages.push(PackageNote { path, kind, ..PackageNote::default() });
        }
        if self.by_error {
            debrief.errors.push(ErrorNote {
                message: format!("TokenError: refresh {marker} failed in step {agent}"),
                solution: Some(format!("Restart the {marker} service before the tokens expire")),
            });
        }
        debrief
    }
}

/// The class of every stored text that has the marker, by what it is.
fn classes(world: &World, marker: &str) -> Vec<(String, Trust)> {
    let (store, session) = (&world.store, session());
    let project = store.session(&session).unwrap().project;
    let mut all = Vec::new();
    for package in store.packages(&session, &PackageFilter::default()).unwrap() {
        let body = store.package_body(package.id).unwrap();
        all.push((format!("package {} {body}", package.summary), package.trust));
    }
    for entry in store.reasoning(&session, &ReasoningFilter::default()).unwrap() {
        all.push((format!("reasoning {}", entry.content), entry.trust));
    }
    for verdict in store.verdicts(&session, &VerdictFilter::default()).unwrap() {
        all.push((format!("verdict {}", verdict.summary.unwrap_or_default()), verdict.trust));
    }
    for pattern in store.errors(&project, &ErrorFilter::default()).unwrap() {
        let said = format!("error {} {:?}", pattern.said(), pattern.solution);
        all.push((said, pattern.trust));
    }
    for strategy in store.strategies(&project, &StrategyFilter::default()).unwrap() {
        all.push((format!("strategy {}", strategy.insight), strategy.trust));
    }
    all.retain(|(text, _)| text.contains(marker));
    all
}

/// Plays a chain; how many tainted items the later agents were given.
fn play(chain: Chain) -> usize {
    let world = World::new();
    let marker = chain.marker();
    if matches!(chain.entry, Entry::Brief) {
        world.package_of(Trust::Outside, "imported.md", &format!("Refresh tokens with {marker}"));
    }
    let first = world.started("developer", "first", 1);
    let web = OutsideRead { tool: "WebFetch".to_owned(), at: Some(at(2)) };
    let outside = match chain.entry {
        Entry::Web | Entry::Midway => Some(&web),
        Entry::Brief | Entry::Search | Entry::Read | Entry::Fix => None,
    };
    let trace = chain.entry.trace(&marker);
    if matches!(chain.entry, Entry::Midway) {
        let content = world.redactor.clean(&format!("Tokens need the {marker} header"));
        let entry = NewReasoning {
            session: session(),
            group: Some(group()),
            role: role("developer"),
            agent_id: None,
            iteration: 0,
            phase: Phase::Approach,
            confidence: None,
            content,
            references: Vec::new(),
            now: at(3),
            trust: Trust::Agent,
        };
        world.store.add_reasoning(&entry).unwrap();
    }
    let debrief = chain.debrief(&world, 0);
    let ending = Ending::new(&first.assignment, &debrief, at(4));
    world.handoffs().ended(Ending { outside, trace: trace.as_ref(), ..ending }).unwrap();
    let (mut given, mut seconds) = (0, 10);
    if chain.accepted {
        given += judge(&world, chain, seconds);
    }
    for hop in 1..=chain.hops {
        seconds += 10;
        let name = format!("hop{hop}");
        let who = ["senior_software_engineer", "developer", "investigator"][hop % 3];
        let handoff = world.started(who, &name, seconds);
        given += check_receipt(&world, &name, &marker);
        let told = world.receipt(&name).text.unwrap_or_default().contains(&marker);
        let debrief = match told {
            true => chain.debrief(&world, hop),
            false => Debrief { verdict: Some(Verdict::Complete), ..Debrief::default() },
        };
        let ending = Ending::new(&handoff.assignment, &debrief, at(seconds + 1));
        world.handoffs().ended(ending).unwrap();
    }
    for (text, trust) in classes(&world, &marker) {
        assert_eq!(trust, Trust::Outside, "{chain:?}: {text}");
    }
    given
}

/// A reviewer accepts the work, so that the project learns from it.
fn judge(world: &World, chain: Chain, seconds: i64) -> usize {
    let handoff = world.started("tech_lead", "judge", seconds);
    let given = check_receipt(world, "judge", &chain.marker());
    let debrief = Debrief {
        verdict: Some(Verdict::Passed),
        summary: Some(format!("The {} way is fine", chain.marker())),
        ..Debrief::default()
    };
    let ending = Ending::new(&handoff.assignment, &debrief, at(seconds + 1));
    world.handoffs().ended(ending).unwrap();
    given
}

/// A text of a brief that has the marker comes from an item of class `outside`; how many such items there are.
fn check_receipt(world: &World, name: &str, marker: &str) -> usize {
    let receipt = world.store.receipt(&receipt_id(name)).unwrap();
    let outside = receipt.items.iter().filter(|item| item.trust == Trust::Outside).count();
    if receipt.text.as_deref().unwrap_or_default().contains(marker) {
        assert!(outside > 0, "{name}: {:?}", receipt.items);
    }
    for item in receipt.items.iter().filter(|item| item.kind == ItemKind::Reasoning) {
        let id = item.id.parse().map(handover_model::ReasoningId).unwrap();
        let all = world.store.reasoning(&session(), &ReasoningFilter::default()).unwrap();
        let entry = all.into_iter().find(|entry| entry.id == id).unwrap();
        assert_eq!(item.trust, entry.trust, "{name}: {}", entry.content);
    }
    outside
}

#[test]
fn no_chain_raises_a_class() {
    let given: usize = (0..252).map(|number| play(Chain::of(number))).sum();
    // They would prove nothing if nothing was passed on.
    assert!(given > 400, "{given} items were passed on");
}

#[test]
fn what_no_outside_text_touched_is_an_agents() {
    let world = World::new();
    world.package_of(Trust::Person, "typed.md", "Refresh tokens every hour");
    let handoff = world.started("developer", "clean", 1);
    let debrief = Chain::of(20).debrief(&world, 0);
    world.handoffs().ended(Ending::new(&handoff.assignment, &debrief, at(2))).unwrap();
    let all = classes(&world, &Chain::of(20).marker());
    assert!(!all.is_empty());
    assert!(all.iter().all(|(_, trust)| *trust == Trust::Agent), "{all:?}");
}
