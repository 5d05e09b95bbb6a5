//! Gates and acceptance tests.

words! {
    /// How a gate's output reports which tests failed.
    GateFormat, "gate format" {
        /// Not at all: only the exit code counts.
        None => "none",
        /// Rust's test harness.
        Libtest => "libtest",
        /// The Test Anything Protocol.
        Tap => "tap",
        /// A JUnit XML file.
        Junit => "junit",
        /// `go test -json`.
        GoJson => "go_json",
        /// Lines with check marks and crosses, as JavaScript test runners print them.
        Marks => "marks",
    }
}

words! {
    /// Who can execute a scenario.
    ScenarioKind, "scenario kind" {
        /// A program alone.
        Auto => "auto",
        /// A program in part, a person for the rest.
        Semi => "semi",
        /// Only a person.
        Manual => "manual",
    }
}

words! {
    /// Which scenarios are executed.
    UatGate, "gate" {
        /// Those that need no person.
        Quick => "quick",
        /// Those, and the automatic part of the others.
        Full => "full",
        /// None.
        Skip => "skip",
    }
}

words! {
    /// The result of executing a scenario.
    ScenarioOutcome, "scenario outcome" {
        /// Every step behaved as described.
        Passed => "passed",
        /// A step behaved differently.
        Failed => "failed",
        /// It needs a program that is not allowed.
        Refused => "refused",
        /// It was not executed.
        NotRun => "not_run",
    }
}
