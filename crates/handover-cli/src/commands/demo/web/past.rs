//! The history of the demo project: two sessions and what was learned in them. Assembly, ranking, redaction
//! and receipts are real; only the times are in the past.

use handover_context::learning::{Binding, extract_strategies};
use handover_context::notes::{self, Written};
use handover_context::package_file::{self, Facts, Put, register_file};
use handover_handoff::{Assignment, Attempt, Debrief, Delivery, Ending, HandoffRequest, Learn};
use handover_model::{
    AgentId, Confidence, GroupId, GroupStatus, Host, PackageId, Phase, ProjectId, ReceiptId, Role,
    SessionId, SessionStatus, Timestamp, Trust, Verdict,
};
use handover_store::{
    CleanSignature, ErrorSighting, GroupUpdate, Judgement, NewReasoning, NewSession, ReceiptStep,
    Store,
};
use serde_json::json;

use super::packages::{
    AVATARS, CAUSE, DECISION, FAILURES, LATER, OAUTH, OAUTH_2, PackageFile, REPORTS, SERIAL,
    SUPPORT, TAX, TAX_DONE,
};
use crate::app::App;
use crate::error::{CommandError, Exit, io};

/// Writes the records of one session, minutes before now.
struct Recorder<'a> {
    app: &'a App,
    store: &'a dyn Store,
    session: SessionId,
    group: Option<GroupId>,
    project: ProjectId,
    now: Timestamp,
}

pub(super) fn write(app: &App) -> Result<(), CommandError> {
    let recorder = |session: &str, group: Option<&str>| -> Result<Recorder<'_>, CommandError> {
        Ok(Recorder {
            app,
            store: app.store()?,
            session: SessionId::new(session)?,
            group: group.map(GroupId::new).transpose()?,
            project: app.project_id()?,
            now: app.now(),
        })
    };
    recorder("checkout-tax", None)?.tax()?;
    let login = recorder("login-rework", Some("login"))?;
    login.errors()?;
    login.notes()?;
    login.login()
}

impl Recorder<'_> {
    /// An older session, already completed.
    fn tax(&self) -> Result<(), CommandError> {
        self.open(3_040, json!({"ticket": "SHOP-31"}))?;
        let tax = self.package(TAX)?;
        let receipt = self.brief(3_000, "developer", 0, "Count totals with tax in whole cents")?;
        self.confirm(&receipt, 2_999, &[tax])?;
        self.reason(
            2_962,
            "developer",
            Phase::Completion,
            "Totals are whole cents; a test rounds every amount up to a thousand both ways",
        )?;
        let handoff = self.package(TAX_DONE)?;
        self.end(&receipt, 2_960, Verdict::Complete, "Totals are computed in whole cents.")?;
        let receipt = self.brief(2_950, "qa_expert", 0, "Test totals with tax")?;
        self.confirm(&receipt, 2_949, &[handoff])?;
        let summary = "Every total up to a thousand is right, with tax and without.";
        self.end(&receipt, 2_910, Verdict::Passed, summary)?;
        self.store.set_session_status(&self.session, SessionStatus::Completed, self.ago(2_900))?;
        Ok(())
    }

    /// An afternoon spent on a login bug.
    fn login(&self) -> Result<(), CommandError> {
        self.open(170, json!({"ticket": "SHOP-42", "goal": "nobody is signed out at random"}))?;
        self.research()?;
        let failures = self.first_attempt()?;
        let (cause, decision) = self.second_attempt(failures)?;
        self.review(cause, decision)?;
        self.wrap_up()
    }

    fn research(&self) -> Result<(), CommandError> {
        self.reason(
            167,
            "project_manager",
            Phase::Understanding,
            "Users with several tabs are signed out; it started with the new identity provider",
        )?;
        let reports = self.package(REPORTS)?;
        let task = "Find out how the identity provider handles refresh tokens";
        let receipt = self.brief(158, "requirements_engineer", 0, task)?;
        self.confirm(&receipt, 157, &[reports])?;
        let summary = "Refresh tokens rotate on every use, and using one twice ends the session.";
        self.end(&receipt, 141, Verdict::Complete, summary)
    }

    /// A lock in memory, which QA finds insufficient.
    fn first_attempt(&self) -> Result<PackageId, CommandError> {
        let oauth = self.package(OAUTH)?;
        self.reason(
            139,
            "requirements_engineer",
            Phase::Decisions,
            "Trust the provider's documentation until its support answers",
        )?;
        let task = "Make two parallel refreshes of a token safe";
        let receipt = self.brief(134, "developer", 0, task)?;
        self.confirm(&receipt, 133, &[oauth])?;
        self.package(AVATARS)?;
        self.reason(
            125,
            "developer",
            Phase::Approach,
            "One refresh at a time, behind a lock; tried against the test tenant with DB_PASSWORD=tr0ub4dor-and-3",
        )?;
        self.package(OAUTH_2)?;
        self.reason(
            104,
            "developer",
            Phase::Completion,
            "Refreshes of one user wait for each other; a test starts both behind a barrier",
        )?;
        let serial = self.package(SERIAL)?;
        self.end(&receipt, 99, Verdict::Complete, "Refreshes of one user wait for each other.")?;
        let receipt = self.brief(97, "qa_expert", 0, "Test parallel refreshes of a token")?;
        self.confirm(&receipt, 96, &[serial])?;
        let failures = self.package(FAILURES)?;
        self.reason(
            85,
            "qa_expert",
            Phase::Risks,
            "With one server everything looks fine; the test must start two",
        )?;
        let summary = "With two servers, two parallel refreshes still sign the user out.";
        self.end(&receipt, 84, Verdict::Failed, summary)?;
        Ok(failures)
    }

    /// A transaction in the database. Returns the packages with the cause and the decision.
    fn second_attempt(&self, failures: PackageId) -> Result<(PackageId, PackageId), CommandError> {
        // Delivered but never confirmed.
        self.brief(79, "investigator", 0, "Find out why the second refresh uses an old token")?;
        let cause = self.package(CAUSE)?;
        let receipt = self.brief(66, "developer", 1, "Refresh tokens safely with two servers")?;
        self.confirm(&receipt, 65, &[failures, cause])?;
        self.reason(
            60,
            "developer",
            Phase::Pivot,
            "Away from the lock in memory: the database knows about both servers, the lock did not",
        )?;
        self.reason(
            52,
            "developer",
            Phase::Completion,
            "The row is locked while the provider is asked; 500 tries with two servers, no sign-out",
        )?;
        let summary = "A transaction locks the row while a token is refreshed; two servers no longer sign anybody out.";
        self.end(&receipt, 51, Verdict::Complete, summary)?;
        let decision = self.package(DECISION)?;
        self.package(LATER)?;
        Ok((cause, decision))
    }

    fn review(&self, cause: PackageId, decision: PackageId) -> Result<(), CommandError> {
        let task = "Review the transaction around refreshes";
        let receipt = self.brief(45, "tech_lead", 0, task)?;
        let reason = "the agent program exited before it had read its prompt";
        let step = ReceiptStep::Failed { reason: self.app.redactor()?.clean(reason) };
        self.store.advance_receipt(&receipt, &step, self.ago(44))?;
        let receipt = self.brief(42, "tech_lead", 0, task)?;
        self.confirm(&receipt, 41, &[decision, cause])?;
        self.reason(
            35,
            "tech_lead",
            Phase::Decisions,
            "Approved: the transaction is short, and the provider answers within a second",
        )?;
        let summary = "The transaction is short and holds one row.";
        self.end(&receipt, 34, Verdict::Passed, summary)?;
        let receipt = self.brief(30, "qa_expert", 1, "Test parallel refreshes with two servers")?;
        self.confirm(&receipt, 29, &[decision])?;
        self.reason(
            23,
            "qa_expert",
            Phase::Completion,
            "500 tries with two servers and three tabs: nobody is signed out",
        )?;
        let summary = "500 tries with two servers and three tabs signed nobody out.";
        self.end(&receipt, 22, Verdict::Passed, summary)
    }

    fn wrap_up(&self) -> Result<(), CommandError> {
        self.package(SUPPORT)?;
        // Assembled, but the agent was never started.
        let task = "Measure how long the row is locked";
        self.assemble(12, "senior_software_engineer", 0, task)?;
        self.reason(
            8,
            "project_manager",
            Phase::Blockers,
            "The provider's sandbox is down until Monday; the load test waits for it",
        )?;
        self.set_group(
            "login",
            "Nobody is signed out at random",
            GroupStatus::ApprovedPendingMerge,
        )?;
        self.set_group("profile", "Avatars of the new shop", GroupStatus::Pending)?;
        extract_strategies(
            self.store,
            self.app.redactor()?,
            &self.session,
            &GroupId::new("login")?,
            &Binding { language: Some("rust".to_owned()), framework: None },
            &|_| true,
            self.ago(20),
        )?;
        Ok(())
    }

    /// Error patterns of the past days.
    fn errors(&self) -> Result<(), CommandError> {
        let refused = "ECONNREFUSED: connect 127.0.0.1:5432";
        self.error(14_000, refused, "cargo test", None)?;
        self.error(
            13_900,
            refused,
            "cargo test",
            Some("start the database first: docker compose up -d db"),
        )?;
        for minutes in [9_000, 7_300, 6_100] {
            self.error(
                minutes,
                refused,
                "cargo test",
                Some("start the database first: docker compose up -d db"),
            )?;
        }
        let hash = self.error(4_400, refused, "cargo run", None)?;
        self.store.judge_error(&self.project, &hash, Judgement::Rejected, self.ago(4_390))?;
        for minutes in [3_000, 1_500, 200] {
            self.store.judge_error(
                &self.project,
                &hash,
                Judgement::Confirmed,
                self.ago(minutes),
            )?;
        }
        self.error(
            118,
            "thread 'refresh' panicked: lock poisoned",
            "cargo test refresh",
            Some("drop the guard before awaiting"),
        )?;
        self.error(55, "error[E0597]: `guard` does not live long enough", "cargo check", None)?;
        Ok(())
    }

    /// What the project knew before its first session.
    fn notes(&self) -> Result<(), CommandError> {
        let said = [
            (
                20_000,
                "Refresh tokens rotate on every use; a token that is used twice ends the session.",
                "src/auth/refresh.rs",
                Trust::Person,
            ),
            (
                16_000,
                "Prices are stored in cents. Floats lost a cent per thousand orders.",
                "src/checkout/tax.rs",
                Trust::Person,
            ),
            (
                9_500,
                "The test tenant resets every night at two; tests that run then fail for no other reason.",
                "tests/tenant.rs",
                Trust::Agent,
            ),
        ];
        for (minutes, text, path, trust) in said {
            let paths = [path.to_owned()];
            let note = Written { text, title: None, paths: &paths, trust };
            let redactor = self.app.redactor()?;
            notes::write(self.store, &self.project, redactor, &note, self.ago(minutes))?;
        }
        Ok(())
    }

    fn ago(&self, minutes: i64) -> Timestamp {
        Timestamp::from_micros(self.now.as_micros() - minutes * 60_000_000)
    }

    fn open(&self, minutes: i64, metadata: serde_json::Value) -> Result<(), CommandError> {
        self.store.open_session(&NewSession {
            id: self.session.clone(),
            project: self.project.clone(),
            metadata: self.app.redactor()?.clean_json(metadata),
            now: self.ago(minutes),
        })?;
        Ok(())
    }

    fn set_group(&self, id: &str, title: &str, status: GroupStatus) -> Result<(), CommandError> {
        let mut update = GroupUpdate::new(self.session.clone(), GroupId::new(id)?, self.ago(8));
        update.title = Some(self.app.redactor()?.clean(title));
        update.status = Some(status);
        self.store.set_group(&update)?;
        Ok(())
    }

    fn package(&self, (minutes, file, text): PackageFile) -> Result<PackageId, CommandError> {
        let root = &self.app.project()?.root;
        fs_err::write(root.join(file), text).map_err(|error| io(&error))?;
        let groups = self.app.group_ids(&self.session)?;
        let setting = self.app.package_setting(&self.session, &groups)?;
        let setting = package_file::DraftContext { now: self.ago(minutes), ..setting };
        let located = setting.paths.locate(root, file.as_ref());
        match register_file(self.store, &setting, located, Facts::default())? {
            Put::Registered(registered) | Put::Unchanged(registered) => Ok(registered.package.id),
            Put::Skipped(reason) => {
                Err(CommandError::new(Exit::Failed, "demo", format!("{file}: {reason}")))
            }
        }
    }

    fn reason(
        &self,
        minutes: i64,
        role: &str,
        phase: Phase,
        text: &str,
    ) -> Result<(), CommandError> {
        self.store.add_reasoning(&NewReasoning {
            session: self.session.clone(),
            group: self.group.clone(),
            role: Role::new(role)?,
            agent_id: None::<AgentId>,
            iteration: 0,
            phase,
            confidence: (phase == Phase::Decisions).then_some(Confidence::Medium),
            content: self.app.redactor()?.clean(text),
            references: Vec::new(),
            now: self.ago(minutes),
            trust: Trust::Agent,
        })?;
        Ok(())
    }

    fn assemble(
        &self,
        minutes: i64,
        role: &str,
        iteration: u32,
        task: &str,
    ) -> Result<ReceiptId, CommandError> {
        let role = Role::new(role)?;
        let request = HandoffRequest {
            group: self.group.clone(),
            task: Some(task.to_owned()),
            model: Some("opus".to_owned()),
            attempt: Attempt::Number(iteration),
            reasoning: Some(true),
            ..HandoffRequest::new(
                self.session.clone(),
                role,
                self.app.new_receipt()?,
                self.ago(minutes),
            )
        };
        Ok(self.app.handoffs()?.assemble(&request, Delivery::Later)?.0.receipt.id)
    }

    fn brief(
        &self,
        minutes: i64,
        role: &str,
        iteration: u32,
        task: &str,
    ) -> Result<ReceiptId, CommandError> {
        let receipt = self.assemble(minutes, role, iteration, task)?;
        self.app.handoffs()?.started(&receipt, Some(Host::CLAUDE), self.ago(minutes))?;
        Ok(receipt)
    }

    /// Confirms a receipt and marks the packages in `read` as opened.
    fn confirm(
        &self,
        receipt: &ReceiptId,
        minutes: i64,
        read: &[PackageId],
    ) -> Result<(), CommandError> {
        let receipt =
            self.store.advance_receipt(receipt, &ReceiptStep::Confirmed, self.ago(minutes))?;
        for package in read {
            if receipt.items.iter().any(|item| item.id == package.to_string()) {
                self.store.mark_read(&receipt.id, *package, self.ago(minutes - 1))?;
            }
        }
        Ok(())
    }

    /// How the agent of a receipt ended. What is learned is learned at the end of the afternoon.
    fn end(
        &self,
        receipt: &ReceiptId,
        minutes: i64,
        verdict: Verdict,
        summary: &str,
    ) -> Result<(), CommandError> {
        let assignment = Assignment::of(&self.store.receipt(receipt)?);
        let debrief = Debrief {
            receipt: Some(receipt.clone()),
            verdict: Some(verdict),
            summary: Some(summary.to_owned()),
            ..Debrief::default()
        };
        let ending = Ending::new(&assignment, &debrief, self.ago(minutes));
        self.app.handoffs()?.ended(Ending { learn: Learn::AtCommit, ..ending })?;
        Ok(())
    }

    fn error(
        &self,
        minutes: i64,
        message: &str,
        command: &str,
        solution: Option<&str>,
    ) -> Result<String, CommandError> {
        let redactor = self.app.redactor()?;
        let sighting = ErrorSighting {
            project: self.project.clone(),
            signature: CleanSignature::new(None, message, &[], redactor),
            language: Some(redactor.clean("rust")),
            ttl_days: 90,
            session: None,
            group: None,
            role: Some(Role::new("developer")?),
            command: Some(redactor.clean(command)),
            now: self.ago(minutes),
            trust: Trust::Agent,
        };
        let pattern = match solution {
            Some(solution) => self.store.resolve_error(&sighting, &redactor.clean(solution))?,
            None => self.store.record_error(&sighting)?,
        };
        Ok(pattern.hash)
    }
}
