//! The words of every closed set, written out. They are stored, sent and typed: renaming one breaks stores,
//! scripts and other versions, so it must be done in two places on purpose.

use super::*;
use crate::{Tier, Tokenizer};

#[track_caller]
fn check(found: &[&str], expected: &str) {
    let expected: Vec<&str> = expected.split(' ').collect();
    assert_eq!(found, expected);
}

#[test]
fn words_of_handoffs() {
    check(Zone::WORDS, "normal soft_warning conservative wrap_up emergency");
    check(ItemKind::WORDS, "package reasoning error strategy verdict note");
    check(Use::WORDS, "unused echoed named opened");
    check(UseLearning::WORDS, "applied held_out");
    check(SignalKind::WORDS, "traces metrics logs");
    check(Form::WORDS, "full short focus pointer");
    check(GuardMode::WORDS, "strict warn off");
    check(ReceiptState::WORDS, "assembled delivered confirmed failed");
    check(Verdict::WORDS, "complete blocked passed passed_with_fixes failed retry skip escalate");
    check(RedactionMode::WORDS, "pattern_only pattern_and_entropy off");
    check(
        Category::WORDS,
        "language framework database infrastructure messaging api testing data ai security domain",
    );
    check(TestingMode::WORDS, "full minimal disabled");
    assert_eq!(
        Fate::WORDS,
        [
            "fits",
            "fits, shortened",
            "fits, as passages",
            "fits as a path",
            "over the limit",
            "over the budget",
            "low priority in this zone",
            "another group",
            "addressed to others",
            "delivered already",
            "its file is gone",
            "settled since",
            "not about the task",
            "shown already",
            "amended since",
            "a later one is in",
            "retired",
            "loaded by the program itself",
            "trusted too little",
            "speaks to the agent",
        ]
    );
}

#[test]
fn words_of_notes() {
    check(AmendmentDecision::WORDS, "confirmed rejected open");
    assert_eq!(
        AmendedHow::WORDS,
        [
            "declared",
            "names what it replaces",
            "another value",
            "says otherwise",
            "the same subject"
        ]
    );
    check(NoteKind::WORDS, "doc commit conversation memory manual");
    check(NoteState::WORDS, "live stale amended retired");
    check(Trust::WORDS, "outside agent project person");
    check(ScreenFlag::WORDS, "override command exfiltration impersonation hidden_text");
    check(SourceName::WORDS, "docs git transcripts memories");
    check(RecordState::WORDS, "live retired");
    check(Action::WORDS, "retire restore expire add supersede confirm reject close reopen undo");
}

#[test]
fn words_of_packages() {
    check(PackageKind::WORDS, "research failures decisions handoff investigation");
    check(Priority::WORDS, "low medium high critical");
    check(Scope::WORDS, "group global");
    check(Routing::WORDS, "strict open");
    check(Phase::WORDS, "understanding approach decisions risks blockers pivot completion");
    check(Confidence::WORDS, "high medium low");
    check(ReasoningLevel::WORDS, "minimal medium full");
    check(Topic::WORDS, "implementation architecture methodology");
}

#[test]
fn words_of_sessions() {
    check(SessionStatus::WORDS, "active completed failed");
    check(
        GroupStatus::WORDS,
        "pending in_progress completed failed approved_pending_merge merging",
    );
    check(
        KnownEvent::WORDS,
        "delivery reasoning_handoff zone degraded guard verdict failure_solved debrief shortened untouched checkpoint",
    );
    check(
        ChangeKind::WORDS,
        "session package reasoning event receipt run journal error_pattern strategy note operation",
    );
    check(TokenScope::WORDS, "read write admin");
    check(TokenKind::WORDS, "bearer login");
}

#[test]
fn words_of_agents() {
    check(BriefDelivery::WORDS, "rewrite start hold_back");
    check(Profile::WORDS, "read_only edit full");
    check(
        FailureClass::WORDS,
        "rate_limit overloaded server network auth quota model context_window max_turns max_budget refused \
         usage wall_timeout idle_timeout output_flood cancelled crashed exit_code no_result other",
    );
    check(Tokenizer::WORDS, "o200k cl100k claude claude-4.7 nearest");
    check(Tier::WORDS, "small medium large");
}

#[test]
fn words_of_runs() {
    check(RunPhase::WORDS, "kickoff dev fix review analysis uat retro");
    check(PipelineName::WORDS, "story team");
    check(Severity::WORDS, "low medium high");
    check(
        FindingKind::WORDS,
        "correctness security error_handling tests design performance style docs other",
    );
    check(Consensus::WORDS, "majority unanimous");
    check(PartyPhase::WORDS, "kickoff review failure retro");
    check(Cause::WORDS, "transient tooling spec architecture dependency unsafe implementation");
    check(StoryState::WORDS, "pending running done failed blocked skipped");
    check(RunState::WORDS, "running interrupted budget environment done failed blocked");
    check(JournalKind::WORDS, "intent result note");
    check(GateFormat::WORDS, "none libtest tap junit go_json marks");
    check(ScenarioKind::WORDS, "auto semi manual");
    check(UatGate::WORDS, "quick full skip");
    check(ScenarioOutcome::WORDS, "passed failed refused not_run");
    check(
        TeamStatus::WORDS,
        "READY_FOR_QA READY_FOR_REVIEW NEEDS_TECH_LEAD_VALIDATION BLOCKED PARTIAL INCOMPLETE ESCALATE_SENIOR \
         SPAWN_INVESTIGATOR PASS FLAKY FAIL FAIL_ESCALATE APPROVED APPROVED_WITH_NOTES CHANGES_REQUESTED \
         ESCALATE_TO_OPUS UNBLOCKING_GUIDANCE ARCHITECTURAL_DECISION_MADE ROOT_CAUSE_FOUND \
         INVESTIGATION_INCOMPLETE EXHAUSTED NEED_DEVELOPER_DIAGNOSTIC HYPOTHESIS_ELIMINATED \
         NEED_MORE_ANALYSIS BAZINGA CONTINUE PLANNING_COMPLETE NEEDS_CLARIFICATION INVESTIGATION_NEEDED \
         INVESTIGATION_ONLY SKIP",
    );
}

#[test]
fn levels_of_reasoning_have_tokens() {
    let tokens: Vec<u64> = ReasoningLevel::ALL.iter().map(|level| level.tokens()).collect();
    assert_eq!(tokens, [400, 800, 1_200]);
}
