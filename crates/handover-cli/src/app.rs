//! The context of one command: output, project, configuration, store. Each is resolved on first use, so
//! a command pays only for what it needs.

mod by_hand;
mod file_index;
mod find;
mod freshness;
mod names;
mod places_ahead;
mod session;
mod trust;

use std::cell::{Cell, OnceCell};
use std::path::{Path, PathBuf};

use handover_context::assemble::{Freshness, ShownPlace};
use handover_context::package_file::{DraftContext, ProjectPaths, vendor_secret};
use handover_context::specialize::Templates;
use handover_context::stack::{Stack, detect, detect_cached};
use handover_files::{Folder, Kind};
use handover_handoff::{Handoffs, Override, Technology, TechnologySource, spool};
use handover_hosts::HookHost;
use handover_model::config::Config;
use handover_model::{
    GroupId, Host, Package, PackageId, ProjectId, ReceiptId, SessionId, Timestamp,
    Trust as TrustClass,
};
use handover_remote::Address;
use handover_store::{OlderFormat, PrivateNotes, Store, StoreError, Upgraded};
use handover_text::Redactor;

use crate::brought::waiting_in;
use crate::config::{Loaded, Source};
use crate::env;
use crate::error::{Code, CommandError, Exit, io};
use crate::input::Stdin;
use crate::project::Project;
use crate::store::{Purpose, StoreLocation};
use crate::store_file;
use crate::trust::{Trust, hint};
use crate::ui::{Ui, count};
pub(crate) use find::short_id;
use places_ahead::{Checkout, PlacesAhead};

/// The global flags.
#[derive(Debug, Clone, Default)]
pub(crate) struct Common {
    pub(crate) project: Option<PathBuf>,
    pub(crate) session: Option<SessionId>,
    pub(crate) group: Option<String>,
    pub(crate) config: Vec<String>,
    /// Whether this call trusts the files of the project.
    pub(crate) trust_project: bool,
}

/// The context of one command, resolved lazily.
pub(crate) struct App {
    pub(crate) ui: Ui,
    pub(crate) stdin: Stdin,
    pub(crate) common: Common,
    project: OnceCell<Project>,
    trust: OnceCell<Trust>,
    config: OnceCell<Loaded>,
    redactor: OnceCell<Redactor>,
    store: OnceCell<Box<dyn Store + Send>>,
    places: OnceCell<ProjectPaths>,
    technology: OnceCell<Technology>,
    places_ahead: PlacesAhead,
    handoff_parts: OnceCell<HandoffParts>,
    purpose: Cell<Purpose>,
    /// What becomes of a file that an older version wrote.
    older: Cell<OlderFormat>,
    any_owner: Cell<bool>,
    /// Whether unknown configuration keys are only warned about.
    tolerant: Cell<bool>,
    /// Whether the user knows that the checkout is not trusted, or finds out in another way.
    trust_noticed: Cell<bool>,
    guest: Option<Guest>,
}

/// What [`App::handoffs`] refers to besides the rest of the app.
struct HandoffParts {
    /// Why the store cannot be used.
    store_error: Option<String>,
    /// None if the checkout brought files into it.
    spool: Option<Folder>,
    overrides: Vec<Override>,
}

/// A project that this project's service hosts for remote clients.
pub(crate) struct Guest {
    pub(crate) project: ProjectId,
    /// Where its artifacts are stored; there is no checkout of it on this machine.
    pub(crate) root: PathBuf,
    pub(crate) store: StoreLocation,
}

/// The store of a project, below `.handover/`, unless another place is configured.
pub(crate) const STORE_FILE: &str = "store.db";

/// The session that `init` opens. It counts while no other one is active.
pub(crate) const DEFAULT_SESSION: &str = "main";

/// Private notes of a project whose store is shared.
const PRIVATE_FILE: &str = "private.db";

impl App {
    pub(crate) fn new(ui: Ui, stdin: Stdin, common: Common) -> Self {
        Self {
            ui,
            stdin,
            common,
            project: OnceCell::new(),
            trust: OnceCell::new(),
            config: OnceCell::new(),
            redactor: OnceCell::new(),
            store: OnceCell::new(),
            places: OnceCell::new(),
            technology: OnceCell::new(),
            places_ahead: PlacesAhead::default(),
            handoff_parts: OnceCell::new(),
            purpose: Cell::new(Purpose::Command),
            older: Cell::new(OlderFormat::Upgrade),
            any_owner: Cell::new(false),
            tolerant: Cell::new(false),
            trust_noticed: Cell::new(false),
            guest: None,
        }
    }

    /// Switches this context to a hosted project.
    #[cfg_attr(not(feature = "mcp"), expect(dead_code, reason = "only servers have guests"))]
    pub(crate) fn host(self, guest: Guest) -> Self {
        Self { guest: Some(guest), ..self }
    }

    /// Whether this context serves a hosted project instead of the local one.
    pub(crate) fn hosts(&self) -> bool {
        self.guest.is_some()
    }

    /// Shortens the wait for a locked store: somebody is waiting for the answer.
    pub(crate) fn shorten_patience(&self) {
        self.purpose.set(Purpose::Request);
    }

    /// Shortens it further: an agent is waiting for its prompt, which needs no lock.
    pub(crate) fn answer_within_a_second(&self) {
        self.purpose.set(Purpose::Prompt);
    }

    /// Refuses a store that an older version wrote instead of upgrading it: nobody would read the warning.
    pub(crate) fn keep_older_format(&self) {
        self.older.set(OlderFormat::Keep);
    }

    /// Unknown configuration keys become warnings: a typo must not keep an agent from its context, or `doctor`
    /// from its checks.
    pub(crate) fn tolerate_unknown_keys(&self) {
        self.tolerant.set(true);
    }

    /// The same context, but in the project at `root`.
    pub(crate) fn new_at(other: &Self, root: &Path) -> Self {
        let common = Common { project: Some(root.to_owned()), ..other.common.clone() };
        Self::new(other.ui.clone(), other.stdin.clone(), common)
    }

    pub(crate) fn now(&self) -> Timestamp {
        env::now()
    }

    /// The current working directory.
    pub(crate) fn folder(&self) -> Result<PathBuf, CommandError> {
        std::env::current_dir().map_err(|error| io(&error))
    }

    pub(crate) fn project(&self) -> Result<&Project, CommandError> {
        get_or_try(&self.project, || {
            let project = match &self.common.project {
                Some(folder) => Project::find(&self.existing(folder)?)?,
                None => Project::find(&self.folder()?)?,
            };
            let trust = self.trust.get_or_init(|| self.trust_in(&project));
            if !self.any_owner.get() {
                trust.check_owner()?;
            }
            Ok(project)
        })
    }

    /// The existing project, or the folder where `init` would create one.
    pub(crate) fn project_to_be(&self) -> Result<Project, CommandError> {
        match &self.common.project {
            // An explicit `--project` means exactly that folder.
            Some(folder) => Ok(Project::at(&self.existing(folder)?)),
            None => Ok(Project::find_or_new(&self.folder()?)),
        }
    }

    fn existing(&self, folder: &Path) -> Result<PathBuf, CommandError> {
        fs_err::canonicalize(folder).map_err(|_| {
            CommandError::invalid(format!("folder `{}` does not exist", folder.display()))
                .hinted("Pass an existing folder to `--project`.")
        })
    }

    /// The project's stack, cached; outside a project, the stack of the current folder.
    pub(crate) fn stack(&self) -> Result<Stack, CommandError> {
        match self.project() {
            Ok(project) => Ok(detect_cached(&project.root, &project.folder())),
            // An explicit `--project` must be an existing folder.
            Err(error) if self.common.project.is_some() && error.code != Code::NoProject => {
                Err(error)
            }
            Err(_) => match &self.common.project {
                Some(folder) => Ok(detect(folder)),
                None => Ok(detect(&self.folder()?)),
            },
        }
    }

    /// The configuration, with or without a project.
    pub(crate) fn loaded_config(&self) -> Result<&Loaded, CommandError> {
        get_or_try(&self.config, || {
            let loaded = Loaded::read(self.trust().ok(), &self.common.config)?;
            loaded.check_keys(self.tolerant.get())?;
            for warning in loaded.warnings() {
                self.ui.warn(warning);
            }
            self.warn_of_distrust(loaded.ignored());
            Ok(loaded)
        })
    }

    pub(crate) fn config(&self) -> Result<&Config, CommandError> {
        Ok(&self.loaded_config()?.config)
    }

    /// The redactor built from the configuration.
    pub(crate) fn redactor(&self) -> Result<&Redactor, CommandError> {
        get_or_try(&self.redactor, || {
            Redactor::new(&self.config()?.redaction).map_err(|error| {
                CommandError::new(Exit::Usage, "invalid_config", error)
                    .hinted("Fix `redaction.rules` in the configuration.")
            })
        })
    }

    /// The folders that may hold package files.
    pub(crate) fn places(&self) -> Result<&ProjectPaths, CommandError> {
        get_or_try(&self.places, || {
            if let Some(guest) = &self.guest {
                // Its files live on its agents' machines; the store has their text.
                let places = ProjectPaths::new(&guest.root, &[]).map_err(|error| io(&error))?;
                return Ok(places.shared(true));
            }
            let project = self.project()?;
            let places = ProjectPaths::new(&project.root, &project.worktrees())
                .map_err(|error| io(&error))?;
            Ok(places.shared(self.store_location()?.is_shared()))
        })
    }

    /// The handoffs of the project. A store that cannot be opened leaves receipts to the spool.
    pub(crate) fn handoffs(&self) -> Result<Handoffs<'_>, CommandError> {
        let parts = get_or_try(&self.handoff_parts, || {
            let store_error = match self.store() {
                Ok(_) => None,
                Err(error) if error.exit == Exit::Environment => Some(error.message),
                Err(error) => return Err(error),
            };
            Ok(HandoffParts { store_error, spool: self.spool().ok(), overrides: self.overrides()? })
        })?;
        let store = match &parts.store_error {
            Some(reason) => Err(reason.as_str()),
            None => Ok(self.store()?),
        };
        Ok(Handoffs {
            store,
            redactor: self.redactor()?,
            config: self.config()?,
            paths: self.places()?,
            technology: self,
            spool: parts.spool.as_ref(),
            overrides: &parts.overrides,
        })
    }

    /// Where receipts wait that the store could not take.
    pub(crate) fn spool(&self) -> Result<Folder, CommandError> {
        waiting_in(self.project()?, spool::FOLDER, |_| true)
    }

    /// Guard settings that a flag or a variable has overridden.
    pub(crate) fn overrides(&self) -> Result<Vec<Override>, CommandError> {
        let loaded = self.loaded_config()?;
        let sources = Override::KEYS.map(|key| (key, loaded.source(key)));
        Ok(sources
            .into_iter()
            .filter(|(_, source)| matches!(source, Source::Flag | Source::Environment(_)))
            .map(|(key, source)| Override { key: key.to_owned(), source: source.to_string() })
            .collect())
    }

    /// A new receipt id; it sorts by time.
    pub(crate) fn new_receipt(&self) -> Result<ReceiptId, CommandError> {
        Ok(ReceiptId::new(format!("r_{}", env::unique()))?)
    }

    /// Where the store is.
    pub(crate) fn store_location(&self) -> Result<StoreLocation, CommandError> {
        if let Some(guest) = &self.guest {
            return Ok(guest.store.clone());
        }
        let location = self.config()?.store.location.as_deref();
        match location.map(StoreLocation::parse).transpose()? {
            None => Ok(StoreLocation::File(self.project()?.folder().path().join(STORE_FILE))),
            Some(StoreLocation::File(path)) => {
                Ok(StoreLocation::File(self.project()?.root.join(path)))
            }
            Some(shared @ (StoreLocation::Shared(_) | StoreLocation::Service(_))) => Ok(shared),
        }
    }

    /// The store, opened on first use.
    pub(crate) fn store(&self) -> Result<&dyn Store, CommandError> {
        let store = get_or_try(&self.store, || {
            let place = self.store_location()?;
            let was_there = place.may_exist();
            let store = self.with_private_notes(&place, self.open(&place, self.purpose.get())?)?;
            if !was_there && !self.hosts() {
                self.warn_about_lost_store(&*store)?;
            }
            Ok(store)
        })?;
        Ok(&**store)
    }

    /// Keeps private notes in a file of this machine, unless the store is one or the user shares them.
    fn with_private_notes(
        &self,
        place: &StoreLocation,
        store: Box<dyn Store + Send>,
    ) -> Result<Box<dyn Store + Send>, CommandError> {
        if !place.is_shared() || self.hosts() || self.config()?.learn.share {
            return Ok(store);
        }
        Ok(Box::new(PrivateNotes { shared: store, private: self.open_private()? }))
    }

    /// The file of private notes.
    pub(crate) fn open_private(&self) -> Result<Box<dyn Store + Send>, CommandError> {
        let file = StoreLocation::File(self.project()?.folder().path().join(PRIVATE_FILE));
        self.open(&file, self.purpose.get())
    }

    /// A project's configuration can come from anyone, so the service that it names as its store gets the
    /// user's token only if the user has approved that service.
    fn check_token_recipient(&self, place: &StoreLocation) -> Result<(), CommandError> {
        let StoreLocation::Service(address) = place else { return Ok(()) };
        let loaded = self.loaded_config()?;
        let by_project = matches!(loaded.source("store.location"), Source::ProjectFile(_));
        let services = &loaded.config.store.services;
        let known = services
            .iter()
            .any(|known| known.parse().is_ok_and(|known: Address| known == *address));
        if env::var(env::TOKEN).is_none() || !by_project || known {
            return Ok(());
        }
        let message = format!("this project would send your token to `{address}`");
        Err(CommandError::new(Exit::Usage, "token_not_meant", message).hinted(format!(
            "If you trust that service, set {}={address} or add it to `store.services` in your user configuration.",
            env::STORE
        )))
    }

    /// Opens a store, unless that would send the token to an unapproved service or unencrypted over a
    /// public network.
    pub(crate) fn open(
        &self,
        place: &StoreLocation,
        purpose: Purpose,
    ) -> Result<Box<dyn Store + Send>, CommandError> {
        self.check_token_recipient(place)?;
        if let (StoreLocation::File(path), Ok(project)) = (place, self.project()) {
            store_file::check(project, path)?;
        }
        let token = env::var(env::TOKEN);
        if let StoreLocation::Service(address) = place
            && token.is_some()
            && !address.is_private()
            && !self.config()?.store.allow_http
        {
            let message = format!("the token would be sent to `{}` unencrypted", address.host());
            return Err(CommandError::new(Exit::Usage, "token_in_the_clear", message).hinted(
                "Use `https://`, or set `store.allow_http = true` (HANDOVER_STORE_ALLOW_HTTP=true) if the network is private, such as a VPN.",
            ));
        }
        // Nobody but this service opens the file of a project that it hosts.
        let older = if self.hosts() { OlderFormat::Upgrade } else { self.older.get() };
        place.open(|| self.shared_project(), purpose, older, token, &|upgraded| {
            self.warn_of_upgrade(upgraded);
        })
    }

    /// Says that a store has another format now, and what that means for others.
    pub(crate) fn warn_of_upgrade(&self, upgraded: &Upgraded) {
        let Upgraded { from, to, copy } = upgraded;
        let kept = copy.as_ref().map(|copy| format!("; what it was is in {}", copy.display()));
        self.ui.warn(format_args!(
            "the store has format {to} now, and versions of Handover that know only format {from} cannot open it{}",
            kept.unwrap_or_default()
        ));
    }

    /// The project's name in a shared store. It must have been said: a folder's name is not enough to
    /// tell projects apart.
    pub(crate) fn shared_project(&self) -> Result<ProjectId, CommandError> {
        if let Some(guest) = &self.guest {
            return Ok(guest.project.clone());
        }
        let loaded = self.loaded_config()?;
        if loaded.ignored().any(|want| want.key == "project.id") {
            let message = "the project id of this checkout is not trusted, and the store is shared";
            return Err(CommandError::new(Exit::Environment, "untrusted", message).hinted(hint()));
        }
        loaded.config.project.id.clone().ok_or_else(|| {
            let message = "a shared store requires a project id, and this project has none";
            CommandError::new(Exit::Usage, "no_project_id", message)
                .hinted("Set `project.id` in .handover/config.toml to a name that no other project in that store uses.")
        })
    }

    /// The store, if it exists: commands that only read do not create one.
    pub(crate) fn existing_store(&self) -> Result<&dyn Store, CommandError> {
        let place = self.store_location()?;
        if !place.may_exist() {
            let message = format!("no store at {place}");
            return Err(CommandError::new(Exit::Environment, Code::NoStore, message).hinted(
                "Run `handover doctor` for details; any command that writes creates a store.",
            ));
        }
        self.store()
    }

    /// A new store next to artifacts of earlier sessions means that the old store was lost.
    fn warn_about_lost_store(&self, store: &dyn Store) -> Result<(), CommandError> {
        let orphans = self.orphaned_artifacts(store)?;
        if let Some(first) = orphans.first() {
            self.ui.warn(format_args!(
                "the store was missing and has been recreated; found files of {}, such as \
                 `{first}`; `handover session new {first}` registers them again",
                count(orphans.len(), "earlier session")
            ));
        }
        Ok(())
    }

    /// Sessions that have an artifacts folder but no record in the store.
    pub(crate) fn orphaned_artifacts(
        &self,
        store: &dyn Store,
    ) -> Result<Vec<String>, CommandError> {
        let entries = self.project()?.folder().inside("artifacts").entries().unwrap_or_default();
        let folders = entries.into_iter().filter(|entry| entry.kind == Kind::Folder);
        let mut orphans: Vec<String> = folders
            .filter_map(|entry| SessionId::new(entry.name).ok())
            .filter(|id| store.session(id).is_err())
            .map(String::from)
            .collect();
        orphans.sort();
        Ok(orphans)
    }

    /// A package by its id; `--session`, if given, must be the package's session.
    pub(crate) fn package(&self, id: PackageId) -> Result<Package, CommandError> {
        let package = self.store()?.package(id)?;
        let named = match &self.common.session {
            Some(_) => self.named_session()?,
            None => None,
        };
        match &named {
            Some(session) if *session != package.session => {
                Err(StoreError::OtherSession { id, session: package.session }.into())
            }
            Some(_) | None => Ok(package),
        }
    }

    /// The folders that a scan searches: the project root, and the linked worktree we are in.
    pub(crate) fn scan_roots(&self) -> Result<Vec<PathBuf>, CommandError> {
        let (project, here) = (self.project()?, self.folder()?);
        let mut roots = vec![project.root.clone()];
        roots.extend(project.worktrees().into_iter().filter(|tree| here.starts_with(tree)));
        Ok(roots)
    }

    /// The id of the project that new sessions belong to by default.
    pub(crate) fn project_id(&self) -> Result<ProjectId, CommandError> {
        if let Some(guest) = &self.guest {
            return Ok(guest.project.clone());
        }
        let configured = self.config()?.project.id.clone();
        Ok(match configured {
            Some(id) => id,
            None => self.project()?.default_id(),
        })
    }

    /// Rejects ids that look like a known kind of secret, because ids are never redacted.
    pub(crate) fn no_secret<T: ToString>(&self, what: &str, id: T) -> Result<T, CommandError> {
        match vendor_secret(self.redactor()?, &id.to_string()) {
            Some(rule) => {
                Err(CommandError::invalid(format!("the {what} looks like a secret ({rule})"))
                    .hinted("Ids are stored and shown unredacted; choose another one."))
            }
            None => Ok(id),
        }
    }

    /// Everything that drafting a package needs.
    pub(crate) fn package_setting<'a>(
        &'a self,
        session: &'a SessionId,
        groups: &'a [GroupId],
    ) -> Result<DraftContext<'a>, CommandError> {
        let packages = &self.config()?.packages;
        Ok(DraftContext {
            paths: self.places()?,
            redactor: self.redactor()?,
            session,
            groups,
            warn_bytes: packages.warn_bytes,
            max_bytes: packages.max_bytes,
            now: self.now(),
            trust: self.trust_of_files()?,
        })
    }

    pub(crate) fn group_ids(&self, session: &SessionId) -> Result<Vec<GroupId>, CommandError> {
        Ok(self.store()?.groups(session)?.into_iter().map(|group| group.id).collect())
    }
}

impl App {
    /// The checkout whose places can be searched.
    fn indexed_checkout(&self) -> Option<Checkout> {
        let root = self.checkout_root()?;
        let trusted = self.trust_report().is_ok_and(|report| report.trusted);
        let trust = if trusted { TrustClass::Project } else { TrustClass::Outside };
        Some(Checkout { folder: self.project().ok()?.folder(), root, trust })
    }
}

impl TechnologySource for App {
    fn technology(&self) -> &Technology {
        self.technology.get_or_init(|| match self.hosts() {
            // There is no checkout of a guest project.
            true => Technology { stack: Stack::default(), templates: Templates::load(None, None) },
            // An agent that knows less of the technology is better than none.
            false => {
                Technology { stack: self.stack().unwrap_or_default(), templates: self.templates() }
            }
        })
    }

    fn look_ahead(&self, task: &str) {
        if let Some(checkout) = self.indexed_checkout() {
            self.places_ahead.start(checkout, task);
        }
    }

    fn where_to_look(&self, task: &str) -> Vec<ShownPlace> {
        let places = |checkout| self.places_ahead.places(&checkout, task);
        self.indexed_checkout().map(places).unwrap_or_default()
    }

    fn loads(&self, host: Host) -> &'static [&'static str] {
        handover_hosts::Registry::built_in().find(host).map(HookHost::loads).unwrap_or_default()
    }

    fn freshness(&self) -> Box<dyn Freshness + '_> {
        Box::new(self.checkout_now())
    }
}

fn get_or_try<T>(
    cell: &OnceCell<T>,
    make: impl FnOnce() -> Result<T, CommandError>,
) -> Result<&T, CommandError> {
    if let Some(value) = cell.get() {
        return Ok(value);
    }
    let value = make()?;
    Ok(cell.get_or_init(|| value))
}
