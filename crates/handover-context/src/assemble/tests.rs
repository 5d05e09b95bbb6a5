//! The steps of an assembly on their own: what is rendered, how a block shrinks, how much room there is.

use handover_model::learn::{Signature, Trust};
use handover_model::roles::RoleOverride;
use handover_model::{LeftOut, Phase, RecordState, Strategy, Tokenizer, Topic};
use handover_text::tokens;
use proptest::prelude::*;
use serde_json::json;

use super::block::{Block, Shrunk};
use super::explain::{LEFT_OUT_KEPT, left_out};
use super::render::Shown;
use super::*;
use crate::testing::{at, project, role};

const TOKENIZER: Tokenizer = Tokenizer::O200k;

const TERMS: Terms = Terms {
    priority: 8.0,
    same_group: 2.0,
    addressed: 1.5,
    recency: 0.5,
    task: 0.25,
    stale: 0.0,
    used: 0.0,
};

fn packed(id: i64, priority: Priority, summary: &str) -> PackedPackage {
    let mut package = PackedPackage {
        id: PackageId(id),
        version: 1,
        path: format!("docs/{id}.md"),
        priority,
        summary: summary.to_owned(),
        passages: Vec::new(),
        tokens: 0,
        file_tokens: 100,
        score: 1.0,
        form: if summary.is_empty() { Form::Pointer } else { Form::Full },
        kind: PackageKind::Research,
        for_reference: false,
        changed: false,
        elsewhere: false,
        outdated: None,
        later: None,
        whole: false,
        report: false,
        relevant: true,
        addressed: false,
        terms: TERMS,
        trust: handover_model::Trust::Project,
        flags: Vec::new(),
        stale: Vec::new(),
    };
    package.tokens =
        tokens::count(TOKENIZER, &render::package(&package, &render::Common::default()));
    package
}

fn thought(id: i64, content: &str) -> PackedReasoning {
    PackedReasoning {
        id: ReasoningId(id),
        role: role("developer"),
        phase: Phase::Decisions,
        attempt: 1,
        group: None,
        confidence: None,
        content: content.to_owned(),
        tokens: 7,
        trust: handover_model::Trust::Project,
        flags: Vec::new(),
        stale: Vec::new(),
    }
}

fn known_error(message: &str, solution: &str) -> ErrorPattern {
    let signature = Signature::new(None, message, &[]);
    ErrorPattern {
        project: project(),
        hash: signature.hash(),
        signature,
        example: None,
        solution: Some(solution.to_owned()),
        confidence: Trust::from_thousandths(800),
        occurrences: 3,
        language: None,
        first_seen: at(0),
        last_seen: at(0),
        ttl_days: 90,
        trust: handover_model::Trust::Project,
        state: RecordState::Live,
        reason: None,
    }
}

fn learned(id: &str, insight: &str) -> Strategy {
    Strategy {
        id: id.to_owned(),
        project: project(),
        topic: Topic::Architecture,
        insight: insight.to_owned(),
        helpfulness: 1,
        language: None,
        framework: None,
        created_at: at(0),
        last_seen: at(0),
        trust: handover_model::Trust::Project,
        state: RecordState::Live,
        reason: None,
    }
}

fn request() -> ContextRequest {
    ContextRequest {
        session: SessionId::new("s1").unwrap(),
        role: role("developer"),
        group: None,
        task: None,
        model: None,
        current_tokens: 0,
        iteration: 0,
        reasoning: None,
        reasoning_level: None,
        limit: None,
        cap: None,
        loaded: Vec::new(),
        claim: false,
        explain: false,
        receipt: ReceiptId::new("r_1").unwrap(),
        now: at(0),
    }
}

fn rendered(zone: Zone, available: usize, block: &Block) -> String {
    let (role, receipt) = (role("developer"), ReceiptId::new("r_1").unwrap());
    render::block(&Shown {
        role: &role,
        zone,
        usage_percent: 61.25,
        available,
        refused: &BTreeMap::new(),
        limit: 2,
        remaining: 170_000,
        block,
        receipt: &receipt,
    })
}

/// One of everything.
fn full_block() -> Block {
    Block {
        packages: vec![
            packed(1, Priority::High, "Tokens rotate."),
            packed(2, Priority::Low, "Buttons are blue."),
        ],
        reasoning: vec![thought(3, "one lock")],
        errors: vec![known_error("TypeError: x is undefined", "define it")],
        strategies: vec![learned("st_1", "Use adapters.")],
        ..Block::default()
    }
}

mod text {
    use super::*;

    #[test]
    fn a_block_lists_everything_and_ends_with_its_receipt() {
        let expected = "## Context for developer\n\
            \n\
            ### Relevant Packages (2/5)\n\
            \n\
            **[HIGH]** docs/1.md (research)\n\
            > Tokens rotate.\n\
            \n\
            **[LOW]** docs/2.md (research)\n\
            > Buttons are blue.\n\
            \n\
            Read the files listed above before you start (about 200 tokens). Where they disagree, the higher priority wins.\n\
            \n\
            📦 +3 more packages available (re-invoke with higher limit to expand)\n\
            \n\
            ### Prior Agent Reasoning (1 entry)\n\
            \n\
            What was decided and tried before: build on it, and do not repeat what failed.\n\
            \n\
            **[developer] decisions:** one lock (attempt 1)\n\
            \n\
            ### Error Patterns (1 match)\n\
            \n\
            ⚠️ **Known Issue**: \"TypeError: x is undefined\"\n\
            > **Solution**: define it\n\
            > **Confidence**: 0.8 (seen 3 times)\n\
            \n\
            ### Strategies (1)\n\
            \n\
            What accepted work in this project taught:\n\
            - **[architecture]** Use adapters.\n\
            \n\
            <!-- handover:receipt r_1 -->\n";
        assert_eq!(rendered(Zone::Normal, 5, &full_block()), expected);
    }

    #[test]
    fn nothing_is_left_over_when_everything_is_in() {
        let text = rendered(Zone::Normal, 2, &full_block());
        assert!(!text.contains("more packages available"), "{text}");
        let none = rendered(Zone::Normal, 0, &Block::default());
        assert!(
            none.contains("### Relevant Packages (0/0)\n\nNo context packages found"),
            "{none}"
        );
        assert!(!none.contains("Read the files"), "{none}");
        let block = Block { reasoning: vec![thought(3, "one lock")], ..Block::default() };
        let last = rendered(Zone::Normal, 0, &block);
        let end = "one lock (attempt 1)\n\n### Relevant Packages (0/0)\n\n\
            No context packages found for this session/group.\n\n<!-- handover";
        assert!(last.contains(end), "{last}");
        // What exists but does not fit is not "not found".
        let unfit = rendered(Zone::Normal, 4, &Block::default());
        assert!(!unfit.contains("No context packages found"), "{unfit}");
        assert!(unfit.contains("📦 +4 more packages"), "{unfit}");
    }

    #[test]
    fn each_zone_has_its_banner() {
        let block = full_block();
        let text = |zone| rendered(zone, 5, &block);
        let soft = text(Zone::SoftWarning);
        assert!(soft.starts_with(
            "## Context for developer\n\n🔶 **Token budget: Soft Warning (61.2%) - Reduced summaries (200 char)**\n"
        ));
        assert!(soft.contains("📦 +3 more") && soft.contains("### Strategies (1)"), "{soft}");
        let conservative = text(Zone::Conservative);
        assert!(conservative.contains("\n🔶 **Token budget: Conservative (61.2%)**\n"));
        assert!(conservative.contains("### Priority Packages (2/5) - low level\n"));
        assert!(!conservative.contains("more packages"), "{conservative}");
        for (zone, words) in [
            (Zone::WrapUp, "🔶 **Token budget: Wrap-up (61.2%) - Completing current operation**"),
            (Zone::Emergency, "🚨 **Token budget: Emergency (61.2%) - Checkpoint recommended**"),
        ] {
            let text = text(zone);
            assert!(text.contains(words), "{text}");
            for absent in ["docs/1.md", "one lock", "define it", "Use adapters", "Packages ("] {
                assert!(!text.contains(absent), "{zone}: {absent}");
            }
            assert!(text.ends_with("\n<!-- handover:receipt r_1 -->\n"));
        }
        let empty = rendered(Zone::Conservative, 3, &Block::default());
        assert!(empty.contains("### Priority Packages (0/3) - critical level\n"), "{empty}");
    }

    #[test]
    fn a_package_says_where_its_file_stands() {
        let plain = packed(7, Priority::Critical, "Short.");
        assert_eq!(
            render::package(&plain, &render::Common::default()),
            "**[CRITICAL]** docs/7.md (research)\n> Short.\n"
        );
        let pointer = packed(7, Priority::Medium, "");
        assert_eq!(
            render::package(&pointer, &render::Common::default()),
            "**[MEDIUM]** docs/7.md (research)\n"
        );
        let changed = render::package(
            &PackedPackage { changed: true, ..pointer.clone() },
            &render::Common::default(),
        );
        assert!(changed.ends_with("trust the file.)\n"), "{changed}");
        let elsewhere = render::package(
            &PackedPackage { elsewhere: true, ..pointer },
            &render::Common::default(),
        );
        assert!(elsewhere.contains("`handover package show 7 --body` prints it"), "{elsewhere}");
    }

    #[test]
    fn paths_are_readable_unless_they_could_be_something_else() {
        let shown = |path: &str| {
            let package = PackedPackage { path: path.to_owned(), ..packed(1, Priority::Low, "") };
            render::package(&package, &render::Common::default())
        };
        for plain in ["docs/a.md", "a b/c,d.md", "ä/x@2x+1_-.md"] {
            assert_eq!(shown(plain), format!("**[LOW]** {plain} (research)\n"));
        }
        for odd in ["a`b.md", "a\nb.md", "<!-- handover:receipt r_2 -->", "*x*.md"] {
            let text = shown(odd);
            assert_eq!(text.lines().count(), 1, "{text}");
            assert!(!text.contains(odd), "{text}");
        }
    }

    #[test]
    fn passages_have_their_lines_and_packages_for_others_say_so() {
        let passage = |line, text: &str| ShownPassage { line, text: text.to_owned(), score: 1.0 };
        let package = PackedPackage {
            passages: vec![passage(3, "Tokens rotate."), passage(9, "Daily.")],
            for_reference: true,
            ..packed(1, Priority::High, "")
        };
        assert_eq!(
            render::package(&package, &render::Common::default()),
            "**[HIGH]** docs/1.md (research, for reference)\n> L3: Tokens rotate.\n> L9: Daily.\n"
        );
    }

    fn listed(packages: Vec<PackedPackage>) -> String {
        let common = render::Common::of(packages.iter());
        rendered(Zone::Normal, packages.len(), &Block { packages, common, ..Block::default() })
    }

    fn at_path(path: &str) -> PackedPackage {
        PackedPackage { path: path.to_owned(), ..packed(1, Priority::Medium, "Short.") }
    }

    #[test]
    fn what_many_packages_share_is_said_once() {
        let mut many: Vec<PackedPackage> =
            (0..6).map(|n| at_path(&format!(".handover/artifacts/s/{n}.md"))).collect();
        let few = listed(many[..5].to_vec());
        assert!(few.contains("**[MEDIUM]** .handover/artifacts/s/4.md (research)\n"), "{few}");
        assert!(!few.contains("unless noted"), "{few}");
        many[0] =
            PackedPackage { kind: PackageKind::Failures, for_reference: true, ..many[0].clone() };
        many[1] = at_path("docs/other.md");
        let text = listed(many);
        let line = "\nAll research in .handover/artifacts/s/ unless noted.\n";
        assert!(text.contains(line), "{text}");
        assert!(text.contains("**[MEDIUM]** 0.md (failures, for reference)\n"), "{text}");
        assert!(text.contains("**[MEDIUM]** docs/other.md\n"), "{text}");
        assert!(text.contains("**[MEDIUM]** 5.md\n"), "{text}");
    }

    #[test]
    fn what_only_half_share_is_not_common() {
        let mut half: Vec<PackedPackage> = (0..6).map(|n| at_path(&format!("{n}.md"))).collect();
        half[..3].iter_mut().for_each(|package| package.kind = PackageKind::Failures);
        assert_eq!(render::Common::of(half.iter()).line(), "");
        half[3].kind = PackageKind::Failures;
        let line = render::Common::of(half.iter()).line();
        assert_eq!(line, "\nAll failures unless noted.\n");
    }

    #[test]
    fn files_that_are_shown_whole_need_not_be_read() {
        let whole = PackedPackage { whole: true, ..at_path("whole.md") };
        let text = listed(vec![whole.clone()]);
        assert!(!text.contains("read") && !text.contains("wins"), "{text}");
        let high = PackedPackage { priority: Priority::High, ..whole.clone() };
        let text = listed(vec![high, whole.clone()]);
        assert!(text.contains("\n\nWhere they disagree, the higher priority wins.\n"), "{text}");
        let text = listed(vec![whole, at_path("part.md")]);
        assert!(text.contains("Read this before you start (about 100 tokens): part.md."), "{text}");
    }

    #[test]
    fn one_file_is_not_several() {
        let text = listed(vec![at_path("part.md")]);
        assert!(
            text.contains("\nRead the file listed above before you start (about 100 tokens).\n\n"),
            "{text}"
        );
        let long = PackedPackage { file_tokens: u64::MAX / 2, ..at_path("long.md") };
        let text = listed(vec![long.clone()]);
        assert!(text.contains("The file listed above is too long"), "{text}");
        let text = listed(vec![at_path("part.md"), long]);
        assert!(text.contains("Read this before you start (about 100 tokens): part.md."), "{text}");
        assert!(
            text.contains(
                "reading it whole, it is too long for what is left of your window: long.md."
            ),
            "{text}"
        );
    }

    #[test]
    fn what_is_about_other_work_need_not_be_read() {
        let other = PackedPackage { relevant: false, ..at_path("other.md") };
        let text = listed(vec![other.clone()]);
        assert!(!text.contains("Read the file") && text.contains("open a file only if"), "{text}");
        for matters in [
            at_path("task.md"),
            PackedPackage { addressed: true, ..other.clone() },
            PackedPackage { report: true, ..other.clone() },
            PackedPackage { priority: Priority::Critical, ..other.clone() },
        ] {
            let path = matters.path.clone();
            let text = listed(vec![matters, other.clone()]);
            let named = format!("Read this before you start (about 100 tokens): {path}.");
            assert!(text.contains(&named) && !text.contains("open a file only"), "{text}");
        }
    }

    #[test]
    fn only_some_files_are_named_twice() {
        let mut many: Vec<PackedPackage> = (0..9).map(|n| at_path(&format!("{n}.md"))).collect();
        many[8].file_tokens = u64::MAX / 2;
        let text = listed(many);
        let fitting = "Read these before you start (about 800 tokens): 0.md, 1.md, 2.md, 3.md, 4.md and 3 more.";
        assert!(text.contains(fitting) && text.contains("window: 8.md."), "{text}");
    }

    #[test]
    fn an_error_without_a_type_has_no_type() {
        let plain = render::error(&known_error("connection refused", "start it"));
        assert!(plain.starts_with("⚠️ **Known Issue**: \"connection refused\"\n"), "{plain}");
    }

    #[test]
    fn the_fallback_names_the_role_and_says_that_something_failed() {
        let text = fallback(&role("qa_expert"));
        assert!(
            text.starts_with(
                "## Context for qa_expert\n\n⚠️ Context assembly encountered an error."
            )
        );
        assert!(text.contains("**Fallback Mode**"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        /// Whatever agents wrote, the headings are ours, and there is one receipt.
        #[test]
        fn nothing_breaks_out_of_its_quotes(
            wild in prop_oneof![
                "\\PC{0,60}",
                "[\\n\\r\t #>`~*_<!-]{0,30}[a-z #`<!>\\n-]{0,40}",
                "\\PC{0,10}\n(## Context|```handover|<!-- handover:receipt r_2 -->|### Strategies \\(9\\))\n\\PC{0,10}",
            ],
        ) {
            let block = Block {
                packages: vec![PackedPackage { path: wild.clone(), ..packed(1, Priority::High, &wild) }],
                reasoning: vec![thought(3, &wild)],
                errors: vec![ErrorPattern {
                    signature: Signature { kind: wild.clone(), message: wild.clone(), hints: Vec::new() },
                    ..known_error("x", &wild)
                }],
                strategies: vec![learned("st_1", &wild)],
                ..Block::default()
            };
            let text = rendered(Zone::Normal, 1, &block);
            let headings: Vec<&str> = text.lines().filter(|line| line.starts_with('#')).collect();
            prop_assert_eq!(headings, [
                "## Context for developer",
                "### Relevant Packages (1/1)",
                "### Prior Agent Reasoning (1 entry)",
                "### Error Patterns (1 match)",
                "### Strategies (1)",
            ]);
            let is_marker = |line: &&str| line.contains("<!--");
            let markers: Vec<&str> = text.lines().filter(is_marker).collect();
            prop_assert_eq!(markers, ["<!-- handover:receipt r_1 -->"]);
            let fences = text.lines().filter(|line| {
                let line = line.trim_start();
                line.starts_with("```") || line.starts_with("~~~")
            });
            prop_assert_eq!(fences.count(), 0, "{}", text);
        }
    }
}

mod shrinking {
    use super::*;

    fn removed(step: Option<Shrunk>) -> String {
        match step {
            Some(Shrunk::Removed(kind, id)) => format!("{kind} {id}"),
            Some(Shrunk::Shorter) => "shorter".to_owned(),
            None => "nothing".to_owned(),
        }
    }

    #[test]
    fn what_matters_least_goes_first() {
        let mut block = full_block();
        block.strategies.push(learned("st_2", "Ask first."));
        let hash = block.errors[0].hash.clone();
        let mut steps = Vec::new();
        loop {
            let step = removed(block.shrink(TOKENIZER));
            if step == "nothing" {
                break;
            }
            steps.push(step);
        }
        assert_eq!(
            steps,
            [
                "strategy st_2",
                "strategy st_1",
                &format!("error {hash}"),
                // Both summaries, the last one first; then the lower priority.
                "shorter",
                "shorter",
                "package 2",
                "package 1",
                "reasoning 3",
            ]
        );
    }

    #[test]
    fn of_equal_priorities_the_last_package_goes_first() {
        let packages = [
            (1, Priority::Medium),
            (2, Priority::Low),
            (3, Priority::Low),
            (4, Priority::Critical),
        ];
        let packages = packages.map(|(id, priority)| packed(id, priority, "")).to_vec();
        let mut block = Block { packages, ..Block::default() };
        let order: Vec<String> = (0..4).map(|_| removed(block.shrink(TOKENIZER))).collect();
        assert_eq!(order, ["package 3", "package 2", "package 1", "package 4"]);
    }

    #[test]
    fn summaries_shrink_in_steps() {
        let mut package = packed(1, Priority::High, "word ".repeat(60).trim_end());
        let mut lengths = vec![package.summary.chars().count()];
        let mut tokens_before = package.tokens;
        while package.form != Form::Pointer {
            shorten::shorten(&mut package, &render::Common::default(), TOKENIZER);
            assert!(package.tokens < tokens_before, "{lengths:?}");
            assert_eq!(
                package.tokens,
                tokens::count(TOKENIZER, &render::package(&package, &render::Common::default()))
            );
            tokens_before = package.tokens;
            lengths.push(package.summary.chars().count());
        }
        assert_eq!(lengths.len(), 4, "{lengths:?}");
        assert_eq!(lengths[0], 299);
        assert!((61..=100).contains(&lengths[1]) && (1..=60).contains(&lengths[2]), "{lengths:?}");
        assert_eq!(lengths[3], 0);
    }

    #[test]
    fn a_summary_of_exactly_a_step_is_not_cut_to_itself() {
        let mut package = packed(1, Priority::High, &"x".repeat(60));
        shorten::shorten(&mut package, &render::Common::default(), TOKENIZER);
        assert_eq!((package.form, package.summary.as_str()), (Form::Pointer, ""));
        let mut package = packed(1, Priority::High, &"x y".repeat(21)[..61]);
        shorten::shorten(&mut package, &render::Common::default(), TOKENIZER);
        assert_eq!(package.form, Form::Short);
        assert!(package.summary.chars().count() <= 60);
    }

    #[test]
    fn receipts_list_items_with_what_is_known_of_each() {
        let items = full_block().receipt_items();
        let ids: Vec<String> =
            items.iter().map(|item| format!("{} {}", item.kind, item.id)).collect();
        let hash = &full_block().errors[0].hash;
        assert_eq!(
            ids,
            ["package 1", "package 2", "reasoning 3", &format!("error {hash}"), "strategy st_1"]
        );
        let package = &items[0];
        assert_eq!((package.version, package.form, package.score), (1, Form::Full, 1.0));
        assert_eq!(package.terms, TERMS.by_name());
        assert_eq!(package.tokens, full_block().packages[0].tokens);
        // Of reasoning, the log of a delivery says how much of it was shown.
        assert_eq!((items[2].tokens, items[2].characters()), (7, Some("one lock".len())));
        assert!(items[3].terms.is_empty() && items[4].terms.is_empty());
        assert!(items.iter().all(|item| item.read_at.is_none()));
    }
}

mod plans {
    use super::plan::Plan;
    use super::*;

    fn plan(
        change: impl FnOnce(&mut AssemblyConfig, &mut ContextRequest),
    ) -> (Plan, ContextRequest) {
        let (mut config, mut request) = (AssemblyConfig::default(), request());
        change(&mut config, &mut request);
        (Plan::new(&config, &request), request)
    }

    #[test]
    fn rooms_follow_from_the_window_and_the_role() {
        let (plan, request) = plan(|_, _| {});
        assert_eq!((plan.zone, plan.usage_percent, plan.limit), (Zone::Normal, 0.0, 3));
        assert_eq!(plan.cap, 34_000 + 17_000);
        assert_eq!((plan.context_room(), plan.learned_room()), (34_000, 17_000));
        assert_eq!(plan.item_room(), 34_000 - render::frame_tokens(plan.tokenizer));
        assert_eq!(plan.reasoning_room(&request), 800);
        assert!(plan.has_items());
    }

    #[test]
    fn a_cap_holds_for_every_section() {
        let (plan, request) = plan(|_, request| request.cap = Some(200));
        assert_eq!((plan.cap, plan.context_room(), plan.learned_room()), (200, 200, 200));
        assert_eq!(plan.item_room(), 200 - render::frame_tokens(plan.tokenizer));
        assert_eq!(plan.reasoning_room(&request), (200 - render::frame_tokens(plan.tokenizer)) / 3);
        let (tiny, request) = super::plans::plan(|_, request| request.cap = Some(10));
        assert_eq!((tiny.item_room(), tiny.reasoning_room(&request)), (0, 0));
    }

    #[test]
    fn the_level_of_reasoning_bounds_its_room() {
        for (level, tokens) in [
            (ReasoningLevel::Minimal, 400),
            (ReasoningLevel::Medium, 800),
            (ReasoningLevel::Full, 1_200),
        ] {
            let (plan, request) = plan(|_, request| request.reasoning_level = Some(level));
            assert_eq!(plan.reasoning_room(&request), tokens);
        }
    }

    #[test]
    fn configuration_and_request_override_the_table() {
        let (plan, _) = plan(|config, request| {
            let set = RoleOverride { limit: Some(7), context: Some(50), ..RoleOverride::default() };
            config.roles.insert("developer".to_owned(), set);
            config.safety_margin = 0.5;
            request.model = Some("gpt-4".to_owned());
        });
        assert_eq!((plan.limit, plan.tokenizer), (7, Tokenizer::Cl100k));
        assert_eq!((plan.budget.effective, plan.budget.context), (4_096, 2_048));
        let (given, _) = super::plans::plan(|_, request| request.limit = Some(11));
        assert_eq!(given.limit, 11);
        let (other, _) = super::plans::plan(|config, _| {
            let set = RoleOverride { limit: Some(7), ..RoleOverride::default() };
            config.roles.insert("qa_expert".to_owned(), set);
        });
        assert_eq!(other.limit, 3);
    }

    #[test]
    fn impossible_margins_are_clamped() {
        for (margin, effective) in [(-1.0, 200_000), (0.0, 200_000), (1.0, 0), (7.0, 0)] {
            let (plan, _) = plan(|config, _| config.safety_margin = margin);
            assert_eq!(plan.budget.effective, effective, "{margin}");
        }
    }

    #[test]
    fn full_windows_get_no_items() {
        for (tokens, zone, items) in [
            (101_999, Zone::Normal, true),
            (102_000, Zone::SoftWarning, true),
            (127_500, Zone::Conservative, true),
            (144_500, Zone::WrapUp, false),
            (161_500, Zone::Emergency, false),
        ] {
            let (plan, _) = plan(|_, request| request.current_tokens = tokens);
            assert_eq!((plan.zone, plan.has_items()), (zone, items), "{tokens}");
        }
    }
}

#[test]
fn terms_have_names_and_add_up() {
    assert_eq!(TERMS.sum(), 12.25);
    let named = TERMS.by_name();
    assert_eq!(named.values().sum::<f64>(), 12.25);
    assert_eq!(
        named.keys().collect::<Vec<_>>(),
        ["addressed", "priority", "recency", "same_group", "task"]
    );
    assert_eq!((named["task"], named["addressed"]), (0.25, 1.5));
}

#[test]
fn ids_are_numbers_or_text() {
    let (number, text) = (ItemId::Number(7), ItemId::Text("st_1".to_owned()));
    assert_eq!((number.to_string(), text.to_string()), ("7".to_owned(), "st_1".to_owned()));
    assert_eq!(serde_json::to_value([number, text]).unwrap(), json!([7, "st_1"]));
}

#[test]
fn only_what_fits_is_included() {
    for fate in Fate::ALL {
        let fits = matches!(
            fate,
            Fate::Fits | Fate::FitsShortened | Fate::FitsAsPassages | Fate::FitsAsPath
        );
        let explained = Explained::plain(
            ItemKind::Error,
            ItemId::Number(1),
            *fate,
            handover_model::Trust::Project,
        );
        assert_eq!((explained.included, explained.reason), (fits, *fate), "{fate}");
        assert_eq!((explained.score, explained.terms.sum()), (0.0, 0.0));
    }
}

#[test]
fn what_was_left_out_is_listed_up_to_a_limit() {
    let explained: Vec<Explained> = (0..150)
        .map(|n| {
            let fate = if n % 2 == 0 { Fate::Fits } else { Fate::OverTheLimit };
            Explained {
                score: f64::from(n),
                ..Explained::plain(
                    ItemKind::Package,
                    ItemId::Number(n.into()),
                    fate,
                    handover_model::Trust::Project,
                )
            }
        })
        .collect();
    let listed = left_out(&explained);
    assert_eq!(listed.len(), LEFT_OUT_KEPT);
    assert_eq!(
        listed[1],
        LeftOut {
            kind: ItemKind::Package,
            id: "3".to_owned(),
            reason: Fate::OverTheLimit,
            score: 3.0,
            amended_by: None,
        }
    );
    assert_eq!(left_out(&explained[..1]), []);
}

#[test]
fn redactions_are_counted_over_all_texts() {
    let redactor = Redactor::default();
    let mut redactions = Redactions::default();
    assert_eq!(redactions.clean(&redactor, "plain").as_str(), "plain");
    assert!(redactions.by_rule.is_empty());
    for _ in 0..2 {
        let clean = redactions.clean(&redactor, "password=hunter2sEcret");
        assert!(!clean.as_str().contains("hunter2"));
    }
    assert_eq!(redactions.by_rule.values().sum::<u64>(), 2);
}

#[test]
fn json_of_a_package_shows_flags_only_when_set() {
    let plain = serde_json::to_value(packed(1, Priority::High, "x")).unwrap();
    for hidden in ["changed", "elsewhere", "for_reference", "passages", "terms"] {
        assert_eq!(plain.get(hidden), None, "{hidden}");
    }
    assert_eq!((&plain["priority"], &plain["form"]), (&json!("high"), &json!("full")));
    let flagged =
        PackedPackage { changed: true, elsewhere: true, ..packed(1, Priority::High, "x") };
    let flagged = serde_json::to_value(flagged).unwrap();
    assert_eq!((&flagged["changed"], &flagged["elsewhere"]), (&json!(true), &json!(true)));
}
