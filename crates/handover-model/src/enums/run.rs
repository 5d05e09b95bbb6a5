//! Runs: pipelines, teams, parties, and where stories stand.

words! {
    /// The purpose of an agent in a run.
    RunPhase, "run phase" {
        /// Several agents discuss a story before anyone works on it.
        Kickoff => "kickoff",
        /// Doing the work.
        Dev => "dev",
        /// Fixing what gates or a review found.
        Fix => "fix",
        /// Reviewing work that it has not seen before.
        Review => "review",
        /// Deciding what to do about a failure.
        Analysis => "analysis",
        /// Describing how a person can try the work out.
        Uat => "uat",
        /// Collecting what the epic taught.
        Retro => "retro",
    }
}

words! {
    /// The pipeline a story goes through.
    #[derive(Default)]
    PipelineName, "pipeline" {
        /// Development, gates, an independent review.
        #[default]
        Story => "story",
        /// A team: developer, QA, tech lead, and the specialists they call in.
        Team => "team",
    }
}

words! {
    /// The status code with which a team member ends its work.
    TeamStatus, "status code" {
        /// The work is done and can be tested.
        ReadyForQa => "READY_FOR_QA",
        /// The work is done and needs no tests.
        ReadyForReview => "READY_FOR_REVIEW",
        /// The work is done but depends on a decision the tech lead must confirm.
        NeedsTechLeadValidation => "NEEDS_TECH_LEAD_VALIDATION",
        /// Something prevents progress.
        Blocked => "BLOCKED",
        /// Part of the work is done or tested.
        Partial => "PARTIAL",
        /// The work could not be done.
        Incomplete => "INCOMPLETE",
        /// A senior engineer should take over.
        EscalateSenior => "ESCALATE_SENIOR",
        /// The cause is unknown and must be investigated.
        SpawnInvestigator => "SPAWN_INVESTIGATOR",
        /// All tests pass.
        Pass => "PASS",
        /// Tests pass intermittently.
        Flaky => "FLAKY",
        /// Tests fail.
        Fail => "FAIL",
        /// Tests fail in a way that needs a senior engineer.
        FailEscalate => "FAIL_ESCALATE",
        /// The work is accepted.
        Approved => "APPROVED",
        /// The work is accepted, with remarks.
        ApprovedWithNotes => "APPROVED_WITH_NOTES",
        /// The work must be changed.
        ChangesRequested => "CHANGES_REQUESTED",
        /// A larger model should look at it.
        EscalateToOpus => "ESCALATE_TO_OPUS",
        /// Advice for a blocked team member.
        UnblockingGuidance => "UNBLOCKING_GUIDANCE",
        /// A decision about the design.
        ArchitecturalDecisionMade => "ARCHITECTURAL_DECISION_MADE",
        /// The cause was found.
        RootCauseFound => "ROOT_CAUSE_FOUND",
        /// The cause is still unknown, but there are leads.
        InvestigationIncomplete => "INVESTIGATION_INCOMPLETE",
        /// Nothing is left to try.
        Exhausted => "EXHAUSTED",
        /// A developer must collect diagnostics.
        NeedDeveloperDiagnostic => "NEED_DEVELOPER_DIAGNOSTIC",
        /// A suspected cause was ruled out.
        HypothesisEliminated => "HYPOTHESIS_ELIMINATED",
        /// Further analysis is needed.
        NeedMoreAnalysis => "NEED_MORE_ANALYSIS",
        /// Everything that was requested is done.
        Bazinga => "BAZINGA",
        /// More work remains.
        Continue => "CONTINUE",
        /// The plan is ready.
        PlanningComplete => "PLANNING_COMPLETE",
        /// A person must answer a question.
        NeedsClarification => "NEEDS_CLARIFICATION",
        /// An investigation is needed before a decision.
        InvestigationNeeded => "INVESTIGATION_NEEDED",
        /// Only an investigation was requested.
        InvestigationOnly => "INVESTIGATION_ONLY",
        /// The story should be skipped.
        Skip => "SKIP",
    }
}

words! {
    /// How serious a finding is, from least to most.
    Severity, "severity" {
        /// Naming and style: recorded, not fixed.
        Low => "low",
        /// Patterns, edge cases, hard-coded values.
        Medium => "medium",
        /// Incorrect, insecure, or untested.
        High => "high",
    }
}

words! {
    /// The subject of a finding.
    FindingKind, "finding kind" {
        /// It does not do what the story requires.
        Correctness => "correctness",
        /// It lets attackers in or leaks data.
        Security => "security",
        /// Unhandled errors.
        ErrorHandling => "error_handling",
        /// Missing or meaningless tests.
        Tests => "tests",
        /// Boundaries, patterns, interfaces.
        Design => "design",
        /// Too slow or too large.
        Performance => "performance",
        /// Naming, layout, readability.
        Style => "style",
        /// Documentation and comments.
        Docs => "docs",
        /// Anything else.
        Other => "other",
    }
}

words! {
    /// How far several reviewers must agree before work passes.
    Consensus, "consensus rule" {
        /// More than half of those asked approve; a finding is dropped if more dispute than support it.
        Majority => "majority",
        /// Everyone asked approves; a finding stands if anyone supports it.
        Unanimous => "unanimous",
    }
}

words! {
    /// Where several personas take part in a run.
    PartyPhase, "party phase" {
        /// Before anyone works on a story.
        Kickoff => "kickoff",
        /// Instead of a single reviewer.
        Review => "review",
        /// After a story failed.
        Failure => "failure",
        /// At the end of an epic.
        Retro => "retro",
    }
}

words! {
    /// The cause of a failure.
    Cause, "failure cause" {
        /// It goes away by itself.
        Transient => "transient",
        /// Tools, versions, the machine.
        Tooling => "tooling",
        /// The story is wrong or incomplete.
        Spec => "spec",
        /// The structure of the code.
        Architecture => "architecture",
        /// A prerequisite is missing.
        Dependency => "dependency",
        /// It requires something that needs permission.
        Unsafe => "unsafe",
        /// The code itself.
        Implementation => "implementation",
    }
}

words! {
    /// The state of a story in a run.
    StoryState, "story state" {
        /// Not started.
        Pending => "pending",
        /// In progress, or was when the run stopped.
        Running => "running",
        /// Done and checked.
        Done => "done",
        /// Abandoned.
        Failed => "failed",
        /// Prevented by something outside, or by an earlier story.
        Blocked => "blocked",
        /// Skipped on purpose.
        Skipped => "skipped",
    }
}

words! {
    /// The state of a run.
    RunState, "run state" {
        /// In progress, or crashed without recording it.
        Running => "running",
        /// Stopped by a signal; can be resumed.
        Interrupted => "interrupted",
        /// Stopped by its budget; can be resumed.
        Budget => "budget",
        /// Stopped because something in the environment is missing or broken; can be resumed.
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
    /// Whether nothing is left to resume.
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Done | Self::Failed | Self::Blocked)
    }
}

words! {
    /// The kind of a journal entry.
    JournalKind, "journal entry kind" {
        /// An effect is about to be performed.
        Intent => "intent",
        /// The result of an effect.
        Result => "result",
        /// Information that changes no state.
        Note => "note",
    }
}
