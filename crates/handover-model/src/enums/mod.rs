//! Every closed set of words: statuses, kinds, phases, priorities, zones.
//!
//! The text form is the interface (command line, JSON, database), so it is written once, here.

use std::fmt;

/// A word that is not one of an enum's values.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{value}` is not a {what}; one of {} is expected", allowed.join(", "))]
pub struct UnknownWord {
    /// What the word was meant to be, as a person would call it.
    pub what: &'static str,
    /// The word that was given.
    pub value: String,
    /// The words that exist.
    pub allowed: &'static [&'static str],
}

macro_rules! words {
    ($(#[$meta:meta])* $name:ident, $what:literal {
        $($(#[$vmeta:meta])* $variant:ident => $text:literal),+ $(,)?
    }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[$vmeta])* $variant,)+
        }

        impl $name {
            /// Every value, in order.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];
            /// The text of every value, in the same order.
            pub const WORDS: &'static [&'static str] = &[$($text),+];

            /// The text form used on the command line, in JSON and in the store.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)+
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = UnknownWord;

            fn from_str(text: &str) -> Result<Self, UnknownWord> {
                match text {
                    $($text => Ok(Self::$variant),)+
                    other => Err(UnknownWord {
                        what: $what,
                        value: other.to_owned(),
                        allowed: Self::WORDS,
                    }),
                }
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

words! {
    /// Where a session stands.
    SessionStatus, "session status" {
        /// Work goes on.
        Active => "active",
        /// Ended well.
        Completed => "completed",
        /// Ended badly.
        Failed => "failed",
    }
}

words! {
    /// Where a task group stands.
    GroupStatus, "group status" {
        /// Nobody works on it yet.
        Pending => "pending",
        /// Somebody works on it.
        InProgress => "in_progress",
        /// Done.
        Completed => "completed",
        /// Given up.
        Failed => "failed",
        /// Approved, waiting for its merge.
        ApprovedPendingMerge => "approved_pending_merge",
        /// The merge is under way.
        Merging => "merging",
    }
}

words! {
    /// What became of a candidate, and why.
    Fate, "fate" {
        /// In, with its whole summary.
        Fits => "fits",
        /// In, with less of its summary.
        FitsShortened => "fits, shortened",
        /// In, with its path alone.
        FitsAsPath => "fits as a path",
        /// Others were better.
        OverTheLimit => "over the limit",
        /// No form of it fits.
        OverTheBudget => "over the budget",
        /// Not in this zone.
        LowPriority => "low priority in this zone",
        /// Made in another group, and not for everyone.
        AnotherGroup => "another group",
        /// Addressed to other roles.
        AddressedToOthers => "addressed to others",
        /// This role has it in this attempt.
        DeliveredAlready => "delivered already",
        /// The file that it points to is not there any more.
        FileGone => "its file is gone",
    }
}

words! {
    /// Events that Handover itself logs; users may log any other.
    KnownEvent, "event of ours" {
        /// A text was handed over.
        Delivery => "delivery",
        /// Reasoning of one role went to another.
        ReasoningHandoff => "reasoning_handoff",
        /// The window of a role entered another zone.
        Zone => "zone",
        /// An agent got less than it should have.
        Degraded => "degraded",
        /// A spawn was allowed or refused.
        Guard => "guard",
        /// An agent said how it ended.
        Verdict => "verdict",
        /// A failure of a story was overcome.
        FailureSolved => "failure_solved",
        /// An agent left something behind, or failed to.
        Debrief => "debrief",
        /// A subagent of a kind that is not ours was spawned; it was left as it is.
        Untouched => "untouched",
        /// A conversation of a host came to a point where its state counts.
        Checkpoint => "checkpoint",
    }
}

words! {
    /// What happens to a spawn that lacks something.
    #[derive(Default)]
    GuardMode, "guard mode" {
        /// It is refused.
        #[default]
        Strict => "strict",
        /// It goes on with a warning.
        Warn => "warn",
        /// Nothing is looked at.
        Off => "off",
    }
}

words! {
    /// The outcome an agent reports for its work, in a run as in a single spawn.
    Verdict, "verdict" {
        /// The work is done.
        Complete => "complete",
        /// The agent cannot continue without something from outside.
        Blocked => "blocked",
        /// The reviewed work is good.
        Passed => "passed",
        /// The reviewed work is good after small fixes.
        PassedWithFixes => "passed_with_fixes",
        /// The reviewed work has problems, or the agent's own work did not succeed.
        Failed => "failed",
        /// The work should be attempted again.
        Retry => "retry",
        /// The work should be left out.
        Skip => "skip",
        /// A person, or someone with more authority, must decide.
        Escalate => "escalate",
    }
}

words! {
    /// What a package carries.
    PackageKind, "package kind" {
        /// Findings about the problem or its environment.
        Research => "research",
        /// What failed, for the one who tries again.
        Failures => "failures",
        /// What was decided, and why.
        Decisions => "decisions",
        /// One role hands its work to another.
        Handoff => "handoff",
        /// A root-cause analysis.
        Investigation => "investigation",
    }
}

words! {
    /// How much a package matters; ordered from least to most.
    Priority, "priority" {
        /// Nice to know.
        Low => "low",
        /// The usual.
        Medium => "medium",
        /// Read this.
        High => "high",
        /// Never leave this out.
        Critical => "critical",
    }
}

words! {
    /// Whom a package is for: its group, or every group of the session.
    Scope, "scope" {
        /// Only the package's own group (and those that reference it).
        Group => "group",
        /// Every group of the session.
        Global => "global",
    }
}

words! {
    /// The stage of work that a piece of reasoning belongs to.
    Phase, "reasoning phase" {
        /// What the task is taken to mean.
        Understanding => "understanding",
        /// How it will be done.
        Approach => "approach",
        /// What was chosen over what.
        Decisions => "decisions",
        /// What may go wrong.
        Risks => "risks",
        /// What stands in the way.
        Blockers => "blockers",
        /// A change of course.
        Pivot => "pivot",
        /// What was done, at the end.
        Completion => "completion",
    }
}

words! {
    /// How sure the author of a piece of reasoning is.
    Confidence, "confidence" {
        /// Sure.
        High => "high",
        /// Fairly sure.
        Medium => "medium",
        /// Guessing.
        Low => "low",
    }
}

words! {
    /// What a strategy is about.
    Topic, "strategy topic" {
        /// From completions: what worked in code.
        Implementation => "implementation",
        /// From decisions: how things are built here.
        Architecture => "architecture",
        /// From approaches: how work is done here.
        Methodology => "methodology",
    }
}

words! {
    /// How full the agent's window is.
    Zone, "zone" {
        /// Below 60 %.
        Normal => "normal",
        /// From 60 %.
        SoftWarning => "soft_warning",
        /// From 75 %.
        Conservative => "conservative",
        /// From 85 %.
        WrapUp => "wrap_up",
        /// From 95 %.
        Emergency => "emergency",
    }
}

words! {
    /// How far a receipt has come.
    ReceiptState, "receipt state" {
        /// The text was made; nobody has it yet.
        Assembled => "assembled",
        /// The text was handed over.
        Delivered => "delivered",
        /// The agent was seen to have it.
        Confirmed => "confirmed",
        /// It never arrived.
        Failed => "failed",
    }
}

words! {
    /// How much of an item went into a prompt.
    Form, "form" {
        /// The whole summary.
        Full => "full",
        /// The summary, cut.
        Short => "short",
        /// The path only.
        Pointer => "pointer",
    }
}

words! {
    /// What kind of record a receipt item points to.
    ItemKind, "item kind" {
        /// A context package.
        Package => "package",
        /// A piece of reasoning.
        Reasoning => "reasoning",
        /// An error pattern.
        Error => "error",
        /// A strategy.
        Strategy => "strategy",
    }
}

words! {
    /// Which detectors of secrets run.
    RedactionMode, "redaction mode" {
        /// Known formats only.
        PatternOnly => "pattern_only",
        /// Known formats, and text that looks random.
        PatternAndEntropy => "pattern_and_entropy",
        /// Nothing is redacted.
        Off => "off",
    }
}

words! {
    /// Who gets which package.
    #[derive(Default)]
    Routing, "routing" {
        /// A group's packages go to that group, addressed ones to their consumers.
        #[default]
        Strict => "strict",
        /// Everything goes to everyone; group and addressee are preferences.
        Open => "open",
    }
}

words! {
    /// What a technology or a specialization template is about.
    Category, "template type" {
        /// A programming language.
        Language => "language",
        /// What an application is built on.
        Framework => "framework",
        /// Where data is kept.
        Database => "database",
        /// What runs, builds and ships the application.
        Infrastructure => "infrastructure",
        /// How parts talk without waiting.
        Messaging => "messaging",
        /// How parts talk to others.
        Api => "api",
        /// How the application is tested.
        Testing => "testing",
        /// How data is worked on.
        Data => "data",
        /// Models and what is built around them.
        Ai => "ai",
        /// Who may do what.
        Security => "security",
        /// A field of work.
        Domain => "domain",
    }
}

words! {
    /// How much testing the workflow does.
    #[derive(Default)]
    TestingMode, "testing mode" {
        /// QA works, with everything it needs.
        #[default]
        Full => "full",
        /// Developers test; QA gets nothing extra.
        Minimal => "minimal",
        /// No testing.
        Disabled => "disabled",
    }
}

words! {
    /// How much reasoning is given.
    #[derive(Default)]
    ReasoningLevel, "reasoning level" {
        /// Decisions and completions, 400 tokens.
        Minimal => "minimal",
        /// 800 tokens.
        #[default]
        Medium => "medium",
        /// 1,200 tokens.
        Full => "full",
    }
}

impl ReasoningLevel {
    /// How many tokens of it.
    pub const fn tokens(self) -> u64 {
        match self {
            Self::Minimal => 400,
            Self::Medium => 800,
            Self::Full => 1_200,
        }
    }
}

words! {
    /// Which agent program runs.
    Host, "host" {
        /// Claude Code.
        Claude => "claude",
        /// Codex.
        Codex => "codex",
        /// Gemini CLI.
        Gemini => "gemini",
        /// Any program that reads its prompt from standard input.
        Command => "command",
    }
}

words! {
    /// How the brief of a subagent goes to it.
    TicketWay, "way of a brief" {
        /// Its prompt was rewritten.
        Rewrite => "rewrite",
        /// It is told when it starts, because its host loses rewritten prompts.
        Start => "start",
    }
}

words! {
    /// What an agent may do; ordered from least to most.
    Profile, "profile" {
        /// Look, and change nothing.
        ReadOnly => "read_only",
        /// Change files below its folder, inside whatever fence its program has.
        Edit => "edit",
        /// Everything, unasked.
        Full => "full",
    }
}

words! {
    /// Why the run of an agent is not a success.
    FailureClass, "failure class" {
        /// Too many requests.
        RateLimit => "rate_limit",
        /// The model's servers are overloaded.
        Overloaded => "overloaded",
        /// The model's servers failed in another way.
        Server => "server",
        /// The model was not reached, or its answer broke off.
        Network => "network",
        /// No or wrong credentials.
        Auth => "auth",
        /// The account has no money or allowance left.
        Quota => "quota",
        /// The model does not exist or is not allowed.
        Model => "model",
        /// The conversation no longer fits the model.
        ContextWindow => "context_window",
        /// The limit of turns.
        MaxTurns => "max_turns",
        /// The limit of money.
        MaxBudget => "max_budget",
        /// The model refused to answer.
        Refused => "refused",
        /// The program was called wrongly.
        Usage => "usage",
        /// It ran for too long.
        WallTimeout => "wall_timeout",
        /// It was silent for too long.
        IdleTimeout => "idle_timeout",
        /// It printed too much.
        OutputFlood => "output_flood",
        /// It was cancelled.
        Cancelled => "cancelled",
        /// It was ended by a signal.
        Crashed => "crashed",
        /// Its exit code says so.
        ExitCode => "exit_code",
        /// It ended well and gave no result.
        NoResult => "no_result",
        /// Something else.
        Other => "other",
    }
}

impl FailureClass {
    /// Whether the same call may well work later.
    pub const fn is_transient(self) -> bool {
        matches!(self, Self::RateLimit | Self::Overloaded | Self::Server | Self::Network)
    }
}

words! {
    /// What an agent of a run is there for.
    RunPhase, "phase of a run" {
        /// Several look at a story before anybody works on it.
        Kickoff => "kickoff",
        /// Somebody does the work.
        Dev => "dev",
        /// Somebody mends what gates or a review found.
        Fix => "fix",
        /// Somebody who has not seen it looks at the work.
        Review => "review",
        /// What to do about a failure.
        Analysis => "analysis",
        /// How a person can try the work out.
        Uat => "uat",
        /// What the epic taught.
        Retro => "retro",
    }
}

words! {
    /// What happens to a story of a run.
    #[derive(Default)]
    PipelineName, "pipeline" {
        /// Development, gates, a cold review.
        #[default]
        Story => "story",
        /// A team: developer, QA, tech lead, and those they call for.
        Team => "team",
    }
}

words! {
    /// How a member of a team says where the work stands.
    TeamStatus, "status code" {
        /// The work is done and can be tested.
        ReadyForQa => "READY_FOR_QA",
        /// The work is done and needs no tests.
        ReadyForReview => "READY_FOR_REVIEW",
        /// The work is done and rests on a decision that the lead must see.
        NeedsTechLeadValidation => "NEEDS_TECH_LEAD_VALIDATION",
        /// Something stands in the way.
        Blocked => "BLOCKED",
        /// A part is done, or tested.
        Partial => "PARTIAL",
        /// It could not be done.
        Incomplete => "INCOMPLETE",
        /// Somebody with more experience should do it.
        EscalateSenior => "ESCALATE_SENIOR",
        /// Nobody knows why; somebody must find out.
        SpawnInvestigator => "SPAWN_INVESTIGATOR",
        /// Everything works.
        Pass => "PASS",
        /// It works sometimes.
        Flaky => "FLAKY",
        /// Something does not work.
        Fail => "FAIL",
        /// Something does not work that needs experience.
        FailEscalate => "FAIL_ESCALATE",
        /// It can be kept.
        Approved => "APPROVED",
        /// It can be kept, and there is something to know.
        ApprovedWithNotes => "APPROVED_WITH_NOTES",
        /// It cannot be kept as it is.
        ChangesRequested => "CHANGES_REQUESTED",
        /// A larger model should look at it.
        EscalateToOpus => "ESCALATE_TO_OPUS",
        /// How whoever is blocked can go on.
        UnblockingGuidance => "UNBLOCKING_GUIDANCE",
        /// How it is to be built.
        ArchitecturalDecisionMade => "ARCHITECTURAL_DECISION_MADE",
        /// The cause is known.
        RootCauseFound => "ROOT_CAUSE_FOUND",
        /// The cause is not known yet, and there is something to go on with.
        InvestigationIncomplete => "INVESTIGATION_INCOMPLETE",
        /// There is nothing left to try.
        Exhausted => "EXHAUSTED",
        /// Somebody who builds must find something out.
        NeedDeveloperDiagnostic => "NEED_DEVELOPER_DIAGNOSTIC",
        /// It was not that.
        HypothesisEliminated => "HYPOTHESIS_ELIMINATED",
        /// Another look is needed.
        NeedMoreAnalysis => "NEED_MORE_ANALYSIS",
        /// Everything that was asked for is there.
        Bazinga => "BAZINGA",
        /// There is more to do.
        Continue => "CONTINUE",
        /// There is a plan.
        PlanningComplete => "PLANNING_COMPLETE",
        /// A person must answer something.
        NeedsClarification => "NEEDS_CLARIFICATION",
        /// Something must be found out before it can be said.
        InvestigationNeeded => "INVESTIGATION_NEEDED",
        /// All that was asked for was to find out.
        InvestigationOnly => "INVESTIGATION_ONLY",
        /// It is to be left out.
        Skip => "SKIP",
    }
}

words! {
    /// How bad a finding is; ordered from least to most.
    Severity, "severity" {
        /// Names and style: written down, not mended.
        Low => "low",
        /// Patterns, edge cases, values that should be configured.
        Medium => "medium",
        /// Wrong, unsafe, or not tested at all.
        High => "high",
    }
}

words! {
    /// What a finding is about.
    FindingKind, "kind of finding" {
        /// It does not do what the story asks for.
        Correctness => "correctness",
        /// It lets somebody in, or something out.
        Security => "security",
        /// Errors that nobody handles.
        ErrorHandling => "error_handling",
        /// Tests that are missing or prove nothing.
        Tests => "tests",
        /// Boundaries, patterns, interfaces.
        Design => "design",
        /// Too slow, too large.
        Performance => "performance",
        /// Names, layout, readability.
        Style => "style",
        /// What is said about the code.
        Docs => "docs",
        /// Anything else.
        Other => "other",
    }
}

words! {
    /// What several reviewers must agree on before work passes.
    Consensus, "consensus rule" {
        /// More than half of those asked approve; a finding falls if more dispute it than hold it.
        Majority => "majority",
        /// Everybody who was asked approves; a finding stands if anybody holds it.
        Unanimous => "unanimous",
    }
}

words! {
    /// Where several agents with a character of their own take part in a run.
    PartyPhase, "party phase" {
        /// Before anybody works on a story.
        Kickoff => "kickoff",
        /// Instead of a single reviewer.
        Review => "review",
        /// When a story has failed.
        Failure => "failure",
        /// At the end of an epic.
        Retro => "retro",
    }
}

words! {
    /// What a failure comes from.
    Cause, "cause of a failure" {
        /// Something that passes by itself.
        Transient => "transient",
        /// Tools, versions, the machine.
        Tooling => "tooling",
        /// What the story asks for, or leaves open.
        Spec => "spec",
        /// How the code is built.
        Architecture => "architecture",
        /// Something that must be there first.
        Dependency => "dependency",
        /// Something that must not be done unasked.
        Unsafe => "unsafe",
        /// The code itself.
        Implementation => "implementation",
    }
}

words! {
    /// Where a story of a run stands.
    StoryState, "story state" {
        /// Nobody works on it yet.
        Pending => "pending",
        /// It is being worked on, or was when the run stopped.
        Running => "running",
        /// Done and checked.
        Done => "done",
        /// Given up.
        Failed => "failed",
        /// Something outside, or a story before it, stands in the way.
        Blocked => "blocked",
        /// Left out on purpose.
        Skipped => "skipped",
    }
}

words! {
    /// Where a run stands.
    RunState, "run state" {
        /// At work, or dead without a word.
        Running => "running",
        /// Stopped by a signal; can be resumed.
        Interrupted => "interrupted",
        /// Stopped by its budget; can be resumed.
        Budget => "budget",
        /// Stopped because something outside is missing or broken; can be resumed.
        Environment => "environment",
        /// Every story is done.
        Done => "done",
        /// Some stories failed.
        Failed => "failed",
        /// Some stories are blocked, none failed.
        Blocked => "blocked",
    }
}

impl RunState {
    /// Whether there is nothing left to resume.
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Done | Self::Failed | Self::Blocked)
    }
}

words! {
    /// What an entry of a journal is.
    JournalKind, "kind of journal entry" {
        /// What is about to be done.
        Intent => "intent",
        /// What came of it.
        Result => "result",
        /// What is worth knowing and changes nothing.
        Note => "note",
    }
}

words! {
    /// How the output of a gate says which tests failed.
    GateFormat, "gate format" {
        /// It does not; the exit code is all there is.
        None => "none",
        /// Rust's test harness.
        Libtest => "libtest",
        /// The Test Anything Protocol.
        Tap => "tap",
        /// A JUnit XML file.
        Junit => "junit",
        /// `go test -json`.
        GoJson => "go_json",
        /// Lines with check marks and crosses, as runners for JavaScript print them.
        Marks => "marks",
    }
}

words! {
    /// Who can try a scenario out.
    ScenarioKind, "kind of scenario" {
        /// A program, alone.
        Auto => "auto",
        /// A program does a part of it, a person the rest.
        Semi => "semi",
        /// A person.
        Manual => "manual",
    }
}

words! {
    /// Which scenarios are tried out.
    UatGate, "gate" {
        /// Those that need nobody.
        Quick => "quick",
        /// Those, and what programs can do of the others.
        Full => "full",
        /// None.
        Skip => "skip",
    }
}

words! {
    /// What came of trying a scenario out.
    ScenarioOutcome, "outcome of a scenario" {
        /// It holds.
        Passed => "passed",
        /// It does not.
        Failed => "failed",
        /// It asks for a program that is not to be run.
        Refused => "refused",
        /// Nobody tried.
        NotRun => "not_run",
    }
}

words! {
    /// What the holder of a token may do; each includes the ones before it.
    TokenScope, "scope" {
        /// See.
        Read => "read",
        /// Add and change.
        Write => "write",
        /// Delete, and give rights to others.
        Admin => "admin",
    }
}

words! {
    /// What a token is good for.
    TokenKind, "kind of token" {
        /// For as many requests as one likes.
        Bearer => "bearer",
        /// For one login, after which a browser has a token of its own.
        Login => "login",
    }
}

words! {
    /// What kind of record a change is about.
    ChangeKind, "kind of change" {
        /// A session was opened, closed, reopened or purged.
        Session => "session",
        /// A package was registered.
        Package => "package",
        /// A thought was recorded.
        Reasoning => "reasoning",
        /// An event was logged.
        Event => "event",
        /// A receipt was made or moved on.
        Receipt => "receipt",
        /// A run was started or is in another state.
        Run => "run",
        /// A run wrote something down.
        Journal => "journal",
        /// An error was met or solved, or its solution is trusted otherwise. Not `error`: browsers mean a
        /// broken connection by that.
        ErrorPattern => "error_pattern",
        /// A strategy was learned or has helped.
        Strategy => "strategy",
    }
}

impl Default for RedactionMode {
    /// Patterns alone find a quarter of the secrets in public example sets.
    fn default() -> Self {
        Self::PatternAndEntropy
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_reads_back() {
        for kind in PackageKind::ALL {
            assert_eq!(kind.as_str().parse(), Ok(*kind));
        }
        for status in GroupStatus::ALL {
            assert_eq!(status.as_str().parse(), Ok(*status));
        }
    }

    #[test]
    fn an_unknown_word_names_itself_and_the_allowed_ones() {
        let error = "urgent".parse::<Priority>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "`urgent` is not a priority; one of low, medium, high, critical is expected"
        );
    }

    #[test]
    fn priorities_are_ordered() {
        assert!(Priority::Critical > Priority::High && Priority::Medium > Priority::Low);
    }
}
