//! Errors of the store, with what to do next.

use handover_store::{Fault, OldStore, RecordKind, StoreError};

use super::{CommandError, Exit};

impl From<StoreError> for CommandError {
    fn from(error: StoreError) -> Self {
        let (exit, code, hint) = match &error {
            StoreError::NotFound { what, .. } => (Exit::Usage, "not_found", not_found_hint(*what)),
            StoreError::AlreadySuperseded { latest, .. } => (
                Exit::Usage,
                "conflict",
                Some(format!(
                    "Use package {latest} instead; see `handover package show {latest}`."
                )),
            ),
            StoreError::OtherSession { session, .. } => (
                Exit::Usage,
                "conflict",
                Some(format!(
                    "Packages belong to one session; pass `--session {session}` if you meant that one."
                )),
            ),
            StoreError::PathTaken { id, .. } => (
                Exit::Usage,
                "conflict",
                Some(format!(
                    "Supersede package {id} instead, or register the text under another path."
                )),
            ),
            StoreError::Locked { .. } => (
                Exit::Environment,
                "locked",
                Some("Wait for it to finish, or check on it with `handover status`.".to_owned()),
            ),
            StoreError::Fenced { .. } => (
                Exit::Environment,
                "fenced",
                Some("No data was lost; `handover status` shows the run.".to_owned()),
            ),
            StoreError::WrongState { .. } => (Exit::Usage, "conflict", None),
            StoreError::Claimed { .. } => (
                Exit::Usage,
                "conflict",
                Some("Create a separate brief for each agent.".to_owned()),
            ),
            StoreError::Ambiguous { .. } => (
                Exit::Usage,
                "ambiguous",
                Some("Give more digits of the hash; `handover error list` shows them.".to_owned()),
            ),
            StoreError::Differs { .. } => (
                Exit::Usage,
                "conflict",
                Some(
                    "Nothing was changed. Use a store that is empty or holds the same records."
                        .to_owned(),
                ),
            ),
            StoreError::Newer { .. } => (
                Exit::Environment,
                "store_newer",
                Some("Update handover; the store was not changed.".to_owned()),
            ),
            StoreError::Outdated { store, .. } => {
                (Exit::Environment, "store_outdated", Some(bring_over(store)))
            }
            StoreError::Foreign { .. } => (
                Exit::Environment,
                "store_foreign",
                Some("Point HANDOVER_STORE at another file, or move this one away.".to_owned()),
            ),
            StoreError::Altered { path, .. } => (
                Exit::Environment,
                "store_altered",
                Some(format!(
                    "Nothing was read from it. If you did not change it yourself, keep it as evidence and start \
                     a new store: `mv {0} {0}.altered`.",
                    path.display()
                )),
            ),
            StoreError::Aborted => (Exit::Failed, "aborted", None),
            StoreError::Index(_) => (
                Exit::Environment,
                "index_damaged",
                Some("`handover store reindex` rebuilds the index from the packages.".to_owned()),
            ),
            StoreError::Denied { .. } => (
                Exit::Blocked,
                "forbidden",
                Some(
                    "Ask an admin for a token with that scope: `handover token create --scope …`."
                        .to_owned(),
                ),
            ),
            StoreError::Backend { fault, .. } => {
                let (code, hint) = fault_hint(*fault);
                (Exit::Environment, code, Some(hint.to_owned()))
            }
        };
        Self { hint, ..Self::chain(exit, code, &error) }
    }
}

/// How the records of a store of 0.1.0 get into one of this version.
fn bring_over(store: &OldStore) -> String {
    let aside = match store {
        OldStore::File(path) => {
            let path = path.display();
            format!("move the old file away (`mv {path} {path}.0.1.0`)")
        }
        OldStore::Schema { schema, .. } => {
            format!("rename the old schema (`ALTER SCHEMA {schema} RENAME TO {schema}_0_1_0`)")
        }
    };
    format!(
        "With Handover 0.1.0 run `handover export project.jsonl`, {aside}, then with this version run \
         `handover import project.jsonl`."
    )
}

fn not_found_hint(what: RecordKind) -> Option<String> {
    let command = match what {
        RecordKind::Project => {
            return Some(
                "A token is valid for one project; set `project.id` in the configuration to that project's id."
                    .to_owned(),
            );
        }
        RecordKind::Session => "handover session list",
        RecordKind::Group => "handover group list",
        RecordKind::ErrorPattern => "handover error list",
        RecordKind::Strategy => "handover strategy list",
        RecordKind::Receipt => "handover receipt list",
        RecordKind::Run => "handover status",
        RecordKind::Token => "handover token list",
        RecordKind::Package | RecordKind::ReceiptPackage | RecordKind::SessionPackage => {
            "handover package list --all-versions"
        }
        RecordKind::Epic => return None,
    };
    Some(format!("Run `{command}` to see what exists."))
}

fn fault_hint(fault: Fault) -> (&'static str, &'static str) {
    match fault {
        Fault::Busy => ("store_busy", "Another process is using the store; try again."),
        Fault::Full => {
            ("store_full", "Free some disk space and try again; nothing was partially written.")
        }
        Fault::ReadOnly => (
            "store_read_only",
            "Make `.handover/` writable, or set HANDOVER_STORE to a writable file.",
        ),
        Fault::Corrupt => (
            "store_damaged",
            "Back up the file and move it away to start over; package files are not affected.",
        ),
        Fault::Unavailable => (
            "store_unavailable",
            "Check that the folder exists and is writable, or that the server is running; `handover doctor` can help.",
        ),
        Fault::Io => ("store_io", "Check the disk, then run `handover doctor`."),
        Fault::Refused => ("store_refused", "This is a bug; please report it."),
    }
}
