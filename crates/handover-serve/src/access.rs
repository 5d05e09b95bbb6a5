//! Authorization: a store that exposes only what its caller may read and write.
//!
//! Every network request goes through a [`Guarded`] store, so one rule applies to the API, MCP, the
//! dashboard and other machines. For the caller, records of other projects do not exist.

mod notes;
mod own;
mod visible;

use handover_model::*;
use handover_store::*;
use handover_text::{Clean, CleanJson};

use visible::Visible;

/// The rights of a caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Access {
    pub(crate) scope: TokenScope,
    /// The only visible project; `None` means the whole store.
    pub(crate) project: Option<ProjectId>,
    /// The project whose store is used, if it is not the service's own.
    pub(crate) other_project: Option<ProjectId>,
    /// The token that grants the rights; `None` for anonymous local clients.
    pub(crate) token: Option<TokenId>,
    /// Whether notes of conversations and memories are visible: to the machine's own user, or if they are
    /// shared.
    pub(crate) private: bool,
}

impl Access {
    /// A local client may do everything the command line may.
    pub(crate) const LOCAL: Self = Self {
        scope: TokenScope::Admin,
        project: None,
        other_project: None,
        token: None,
        private: true,
    };

    pub(crate) fn allows(&self, need: TokenScope) -> bool {
        self.scope >= need
    }
}

/// A store restricted to a caller's rights.
pub(crate) struct Guarded<'a> {
    store: &'a dyn Store,
    /// The service's own store, which holds the tokens of all projects.
    tokens: &'a dyn Store,
    access: &'a Access,
}

impl<'a> Guarded<'a> {
    pub(crate) fn new(store: &'a dyn Store, tokens: &'a dyn Store, access: &'a Access) -> Self {
        Self { store, tokens, access }
    }

    /// The same rights inside a transaction.
    fn within<'b>(&'b self, store: &'b dyn Store) -> Guarded<'b> {
        Guarded { store, ..*self }
    }

    fn need(&self, need: TokenScope) -> Result<()> {
        if self.access.allows(need) { Ok(()) } else { Err(StoreError::Denied { need }) }
    }

    fn is_own(&self, project: &ProjectId) -> bool {
        self.access.project.as_ref().is_none_or(|own| own == project)
    }

    fn sees(&self, session: &SessionId) -> Result<bool> {
        if self.access.project.is_none() {
            return Ok(true);
        }
        match self.store.session(session) {
            Ok(session) => Ok(self.is_own(&session.project)),
            Err(StoreError::NotFound { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn session_guard(&self, session: &SessionId) -> Result<()> {
        match self.sees(session)? {
            true => Ok(()),
            false => Err(StoreError::not_found(RecordKind::Session, session)),
        }
    }

    fn sessions_guard<'s>(&self, mut sessions: impl Iterator<Item = &'s SessionId>) -> Result<()> {
        sessions.try_for_each(|session| self.session_guard(session))
    }

    fn project_guard(&self, project: &ProjectId) -> Result<()> {
        match self.is_own(project) {
            true => Ok(()),
            false => Err(StoreError::not_found(RecordKind::Project, project)),
        }
    }

    fn projects_guard<'p>(&self, mut projects: impl Iterator<Item = &'p ProjectId>) -> Result<()> {
        projects.try_for_each(|project| self.project_guard(project))
    }

    fn package_guard(&self, id: PackageId) -> Result<()> {
        match self.access.project {
            None => Ok(()),
            Some(_) => self.store.package(id)?.restrict(self).map(drop),
        }
    }

    fn packages_guard(&self, ids: &[PackageId]) -> Result<()> {
        match self.access.project {
            None => Ok(()),
            Some(_) => self.store.packages_by_id(ids)?.restrict(self).map(drop),
        }
    }

    fn receipt_guard(&self, id: &ReceiptId) -> Result<()> {
        match self.access.project {
            None => Ok(()),
            Some(_) => self.store.receipt(id)?.restrict(self).map(drop),
        }
    }

    fn run_guard(&self, id: &RunId) -> Result<()> {
        match self.access.project {
            None => Ok(()),
            Some(_) => self.store.run_record(id)?.restrict(self).map(drop),
        }
    }

    /// An epic belongs to the project of its runs; without runs it belongs to none yet.
    fn epic_guard(&self, epic: &EpicId) -> Result<()> {
        if self.access.project.is_none() {
            return Ok(());
        }
        let filter = RunFilter { epic: Some(epic.clone()), limit: Some(1) };
        for run in self.store.runs(&filter)? {
            if !self.sees(&run.session)? {
                return Err(StoreError::not_found(RecordKind::Epic, epic));
            }
        }
        Ok(())
    }
}

macro_rules! parameter {
    (by $ty:ty) => { &$ty };
    (val $ty:ty) => { $ty };
    (opt $ty:ty) => { Option<&$ty> };
    (text $ty:ty) => { &str };
    (list $ty:ty) => { &[$ty] };
}

macro_rules! scope {
    (read) => {
        TokenScope::Read
    };
    (write) => {
        TokenScope::Write
    };
    (admin) => {
        TokenScope::Admin
    };
}

macro_rules! allowed {
    (any, $self:ident, $name:ident($($arg:ident),*)) => {
        $self.store.$name($($arg),*)?.restrict($self)
    };
    (own, $self:ident, $name:ident($($arg:ident),*)) => {
        own::$name($self, $($arg),*)
    };
    (session, $self:ident, $name:ident($($arg:ident),*), $what:expr) => {{
        $self.session_guard($what)?;
        $self.store.$name($($arg),*)
    }};
    (project, $self:ident, $name:ident($($arg:ident),*), $what:expr) => {{
        $self.project_guard($what)?;
        $self.store.$name($($arg),*)
    }};
    (projects, $self:ident, $name:ident($($arg:ident),*), $what:expr) => {{
        $self.projects_guard($what)?;
        $self.store.$name($($arg),*)
    }};
    (package, $self:ident, $name:ident($($arg:ident),*), $what:expr) => {{
        $self.package_guard($what)?;
        $self.store.$name($($arg),*)
    }};
    (packages, $self:ident, $name:ident($($arg:ident),*), $what:expr) => {{
        $self.packages_guard($what)?;
        $self.store.$name($($arg),*)
    }};
    (receipt, $self:ident, $name:ident($($arg:ident),*), $what:expr) => {{
        $self.receipt_guard($what)?;
        $self.store.$name($($arg),*)
    }};
    (run, $self:ident, $name:ident($($arg:ident),*), $what:expr) => {{
        $self.run_guard($what)?;
        $self.store.$name($($arg),*)
    }};
    (epic, $self:ident, $name:ident($($arg:ident),*), $what:expr) => {{
        $self.epic_guard($what)?;
        $self.store.$name($($arg),*)
    }};
}

macro_rules! guarded {
    ($($trait:ident {
        $($right:ident $name:ident($($arg:ident: $kind:ident $ty:ty),*) -> $ret:ty, $guard:ident($($what:expr)?);)+
    })+) => {
        $(impl $trait for Guarded<'_> {
            $(fn $name(&self, $($arg: parameter!($kind $ty)),*) -> Result<$ret> {
                self.need(scope!($right))?;
                allowed!($guard, self, $name($($arg),*) $(, $what)?)
            })+
        })+
    };
}

handover_store::store_methods!(guarded);

impl Store for Guarded<'_> {
    fn exclusively(&self, work: &mut dyn FnMut(&dyn Store) -> Result<()>) -> Result<()> {
        self.need(TokenScope::Write)?;
        self.store.exclusively(&mut |store| work(&self.within(store)))
    }

    fn consistently(&self, work: &mut dyn FnMut(&dyn Store) -> Result<()>) -> Result<()> {
        self.store.consistently(&mut |store| work(&self.within(store)))
    }

    fn check(&self) -> Result<Vec<Check>> {
        self.need(TokenScope::Admin)?;
        self.store.check()
    }
}

/// Whole stores are never exported through the service.
impl archive::Archive for Guarded<'_> {
    fn each_record(&self, _: &mut archive::Sink<'_>) -> Result<()> {
        Err(StoreError::Denied { need: TokenScope::Admin })
    }

    fn put_records(&self, _: &mut archive::Fill<'_>) -> Result<archive::Added> {
        Err(StoreError::Denied { need: TokenScope::Admin })
    }

    fn replace_record(&self, _: &archive::Record, _: &archive::CleanRecord) -> Result<()> {
        Err(StoreError::Denied { need: TokenScope::Admin })
    }
}

#[cfg(test)]
mod tests;
