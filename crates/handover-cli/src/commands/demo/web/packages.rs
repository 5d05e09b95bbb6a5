//! The package files of the demo project. The password in one of them is fake; it is there to be redacted.

/// A package file: minutes ago, path, content.
pub(super) type PackageFile = (i64, &'static str, &'static str);

pub(super) const REPORTS: PackageFile = (
    164,
    "docs/reports.md",
    "---\ntype: handoff\ngroup_id: login\nproducer: project_manager\nconsumers: [requirements_engineer, investigator]\npriority: medium\n---\n# What customers report\n\n## Summary\nSince Tuesday people are signed out at random, mostly with several tabs open.\n\n## Details\n41 tickets in three days. Nobody loses a cart, everybody loses patience.\n",
);
pub(super) const OAUTH: PackageFile = (
    141,
    "docs/oauth.md",
    "---\ntype: research\ngroup_id: login\nproducer: requirements_engineer\nconsumers: [developer, senior_software_engineer]\npriority: high\nfiles: [src/auth/session.rs, src/auth/refresh.rs]\n---\n# OAuth at the identity provider\n\n## Summary\nRefresh tokens rotate on every use; an old one that comes back revokes the whole family.\n\n## Details\nAccess tokens live ten minutes. The test tenant accepts password=correct-horse-battery for the demo user.\n\n| call | scope |\n|---|---|\n| `getUserById` | `profile` |\n| `refresh` | `offline_access` |\n",
);
pub(super) const OAUTH_2: PackageFile = (
    112,
    "docs/oauth.md",
    "---\ntype: research\ngroup_id: login\nproducer: requirements_engineer\nconsumers: [developer, senior_software_engineer]\npriority: critical\nfiles: [src/auth/session.rs, src/auth/refresh.rs]\n---\n# OAuth at the identity provider\n\n## Summary\nCorrection: refresh tokens rotate only after a grace period of 30 seconds; retries inside it are safe.\n\n## Details\nConfirmed by the provider's support. Access tokens live ten minutes.\n\n1. A refresh returns a new pair.\n2. The old refresh token works for 30 more seconds.\n3. After that it revokes the whole family.\n\n```rust\nlet pair = provider.refresh(&token).await?;\nstore.replace(user, &pair)?;\n```\n",
);
pub(super) const SERIAL: PackageFile = (
    103,
    "docs/serial.md",
    "---\ntype: handoff\ngroup_id: login\nproducer: developer\nconsumers: [qa_expert, tech_lead]\npriority: high\nfiles: [src/auth/refresh.rs]\n---\n# How refreshes are serialised\n\n## Summary\nOne refresh at a time per user, behind a lock in memory; the second caller gets the first one's result.\n\n## Details\nTry it with two tabs and a token that is about to expire.\n",
);
pub(super) const FAILURES: PackageFile = (
    86,
    "docs/failures.md",
    "---\ntype: failures\ngroup_id: login\nproducer: qa_expert\nconsumers: [developer, investigator]\npriority: critical\nfiles: [src/auth/refresh.rs]\n---\n# Two parallel refreshes still sign the user out\n\n## Summary\nWith two servers the second refresh uses a token that the first one has just replaced.\n\n## Details\nSeen in 7 of 50 tries, never with one server.\n",
);
pub(super) const CAUSE: PackageFile = (
    71,
    "docs/cause.md",
    "---\ntype: investigation\ngroup_id: login\nproducer: investigator\nconsumers: [developer, tech_lead]\npriority: high\nfiles: [src/auth/refresh.rs, src/store/tokens.rs]\n---\n# The lock is released before the new token is stored\n\n## Summary\nThe guard is dropped at the end of `refresh`, the write happens after it; another server reads the old token in between.\n",
);
pub(super) const DECISION: PackageFile = (
    51,
    "docs/decision.md",
    "---\ntype: decisions\ngroup_id: login\nproducer: developer\nconsumers: [tech_lead, qa_expert]\npriority: high\nfiles: [src/store/tokens.rs]\n---\n# Tokens are replaced inside one transaction\n\n## Summary\nThe row is locked, the provider asked and the new pair written in one transaction; the lock in memory is gone.\n",
);
pub(super) const LATER: PackageFile = (
    47,
    "docs/device-bound.md",
    "---\ntype: research\ngroup_id: login\nproducer: requirements_engineer\nconsumers: [orchestrator]\npriority: low\n---\n# Device-bound sessions, for later\n\n## Summary\nThe provider will offer sessions that are bound to a device from spring on.\n",
);
pub(super) const SUPPORT: PackageFile = (
    19,
    "docs/support.md",
    "---\ntype: handoff\ngroup_id: login\nproducer: tech_lead\nconsumers: [support]\npriority: medium\n---\n# What to tell customers\n\n## Summary\nSigning in once more after the release is enough; nothing is lost.\n",
);
pub(super) const AVATARS: PackageFile = (
    128,
    "docs/avatars.md",
    "---\ntype: research\ngroup_id: profile\nproducer: requirements_engineer\nconsumers: [developer]\npriority: medium\nfiles: [src/profile/avatar.rs]\n---\n# Where avatars are kept\n\n## Summary\nIn the bucket of the old shop, under the hash of the mail address.\n",
);
pub(super) const TAX: PackageFile = (
    3_010,
    "docs/tax.md",
    "---\ntype: research\nproducer: requirements_engineer\nconsumers: [developer]\npriority: high\n---\n# How tax is rounded\n\n## Summary\nPer line, half away from zero; the sum of the lines is what is paid.\n",
);
pub(super) const TAX_DONE: PackageFile = (
    2_960,
    "docs/tax-handoff.md",
    "---\ntype: handoff\nproducer: developer\nconsumers: [qa_expert]\npriority: medium\n---\n# Totals are counted in cents\n\n## Summary\nNo floating point any more; every total is a whole number of cents.\n",
);
