//! One handoff: what goes into a prompt, whether the agent may start, and how its work ended.

words! {
    /// How full the agent's context window is.
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
    /// The kind of record that a receipt item refers to.
    ItemKind, "item kind" {
        /// A context package.
        Package => "package",
        /// A piece of reasoning.
        Reasoning => "reasoning",
        /// An error pattern.
        Error => "error",
        /// A strategy.
        Strategy => "strategy",
        /// A verdict on earlier work.
        Verdict => "verdict",
        /// A note.
        Note => "note",
    }
}

impl ItemKind {
    /// The section of a receipt that the tokens of such items count in.
    pub const fn section(self) -> &'static str {
        match self {
            Self::Package => "packages",
            Self::Reasoning => "reasoning",
            Self::Error | Self::Strategy => "errors",
            Self::Verdict => "history",
            Self::Note => "notes",
        }
    }
}

words! {
    /// What became of an item that an agent received, from the least to the most.
    Use, "use" {
        /// Nothing shows that it mattered.
        Unused => "unused",
        /// Its rare words or numbers are in what the agent wrote.
        Echoed => "echoed",
        /// The agent wrote its id or its path.
        Named => "named",
        /// The agent read its file.
        Opened => "opened",
    }
}

words! {
    /// Whether what agents used of earlier briefs moved the items of this one.
    UseLearning, "state of learning from use" {
        /// It did, as far as there was anything to go by.
        Applied => "applied",
        /// It was left out, to see what difference it makes.
        HeldOut => "held_out",
    }
}

words! {
    /// What is reported to an OpenTelemetry collector.
    SignalKind, "signal" {
        /// What was done, and when.
        Traces => "traces",
        /// What was measured.
        Metrics => "metrics",
        /// What was said about it.
        Logs => "logs",
    }
}

words! {
    /// How much of an item a prompt includes.
    Form, "form" {
        /// The whole summary.
        Full => "full",
        /// The summary, cut.
        Short => "short",
        /// The passages of its text that answer the task.
        Focus => "focus",
        /// Only the path.
        Pointer => "pointer",
    }
}

words! {
    /// Why a candidate was included in a prompt or left out.
    Fate, "fate" {
        /// Included with its whole summary.
        Fits => "fits",
        /// Included with part of its summary.
        FitsShortened => "fits, shortened",
        /// Included as the passages of its text that answer the task.
        FitsAsPassages => "fits, as passages",
        /// Included as a path only.
        FitsAsPath => "fits as a path",
        /// Left out: the number of items is limited, and others rank higher.
        OverTheLimit => "over the limit",
        /// Left out: no form of it fits the token budget.
        OverTheBudget => "over the budget",
        /// Left out: this zone only admits higher priorities.
        LowPriority => "low priority in this zone",
        /// Left out: it belongs to another group and is not global.
        AnotherGroup => "another group",
        /// Left out: its consumers are other roles.
        AddressedToOthers => "addressed to others",
        /// Left out: this role already received it in this attempt.
        DeliveredAlready => "delivered already",
        /// Left out: the file it refers to no longer exists.
        FileGone => "its file is gone",
        /// Left out: the work it reports as failed has been accepted since.
        Settled => "settled since",
        /// Left out: it has nothing to do with the task.
        OffTopic => "not about the task",
        /// Left out: another item says the same.
        ShownAlready => "shown already",
        /// Left out: a later statement replaced it.
        Amended => "amended since",
        /// Left out: a later statement about the same subject is in, and points to it.
        Earlier => "a later one is in",
        /// Left out: it was taken out of use.
        Retired => "retired",
        /// Left out: the agent program reads its file by itself.
        LoadedAnyway => "loaded by the program itself",
        /// Left out: its trust class is lower than the role may receive.
        Distrusted => "trusted too little",
        /// Left out: it comes from outside and speaks to the agent instead of informing it.
        Screened => "speaks to the agent",
    }
}

impl Fate {
    /// Whether the candidate was included.
    pub fn is_in(self) -> bool {
        matches!(self, Self::Fits | Self::FitsShortened | Self::FitsAsPassages | Self::FitsAsPath)
    }
}

words! {
    /// What happens to a spawn that lacks context or specialization.
    #[derive(Default)]
    GuardMode, "guard mode" {
        /// It is refused.
        #[default]
        Strict => "strict",
        /// It is started with a warning.
        Warn => "warn",
        /// It is not checked.
        Off => "off",
    }
}

words! {
    /// What happens to a subagent that would work without a brief, because no hook announced it or the hook failed.
    #[derive(Default)]
    OnMissing, "rule for missing briefs" {
        /// It gets its brief when it starts, else by being held back once.
        #[default]
        BriefLate => "brief_late",
        /// Its spawn is refused; where the host cannot do that, it is asked to stop.
        Refuse => "refuse",
        /// It works without one and counts as exempt.
        Allow => "allow",
    }
}

words! {
    /// What became of a subagent that an agent program started, or was asked to start.
    Coverage, "coverage" {
        /// It has its brief.
        Briefed => "briefed",
        /// It worked without one, by a rule of the configuration.
        Exempt => "exempt",
        /// It did not start, or was asked to stop.
        Refused => "refused",
        /// It worked without a brief and should not have.
        Missed => "missed",
    }
}

words! {
    /// The state of a receipt.
    ReceiptState, "receipt state" {
        /// The text exists but has not been delivered.
        Assembled => "assembled",
        /// The text was passed to the agent program.
        Delivered => "delivered",
        /// The agent was observed to have the text.
        Confirmed => "confirmed",
        /// The text never reached the agent.
        Failed => "failed",
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
        /// The work should be skipped.
        Skip => "skip",
        /// A person, or someone with more authority, must decide.
        Escalate => "escalate",
    }
}

impl Verdict {
    /// Whether the work was accepted.
    pub fn accepts(self) -> bool {
        matches!(self, Self::Passed | Self::PassedWithFixes)
    }

    /// Whether the work was sent back.
    pub fn sends_back(self) -> bool {
        matches!(self, Self::Failed | Self::Retry)
    }
}

words! {
    /// Which detectors of secrets run.
    #[derive(Default)]
    RedactionMode, "redaction mode" {
        /// Known formats only.
        PatternOnly => "pattern_only",
        /// Known formats and random strings. The default, because patterns alone find a quarter of the
        /// secrets in public example sets.
        #[default]
        PatternAndEntropy => "pattern_and_entropy",
        /// Nothing is redacted.
        Off => "off",
    }
}

words! {
    /// The subject of a technology or a specialization template.
    Category, "template type" {
        /// Programming languages.
        Language => "language",
        /// What an application is built on.
        Framework => "framework",
        /// Where data is stored.
        Database => "database",
        /// What builds, ships and runs the application.
        Infrastructure => "infrastructure",
        /// Asynchronous communication.
        Messaging => "messaging",
        /// Interfaces between services.
        Api => "api",
        /// How the application is tested.
        Testing => "testing",
        /// Data processing.
        Data => "data",
        /// Models and the tooling around them.
        Ai => "ai",
        /// Authentication and authorization.
        Security => "security",
        /// A field of application.
        Domain => "domain",
    }
}

words! {
    /// How much testing the workflow includes.
    #[derive(Default)]
    TestingMode, "testing mode" {
        /// QA takes part and receives everything it needs.
        #[default]
        Full => "full",
        /// Developers test; QA receives nothing extra.
        Minimal => "minimal",
        /// No testing.
        Disabled => "disabled",
    }
}
