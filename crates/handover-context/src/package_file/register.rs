//! Registers files that were found or announced.

use std::fmt::Write;

use handover_model::{Package, SessionId};
use handover_store::{PackageFilter, Registered, Result, Store};

use super::draft::{DraftContext, Facts, Placement, draft};
use super::{Located, PackageFileError};

/// The result of registering a file.
#[derive(Debug)]
pub enum Put {
    /// A new package, or a new version of one.
    Registered(Registered),
    /// Already registered with this content.
    Unchanged(Registered),
    /// Not a valid package, and why.
    Skipped(String),
}

/// Registers one file. An invalid file is skipped with the reason, so that it does not affect the others. A
/// file registered with this content is left alone, whatever group or kind it was given.
pub fn register_file(
    store: &dyn Store,
    context: &DraftContext<'_>,
    located: std::result::Result<Located, PackageFileError>,
    mut facts: Facts,
) -> Result<Put> {
    let here = match &located {
        Ok(located) => at_path(store, context.session, located)?,
        Err(_) => Vec::new(),
    };
    facts.former = former(&here, None);
    if facts.former.is_some() {
        facts.default_group = None;
    }
    let draft = match located.and_then(|located| draft(context, &located, facts)) {
        Ok(draft) => draft,
        Err(error) => return Ok(Put::Skipped(chain(&error))),
    };
    let same = here.iter().find(|package| package.content_hash == draft.package.content_hash);
    if let Some(package) = same {
        return Ok(Put::Unchanged(Registered { package: package.clone(), created: false }));
    }
    if here.len() > 1 {
        let ids: Vec<String> = here.iter().map(|package| package.id.to_string()).collect();
        let reason =
            format!("it belongs to packages {}; choose one with `package update`", ids.join(", "));
        return Ok(Put::Skipped(reason));
    }
    let mut registered = store.register_packages(&[draft.package])?;
    let registered = registered.remove(0);
    Ok(if registered.created { Put::Registered(registered) } else { Put::Unchanged(registered) })
}

/// The current packages of a file.
pub fn at_path(store: &dyn Store, session: &SessionId, located: &Located) -> Result<Vec<Package>> {
    let filter = PackageFilter { path: Some(located.stored.clone()), ..PackageFilter::default() };
    store.packages(session, &filter)
}

/// The previous version: the only package of the file, or the only one with this placement. Several
/// packages of one file differ in kind or group; then only the caller knows.
pub fn former(here: &[Package], placement: Option<&Placement>) -> Option<Package> {
    let mut fits =
        here.iter().filter(|package| placement.is_none_or(|p| *p == Placement::of(package)));
    match (fits.next(), fits.next()) {
        (Some(package), None) => Some(package.clone()),
        _ => None,
    }
}

/// An error with its causes, on one line.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let _ = write!(text, ": {error}");
        cause = error.source();
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
