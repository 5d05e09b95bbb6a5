//! Replacements by hand: what replaced a statement, and what a person decides about it. The same for every surface.

use handover_model::{
    AmendedBy, Amendment, AmendmentDecision, ItemKind, ItemRef, Note, Package, PackageId,
    PackageKind, ProjectId, Timestamp,
};
use handover_store::{PackageFilter, Result as StoreResult, Store, StoreError};

use crate::assemble::amended::{self, Decisions, Spoken};
use crate::rank::{self, Wording};

/// How many notes and packages are compared with one.
const COMPARED: u32 = 60;

/// Why nothing could be decided.
#[derive(Debug, thiserror::Error)]
pub enum AmendmentError {
    /// The rule finds no replacement, and none was named.
    #[error("no later statement was found that replaces {0}")]
    NoReplacement(ItemRef),
    /// It was named itself.
    #[error("{0} cannot replace itself")]
    Itself(ItemRef),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl AmendmentError {
    /// A stable name of the error, for scripts and for clients of the service.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoReplacement(_) => "not_found",
            Self::Itself(_) => "invalid_input",
            Self::Store(error) => error.code(),
        }
    }
}

/// A note as others refer to it.
pub fn note_item(note: &Note) -> ItemRef {
    amended::item_of(note)
}

/// A package as others refer to it.
pub fn package_item(id: PackageId) -> ItemRef {
    ItemRef { kind: ItemKind::Package, id: id.to_string() }
}

/// The note that replaces another, by what people decided and by the rule.
pub fn of_note(
    store: &dyn Store,
    project: &ProjectId,
    note: &Note,
) -> StoreResult<Option<AmendedBy>> {
    let text = format!("{}\n{}", note.title, note.text);
    let alike = rank::notes(store, project, &text, COMPARED as usize, Wording::Exact)?;
    let others = alike.iter().map(|ranked| &ranked.note).filter(|other| other.id != note.id);
    let statements: Vec<Spoken> =
        std::iter::once(note).chain(others).map(|note| amended::of_note(note, 0)).collect();
    first_replaced(store, project, &statements)
}

/// The package that replaces another one of its session.
pub fn of_package(
    store: &dyn Store,
    project: &ProjectId,
    package: &Package,
) -> StoreResult<Option<AmendedBy>> {
    let filter = PackageFilter { limit: Some(COMPARED), ..PackageFilter::default() };
    let mut packages = vec![package.clone()];
    let others = store.packages(&package.session, &filter)?;
    packages.extend(others.into_iter().filter(|other| other.id > package.id));
    let ids: Vec<PackageId> = packages.iter().map(|package| package.id).collect();
    let bodies = store.package_bodies(&ids)?;
    let statements: Vec<Spoken> = packages
        .iter()
        .zip(&bodies)
        .map(|(package, body)| {
            let (facts, long) = amended::of_package(body, Some(&package.summary));
            Spoken {
                item: package_item(package.id),
                at: package.created_at,
                order: package.id.0,
                source: None,
                trust: package.trust,
                facts,
                long,
                asks: false,
                remark: false,
            }
        })
        .collect();
    let found = first_replaced(store, project, &statements)?;
    // Packages of a session are about the same things, so only of decisions does that say something.
    let decides = package.kind == PackageKind::Decisions;
    Ok(found.filter(|by| decides || by.how.is_marked()))
}

/// What replaces the first of some statements.
fn first_replaced(
    store: &dyn Store,
    project: &ProjectId,
    statements: &[Spoken],
) -> StoreResult<Option<AmendedBy>> {
    let decisions = Decisions::new(store, project);
    let found = amended::replacement_of(statements, 0, &decisions)?;
    Ok(found.map(|found| found.by))
}

/// Decides about the replacement of a package: by the one that is named, or by the one that is found.
pub fn decide_package(
    store: &dyn Store,
    project: &ProjectId,
    id: PackageId,
    by: Option<PackageId>,
    decision: AmendmentDecision,
    now: Timestamp,
) -> Result<Amendment, AmendmentError> {
    let package = store.package(id)?;
    let later = match by {
        Some(by) => Some(package_item(store.package(by)?.id)),
        None => of_package(store, project, &package)?.map(|found| found.item),
    };
    decide(store, project, &package_item(id), later, decision, now)
}

/// Records a decision about a replacement that was found, or about one that is named.
pub fn decide(
    store: &dyn Store,
    project: &ProjectId,
    earlier: &ItemRef,
    later: Option<ItemRef>,
    decision: AmendmentDecision,
    now: Timestamp,
) -> Result<Amendment, AmendmentError> {
    let later = later.ok_or_else(|| AmendmentError::NoReplacement(earlier.clone()))?;
    if later == *earlier {
        return Err(AmendmentError::Itself(later));
    }
    let earlier = earlier.clone();
    let amendment =
        Amendment { project: project.clone(), earlier, later, decision, decided_at: now };
    store.decide_amendment(&amendment)?;
    Ok(amendment)
}
