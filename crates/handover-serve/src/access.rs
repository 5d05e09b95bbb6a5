//! Who may do what: a store that shows and takes only what its caller has the right to.
//!
//! Everything that is asked over the network goes through a [`Guarded`] store, whatever the path it
//! came by, so one rule holds for the API, MCP, the dashboard and other machines alike. What belongs
//! to another project does not exist for the caller.

mod own;
mod seen;

use handover_model::*;
use handover_store::*;
use handover_text::{Clean, CleanJson};

use seen::Seen;

/// The rights of a caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Access {
    /// What they may do.
    pub(crate) scope: TokenScope,
    /// The only project that they see; none means all of the store.
    pub(crate) project: Option<ProjectId>,
    /// The project whose store they see, if it is not the service's own.
    pub(crate) elsewhere: Option<ProjectId>,
    /// The token that gives the rights; none on this machine.
    pub(crate) token: Option<TokenId>,
}

impl Access {
    /// Whoever is on this machine may do what the command line may.
    pub(crate) const LOCAL: Self =
        Self { scope: TokenScope::Admin, project: None, elsewhere: None, token: None };

    /// Whether a right is included.
    pub(crate) fn allows(&self, need: TokenScope) -> bool {
        self.scope >= need
    }
}

/// A store as a caller may see it.
pub(crate) struct Guarded<'a> {
    store: &'a dyn Store,
    /// Where the tokens of all projects are: the service's own store.
    tokens: &'a dyn Store,
    access: &'a Access,
}

impl<'a> Guarded<'a> {
    pub(crate) fn new(store: &'a dyn Store, tokens: &'a dyn Store, access: &'a Access) -> Self {
        Self { store, tokens, access }
    }

    /// The same rights on the same store in a transaction.
    fn inside<'b>(&'b self, store: &'b dyn Store) -> Guarded<'b> {
        Guarded { store, ..*self }
    }

    fn need(&self, need: TokenScope) -> Result<()> {
        if self.access.allows(need) { Ok(()) } else { Err(StoreError::Denied { need }) }
    }

    /// Whether a project is the caller's.
    fn is_own(&self, project: &ProjectId) -> bool {
        self.access.project.as_ref().is_none_or(|own| own == project)
    }

    /// Whether a session is of the caller's project.
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
            Some(_) => self.store.package(id)?.seen(self).map(drop),
        }
    }

    fn packages_guard(&self, ids: &[PackageId]) -> Result<()> {
        match self.access.project {
            None => Ok(()),
            Some(_) => self.store.packages_by_id(ids)?.seen(self).map(drop),
        }
    }

    fn receipt_guard(&self, id: &ReceiptId) -> Result<()> {
        match self.access.project {
            None => Ok(()),
            Some(_) => self.store.receipt(id)?.seen(self).map(drop),
        }
    }

    fn run_guard(&self, id: &RunId) -> Result<()> {
        match self.access.project {
            None => Ok(()),
            Some(_) => self.store.run_record(id)?.seen(self).map(drop),
        }
    }

    /// An epic belongs to the project of its runs; one without runs belongs to nobody yet.
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

macro_rules! taken {
    (by $ty:ty) => { &$ty };
    (val $ty:ty) => { $ty };
    (opt $ty:ty) => { Option<&$ty> };
    (text $ty:ty) => { &str };
    (list $ty:ty) => { &[$ty] };
}

macro_rules! right {
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
        $self.store.$name($($arg),*)?.seen($self)
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
            $(fn $name(&self, $($arg: taken!($kind $ty)),*) -> Result<$ret> {
                self.need(right!($right))?;
                allowed!($guard, self, $name($($arg),*) $(, $what)?)
            })+
        })+
    };
}

handover_store::store_methods!(guarded);

impl Store for Guarded<'_> {
    fn exclusively(&self, work: &mut dyn FnMut(&dyn Store) -> Result<()>) -> Result<()> {
        self.need(TokenScope::Write)?;
        self.store.exclusively(&mut |store| work(&self.inside(store)))
    }

    fn consistently(&self, work: &mut dyn FnMut(&dyn Store) -> Result<()>) -> Result<()> {
        self.store.consistently(&mut |store| work(&self.inside(store)))
    }

    fn check(&self) -> Result<Vec<Check>> {
        self.need(TokenScope::Admin)?;
        self.store.check()
    }
}

/// Nothing of a whole store goes through the service.
impl archive::Archive for Guarded<'_> {
    fn each_record(&self, _: &mut archive::Sink<'_>) -> Result<()> {
        Err(StoreError::Denied { need: TokenScope::Admin })
    }

    fn put_records(&self, _: &mut archive::Fill<'_>) -> Result<archive::Added> {
        Err(StoreError::Denied { need: TokenScope::Admin })
    }
}
