//! What a review leads to. One policy for a lone reviewer, a party and a team: a finding of high severity is
//! never passed over, whatever the verdict says.

use handover_model::{Severity, StoryState, Verdict};

use super::PhaseEnd;
use super::story::{RunRules, StoryRun, finding};
use crate::data::{Finding, severity_of};

/// Whether work with these findings must not be committed.
pub(super) fn must_be_fixed(findings: &[Finding]) -> bool {
    findings.iter().any(|finding| severity_of(&finding.severity) == Severity::High)
}

impl StoryRun {
    pub(super) fn pass(&mut self, end: &PhaseEnd) {
        self.record.push(end.clone());
        self.advance();
    }

    /// The review passed, with or without fixes.
    pub(super) fn review_passed(&mut self, end: &PhaseEnd, rules: RunRules<'_>) {
        let many = end.findings.len() > rules.pipeline.rules.fix_medium_above as usize;
        let is_mild = |finding: &Finding| severity_of(&finding.severity) == Severity::Low;
        if must_be_fixed(&end.findings) {
            self.review_failed(end, rules);
        } else if end.verdict == Some(Verdict::PassedWithFixes)
            || many && !end.findings.iter().all(is_mild)
        {
            self.pass_with_fixes(end, rules);
        } else {
            self.pass(end);
        }
    }

    pub(super) fn review_failed(&mut self, end: &PhaseEnd, rules: RunRules<'_>) {
        let mut findings = end.findings.clone();
        if findings.is_empty() && !end.summary.is_empty() {
            findings.push(finding(&end.summary));
        }
        if findings.is_empty() {
            let reason = "the review failed without findings";
            return self.give_up(StoryState::Failed, reason, rules);
        }
        self.fixed_for_review = true;
        self.record.push(end.clone());
        self.request_fix(findings, rules, "the review failed");
    }

    /// Reviewers are read-only, so their findings are fixed by a developer, once; after that the verdict
    /// counts as passed.
    fn pass_with_fixes(&mut self, end: &PhaseEnd, rules: RunRules<'_>) {
        let mut findings = end.findings.clone();
        if findings.is_empty() && !end.restored.is_empty() {
            findings.push(finding(&end.summary));
        }
        if findings.is_empty() || self.fixed_for_review || self.fixes >= rules.max_fixes {
            return self.pass(end);
        }
        self.fixed_for_review = true;
        self.record.push(end.clone());
        self.request_fix(findings, rules, "the review asked for fixes");
    }
}
