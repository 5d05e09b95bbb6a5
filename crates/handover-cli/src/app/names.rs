//! Names of roles and models that a person typed: a typo is an error, an unknown name a warning.
//!
//! Agent programs name roles and models too, in hooks; those never come here.

use handover_model::{Role, roles};
use handover_store::ReceiptFilter;

use super::App;
use crate::error::CommandError;
use crate::typos::{ModelName, slip};

impl App {
    /// Refuses a role that is one typo away from a known one, and warns of one that nobody had yet.
    pub(crate) fn check_role(&self, role: &Role) -> Result<(), CommandError> {
        let name = role.as_str();
        if roles::BUILT_IN.contains(&name) {
            return Ok(());
        }
        let configured = &self.config()?.assembly.roles;
        if configured.contains_key(name) {
            return Ok(());
        }
        let known = || roles::BUILT_IN.iter().copied().chain(configured.keys().map(String::as_str));
        if let Some(meant) = slip(name, known()) {
            return Err(CommandError::invalid(format!("there is no role `{name}`")).hinted(format!(
                "Did you mean `{meant}`? To use a role with this name, add it to `assembly.roles`."
            )));
        }
        if !self.has_receipts(role) {
            let all: Vec<&str> = known().collect();
            self.ui.warn(format_args!(
                "`{name}` is not a known role; it gets the default brief. Known roles: {}",
                all.join(", ")
            ));
        }
        Ok(())
    }

    pub(crate) fn check_roles<'r>(
        &self,
        roles: impl IntoIterator<Item = &'r Role>,
    ) -> Result<(), CommandError> {
        roles.into_iter().try_for_each(|role| self.check_role(role))
    }

    /// Whether an agent of that role was briefed before.
    fn has_receipts(&self, role: &Role) -> bool {
        let filter =
            ReceiptFilter { role: Some(role.clone()), limit: Some(1), ..ReceiptFilter::default() };
        let found = self.existing_store().and_then(|store| Ok(store.receipts(&filter)?));
        found.is_ok_and(|receipts| !receipts.is_empty())
    }

    /// Refuses a model that is one typo away from a known one, and warns of an unknown one.
    pub(crate) fn check_model(&self, name: Option<&str>) -> Result<(), CommandError> {
        let Some(name) = name else { return Ok(()) };
        match ModelName::of(name) {
            ModelName::Known => Ok(()),
            ModelName::Slip(meant) => {
                Err(CommandError::invalid(format!("there is no model `{name}`"))
                    .hinted(format!("Did you mean `{meant}`?")))
            }
            ModelName::Unknown => {
                self.ui.warn(format_args!(
                    "`{name}` is not a model that Handover knows; its window and tokenizer are guessed"
                ));
                Ok(())
            }
        }
    }
}
