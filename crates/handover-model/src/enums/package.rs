//! Packages, reasoning and strategies: what agents leave for each other.

words! {
    /// What a package contains.
    PackageKind, "package kind" {
        /// Findings about the problem or its environment.
        Research => "research",
        /// What failed, for the next attempt.
        Failures => "failures",
        /// What was decided, and why.
        Decisions => "decisions",
        /// Work handed from one role to another.
        Handoff => "handoff",
        /// A root-cause analysis.
        Investigation => "investigation",
    }
}

words! {
    /// How important a package is, from least to most.
    Priority, "priority" {
        /// Background.
        Low => "low",
        /// The default.
        Medium => "medium",
        /// Should be read.
        High => "high",
        /// Too important to leave out.
        Critical => "critical",
    }
}

words! {
    /// Which groups of the session a package is for.
    Scope, "scope" {
        /// The package's own group, and those that reference it.
        Group => "group",
        /// Every group.
        Global => "global",
    }
}

words! {
    /// Who receives which packages.
    #[derive(Default)]
    Routing, "routing" {
        /// A group's packages go to that group, addressed ones to their consumers.
        #[default]
        Strict => "strict",
        /// Everything goes to everyone; group and addressee only affect the ranking.
        Open => "open",
    }
}

words! {
    /// The stage of work that a piece of reasoning belongs to.
    Phase, "reasoning phase" {
        /// How the task is understood.
        Understanding => "understanding",
        /// How it will be done.
        Approach => "approach",
        /// What was chosen, and over what.
        Decisions => "decisions",
        /// What may go wrong.
        Risks => "risks",
        /// What prevents progress.
        Blockers => "blockers",
        /// A change of approach.
        Pivot => "pivot",
        /// What was done, at the end.
        Completion => "completion",
    }
}

words! {
    /// How confident the author of a piece of reasoning is.
    Confidence, "confidence" {
        /// Verified, or beyond doubt.
        High => "high",
        /// Likely.
        Medium => "medium",
        /// A guess.
        Low => "low",
    }
}

words! {
    /// How much reasoning an agent receives.
    #[derive(Default)]
    ReasoningLevel, "reasoning level" {
        /// Decisions and completions, in 400 tokens.
        Minimal => "minimal",
        /// 800 tokens.
        #[default]
        Medium => "medium",
        /// 1,200 tokens.
        Full => "full",
    }
}

impl ReasoningLevel {
    /// The token budget for reasoning.
    pub const fn tokens(self) -> u64 {
        match self {
            Self::Minimal => 400,
            Self::Medium => 800,
            Self::Full => 1_200,
        }
    }
}

words! {
    /// The subject of a strategy.
    Topic, "strategy topic" {
        /// Learned from completions: what worked in code.
        Implementation => "implementation",
        /// Learned from decisions: how things are built here.
        Architecture => "architecture",
        /// Learned from approaches: how work is done here.
        Methodology => "methodology",
    }
}
