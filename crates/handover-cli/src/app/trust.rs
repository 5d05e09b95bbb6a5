//! What the context of a command knows about trust: how far the project is trusted, and what of its files
//! counts.

use std::ffi::OsString;

use handover_context::specialize::{FOLDER, Templates};
use handover_engine::persona::{self, Personas};
use handover_model::{ReceiptId, Trust as TrustClass};
use handover_store::StoreError;

use super::App;
use crate::env;
use crate::error::{CommandError, Exit};
use crate::project::Project;
use crate::trust::{self, Report, Trust, Want};

impl App {
    /// Refuses the flag that trusts the project's files if an agent typed it.
    pub(crate) fn check_trust_flag(&self) -> Result<(), CommandError> {
        if self.common.trust_project { trust::refuse_agents() } else { Ok(()) }
    }

    /// Accepts a project of another user, for commands with which the user decides about exactly that.
    pub(crate) fn accept_any_owner(&self) {
        self.any_owner.set(true);
    }

    /// How far a project is trusted.
    pub(crate) fn trust_in(&self, project: &Project) -> Trust {
        Trust::new(project, self.common.trust_project)
    }

    /// How far this project is trusted.
    pub(crate) fn trust(&self) -> Result<&Trust, CommandError> {
        let project = self.project()?;
        Ok(self.trust.get_or_init(|| self.trust_in(project)))
    }

    /// Everything that the files of this checkout want.
    pub(crate) fn trust_report(&self) -> Result<Report, CommandError> {
        let trust = self.trust()?;
        let mut wants: Vec<Want> = trust.owner().into_iter().collect();
        wants.extend(self.loaded_config()?.wants.iter().cloned());
        wants.extend(trust::text_wants(trust));
        Ok(Report::new(trust.root(), wants))
    }

    /// The trust class of what this command is given: a person's, or an agent's, which is no higher than what the agent
    /// was given.
    pub(crate) fn author(&self) -> Result<TrustClass, CommandError> {
        if env::is_person() {
            return Ok(TrustClass::Person);
        }
        let receipt = env::var(env::SPAWN).and_then(|id| ReceiptId::new(id).ok());
        let Some(receipt) = receipt else { return Ok(TrustClass::Agent) };
        let items = match self.store()?.receipt(&receipt) {
            Ok(receipt) => receipt.items,
            Err(StoreError::NotFound { .. }) => Vec::new(),
            Err(error) => return Err(error.into()),
        };
        let lowest = TrustClass::lowest(items.iter().map(|item| item.trust));
        Ok(lowest.unwrap_or(TrustClass::Agent).min(TrustClass::Agent))
    }

    /// The trust class of files that this command registers. Those of a checkout that the user has not trusted are
    /// from outside, no matter who registers them.
    pub(crate) fn trust_of_files(&self) -> Result<TrustClass, CommandError> {
        if !self.trust_report()?.trusted {
            return Ok(TrustClass::Outside);
        }
        self.author()
    }

    /// Refuses to start what a checkout's files describe, unless they are trusted.
    pub(crate) fn require_trust(&self) -> Result<(), CommandError> {
        // The error says it all.
        self.trust_noticed.set(true);
        let report = self.trust_report()?;
        if !report.trusted {
            return Err(report.refusal());
        }
        match self.loaded_config()?.forbidden.as_slice() {
            [] => Ok(()),
            keys => {
                let message = format!("your configuration does not allow {}", keys.join(", "));
                Err(CommandError::new(Exit::Environment, "forbidden", message).hinted(
                    "Add what the project names to `trust.programs` or `trust.stores` in your own configuration.",
                ))
            }
        }
    }

    /// Leaves it to the caller to say that the checkout is not trusted.
    pub(crate) fn keep_trust_to_itself(&self) {
        self.trust_noticed.set(true);
    }

    /// Says once that the checkout is not trusted.
    pub(super) fn warn_of_distrust<'a>(&self, ignored: impl Iterator<Item = &'a Want>) {
        if let Some(notice) = trust::notice(ignored)
            && !self.trust_noticed.replace(true)
        {
            self.ui.warn(notice);
        }
    }

    /// The environment of programs that this command starts. They trust what this call trusts, and no
    /// other checkout.
    pub(crate) fn environment(&self) -> Result<Vec<(OsString, OsString)>, CommandError> {
        let trust = self.trust()?;
        let mut all = env::all();
        all.retain(|(name, _)| name != env::TRUST);
        if trust.is_by_call() {
            all.push((env::TRUST.into(), trust.root().into()));
        }
        Ok(all)
    }

    /// The specialization templates: built in, the user's, the project's as far as they are trusted.
    pub(crate) fn templates(&self) -> Templates {
        let user = env::user_config_folder().map(|folder| folder.join(FOLDER));
        let Ok(trust) = self.trust() else { return Templates::load(user.as_deref(), None) };
        let project = trust.project().folder().inside(FOLDER).path();
        let templates =
            Templates::load(user.as_deref(), Some((project.as_path(), trust.agreement())));
        if templates.untrusted > 0 {
            self.warn_of_distrust(trust::text_wants(trust).iter().filter(|want| !want.agreed));
        }
        templates
    }

    /// The personas: built in, the user's, the project's as far as they are trusted, the configuration's.
    pub(crate) fn personas(&self) -> Result<Personas, CommandError> {
        let user = env::user_config_folder().map(|folder| folder.join(persona::FOLDER));
        let config = self.config()?.party.clone();
        let Ok(trust) = self.trust() else {
            return Ok(Personas { user, config, ..Personas::default() });
        };
        let project = trust.project().folder().inside(persona::FOLDER).path();
        if project.is_dir() {
            self.warn_of_distrust(trust::text_wants(trust).iter().filter(|want| !want.agreed));
        }
        let agreement = trust.agreement().clone();
        Ok(Personas { user, project: Some(project), agreement, config })
    }
}
