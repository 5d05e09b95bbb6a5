//! Taking records out of use, and the log of what was changed by hand.

words! {
    /// Whether a package, a strategy or an error pattern is used.
    #[derive(Default)]
    RecordState, "record state" {
        /// It may go into briefs.
        #[default]
        Live => "live",
        /// It was taken out of use and never goes into a brief.
        Retired => "retired",
    }
}

words! {
    /// What somebody did by hand, as the operation log names it.
    Action, "action" {
        /// Took a record out of use.
        Retire => "retire",
        /// Took a record back into use.
        Restore => "restore",
        /// Took records out of use because of their age or because nothing used them.
        Expire => "expire",
        /// Added a note or a package.
        Add => "add",
        /// Registered a new version of a package.
        Supersede => "supersede",
        /// Confirmed that a later statement replaces a note.
        Confirm => "confirm",
        /// Rejected a replacement that was found.
        Reject => "reject",
        /// Closed a session.
        Close => "close",
        /// Reopened a session.
        Reopen => "reopen",
        /// Undid another operation.
        Undo => "undo",
    }
}
