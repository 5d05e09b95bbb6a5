//! The past of the demo's project: two sessions and what was learned, written as it would have been at
//! the time. Assembly, ranking, redaction and receipts are real; only the clock is turned back.

use handover_context::learning::{Binding, extract_strategies};
use handover_context::package_file::{self, Facts, Put, register_file};
use handover_handoff::{Attempt, Delivery, HandoffRequest};
use handover_model::{
    AgentId, Confidence, GroupId, GroupStatus, Host, PackageId, Phase, ProjectId, ReceiptId, Role,
    SessionId, SessionStatus, Timestamp,
};
use handover_store::{
    ErrorSighting, GroupUpdate, Judgement, NewReasoning, NewSession, ReceiptStep, Store,
};
use serde_json::json;

use crate::app::App;
use crate::error::{CommandError, Exit, io};

/// A package: minutes ago, file, front matter and text.
type Paper = (i64, &'static str, &'static str);

const REPORTS: Paper = (
    164,
    "docs/reports.md",
    "---\ntype: handoff\ngroup_id: login\nproducer: project_manager\nconsumers: [requirements_engineer, investigator]\npriority: medium\n---\n# What customers report\n\n## Summary\nSince Tuesday people are signed out at random, mostly with several tabs open.\n\n## Details\n41 tickets in three days. Nobody loses a cart, everybody loses patience.\n",
);
const OAUTH: Paper = (
    141,
    "docs/oauth.md",
    "---\ntype: research\ngroup_id: login\nproducer: requirements_engineer\nconsumers: [developer, senior_software_engineer]\npriority: high\nfiles: [src/auth/session.rs, src/auth/refresh.rs]\n---\n# OAuth at the identity provider\n\n## Summary\nRefresh tokens rotate on every use; an old one that comes back revokes the whole family.\n\n## Details\nAccess tokens live ten minutes. The test tenant accepts password=correct-horse-battery for the demo user.\n\n| call | scope |\n|---|---|\n| `getUserById` | `profile` |\n| `refresh` | `offline_access` |\n",
);
const OAUTH_2: Paper = (
    112,
    "docs/oauth.md",
    "---\ntype: research\ngroup_id: login\nproducer: requirements_engineer\nconsumers: [developer, senior_software_engineer]\npriority: critical\nfiles: [src/auth/session.rs, src/auth/refresh.rs]\n---\n# OAuth at the identity provider\n\n## Summary\nCorrection: refresh tokens rotate only after a grace period of 30 seconds; retries inside it are safe.\n\n## Details\nConfirmed by the provider's support. Access tokens live ten minutes.\n\n1. A refresh returns a new pair.\n2. The old refresh token works for 30 more seconds.\n3. After that it revokes the whole family.\n\n```rust\nlet pair = provider.refresh(&token).await?;\nstore.replace(user, &pair)?;\n```\n",
);
const SERIAL: Paper = (
    103,
    "docs/serial.md",
    "---\ntype: handoff\ngroup_id: login\nproducer: developer\nconsumers: [qa_expert, tech_lead]\npriority: high\nfiles: [src/auth/refresh.rs]\n---\n# How refreshes are serialised\n\n## Summary\nOne refresh at a time per user, behind a lock in memory; the second caller gets the first one's result.\n\n## Details\nTry it with two tabs and a token that is about to expire.\n",
);
const FAILURES: Paper = (
    86,
    "docs/failures.md",
    "---\ntype: failures\ngroup_id: login\nproducer: qa_expert\nconsumers: [developer, investigator]\npriority: critical\nfiles: [src/auth/refresh.rs]\n---\n# Two parallel refreshes still sign the user out\n\n## Summary\nWith two servers the second refresh uses a token that the first one has just replaced.\n\n## Details\nSeen in 7 of 50 tries, never with one server.\n",
);
const CAUSE: Paper = (
    71,
    "docs/cause.md",
    "---\ntype: investigation\ngroup_id: login\nproducer: investigator\nconsumers: [developer, tech_lead]\npriority: high\nfiles: [src/auth/refresh.rs, src/store/tokens.rs]\n---\n# The lock is released before the new token is stored\n\n## Summary\nThe guard is dropped at the end of `refresh`, the write happens after it; another server reads the old token in between.\n",
);
const DECISION: Paper = (
    51,
    "docs/decision.md",
    "---\ntype: decisions\ngroup_id: login\nproducer: developer\nconsumers: [tech_lead, qa_expert]\npriority: high\nfiles: [src/store/tokens.rs]\n---\n# Tokens are replaced inside one transaction\n\n## Summary\nThe row is locked, the provider asked and the new pair written in one transaction; the lock in memory is gone.\n",
);
const LATER: Paper = (
    47,
    "docs/device-bound.md",
    "---\ntype: research\ngroup_id: login\nproducer: requirements_engineer\nconsumers: [orchestrator]\npriority: low\n---\n# Device-bound sessions, for later\n\n## Summary\nThe provider will offer sessions that are bound to a device from spring on.\n",
);
const SUPPORT: Paper = (
    19,
    "docs/support.md",
    "---\ntype: handoff\ngroup_id: login\nproducer: tech_lead\nconsumers: [support]\npriority: medium\n---\n# What to tell customers\n\n## Summary\nSigning in once more after the release is enough; nothing is lost.\n",
);
const AVATARS: Paper = (
    128,
    "docs/avatars.md",
    "---\ntype: research\ngroup_id: profile\nproducer: requirements_engineer\nconsumers: [developer]\npriority: medium\nfiles: [src/profile/avatar.rs]\n---\n# Where avatars are kept\n\n## Summary\nIn the bucket of the old shop, under the hash of the mail address.\n",
);
const TAX: Paper = (
    3_010,
    "docs/tax.md",
    "---\ntype: research\nproducer: requirements_engineer\nconsumers: [developer]\npriority: high\n---\n# How tax is rounded\n\n## Summary\nPer line, half away from zero; the sum of the lines is what is paid.\n",
);
const TAX_DONE: Paper = (
    2_960,
    "docs/tax-handoff.md",
    "---\ntype: handoff\nproducer: developer\nconsumers: [qa_expert]\npriority: medium\n---\n# Totals are counted in cents\n\n## Summary\nNo floating point any more; every total is a whole number of cents.\n",
);

/// Who writes down what happened.
struct Scribe<'a> {
    app: &'a App,
    store: &'a dyn Store,
    session: SessionId,
    project: ProjectId,
    now: Timestamp,
}

pub(super) fn write(app: &App) -> Result<(), CommandError> {
    let scribe = |session: &str| -> Result<Scribe<'_>, CommandError> {
        Ok(Scribe {
            app,
            store: app.store()?,
            session: SessionId::new(session)?,
            project: app.project_id()?,
            now: app.now(),
        })
    };
    scribe("checkout-tax")?.tax()?;
    let login = scribe("login-rework")?;
    login.errors()?;
    login.login()
}

impl Scribe<'_> {
    /// An older session that is done.
    fn tax(&self) -> Result<(), CommandError> {
        self.open(3_040, json!({"ticket": "SHOP-31"}))?;
        let tax = self.paper(TAX)?;
        let receipt =
            self.brief(3_000, "developer", None, 0, "Count totals with tax in whole cents")?;
        self.confirm(&receipt, 2_999, &[tax])?;
        self.think(
            2_962,
            "developer",
            None,
            Phase::Completion,
            "Totals are whole cents; a test rounds every amount up to a thousand both ways",
        )?;
        let handoff = self.paper(TAX_DONE)?;
        let receipt = self.brief(2_950, "qa_expert", None, 0, "Test totals with tax")?;
        self.confirm(&receipt, 2_949, &[handoff])?;
        self.store.set_session_status(&self.session, SessionStatus::Completed, self.ago(2_900))?;
        Ok(())
    }

    /// An afternoon on a defect of the login.
    fn login(&self) -> Result<(), CommandError> {
        self.open(170, json!({"ticket": "SHOP-42", "goal": "nobody is signed out at random"}))?;
        self.think(
            167,
            "project_manager",
            Some("login"),
            Phase::Understanding,
            "People with several tabs are signed out; it began with the new identity provider",
        )?;
        let reports = self.paper(REPORTS)?;
        let receipt = self.brief(
            158,
            "requirements_engineer",
            Some("login"),
            0,
            "Find out how the identity provider handles refresh tokens",
        )?;
        self.confirm(&receipt, 157, &[reports])?;
        let oauth = self.paper(OAUTH)?;
        self.think(
            139,
            "requirements_engineer",
            Some("login"),
            Phase::Decisions,
            "The documentation of the provider is believed until its support answers",
        )?;
        let receipt = self.brief(
            134,
            "developer",
            Some("login"),
            0,
            "Make two parallel refreshes of a token safe",
        )?;
        self.confirm(&receipt, 133, &[oauth])?;
        self.paper(AVATARS)?;
        self.think(125, "developer", Some("login"), Phase::Approach, "One refresh at a time, behind a lock; tried against the test tenant with DB_PASSWORD=tr0ub4dor-and-3")?;
        self.paper(OAUTH_2)?;
        self.think(
            104,
            "developer",
            Some("login"),
            Phase::Completion,
            "Refreshes of one user wait for each other; a test starts both behind a barrier",
        )?;
        let serial = self.paper(SERIAL)?;
        let receipt =
            self.brief(97, "qa_expert", Some("login"), 0, "Test parallel refreshes of a token")?;
        self.confirm(&receipt, 96, &[serial])?;
        let failures = self.paper(FAILURES)?;
        self.think(
            85,
            "qa_expert",
            Some("login"),
            Phase::Risks,
            "With one server everything looks fine; the test must start two",
        )?;
        // Handed over, and never seen to have arrived.
        self.brief(
            79,
            "investigator",
            Some("login"),
            0,
            "Find out why the second refresh uses an old token",
        )?;
        let cause = self.paper(CAUSE)?;
        let receipt = self.brief(
            66,
            "developer",
            Some("login"),
            1,
            "Refresh tokens safely with two servers",
        )?;
        self.confirm(&receipt, 65, &[failures, cause])?;
        self.think(
            60,
            "developer",
            Some("login"),
            Phase::Pivot,
            "Away from the lock in memory: the database knows about both servers, the lock did not",
        )?;
        self.think(52, "developer", Some("login"), Phase::Completion, "The row is locked while the provider is asked; 500 tries with two servers, no sign-out")?;
        let decision = self.paper(DECISION)?;
        self.paper(LATER)?;
        let receipt = self.brief(
            45,
            "tech_lead",
            Some("login"),
            0,
            "Review the transaction around refreshes",
        )?;
        let reason = "the agent's program ended before it had read its prompt";
        let step = ReceiptStep::Failed { reason: self.app.redactor()?.clean(reason) };
        self.store.advance_receipt(&receipt, &step, self.ago(44))?;
        let receipt = self.brief(
            42,
            "tech_lead",
            Some("login"),
            0,
            "Review the transaction around refreshes",
        )?;
        self.confirm(&receipt, 41, &[decision, cause])?;
        self.think(
            35,
            "tech_lead",
            Some("login"),
            Phase::Decisions,
            "Approved: the transaction is short, and the provider answers within a second",
        )?;
        let receipt = self.brief(
            30,
            "qa_expert",
            Some("login"),
            1,
            "Test parallel refreshes with two servers",
        )?;
        self.confirm(&receipt, 29, &[decision])?;
        self.think(
            23,
            "qa_expert",
            Some("login"),
            Phase::Completion,
            "500 tries with two servers and three tabs: nobody is signed out",
        )?;
        self.paper(SUPPORT)?;
        // Put together for somebody who was never started.
        self.assemble(
            12,
            "senior_software_engineer",
            Some("login"),
            0,
            "Measure how long the row is locked",
        )?;
        self.think(
            8,
            "project_manager",
            Some("login"),
            Phase::Blockers,
            "The provider's sandbox is down until Monday; the load test waits for it",
        )?;
        self.group("login", "Nobody is signed out at random", GroupStatus::ApprovedPendingMerge)?;
        self.group("profile", "Avatars of the new shop", GroupStatus::Pending)?;
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

    /// What the project has met, over some days.
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

    fn group(&self, id: &str, title: &str, status: GroupStatus) -> Result<(), CommandError> {
        let mut update = GroupUpdate::new(self.session.clone(), GroupId::new(id)?, self.ago(8));
        update.title = Some(self.app.redactor()?.clean(title));
        update.status = Some(status);
        self.store.set_group(&update)?;
        Ok(())
    }

    fn paper(&self, (minutes, file, text): Paper) -> Result<PackageId, CommandError> {
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

    fn think(
        &self,
        minutes: i64,
        role: &str,
        group: Option<&str>,
        phase: Phase,
        text: &str,
    ) -> Result<(), CommandError> {
        self.store.add_reasoning(&NewReasoning {
            session: self.session.clone(),
            group: group.map(GroupId::new).transpose()?,
            role: Role::new(role)?,
            agent_id: None::<AgentId>,
            iteration: 0,
            phase,
            confidence: (phase == Phase::Decisions).then_some(Confidence::Medium),
            content: self.app.redactor()?.clean(text),
            references: Vec::new(),
            now: self.ago(minutes),
        })?;
        Ok(())
    }

    fn assemble(
        &self,
        minutes: i64,
        role: &str,
        group: Option<&str>,
        iteration: u32,
        task: &str,
    ) -> Result<ReceiptId, CommandError> {
        let role = Role::new(role)?;
        let request = HandoffRequest {
            group: group.map(GroupId::new).transpose()?,
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
        Ok(self.app.handoffs()?.assemble(&request, Delivery::Later)?.receipt.id)
    }

    fn brief(
        &self,
        minutes: i64,
        role: &str,
        group: Option<&str>,
        iteration: u32,
        task: &str,
    ) -> Result<ReceiptId, CommandError> {
        let receipt = self.assemble(minutes, role, group, iteration, task)?;
        self.app.handoffs()?.started(&receipt, Some(Host::Claude), self.ago(minutes))?;
        Ok(receipt)
    }

    /// The agent was seen to have it, and to open some of it.
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
            kind: None,
            message: redactor.clean(message),
            hints: Vec::new(),
            language: Some(redactor.clean("rust")),
            ttl_days: 90,
            session: None,
            group: None,
            role: Some(Role::new("developer")?),
            command: Some(redactor.clean(command)),
            now: self.ago(minutes),
        };
        let pattern = match solution {
            Some(solution) => self.store.resolve_error(&sighting, &redactor.clean(solution))?,
            None => self.store.record_error(&sighting)?,
        };
        Ok(pattern.hash)
    }
}
