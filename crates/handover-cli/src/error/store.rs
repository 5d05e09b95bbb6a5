//! Errors of the store, with what to do next.

use handover_store::{Fault, OldStore, RecordKind, StoreError};

use super::{CommandError, Exit};

impl From<StoreError> for CommandError {
    fn from(error: StoreError) -> Self {
        let exit = match error {
            StoreError::NotFound { .. }
            | StoreError::AlreadySuperseded { .. }
            | StoreError::OtherSession { .. }
            | StoreError::PathTaken { .. }
            | StoreError::InUse { .. }
            | StoreError::WrongState { .. }
            | StoreError::Claimed { .. }
            | StoreError::Differs { .. }
            | StoreError::Ambiguous { .. } => Exit::Usage,
            StoreError::Aborted => Exit::Failed,
            StoreError::Denied { .. } | StoreError::Private => Exit::Blocked,
            StoreError::Locked { .. }
            | StoreError::Fenced { .. }
            | StoreError::Newer { .. }
            | StoreError::Older { .. }
            | StoreError::Outdated { .. }
            | StoreError::Foreign { .. }
            | StoreError::Altered { .. }
            | StoreError::Index(_)
            | StoreError::Backend { .. } => Exit::Environment,
        };
        let missing = if let StoreError::NotFound { what, id } = &error {
            Some((*what, id.clone()))
        } else {
            None
        };
        Self { hint: hint(&error), missing, ..Self::chain(exit, error.code(), &error) }
    }
}

/// What to do next.
fn hint(error: &StoreError) -> Option<String> {
    let fixed = match error {
        StoreError::NotFound { what, .. } => return not_found_hint(*what),
        StoreError::AlreadySuperseded { latest, .. } => {
            return Some(format!(
                "Use package {latest} instead; see `handover package show {latest}`."
            ));
        }
        StoreError::OtherSession { session, .. } => {
            return Some(format!(
                "Packages belong to one session; pass `--session {session}` if you meant that one."
            ));
        }
        StoreError::PathTaken { id, .. } => {
            return Some(format!(
                "Supersede package {id} instead, or register the text under another path."
            ));
        }
        StoreError::InUse { id } => {
            return Some(format!("Retire it first: `handover package retire {id}`."));
        }
        StoreError::Outdated { store, .. } => return Some(bring_over(store)),
        StoreError::Altered { path, .. } => {
            return Some(format!(
                "Nothing was read from it. If you did not change it yourself, keep it as evidence and start \
                 a new store: `mv {0} {0}.altered`.",
                path.display()
            ));
        }
        StoreError::WrongState { .. } | StoreError::Aborted => return None,
        StoreError::Locked { .. } => {
            "Wait for it to finish, or check on it with `handover status`."
        }
        StoreError::Fenced { .. } => "No data was lost; `handover status` shows the run.",
        StoreError::Claimed { .. } => "Create a separate brief for each agent.",
        StoreError::Ambiguous { .. } => {
            "Give more digits of the hash; `handover error list` shows them."
        }
        StoreError::Differs { .. } => {
            "Nothing was changed. Use a store that is empty or holds the same records."
        }
        StoreError::Newer { .. } => "Update handover; the store was not changed.",
        StoreError::Older { .. } => {
            "Run `handover data upgrade` as soon as all who use this store have this version."
        }
        StoreError::Foreign { .. } => {
            "Point HANDOVER_STORE at another file, or move this one away."
        }
        StoreError::Index(_) => "`handover data reindex` rebuilds the index from the packages.",
        StoreError::Denied { .. } => {
            "Ask an admin for a token with that scope: `handover token create --scope …`."
        }
        StoreError::Private => {
            "Set `learn.share = true` where the service runs as well, or leave it off here."
        }
        StoreError::Backend { fault, .. } => fault_hint(*fault),
    };
    Some(fixed.to_owned())
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
         `handover data import project.jsonl`."
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
        RecordKind::Operation => {
            return Some("`handover undo --list` shows what can be undone.".to_owned());
        }
        RecordKind::Session => "handover session list",
        RecordKind::Group => "handover group list",
        RecordKind::ErrorPattern => "handover error list",
        RecordKind::Strategy => "handover strategy list",
        RecordKind::Note => "handover note list",
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

fn fault_hint(fault: Fault) -> &'static str {
    match fault {
        Fault::Busy => "Another process is using the store; try again.",
        Fault::Full => "Free some disk space and try again; nothing was partially written.",
        Fault::ReadOnly => "Make `.handover/` writable, or set HANDOVER_STORE to a writable file.",
        Fault::Corrupt => {
            "Run `handover doctor --fix`: it keeps the damaged file and restores every record that can be read."
        }
        Fault::Unavailable => {
            "Check that the folder exists and is writable, or that the server is running; `handover doctor` can help."
        }
        Fault::Io => "Check the disk, then run `handover doctor`.",
        Fault::Refused => "This is a bug; please report it.",
    }
}
