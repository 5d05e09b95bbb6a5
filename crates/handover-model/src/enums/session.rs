//! Sessions, their groups, and what is recorded about them.

words! {
    /// The lifecycle of a session.
    SessionStatus, "session status" {
        /// Open: records may be added.
        Active => "active",
        /// Closed after success.
        Completed => "completed",
        /// Closed after failure.
        Failed => "failed",
    }
}

words! {
    /// The lifecycle of a task group.
    GroupStatus, "group status" {
        /// Not started.
        Pending => "pending",
        /// An agent is working on it.
        InProgress => "in_progress",
        /// Finished successfully.
        Completed => "completed",
        /// Abandoned.
        Failed => "failed",
        /// Approved, waiting to be merged.
        ApprovedPendingMerge => "approved_pending_merge",
        /// The merge is in progress.
        Merging => "merging",
    }
}

words! {
    /// Events that Handover logs itself; users may log events of any other name.
    KnownEvent, "built-in event" {
        /// A text was delivered to an agent.
        Delivery => "delivery",
        /// One role's reasoning was passed to another.
        ReasoningHandoff => "reasoning_handoff",
        /// A role's context window entered another zone.
        Zone => "zone",
        /// An agent received less than planned.
        Degraded => "degraded",
        /// A spawn was allowed or refused.
        Guard => "guard",
        /// An agent reported the outcome of its work.
        Verdict => "verdict",
        /// A story that had failed succeeded.
        FailureSolved => "failure_solved",
        /// An agent's final report was stored, or was missing.
        Debrief => "debrief",
        /// A long report became a package, and its reader got less.
        Shortened => "shortened",
        /// A subagent of a type without a role was spawned and not briefed.
        Untouched => "untouched",
        /// An agent program reached a point where its state was recorded.
        Checkpoint => "checkpoint",
    }
}

words! {
    /// The kind of record that changed.
    ChangeKind, "change kind" {
        /// A session was opened, closed, reopened or purged.
        Session => "session",
        /// A package was registered.
        Package => "package",
        /// Reasoning was recorded.
        Reasoning => "reasoning",
        /// An event was logged.
        Event => "event",
        /// A receipt was created or changed its state.
        Receipt => "receipt",
        /// A run was started or changed its state.
        Run => "run",
        /// A run appended to its journal.
        Journal => "journal",
        /// An error was seen or solved, or trust in its solution changed. Not `error`, which browsers
        /// use for a broken connection.
        ErrorPattern => "error_pattern",
        /// A strategy was learned or has helped.
        Strategy => "strategy",
        /// Notes were learned, or their states changed.
        Note => "note",
        /// Somebody changed records by hand, or undid that.
        Operation => "operation",
    }
}
