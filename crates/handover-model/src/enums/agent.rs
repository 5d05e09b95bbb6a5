//! Agent programs: which one runs, what it may do, and how it fails.

words! {
    /// How a subagent receives its brief.
    BriefDelivery, "brief delivery" {
        /// In its rewritten prompt.
        Rewrite => "rewrite",
        /// When it starts, because its host discards rewritten prompts.
        Start => "start",
        /// By being held back when it stops, because its host offers nothing earlier.
        HoldBack => "hold_back",
    }
}

words! {
    /// What an agent may do, from least to most.
    Profile, "profile" {
        /// Read files, change nothing.
        ReadOnly => "read_only",
        /// Change files below its folder, within the sandbox of its program.
        Edit => "edit",
        /// Everything, without asking.
        Full => "full",
    }
}

words! {
    /// Why an agent did not succeed.
    FailureClass, "failure class" {
        /// Too many requests.
        RateLimit => "rate_limit",
        /// The model's servers are overloaded.
        Overloaded => "overloaded",
        /// Another error of the model's servers.
        Server => "server",
        /// The model could not be reached, or the connection was lost.
        Network => "network",
        /// Missing or invalid credentials.
        Auth => "auth",
        /// The account has no money or quota left.
        Quota => "quota",
        /// The model does not exist or is not permitted.
        Model => "model",
        /// The conversation exceeds the model's context window.
        ContextWindow => "context_window",
        /// The limit of turns was reached.
        MaxTurns => "max_turns",
        /// The spending limit was reached.
        MaxBudget => "max_budget",
        /// The model refused to answer.
        Refused => "refused",
        /// The program was invoked incorrectly.
        Usage => "usage",
        /// It ran for too long.
        WallTimeout => "wall_timeout",
        /// It printed nothing for too long.
        IdleTimeout => "idle_timeout",
        /// It printed too much.
        OutputFlood => "output_flood",
        /// It was canceled.
        Cancelled => "cancelled",
        /// A signal terminated it.
        Crashed => "crashed",
        /// It returned a non-zero exit code.
        ExitCode => "exit_code",
        /// It exited successfully without a result.
        NoResult => "no_result",
        /// Anything else.
        Other => "other",
    }
}

impl FailureClass {
    /// Whether the same call may succeed later.
    pub const fn is_transient(self) -> bool {
        matches!(self, Self::RateLimit | Self::Overloaded | Self::Server | Self::Network)
    }
}
