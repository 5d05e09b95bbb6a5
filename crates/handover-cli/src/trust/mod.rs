//! Trust: what the files of a checkout want that could run a program, weaken a protection, send data
//! elsewhere or tell agents what to do, and whether the user has agreed to it.
//!
//! Which configuration keys need trust is decided in `handover_model::config::KEYS`; `memory.rs` keeps what
//! the user agreed to, `caller.rs` says whose word counts for one call, `owner.rs` looks at whose files they are,
//! `texts.rs` at templates and personas.

mod caller;
mod memory;
mod owner;
mod texts;

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use handover_model::config::{Agreement, fingerprint};
use serde::Serialize;
use serde_json::Value;

use crate::env;
use crate::error::{Code, CommandError, Exit};
use crate::project::Project;
use crate::ui::count;

pub(crate) use caller::refuse_agents;
pub(crate) use memory::{Record, all, forget, remember};
pub(crate) use texts::wants_of as text_wants;

/// Something in the files of a checkout that only counts if the user has agreed to it.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Want {
    /// A configuration key, or the path of a file below `.handover/`.
    pub(crate) key: String,
    pub(crate) value: Value,
    pub(crate) why: &'static str,
    /// What is remembered of it.
    #[serde(skip)]
    pub(crate) fingerprint: String,
    #[serde(skip)]
    pub(crate) agreed: bool,
}

impl Want {
    /// `bytes` is the value as it is; `shown` is what the user sees of it, without secrets.
    pub(crate) fn new(
        trust: &Trust,
        key: impl Into<String>,
        bytes: &[u8],
        shown: Value,
        why: &'static str,
    ) -> Self {
        let key = key.into();
        let agreed = trust.agreement().covers(&key, bytes);
        let fingerprint = fingerprint(&key, bytes);
        Self { key, value: shown, why, fingerprint, agreed }
    }
}

/// How far one checkout is trusted.
#[derive(Debug)]
pub(crate) struct Trust {
    project: Project,
    /// Whether the flag of this call trusts it.
    flag: bool,
    agreement: OnceCell<Agreement>,
}

impl Trust {
    /// Reads nothing yet: most checkouts want nothing.
    pub(crate) fn new(project: &Project, flag: bool) -> Self {
        Self { project: project.clone(), flag, agreement: OnceCell::new() }
    }

    pub(crate) fn project(&self) -> &Project {
        &self.project
    }

    /// The folder under which agreements are remembered, whatever path led to it.
    pub(crate) fn root(&self) -> PathBuf {
        canonical(&self.project.root)
    }

    /// Whether everything is trusted for this call, by its flag or a variable.
    pub(crate) fn is_by_call(&self) -> bool {
        self.flag || caller::trusts_by_variable(&self.project.root)
    }

    /// What the user has agreed to, for this call or earlier. A linked worktree has the agreements of its
    /// main checkout, too.
    pub(crate) fn agreement(&self) -> &Agreement {
        self.agreement.get_or_init(|| {
            if self.is_by_call() {
                return Agreement::Everything;
            }
            let roots = [Some(self.root()), self.project.main.as_deref().map(canonical)];
            let records = roots.into_iter().flatten().filter_map(|root| memory::read(&root));
            Agreement::To(records.flat_map(Record::into_fingerprints).collect())
        })
    }

    /// The owner of the checkout's files as a want, if that is somebody else.
    pub(crate) fn owner(&self) -> Option<Want> {
        let uid = owner::stranger(&self.project)?;
        let why = "belongs to another user, who can change it at any time";
        let shown = Value::from(format!("uid {uid}"));
        Some(Want::new(self, "owner", &uid.to_le_bytes(), shown, why))
    }

    /// Refuses files of another user, unless the user has agreed to that.
    pub(crate) fn check_owner(&self) -> Result<(), CommandError> {
        match self.owner() {
            Some(want) if !want.agreed => {
                let folder = self.project.folder().path();
                let who = want.value.as_str().unwrap_or_default();
                let message = format!("{} belongs to another user ({who})", folder.display());
                Err(CommandError::new(Exit::Environment, Code::OtherOwner, message).hinted(format!(
                    "If you trust that user, run `handover trust --project {}`; for one call, pass \
                     `--trust-project` or set {}=1.",
                    self.project.root.display(),
                    env::TRUST
                )))
            }
            Some(_) | None => Ok(()),
        }
    }
}

fn canonical(root: &Path) -> PathBuf {
    fs_err::canonicalize(root).unwrap_or_else(|_| root.to_owned())
}

/// Everything that the files of a checkout want.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    pub(crate) root: PathBuf,
    /// Whether everything counts.
    pub(crate) trusted: bool,
    pub(crate) wants: Vec<Want>,
}

impl Report {
    pub(crate) fn new(root: PathBuf, wants: Vec<Want>) -> Self {
        Self { root, trusted: wants.iter().all(|want| want.agreed), wants }
    }

    /// What does not count.
    pub(crate) fn ignored(&self) -> impl Iterator<Item = &Want> {
        self.wants.iter().filter(|want| !want.agreed)
    }

    /// The error of a command that does not work with an untrusted checkout.
    pub(crate) fn refusal(&self) -> CommandError {
        let message = format!("this checkout is not trusted ({})", named(self.ignored()));
        CommandError::new(Exit::Environment, "untrusted", message).hinted(hint())
    }
}

/// What to do about an untrusted checkout.
pub(crate) fn hint() -> String {
    if env::is_agent() {
        return caller::ASK.to_owned();
    }
    format!(
        "`handover trust` shows what its files want and remembers that you agree; for one call, pass \
         `--trust-project` or set {}=1.",
        env::TRUST
    )
}

/// The one line about an untrusted checkout; none if nothing is ignored.
pub(crate) fn notice<'a>(ignored: impl Iterator<Item = &'a Want>) -> Option<String> {
    let ignored: Vec<&Want> = ignored.collect();
    let are = if ignored.len() == 1 { "is" } else { "are" };
    (!ignored.is_empty()).then(|| {
        let named = named(ignored.into_iter());
        format!("this checkout is not trusted, so its {named} {are} ignored; see `handover trust`")
    })
}

/// The first few keys, and how many more there are. Anyone can choose the names of files, so those are
/// only counted.
fn named<'a>(wants: impl Iterator<Item = &'a Want>) -> String {
    const SHOWN: usize = 3;
    let (files, keys): (Vec<&Want>, Vec<&Want>) = wants.partition(|want| want.key.contains('/'));
    let mut parts: Vec<String> =
        keys.iter().take(SHOWN).map(|want| format!("`{}`", want.key)).collect();
    if keys.len() > SHOWN {
        parts.push(format!("{} more", keys.len() - SHOWN));
    }
    if !files.is_empty() {
        parts.push(count(files.len(), "template or persona file"));
    }
    match parts.as_slice() {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        parts => parts.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn want(key: &str) -> Want {
        Want {
            key: key.to_owned(),
            value: Value::Null,
            why: "",
            fingerprint: String::new(),
            agreed: false,
        }
    }

    #[test]
    fn the_line_names_keys_and_counts_files() {
        assert_eq!(notice([].iter()), None);
        let wants = ["a.a", "b.b", "c.c", "d.d", "personas/\u{1b}[2J.toml"].map(want);
        let line = notice(wants.iter()).unwrap();
        assert!(
            line.contains("`a.a`, `b.b`, `c.c`, 1 more and 1 template or persona file"),
            "{line}"
        );
        assert!(!line.contains('\u{1b}'), "{line}");
    }
}
